//! Do the clients that people really use get on with the server? As measured of each of them.

use std::time::Duration;

use board::{Limits, Purpose};
use serde_json::{Value, json};
use testkit::mcp::{Http, Reply};

use crate::test_server::{TestServer, agent};

fn hello(version: &str) -> Value {
    let info = json!({ "name": "somebody", "version": "1" });
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": version, "capabilities": {}, "clientInfo": info },
    })
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

fn http(server: &TestServer, bearer: Option<&str>, more: &[(&str, &str)]) -> Http {
    let mut http = Http::new(&server.url, bearer);
    http.headers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    http
}

async fn post(http: &mut Http, body: &Value) -> (Reply, Value) {
    let reply = http.post(body.to_string().as_bytes()).await.unwrap();
    let answer = serde_json::from_slice(&reply.body).unwrap_or(Value::Null);
    (reply, answer)
}

/// M1: the revisions that claude, codex, gemini and opencode open with are answered in kind, with
/// no session id; the version header may be there afterwards, or not (gemini).
#[tokio::test]
async fn older_revisions_are_negotiated_and_nothing_is_kept_between_requests() {
    let server = TestServer::open(Limits::default()).await;
    let worker = server.at_work("web", "w1").await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let (reply, answer) = post(&mut http(&server, Some(&worker), &[]), &hello(version)).await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        assert_eq!(answer["result"]["capabilities"], json!({ "tools": {} }), "{answer}");
        assert!(!reply.head.to_lowercase().contains("mcp-session-id"), "{}", reply.head);
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        for headers in [&[("MCP-Protocol-Version", version)][..], &[]] {
            // Each on a connection of its own: nothing is remembered from the one before.
            let (reply, _) = post(&mut http(&server, Some(&worker), headers), &note).await;
            assert_eq!(reply.status, 202, "{}", reply.head);
            let ask = request("tools/call", json!({ "name": "get_my_profile", "arguments": {} }));
            let (_, answer) = post(&mut http(&server, Some(&worker), headers), &ask).await;
            assert_eq!(answer["result"]["structuredContent"]["id"], "w1", "{answer}");
        }
    }
}

