//! Where does the server listen, and for whom?

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use crate::connections::{Connections, Places};
use crate::request_body::RequestBody;
use crate::tls::{OverTls, Tls};

/// Browsers know that every name below `localhost` is this machine.
const OWN_NAME: &str = "saihai.localhost";

/// A client that takes longer to say what it wants is gone.
const HEADER_TIME: Duration = Duration::from_secs(30);

/// An address: `HOST:PORT`, where port 0 is any free one, or `unix:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    Tcp(String),
    Unix(PathBuf),
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() { Err("`unix:` needs a path".into()) } else { Ok(Self::Unix(path.into())) };
        }
        let port = text.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
        match port {
            Some(Ok(_)) => Ok(Self::Tcp(text.into())),
            Some(Err(_)) | None => Err(format!("`{text}` is neither HOST:PORT nor unix:PATH")),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("cannot listen on {address}: {error}")]
    Listen { address: String, error: std::io::Error },
    #[error("another server listens on {}", .0.display())]
    Taken(PathBuf),
}

enum Listener {
    Tcp { listener: TcpListener, address: SocketAddr },
    Unix { listener: UnixListener, path: PathBuf },
}

/// Any kind of connection.
type Stream = Either<TcpStream, UnixStream>;
type Secured = Either<Stream, Box<TlsStream<Stream>>>;

/// A server that listens. It serves nobody before [`HttpServer::serve`].
pub struct HttpServer {
    listener: Listener,
    /// What it shows to those who come over TLS.
    tls: Option<TlsAcceptor>,
    router: Router,
    /// The names under which it may be called.
    hosts: Vec<String>,
    /// Those of them that its user has given it.
    named: Vec<String>,
    shutdown: CancellationToken,
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl HttpServer {
    /// Listens, but serves nobody before [`HttpServer::serve`]. Requests must name this machine, the
    /// address, or one of `hosts`: a page in somebody's browser cannot pose as a local client (DNS
    /// rebinding).
    pub async fn bind(shutdown: CancellationToken, listen: &Listen, hosts: &[String]) -> Result<Self, ListenError> {
        let listener = bind(listen).await?;
        let mut allowed: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).into();
        allowed.extend(hosts.iter().cloned());
        if let Listener::Tcp { address, .. } = &listener {
            allowed.push(address.ip().to_string());
            if address.ip().is_loopback() {
                allowed.push(OWN_NAME.into());
            }
        }
        let router = Router::new().route("/healthz", get(|| async { "ok\n" }));
        Ok(Self { listener, tls: None, router, hosts: allowed, named: hosts.to_vec(), shutdown })
    }

