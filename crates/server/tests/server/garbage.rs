//! What does the door do with bytes that are no request (T2)?

use std::time::Duration;

use board::{Board, Limits};
use control::Project;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use testkit::mcp::{Http, Reply};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::test_server::{PROJECTS, TestServer};

/// Longer than anything here takes, on any machine.
const HANG: Duration = Duration::from_secs(60);
const BODIES: u64 = 16_000;
const CONNECTIONS: u64 = 4_000;
/// The door takes bodies up to this.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// Requests that change nothing even if they arrive whole: of somebody unknown, or only reading.
fn originals() -> Vec<String> {
    let rpc = |method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
    };
    let call = |name: &str, arguments: Value| rpc("tools/call", json!({ "name": name, "arguments": arguments }));
    let info = json!({ "name": "x", "version": "1" });
    vec![
        rpc("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info })),
        rpc("tools/list", json!({})),
        rpc("ping", json!({})),
        rpc("server/discover", json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } })),
        call("get_my_profile", json!({})),
        call("get_task", json!({ "task_id": "tsk_1" })),
        call("list_tasks", json!({ "status": "todo", "limit": 3, "cursor": "tsk_1" })),
        call("help", json!({ "tool_name": "get_task" })),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }).to_string(),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }).to_string(),
    ]
}