/// M1: the revision 2026-07-28 as claude and codex speak it: discovery first, then calls that say
/// everything themselves.
#[tokio::test]
async fn the_stateless_revision_is_served() {
    let server = TestServer::open(Limits::default()).await;
    let worker = server.at_work("web", "w1").await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "somebody", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let mut asking = http(&server, Some(&worker), &[version, ("Mcp-Method", "server/discover")]);
    let (reply, answer) = post(&mut asking, &request("server/discover", json!({ "_meta": meta }))).await;
    assert_eq!(reply.status, 200, "{answer}");
    let known = answer["result"]["supportedVersions"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert!(known.contains(&json!("2026-07-28")), "{answer}");

    let mut listing = http(&server, Some(&worker), &[version, ("Mcp-Method", "tools/list")]);
    let (_, answer) = post(&mut listing, &request("tools/list", json!({ "_meta": meta }))).await;
    assert!(answer["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 10), "{answer}");

    let named = [version, ("Mcp-Method", "tools/call"), ("Mcp-Name", "get_my_profile")];
    let mut calling = http(&server, Some(&worker), &named);
    let call = json!({ "name": "get_my_profile", "arguments": {}, "_meta": meta });
    let (_, answer) = post(&mut calling, &request("tools/call", call)).await;
    assert_eq!(answer["result"]["structuredContent"]["id"], "w1", "{answer}");
}

/// M1: what is not offered is refused by name, so that clients stop asking.
#[tokio::test]
async fn prompts_and_resources_are_not_there() {
    let server = TestServer::open(Limits::default()).await;
    for method in ["prompts/list", "resources/list", "resources/templates/list", "completion/complete", "no/such"] {
        let params = match method {
            "completion/complete" => json!({
                "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" },
            }),
            _ => json!({}),
        };
        let (reply, answer) = post(&mut http(&server, None, &[]), &request(method, params)).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {} {answer}", reply.head);
        assert!(reply.status < 500, "{method}: {}", reply.head);
    }
}

/// M1: opencode cancels each call after it has got its answer; codex deletes the session that it
/// never had; all of them ask for a stream and accept that there is none.
#[tokio::test]
async fn habits_of_clients_do_no_harm() {
    let server = TestServer::open(Limits::default()).await;
    let worker = server.at_work("web", "w1").await;
    let mut connection = http(&server, Some(&worker), &[]);
    let ask = request("tools/call", json!({ "name": "get_my_profile", "arguments": {} }));
    let (_, answer) = post(&mut connection, &ask).await;
    assert_eq!(answer["id"], 7);
    let params = json!({ "requestId": 7, "reason": "done" });
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    let (reply, _) = post(&mut connection, &cancelled).await;
    assert_eq!(reply.status, 202, "{}", reply.head);
    assert_eq!(connection.send("GET", b"").await.unwrap().status, 405);
    let deleted = connection.send("DELETE", b"").await.unwrap();
    assert!(deleted.status < 500, "{}", deleted.head);
    let (_, answer) = post(&mut connection, &ask).await;
    assert_eq!(answer["result"]["structuredContent"]["id"], "w1", "{answer}");
}

/// N2.5: a chat's call that waits is answered when the message comes, on the same open connection,
/// long before clients give up; other calls are answered meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_waits_is_answered_when_there_is_something_to_say() {
    let server = TestServer::open(Limits::default()).await;
    let chat = server.chatting("web", "w1").await;
    let mut client = server.client(Some(&chat));
    client.must("report_model", json!({ "provider": "p", "model_id": "m" })).await;
    client.must("get_pending_messages", json!({})).await;
    assert_eq!(client.must("get_next_action", json!({ "timeout_seconds": 0 })).await["action"], "wait_for_messages");
    let waiting = tokio::spawn(async move { client.must("get_next_action", json!({})).await });
    let mut other = server.client(Some(&chat));
    assert_eq!(other.must("get_my_profile", json!({})).await["id"], "w1");
    server.write_to("web", "w1").await;
    let answer = tokio::time::timeout(Duration::from_secs(30), waiting).await.unwrap().unwrap();
    assert_eq!(answer["action"], "get_pending_messages");
}

/// S3, M3: a session's token in the arguments is as good as the header, and no bearer speaks for
/// another session; a passkey in the header attaches its agent.
#[tokio::test]
async fn a_session_is_named_by_its_header_or_by_its_arguments() {
    let server = TestServer::open(Limits::default()).await;
    let (one, two) = (server.at_work("web", "w1").await, server.at_work("web", "w2").await);
    let mut bare = server.client(None);
    assert_eq!(bare.must("get_my_profile", json!({ "session_token": one })).await["id"], "w1");
    assert_eq!(bare.call("get_my_profile", json!({})).await.unwrap_err()["code"], "not_authenticated");
    let mut first = server.client(Some(&one));
    let refused = first.call("get_my_profile", json!({ "session_token": two })).await.unwrap_err();
    assert_eq!(refused["code"], "not_authenticated");

    server.started("web", crate::test_server::BY_HAND).await;
    let mut by_hand = server.client(Some(&server.passkeys["web"]));
    let names = json!({ "agent_id": crate::test_server::BY_HAND, "project_id": "web" });
    let welcome = by_hand.must("authenticate", names).await;
    let token = welcome["session_token"].clone();
    let me = by_hand.must("get_my_profile", json!({ "session_token": token })).await;
    assert_eq!(me["id"], crate::test_server::BY_HAND);
}

/// S3, F35: a credential is worth nothing when its session is over.
#[tokio::test]
async fn a_credential_dies_with_its_session() {
    let server = TestServer::open(Limits::default()).await;
    let task = server.started("web", "w1").await;
    let (_, credential) = server.claim("web", &agent("w1"), Purpose::Task(task)).await.unwrap();
    let mut client = server.client(Some(&credential));
    client.must("logout", json!({})).await;
    for tool in ["get_next_action", "get_my_profile", "authenticate", "help", "logout", "get_my_task"] {
        let refused = client.call(tool, json!({})).await.unwrap_err();
        assert_eq!(refused["code"], "stale_session", "{tool}");
    }
}