    /// Speaks TLS, and nothing else.
    #[must_use]
    pub fn with_tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls.0.into());
        self
    }

    fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// The names under which it may be called.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Cancelled when it shuts down.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    /// Serves these routes too.
    #[must_use]
    pub fn with(mut self, routes: Router) -> Self {
        self.router = self.router.merge(routes);
        self
    }

    /// Where people reach it.
    pub fn url(&self) -> String {
        match &self.listener {
            Listener::Tcp { address, .. } => format!("{}://{address}", self.scheme()),
            Listener::Unix { path, .. } => format!("unix:{}", path.display()),
        }
    }

    /// Where browsers reach it. On this machine by a name of its own: their cookies do not know ports, and would go
    /// to every other server on 127.0.0.1 as well. With TLS by the first name that it was given, which its certificate may
    /// be for. `None` for a socket.
    pub fn web_url(&self) -> Option<String> {
        match &self.listener {
            Listener::Tcp { address, .. } if self.tls.is_some() => {
                let name = self.named.first().cloned().unwrap_or_else(|| address.ip().to_string());
                Some(format!("https://{name}:{}", address.port()))
            }
            Listener::Tcp { address, .. } if address.ip().is_loopback() => {
                Some(format!("http://{OWN_NAME}:{}", address.port()))
            }
            Listener::Tcp { address, .. } => Some(format!("http://{address}")),
            Listener::Unix { .. } => None,
        }
    }

    /// Where agents reach it.
    pub fn mcp_url(&self) -> String {
        match &self.listener {
            Listener::Tcp { address, .. } => format!("{}://{address}/mcp", self.scheme()),
            Listener::Unix { path, .. } => format!("unix:{}:/mcp", path.display()),
        }
    }

    /// Lets everybody in until the server closes; calls that wait are answered then.
    pub async fn serve(self) {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME);
        let (served, connections) = (GracefulShutdown::new(), Connections::new(Places::of_this_process()));
        loop {
            let stream = tokio::select! {
                arrived = self.listener.accept() => arrived,
                () = self.shutdown.cancelled() => break,
            };
            let connection = connections.enter();
            let (router, place, over_tls) = (self.router.clone(), connection.clone(), self.tls.is_some());
            let service = service_fn(move |request: Request<Incoming>| {
                let (mut router, place) = (router.clone(), place.clone());
                async move {
                    let mut request = request.map(|body| RequestBody::new(body, place.clone()));
                    request.extensions_mut().insert(place.clone());
                    if over_tls {
                        request.extensions_mut().insert(OverTls);
                    }
                    let response = router.call(request).await;
                    place.answering(false);
                    response
                }
            });
            let (http, watcher, tls) = (http.clone(), served.watcher(), self.tls.clone());
            tokio::spawn(async move {
                let serving = async {
                    let Some(stream) = secure(stream, tls.as_ref()).await else { return };
                    let _ = watcher.watch(http.serve_connection(TokioIo::new(stream), service)).await;
                };
                // A connection that breaks off ends only itself.
                tokio::select! {
                    () = serving => {}
                    () = connection.closed() => {}
                }
            });
        }
        served.shutdown().await;
        if let Listener::Unix { path, .. } = &self.listener {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The connection, encrypted if it has to be. `None` if the other side does not know how, or takes too long.
async fn secure(stream: Stream, tls: Option<&TlsAcceptor>) -> Option<Secured> {
    let Some(tls) = tls else { return Some(Either::Left(stream)) };
    let secured = tokio::time::timeout(HEADER_TIME, tls.accept(stream)).await.ok()?;
    secured
        .inspect_err(|error| tracing::debug!(%error, "a connection without TLS"))
        .ok()
        .map(Box::new)
        .map(Either::Right)
}

impl Listener {
    /// The next connection.
    async fn accept(&self) -> Stream {
        loop {
            let arrived = match self {
                Self::Tcp { listener, .. } => listener.accept().await.map(|(stream, _)| {
                    // Without this, answers in two packets wait 40 ms for the client's acknowledgement.
                    let _ = stream.set_nodelay(true);
                    Stream::Left(stream)
                }),
                Self::Unix { listener, .. } => listener.accept().await.map(|(stream, _)| Stream::Right(stream)),
            };
            match arrived {
                Ok(stream) => return stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

async fn bind(listen: &Listen) -> Result<Listener, ListenError> {
    match listen {
        Listen::Tcp(address) => {
            let failed = |error| ListenError::Listen { address: address.clone(), error };
            let listener = TcpListener::bind(address).await.map_err(failed)?;
            let address = listener.local_addr().map_err(failed)?;
            Ok(Listener::Tcp { listener, address })
        }
        Listen::Unix(path) => {
            clear_stale(path).await?;
            let failed = |error| ListenError::Listen { address: path.display().to_string(), error };
            let listener = UnixListener::bind(path).map_err(failed)?;
            // Only its owner comes in (F90).
            let owners = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(path, owners).map_err(failed)?;
            Ok(Listener::Unix { listener, path: path.clone() })
        }
    }
}

/// Removes the socket of a server that is gone; never a file that is something else.
async fn clear_stale(path: &Path) -> Result<(), ListenError> {
    use std::os::unix::fs::FileTypeExt as _;
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Ok(());
    }
    if UnixStream::connect(path).await.is_ok() {
        return Err(ListenError::Taken(path.to_owned()));
    }
    let failed = |error| ListenError::Listen { address: path.display().to_string(), error };
    std::fs::remove_file(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::Listen;

    #[test]
    fn addresses_are_read_or_explained() {
        assert_eq!("127.0.0.1:0".parse(), Ok(Listen::Tcp("127.0.0.1:0".into())));
        assert_eq!("[::1]:80".parse(), Ok(Listen::Tcp("[::1]:80".into())));
        assert_eq!("unix:/run/s.sock".parse(), Ok(Listen::Unix("/run/s.sock".into())));
        for wrong in ["", "8080", "localhost", "localhost:http", "unix:", "1.2.3.4:99999"] {
            assert!(wrong.parse::<Listen>().is_err(), "{wrong}");
        }
    }
}