/// Whole requests of wrong shapes.
fn shapes() -> Vec<Vec<u8>> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        Vec::new(),
        text("null"),
        text("[]"),
        text("{}"),
        text("0"),
        text("\"tools/call\""),
        text(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#),
        text(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#),
        text(r#"{"id":1,"method":"ping"}"#),
        text(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
        text(r#"{"jsonrpc":"2.0","id":1e400,"method":"ping"}"#),
        text(r#"{"jsonrpc":"2.0","id":99999999999999999999999999,"method":"ping"}"#),
        text(r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#),
        text(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/list"}"#),
        text(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#),
        text(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#),
        text(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#),
        text(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"help","arguments":[]}}"#),
        text(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"help","arguments":"x"}}"#),
        text(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#),
        text(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"9999-99-99","capabilities":{},"clientInfo":{"name":"","version":""}}}"#,
        ),
        text(r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"help","arguments":{}}}"#),
        text(r#"{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":""}}"#),
        text(r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#),
        b"\xff\xfe\x00{".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}".to_vec(),
        [b"[".repeat(100_000), b"]".repeat(100_000)].concat(),
        b"{\"a\":".repeat(50_000),
    ]
}

fn body(dice: &mut ChaCha8Rng) -> Vec<u8> {
    if dice.random_ratio(1, 6) {
        return shapes().choose(dice).unwrap().clone();
    }
    let mut body = originals().choose(dice).unwrap().clone().into_bytes();
    for _ in 0..dice.random_range(1..4) {
        let at = dice.random_range(0..body.len().max(1)).min(body.len());
        match dice.random_range(0..8) {
            0 => body.truncate(at),
            1 if at < body.len() => body[at] = dice.next_u32() as u8,
            2 if at < body.len() => body[at] ^= 1 << dice.random_range(0..8),
            3 => {
                let part = body[at..].iter().take(dice.random_range(1..30)).copied().collect::<Vec<_>>();
                body.splice(at..at, part);
            }
            4 => {
                let tokens: [&[u8]; 10] =
                    [b"null", b"1e999", b"-", b"\"", b"{", b"]", b",", b"\\u0000", b"\x00", b"18446744073709551616"];
                body.splice(at..at, tokens.choose(dice).unwrap().iter().copied());
            }
            5 => drop(body.drain(at..(at + dice.random_range(1..9)).min(body.len()))),
            6 => body = String::from_utf8_lossy(&body).replacen("\"1\"", "\"1\",\"1\"", 1).into_bytes(),
            _ => {
                let text = String::from_utf8_lossy(&body).into_owned();
                let words = ["tools/call", "jsonrpc", "2.0", "arguments", "params", "name", "id"];
                let (from, to) = (words.choose(dice).unwrap(), words.choose(dice).unwrap());
                body = text.replace(from, to).into_bytes();
            }
        }
    }
    body
}

/// Headers that are odd, but that make a message whose end can be found.
fn headers(dice: &mut ChaCha8Rng, credential: &str) -> Vec<(String, String)> {
    let mut found = vec![
        ("Content-Type".to_owned(), "application/json".to_owned()),
        ("Accept".into(), "application/json, text/event-stream".into()),
    ];
    let odd: &[(&str, &[&str])] = &[
        ("Content-Type", &["text/plain", "", "application/json; charset=\"", "multipart/form-data", "*/*", "json"]),
        ("Accept", &["", "*/*", "text/html", "application/json", "q=;;;", "text/event-stream;q=nan"]),
        ("MCP-Protocol-Version", &["", "2026-07-28", "0", "2025-06-18, 2025-03-26", "2025-06-18", "\u{1f}x", "latest"]),
        ("Mcp-Session-Id", &["", "x", "../../etc/passwd", "0"]),
        ("Mcp-Method", &["tools/call", "ping", "", "tools/list"]),
        ("Mcp-Name", &["get_task", "", "=?base64?!!?="]),
        ("Last-Event-ID", &["", "-1", "zzz"]),
        ("Authorization", &["", "Bearer", "Bearer ", "Basic eDp5", "bearer ses.web_", "Bearer ses._0", "Bearer é"]),
        ("Origin", &["", "null", "http://", "file://x", "http://localhost:1"]),
        ("Content-Encoding", &["gzip", "identity"]),
        ("Expect", &["something"]),
        ("X-Long", &["long"]),
    ];
    for _ in 0..dice.random_range(0..4) {
        let (name, values) = odd.choose(dice).unwrap();
        let value = match (*name, *values.choose(dice).unwrap()) {
            ("X-Long", _) => "x".repeat(dice.random_range(0..20_000)),
            (_, value) => value.to_owned(),
        };
        let replaces = dice.random_ratio(3, 4);
        found.retain(|(known, _)| !replaces || !known.eq_ignore_ascii_case(name));
        // The control character would end the header's line, not the test.
        found.push(((*name).to_owned(), value.replace('\u{1f}', "\t")));
    }
    match dice.random_range(0..6) {
        0 => found.push(("Authorization".into(), format!("Bearer {credential}"))),
        1 => found.push(("Authorization".into(), format!("Bearer {}", &credential[..credential.len() - 1]))),
        _ => {}
    }
    found
}

/// Bytes that are no HTTP request, or one whose parts contradict each other.
fn wire(dice: &mut ChaCha8Rng) -> Vec<u8> {
    let ping = originals()[2].clone();
    let line = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
                text/event-stream\r\n";
    let length = ping.len();
    let text = match dice.random_range(0..16) {
        0 => format!("{line}Content-Length: {}\r\n\r\n{ping}", length + dice.random_range(1..50)),
        1 => format!("{line}Content-Length: {}\r\n\r\n{ping}", dice.random_range(0..length)),
        2 => format!("{line}Content-Length: -1\r\n\r\n{ping}"),
        3 => format!("{line}Content-Length: 99999999999999999999\r\n\r\n{ping}"),
        4 => format!("{line}Content-Length: {length}\r\nContent-Length: 3\r\n\r\n{ping}"),
        5 => format!("{line}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{ping}\r\n0\r\n\r\n"),
        6 => format!("{line}Transfer-Encoding: chunked\r\n\r\nzz\r\n{ping}\r\n0\r\n\r\n"),
        7 => format!("{line}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{ping}"),
        8 => format!("{line}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n{length:x}\r\n{ping}\r\n0\r\n\r\n"),
        9 => format!("{line}Transfer-Encoding: chunked\r\n\r\n1;{}\r\n{{\r\n", "e=x;".repeat(2_000)),
        10 => format!("{line}{}\r\n\r\n", "X-Many: y\r\n".repeat(dice.random_range(1..500))),
        11 => format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "../".repeat(dice.random_range(1..4_000))),
        12 => format!("{} /mcp HTTP/{}\r\n\r\n", ["PRI *", "TRACE", "\u{0}", "post"].choose(dice).unwrap(), "9.9"),
        13 => line.replace("Host: localhost\r\n", "") + "Content-Length: 0\r\n\r\n",
        14 => line[..dice.random_range(0..line.len())].to_owned(),
        _ => return (0..dice.random_range(1..400)).map(|_| dice.next_u32() as u8).collect(),
    };
    let mut bytes = text.into_bytes();
    if dice.random_ratio(1, 3) {
        let at = dice.random_range(0..bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        bytes.get_mut(at).into_iter().for_each(|byte| *byte = dice.next_u32() as u8);
    }
    bytes
}

/// Sends bytes, says that no more come, and reads whatever is answered.
async fn send(address: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close before it has read everything.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

fn assert_fine(reply: &Reply, what: &[u8]) {
    let shown = String::from_utf8_lossy(&what[..what.len().min(400)]);
    assert!((200..500).contains(&reply.status), "{} for {shown}", reply.head);
}

/// The server is there, and nothing was changed but how often somebody called.
async fn assert_unharmed(server: &TestServer, credential: &str, heads: &[u64]) {
    let mut client = server.client(Some(credential));
    client.initialize("2025-06-18").await;
    assert_eq!(client.must("get_my_profile", json!({})).await["id"], "w1");
    for ((name, _), head) in PROJECTS.iter().zip(heads) {
        let stream = Project::stream(&name.parse().unwrap());
        let since = server.control.log().events_after::<Board>(&stream, *head, 10_000).await.unwrap();
        let changed: Vec<_> = since.iter().filter(|(_, event)| event.name() != "calls_counted").collect();
        assert!(changed.is_empty(), "{name}: {changed:?}");
    }
}

fn patient() -> Limits {
    Limits { max_calls: 1_000_000, ..Limits::default() }
}

/// T2, M1: garbled, cut off, doubled and absurd requests are refused or answered, at once, and
/// change nothing; whoever comes next is served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbled_requests_do_no_harm() {
    let seed = 7;
    let server = TestServer::open(patient()).await;
    let credential = server.at_work("web", "w1").await;
    let heads = server.heads().await;
    let connections = (0..4u64).map(|n| {
        let (url, credential) = (server.url.clone(), credential.clone());
        tokio::spawn(async move {
            let mut dice = ChaCha8Rng::seed_from_u64(seed + n);
            let mut http = Http::new(&url, None);
            for case in 0..BODIES / 4 {
                http.headers = headers(&mut dice, &credential);
                let body = body(&mut dice);
                let answered = tokio::time::timeout(HANG, http.post(&body)).await;
                let answered =
                    answered.unwrap_or_else(|_| panic!("{n}.{case}: no answer to {:?} {body:?}", http.headers));
                // A connection that the server closes is an answer too.
                if let Ok(reply) = answered {
                    assert_fine(&reply, &body);
                }
            }
        })
    });
    for connection in connections.collect::<Vec<_>>() {
        connection.await.unwrap();
    }
    assert_unharmed(&server, &credential, &heads).await;
}

/// T2: bytes that are no HTTP, and messages that contradict themselves, end their own connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbled_connections_do_no_harm() {
    let mut dice = ChaCha8Rng::seed_from_u64(11);
    let server = TestServer::open(patient()).await;
    let credential = server.at_work("web", "w1").await;
    let heads = server.heads().await;
    let address = server.url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    for case in 0..CONNECTIONS {
        let bytes = wire(&mut dice);
        let answered = tokio::time::timeout(HANG, send(&address, &bytes)).await;
        let answer = answered.unwrap_or_else(|_| panic!("{case}: no answer to {bytes:?}"));
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap_or("");
        // The SDK has this word for a body that breaks off; its sender is to blame all the same.
        let broke_off = answer.contains("Failed to read request body");
        assert!(!status.starts_with('5') || broke_off, "{case}: {answer} for {:?}", String::from_utf8_lossy(&bytes));
    }
    assert_unharmed(&server, &credential, &heads).await;
}

/// M1, T2: a body may be large, but not larger than the limit, whether it says so or not; a silent
/// connection keeps nobody else waiting.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_large_is_refused_and_silence_hurts_nobody() {
    let server = TestServer::open(patient()).await;
    let credential = server.at_work("web", "w1").await;
    let heads = server.heads().await;
    let address = server.url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    let mut silent = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{").await.unwrap();
        silent.push(stream);
    }
    let large = |size: usize| {
        let text = "x".repeat(size);
        let arguments = json!({ "task_id": text });
        let params = json!({ "name": "get_task", "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string().into_bytes()
    };
    let mut http = Http::new(&server.url, Some(&credential));
    let reply = tokio::time::timeout(HANG, http.post(&large(MAX_BODY - 1_000))).await.unwrap().unwrap();
    assert_eq!(reply.status, 200, "{}", reply.head);
    let answer: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["code"], "invalid_argument");
    assert!(reply.body.len() < 10_000, "what is wrong is said in {} bytes", reply.body.len());

    let body = large(MAX_BODY + 1);
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
                text/event-stream\r\n";
    let declared = [format!("{head}Content-Length: {}\r\n\r\n", body.len()).into_bytes(), body.clone()].concat();
    let chunked = [
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len()).into_bytes(),
        body,
        b"\r\n0\r\n\r\n".to_vec(),
    ]
    .concat();
    for bytes in [declared, chunked] {
        let answer = tokio::time::timeout(HANG, send(&address, &bytes)).await.unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        // Nothing arrives if the refusal is overtaken by the end of the connection.
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 413"), "{answer}");
    }
    assert_unharmed(&server, &credential, &heads).await;
    drop(silent);
}
