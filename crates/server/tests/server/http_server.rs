//! Who is let in at the door, and where is it?

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use board::Limits;
use control::{Control, ProcessLifetime, SystemClock};
use mcp::Mcp;
use proptest::prelude::*;
use server::{HttpServer, Listen, ListenError, ServerState};
use store::MemoryStore;
use testkit::mcp::Http;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use crate::test_server::TestServer;

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

async fn status_with(server: &TestServer, header: (&str, &str)) -> u16 {
    let mut http = Http::new(&server.url, None);
    http.headers.push((header.0.into(), header.1.into()));
    http.post(PING).await.unwrap().status
}

/// W3: a page in somebody's browser cannot pose as a local client, by name or by origin.
#[tokio::test]
async fn strangers_are_not_let_in_by_name_or_origin() {
    let server = TestServer::open(Limits::default()).await;
    let port = server.url.rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "10.0.0.1"] {
        assert_eq!(status_with(&server, ("Host", host)).await, 403, "{host}");
    }
    for host in ["localhost", "127.0.0.1", "[::1]", &format!("localhost:{port}")] {
        assert_eq!(status_with(&server, ("Host", host)).await, 200, "{host}");
    }
    for origin in ["http://evil.example", "https://evil.example:4700", "null", "http://localhost.evil.example:80"] {
        assert_eq!(status_with(&server, ("Origin", origin)).await, 403, "{origin}");
    }
    for origin in ["http://127.0.0.1:4700", &format!("http://localhost:{port}"), "http://[::1]:80"] {
        assert_eq!(status_with(&server, ("Origin", origin)).await, 200, "{origin}");
    }
}

async fn unix_server(path: &Path, shutdown: &CancellationToken) -> Result<HttpServer, ListenError> {
    let control = Control::new(Arc::new(MemoryStore::new()), Arc::new(SystemClock), ProcessLifetime::LongLived);
    let state = ServerState::open(control, shutdown.clone()).await.unwrap();
    let server = HttpServer::bind(shutdown.clone(), &Listen::Unix(path.to_owned()), &[]).await?;
    let routes = mcp::router(Mcp::new(state), &server);
    Ok(server.with(routes))
}

async fn ping(path: &Path) -> String {
    let mut stream = UnixStream::connect(path).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        PING.len()
    );
    stream.write_all(&[head.as_bytes(), PING].concat()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// M1, F90: over a socket in the file system, which is its owner's alone; what a dead server left
/// is replaced, a living one is not pushed aside, and a file that is no socket is left alone.
#[tokio::test]
async fn a_socket_is_its_owners_and_only_a_dead_one_is_replaced() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("s.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "a server that is killed leaves its socket");

    let shutdown = CancellationToken::new();
    let http_server = unix_server(&path, &shutdown).await.unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(http_server.url(), format!("unix:{}", path.display()));
    let served = tokio::spawn(http_server.serve());
    let answer = ping(&path).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""result":{}"#), "{answer}");

    let taken = unix_server(&path, &CancellationToken::new()).await;
    assert!(matches!(taken, Err(ListenError::Taken(taken)) if taken == path));
    assert!(ping(&path).await.starts_with("HTTP/1.1 200"), "the living one serves on");
    shutdown.cancel();
    served.await.unwrap();
    assert!(!path.exists(), "it takes its socket away");

    std::fs::write(&path, "notes").unwrap();
    assert!(unix_server(&path, &CancellationToken::new()).await.is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "notes");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// C6, T2: any text is an address or explained; what is read is what was written.
    #[test]
    fn any_text_is_an_address_or_explained(text in "\\PC{0,40}|(unix:)?[a-z0-9.\\[\\]:/-]{0,30}(:[0-9]{0,6})?") {
        match text.parse::<Listen>() {
            Ok(Listen::Tcp(address)) => {
                prop_assert_eq!(&address, &text);
                prop_assert!(text.rsplit_once(':').unwrap().1.parse::<u16>().is_ok());
            }
            Ok(Listen::Unix(path)) => prop_assert_eq!(format!("unix:{}", path.display()), text),
            Err(why) => prop_assert!(!why.is_empty()),
        }
    }
}
