//! What happens to requests that are wrong in every way?

use board::Limits;
use serde_json::{Value, json};

use super::sample_board::{PROJECT, sample_board};
use super::{Sender, assert_problem, json_of};
use crate::test_server::TestServer;

/// F91, W4: whatever is wrong with a body or a query is said by name, and nothing happens.
#[tokio::test]
async fn wrong_requests_are_explained() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    owner.change("POST", "/projects/web/tasks", json!({ "title": "T" })).await;
    let heads = server.heads().await;
    let (tasks, one) = ("/api/v1/projects/web/tasks", "/api/v1/projects/web/tasks/1");
    let bodies: &[(&str, String, &[u8], &str)] = &[
        ("POST", tasks.into(), br#"{"title":1}"#, "title"),
        ("POST", tasks.into(), br#"{"titel":"T"}"#, "titel"),
        ("POST", tasks.into(), br#"{"title":"T","status":"done"}"#, "status"),
        ("POST", tasks.into(), br#"{"description":"T"}"#, "title"),
        ("POST", tasks.into(), br#"{"title":"T","priority":"urgent"}"#, "urgent"),
        ("POST", tasks.into(), br#"{"title":"T","parent":"../1"}"#, "../1"),
        ("POST", tasks.into(), br#"{"title":"T","dependencies":"1"}"#, "dependencies"),
        ("POST", tasks.into(), br#"{"title":"T","assignee":"a b"}"#, "a b"),
        ("POST", tasks.into(), br#"{"title":""}"#, "title"),
        ("POST", tasks.into(), b"{\"title\":\"a\\u0000b\"}", "title"),
        ("POST", tasks.into(), b"", ""),
        ("POST", tasks.into(), b"null", ""),
        ("POST", tasks.into(), b"[]", ""),
        ("POST", tasks.into(), b"{\"title\":\"\xff\xfe\"}", ""),
        ("POST", tasks.into(), b"{\"title\":\"T\"", ""),
        ("POST", tasks.into(), br#"{"title":"T"} {"title":"U"}"#, ""),
        ("PATCH", one.into(), br#"{"assignee":"w1"}"#, "assignee"),
        ("PATCH", one.into(), br#"{"labels":[1]}"#, "labels"),
        ("PUT", format!("{one}/assignee"), b"{}", "agent"),
        ("PUT", format!("{one}/assignee"), br#"{"agent":7}"#, "agent"),
        ("PATCH", format!("{one}/dependencies"), br#"{"on":["2"]}"#, "on"),
        ("POST", format!("{one}/start"), br#"{"forced":true}"#, "forced"),
        ("POST", format!("{one}/start"), br#"{"force":"yes"}"#, "force"),
        ("POST", "/api/v1/projects/web/messages".into(), br#"{"to":"w1"}"#, "content"),
        ("POST", "/api/v1/tokens".into(), br#"{"role":"king"}"#, "king"),
        ("POST", "/api/v1/tokens".into(), br#"{"role":"viewer","hash":"x"}"#, "hash"),
    ];
    for (method, path, body, named) in bodies {
        let what = format!("{method} {path} {}", String::from_utf8_lossy(body));
        let reply = owner.send(method, path, body).await;
        assert_eq!(reply.status, 400, "{what}: {}", String::from_utf8_lossy(&reply.body));
        assert_problem(&reply, &what);
        let detail = json_of(&reply)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(named), "{what}: {detail}");
    }
    let queries = [
        "tasks?stauts=done",
        "tasks?limit=0",
        "tasks?limit=501",
        "tasks?limit=-1",
        "tasks?limit=x",
        "tasks?after=x",
        "tasks?after=high.x",
        "tasks?as_of=x",
        "tasks?all=1&all=2",
        "sessions?running=x",
        "sessions?after=tsk_1",
        "messages?after=x",
        "events?after=-1",
        "agents?after=../x",
        "queue?x=1",
        "memory?x=1",
        "tasks/1?x=1",
        "tasks/1/why?x=1",
        "tasks/1/events?after=x",
    ];
    for query in queries {
        let reply = owner.send("GET", &format!("/api/v1/projects/web/{query}"), b"").await;
        assert_eq!(reply.status, 400, "{query}: {}", String::from_utf8_lossy(&reply.body));
        assert_problem(&reply, query);
        if let Some((_, name)) = query.split_once('?').filter(|(_, name)| name.starts_with(['x', 's'])) {
            let (name, detail) = (name.split('=').next().unwrap(), json_of(&reply)["detail"].to_string());
            assert!(query.contains("running") || detail.contains(name), "{query}: {detail}");
        }
    }
    assert_eq!(server.heads().await, heads, "nothing has happened");
}

/// W4, F91: a body is bounded, and must be what it says it is.
#[tokio::test]
async fn bodies_are_bounded() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    let huge = json!({ "title": "T", "description": "x".repeat(2 * 1024 * 1024) }).to_string();
    let reply = owner.send("POST", "/api/v1/projects/web/tasks", huge.as_bytes()).await;
    assert_eq!(reply.status, 413);
    assert_problem(&reply, "a huge body");
    let long = json!({ "title": "T", "description": "x".repeat(100_001) });
    assert_eq!(owner.refused("POST", "/projects/web/tasks", long).await, (400, "invalid_argument".into()));
    let plain = owner.clone().with("Content-Type", "text/plain");
    let reply = plain.send("POST", "/api/v1/projects/web/tasks", br#"{"title":"T"}"#).await;
    assert_eq!(reply.status, 415);
    assert_problem(&reply, "plain text");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let reply = owner.send("POST", "/api/v1/projects/web/tasks", deep.as_bytes()).await;
    assert_eq!(reply.status, 400);
    assert!(owner.get("/projects/web/tasks").await["items"].as_array().unwrap().is_empty());
}

/// W4: what is not there is not found, in the board's words where it has some; other methods are refused too.
#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    owner.change("POST", "/projects/web/tasks", json!({ "title": "T" })).await;
    let web = "/api/v1/projects/web";
    let paths = [
        "/api/v1/nothing".to_owned(),
        "/api/v1".to_owned(),
        "/api/v1/projects/nobody".to_owned(),
        "/api/v1/projects/..%2Fweb".to_owned(),
        "/api/v1/projects/%FF/tasks".to_owned(),
        format!("{web}/tasks/99"),
        format!("{web}/tasks/x"),
        format!("{web}/tasks/ses_1"),
        format!("{web}/tasks/99999999999"),
        format!("{web}/tasks/99/why"),
        format!("{web}/tasks/99/events"),
        format!("{web}/tasks/99/offers"),
        format!("{web}/tasks/99/diff"),
        format!("{web}/tasks/1/diff"),
        format!("{web}/sessions/1"),
        format!("{web}/sessions/-1"),
        format!("{web}/sessions/1/log"),
        format!("{web}/sessions/1/decisions"),
        format!("{web}/sessions?task=9"),
        format!("{web}/agents/ghost"),
        format!("{web}/agents/ghost/decisions"),
        format!("{web}/agents/a%20b"),
        format!("{web}/memory/none"),
        format!("{web}/memory/..%2F..%2Fetc%2Fpasswd"),
        format!("{web}/memory/../../../etc/passwd"),
    ];
    for path in paths {
        let reply = owner.send("GET", &path, b"").await;
        assert_eq!(reply.status, 404, "{path}: {}", String::from_utf8_lossy(&reply.body));
        assert_problem(&reply, &path);
        assert_eq!(json_of(&reply)["code"], "not_found", "{path}");
    }
    let (_, problem) = owner.call("GET", "/projects/web/tasks/99", Value::Null).await;
    assert!(problem["detail"].as_str().unwrap().contains("tsk_99"), "{problem}");
    for (method, path) in [("DELETE", "/api/v1/projects"), ("GET", "/api/v1/logins"), ("PUT", "/api/v1/me")] {
        let reply = owner.send(method, path, b"").await;
        assert_eq!(reply.status, 405, "{method} {path}");
        assert_problem(&reply, path);
    }
}

/// W5, F91: a log is read in pieces that lose nothing, cut no character, and are never more than was asked for.
#[tokio::test]
async fn logs_are_read_in_pieces() {
    let sample_board = sample_board().await;
    let server = &sample_board.server;
    let owner = Sender::of(server, "owner");
    let whole = server.beside.log.lock().unwrap().clone();
    for limit in [1, 2, 3, 7, 1000, 1_048_576] {
        let (mut from, mut text, mut calls) = (0, String::new(), 0);
        while calls < 500 {
            let piece = owner.get(&format!("/projects/{PROJECT}/sessions/1/log?from={from}&limit={limit}")).await;
            assert_eq!((piece["start"].as_u64(), piece["newest"].as_u64()), (Some(from), Some(whole.len() as u64)));
            text.push_str(piece["text"].as_str().unwrap());
            from = piece["end"].as_u64().unwrap();
            calls += 1;
            if from == whole.len() as u64 {
                break;
            }
        }
        // A piece that is too small for a character cannot show it.
        if limit >= 3 {
            assert!(std::str::from_utf8(&whole).unwrap().starts_with(&text), "{limit}");
        }
        assert!(from == whole.len() as u64 || calls == 500, "{limit}");
    }
    let tail = owner.get(&format!("/projects/{PROJECT}/sessions/1/log?from=tail&limit=100")).await;
    assert_eq!(tail["end"].as_u64(), Some(whole.len() as u64));
    let path = format!("/projects/{PROJECT}/sessions/1/log");
    for wrong in ["from=x", "from=-1", "limit=0", "limit=1048577", "limit=x"] {
        assert_eq!(owner.refused("GET", &format!("{path}?{wrong}"), Value::Null).await.0, 400, "{wrong}");
    }
    owner.get(&path).await;
    let most = server.beside.most_asked.load(std::sync::atomic::Ordering::Relaxed);
    assert!(most <= 1_048_576, "{most}");
}
