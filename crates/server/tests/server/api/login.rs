//! Who comes in, by which key, and for how long?

use board::{Limits, Role};
use control::token_hash;
use serde_json::{Value, json};
use testkit::mcp::Reply;

use super::{Sender, header, json_of};
use crate::test_server::{TestServer, owner};

async fn post_code(server: &TestServer, code: &str) -> Reply {
    let form = Sender::nobody(server).with("Content-Type", "application/x-www-form-urlencoded");
    form.send("POST", "/login", format!("code={code}").as_bytes()).await
}

fn cookie_of(reply: &Reply) -> String {
    let set = header(reply, "set-cookie").unwrap();
    set.split_once(';').unwrap().0.to_owned()
}

/// A browser that has logged in, and what its pages must send with every change.
async fn browser(server: &TestServer, role: Role) -> (Sender, String) {
    let link = Sender::of(server, "owner").change("POST", "/logins", json!({ "role": role, "name": "ann" })).await;
    let (_, code) = link["login_path"].as_str().unwrap().split_once("code=").unwrap();
    let cookie = cookie_of(&post_code(server, code).await);
    let csrf = token_hash(&format!("csrf {}", cookie.split_once('=').unwrap().1)).0;
    (Sender::nobody(server).with("Cookie", &cookie), csrf)
}

/// W3, F90: the cookie is for this site alone and for no script; a link is good once.
#[tokio::test]
async fn a_link_is_good_for_one_login() {
    let server = TestServer::open(Limits::default()).await;
    let link = Sender::of(&server, "owner").change("POST", "/logins", json!({ "role": "viewer", "name": "ann" })).await;
    let path = link["login_path"].as_str().unwrap();
    let (_, code) = path.split_once("code=").unwrap();
    // To look at it does not spend it.
    let page = Sender::nobody(&server).send("GET", path, b"").await;
    assert_eq!(page.status, 200);
    assert_eq!(header(&page, "referrer-policy"), Some("same-origin"));
    let reply = post_code(&server, code).await;
    assert_eq!((reply.status, header(&reply, "location")), (303, Some("/")));
    let cookie = header(&reply, "set-cookie").unwrap();
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"] {
        assert!(cookie.split("; ").any(|known| known == attribute), "{cookie}");
    }
    let again = post_code(&server, code).await;
    assert_eq!((again.status, header(&again, "set-cookie")), (401, None));
    let ann = Sender::nobody(&server).with("Cookie", &cookie_of(&reply));
    assert_eq!(ann.get("/me").await["name"], "ann");
    // A link is no bearer's token, and neither is a browser's.
    for secret in [code, cookie_of(&reply).split_once('=').unwrap().1] {
        let bearer = Sender { bearer: Some(secret.into()), ..Sender::nobody(&server) };
        assert_eq!(bearer.refused("GET", "/me", Value::Null).await.0, 401);
    }
}

