//! How do agents on a runner's host reach the MCP server? Through an address on their own machine, which leads to whichever
//! server answers. It holds no key: agents show their own.

use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, StatusCode, header};
use http_body_util::Full;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, said};

/// A call of an agent's; the server takes no longer ones either.
const LONGEST_CALL: usize = 8 << 20;

/// About one connection, and of no meaning on the next.
const HOP_BY_HOP: [HeaderName; 6] =
    [header::CONNECTION, header::HOST, header::TE, header::TRANSFER_ENCODING, header::UPGRADE, header::CONTENT_LENGTH];

/// Listens on this machine alone.
#[derive(Debug)]
pub struct Forwarder {
    listener: TcpListener,
    address: SocketAddr,
    connection: Connection,
}

impl Forwarder {
    /// Listens where it did before, if that is still free: agents that outlived it know only that address.
    pub async fn bind(connection: Connection, before: Option<SocketAddr>) -> std::io::Result<Self> {
        let any: SocketAddr = ([127, 0, 0, 1], 0).into();
        let listener = match before {
            Some(before) => match TcpListener::bind(before).await {
                Ok(listener) => listener,
                Err(_) => TcpListener::bind(any).await?,
            },
            None => TcpListener::bind(any).await?,
        };
        let address = listener.local_addr()?;
        Ok(Self { listener, address, connection })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where agents reach the MCP server.
    pub fn mcp_url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub async fn serve(self, ending: CancellationToken) {
        let routes = Router::new().route("/mcp", axum::routing::any(forward)).with_state(self.connection);
        let served = axum::serve(self.listener, routes).with_graceful_shutdown(async move { ending.cancelled().await });
        if let Err(error) = served.await {
            tracing::warn!(%error, "agents cannot reach their server");
        }
    }
}

async fn forward(State(connection): State<Connection>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LONGEST_CALL).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let mut trouble = String::new();
    for server in connection.servers() {
        let mut forwarded = http::Request::new(Full::new(body.clone()));
        *forwarded.method_mut() = parts.method.clone();
        *forwarded.headers_mut() = end_to_end(&parts.headers);
        let Ok(uri) = format!("{server}/mcp").parse() else { continue };
        *forwarded.uri_mut() = uri;
        match connection.client().request(forwarded).await {
            Ok(response) => {
                let (head, body) = response.into_parts();
                let mut response = Response::new(Body::new(body));
                *response.status_mut() = head.status;
                *response.headers_mut() = end_to_end(&head.headers);
                return response;
            }
            // Nobody has heard it. Whoever breaks off later may have.
            Err(error) if error.is_connect() => trouble = said(&error),
            Err(error) => {
                trouble = said(&error);
                break;
            }
        }
    }
    (StatusCode::BAD_GATEWAY, Bytes::from(trouble)).into_response()
}

fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut kept = headers.clone();
    for name in HOP_BY_HOP {
        kept.remove(name);
    }
    kept
}
