//! Are those served who have something to say, however many others keep the server waiting (F113)?

use std::time::Duration;

use board::{Limits, Role};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::test_server::TestServer;

/// More than the server has places for strangers, in a process that may open 1,024 files.
const CROWD: usize = 300;

async fn connect(server: &TestServer) -> TcpStream {
    TcpStream::connect(server.base.trim_start_matches("http://")).await.unwrap()
}

/// Sends this on many connections, and keeps them.
async fn crowd(server: &TestServer, sent: &str) -> Vec<TcpStream> {
    let mut all = Vec::new();
    for _ in 0..CROWD {
        let mut stream = connect(server).await;
        // It may be closed already.
        let _ = stream.write_all(sent.as_bytes()).await;
        all.push(stream);
    }
    all
}

/// The status of one request on a connection of its own.
async fn status(server: &TestServer, path: &str, bearer: &str) -> String {
    let mut stream = connect(server).await;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {bearer}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    match tokio::time::timeout(Duration::from_secs(20), stream.read_exact(&mut answer)).await {
        Ok(Ok(_)) => String::from_utf8_lossy(&answer).into_owned(),
        failed => format!("{failed:?}"),
    }
}

/// W3, S4, F113: unfinished headers, bodies that never come, and idle connections of strangers keep nobody out; not even
/// those who come while it goes on.
#[tokio::test]
async fn strangers_who_keep_the_server_waiting_lock_nobody_out() {
    let server = TestServer::open(Limits::default()).await;
    let owner = server.tokens[Role::Owner.as_str()].clone();
    let agent = server.at_work("web", "w1").await;
    let mut at_work = server.client(Some(&agent));
    at_work.must("get_next_action", json!({})).await;
    let waiting = [
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
        "POST /api/v1/projects HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "GET / HTTP/1.1\r\nHost: loc",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "",
    ];
    for sent in waiting {
        let crowd = crowd(&server, sent).await;
        for path in ["/healthz", "/api/v1/projects"] {
            assert_eq!(status(&server, path, &owner).await, "HTTP/1.1 200", "{path} beside {sent:?}");
        }
        at_work.must("get_next_action", json!({})).await;
        drop(crowd);
    }
}

/// W3, F113: one who has logged in may have so many streams, and is told when they are too many. The others are served.
#[tokio::test]
async fn one_login_has_so_many_streams() {
    let server = TestServer::open(Limits::default()).await;
    let (viewer, owner) = (&server.tokens[Role::Viewer.as_str()], &server.tokens[Role::Owner.as_str()]);
    let request = format!("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {viewer}\r\n\r\n");
    let (mut open, mut refused) = (Vec::new(), 0);
    for _ in 0..80 {
        let mut stream = connect(&server).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        match &answer {
            b"HTTP/1.1 200" => open.push(stream),
            b"HTTP/1.1 429" => refused += 1,
            other => panic!("{}", String::from_utf8_lossy(other)),
        }
    }
    assert_eq!((open.len(), refused), (64, 16));
    assert_eq!(status(&server, "/api/v1/projects", owner).await, "HTTP/1.1 200");
    assert_eq!(status(&server, "/api/v1/projects", viewer).await, "HTTP/1.1 200", "only streams are refused");
    let before = open.len();
    open.truncate(before - 1);
    // Whoever closes one may open another.
    let mut again = String::new();
    for _ in 0..500 {
        again = status(&server, "/api/v1/events", viewer).await;
        if again == "HTTP/1.1 200" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(again, "HTTP/1.1 200");
}