/// W3: a link that is too old or was revoked opens nothing; a login ends when its token does.
#[tokio::test]
async fn old_and_revoked_keys_open_nothing() {
    let server = TestServer::open(Limits::default()).await;
    let by_owner = Sender::of(&server, "owner");
    let old = server.web.offer_login(owner()).await.unwrap();
    let revoked = server.web.offer_login(owner()).await.unwrap();
    by_owner.change("DELETE", &format!("/tokens/tok_{}", &token_hash(revoked.reveal()).0[..8]), Value::Null).await;
    assert_eq!(post_code(&server, revoked.reveal()).await.status, 401);
    server.clock.pass(29 * 60);
    let in_time = cookie_of(&post_code(&server, old.reveal()).await);
    let old = server.web.offer_login(owner()).await.unwrap();
    server.clock.pass(30 * 60);
    assert_eq!(post_code(&server, old.reveal()).await.status, 401);

    let browser = Sender::nobody(&server).with("Cookie", &in_time);
    browser.get("/me").await;
    let secret = in_time.split_once('=').unwrap().1;
    let csrf = token_hash(&format!("csrf {secret}")).0;
    let left = browser.clone().with("X-CSRF-Token", &csrf).send("POST", "/logout", b"").await;
    assert_eq!(left.status, 204);
    assert!(header(&left, "set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(browser.refused("GET", "/me", Value::Null).await.0, 401);
    let (browser, _) = self::browser(&server, Role::Owner).await;
    server.clock.pass(30 * 24 * 3600);
    assert_eq!(browser.refused("GET", "/me", Value::Null).await.0, 401, "a login ends by itself");
}

/// W3, F90: with a cookie, a change must come from a page of this server: by its token and its origin.
#[tokio::test]
async fn other_sites_change_nothing_with_a_browsers_cookie() {
    let server = TestServer::open(Limits::default()).await;
    let (browser, csrf) = browser(&server, Role::Owner).await;
    let heads = server.heads().await;
    let host = server.base.strip_prefix("http://").unwrap().to_owned();
    let change = async |sender: Sender| {
        let reply = sender.send("POST", "/api/v1/projects/web/tasks", br#"{"title":"T"}"#).await;
        (reply.status, json_of(&reply)["code"].as_str().unwrap_or_default().to_owned())
    };
    let refused = |code: &str| (403, code.to_owned());
    assert_eq!(change(browser.clone()).await, refused("csrf"));
    assert_eq!(change(browser.clone().with("X-CSRF-Token", "x")).await, refused("csrf"));
    let page = browser.with("X-CSRF-Token", &csrf);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://evil.example/"] {
        assert_eq!(change(page.clone().with("Origin", origin)).await, refused("foreign_origin"), "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(change(page.clone().with("Sec-Fetch-Site", site)).await, refused("foreign_origin"), "{site}");
    }
    assert_eq!(change(page.clone().with("Host", "evil.example")).await.0, 421);
    assert_eq!(server.heads().await, heads);
    let own = page.with("Origin", &format!("http://{host}")).with("Sec-Fetch-Site", "same-origin");
    assert_eq!(change(own).await.0, 201);
    let (viewer, csrf) = self::browser(&server, Role::Viewer).await;
    assert_eq!(change(viewer.with("X-CSRF-Token", &csrf)).await, refused("not_allowed"));
}

/// W3, S3: guessing is slowed down, and costs nobody who has a right code anything.
#[tokio::test]
async fn guessing_is_slow_and_a_right_code_still_works() {
    let server = TestServer::open(Limits::default()).await;
    let link = server.web.offer_login(owner()).await.unwrap();
    let mut statuses = Vec::new();
    for guess in 0..8 {
        statuses.push(post_code(&server, &format!("shl_{guess}")).await.status);
    }
    assert_eq!(statuses, [401, 401, 401, 401, 401, 429, 429, 429]);
    assert_eq!(post_code(&server, link.reveal()).await.status, 303);
    assert_eq!(post_code(&server, &server.tokens["viewer"]).await.status, 303, "a person's token opens too");
    server.clock.pass(11);
    assert_eq!(post_code(&server, "shl_9").await.status, 401, "tried again after the pause");
    for role in ["runner", "coordinator"] {
        assert_ne!(post_code(&server, &server.tokens[role]).await.status, 303, "{role}");
    }
}

/// W3: links are for people, and changes are recorded under the name that the link was made for.
#[tokio::test]
async fn links_are_for_people() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    for role in ["runner", "coordinator"] {
        let refused = owner.refused("POST", "/logins", json!({ "role": role })).await;
        assert_eq!(refused, (400, "invalid_argument".into()));
    }
    let (browser, csrf) = browser(&server, Role::Owner).await;
    browser.with("X-CSRF-Token", &csrf).change("POST", "/projects/web/pause", Value::Null).await;
    let events = owner.get("/projects/web/events?limit=500").await;
    let last = events["items"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["by"], &last["type"]), (&json!({ "owner": "ann" }), &json!("project_paused")));
}

/// W3: every answer forbids the browser what it does not need.
#[tokio::test]
async fn answers_come_with_their_policy() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    for path in ["/api/v1/me", "/api/v1/nothing", "/login", "/metrics"] {
        let reply = owner.send("GET", path, b"").await;
        let policy = header(&reply, "content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}");
        assert_eq!(header(&reply, "x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(header(&reply, "cache-control"), Some("no-store"), "{path}");
    }
}
