//! How does a runner speak with its servers? With any of them: the next one is asked when one does not answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::protocol::{BASE, Trouble};

/// How long an answer may take: a server that waits for news answers after 20 s at most.
const LIMIT: Duration = Duration::from_secs(45);

/// How long it may take to connect. A host that is cut off does not say so.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Answers hold orders and, when output is compared, a few lines.
const LONGEST_ANSWER: usize = 64 << 20;

/// Why an address or a file of certificates cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadServer(String);

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RemoteError {
    /// Nobody has heard, or could do it now: it may be asked again.
    #[error("{0}")]
    Unreachable(String),
    /// The server does not do it.
    #[error("{message}")]
    Refused { status: StatusCode, code: String, message: String },
}

impl RemoteError {
    /// The token is not good, or not any more.
    pub fn is_unknown_token(&self) -> bool {
        matches!(self, Self::Refused { status: StatusCode::UNAUTHORIZED, .. })
    }

    pub(crate) fn is(&self, wanted: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == wanted)
    }
}

/// A runner's way to its servers.
#[derive(Clone)]
pub struct Connection(Arc<Inner>);

struct Inner {
    /// Where they are, without a slash at the end.
    servers: Vec<String>,
    /// The one that answered last.
    current: AtomicUsize,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    token: String,
    certificates: Option<PathBuf>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("servers", &self.0.servers).finish_non_exhaustive()
    }
}

impl Connection {
    /// `certificates` is a file with those that are trusted instead of the system's.
    pub fn new(servers: &[String], token: String, certificates: Option<&Path>) -> Result<Self, BadServer> {
        let servers: Result<Vec<_>, _> = servers.iter().map(|address| address_of(address)).collect();
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls(certificates)?).https_or_http().enable_http1();
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECT_LIMIT));
        http.set_keepalive(Some(Duration::from_secs(15)));
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(Duration::from_secs(30))
            .pool_timer(TokioTimer::new())
            .build(connector.wrap_connector(http));
        let (current, certificates) = (AtomicUsize::new(0), certificates.map(Path::to_owned));
        Ok(Self(Arc::new(Inner { servers: servers?, current, client, token, certificates })))
    }

    /// The server that answered last.
    pub fn server(&self) -> &str {
        &self.0.servers[self.0.current.load(Ordering::Relaxed) % self.0.servers.len()]
    }

    /// All of them, beginning with the one that answered last.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &str> {
        let (first, all) = (self.0.current.load(Ordering::Relaxed), &self.0.servers);
        (0..all.len()).map(move |offset| all[(first + offset) % all.len()].as_str())
    }

    pub(crate) fn client(&self) -> &Client<HttpsConnector<HttpConnector>, Full<Bytes>> {
        &self.0.client
    }

    pub(crate) fn certificates(&self) -> Option<&Path> {
        self.0.certificates.as_deref()
    }

    /// What shows who asks.
    pub(crate) fn authorization(&self) -> String {
        format!("Bearer {}", self.0.token)
    }

    /// Asks for something, and waits for the answer.
    pub(crate) async fn ask<A: DeserializeOwned>(&self, path: &str, asked: &impl Serialize) -> Result<A, RemoteError> {
        let body = serde_json::to_vec(asked).map_err(|error| RemoteError::Unreachable(error.to_string()))?;
        self.send(Method::POST, path, "application/json", body.into()).await
    }

    pub(crate) async fn get<A: DeserializeOwned>(&self, path: &str) -> Result<A, RemoteError> {
        self.send(Method::GET, path, "application/json", Bytes::new()).await
    }

    /// Sends a piece of something long.
    pub(crate) async fn put<A: DeserializeOwned>(&self, path: &str, piece: Bytes) -> Result<A, RemoteError> {
        self.send(Method::PUT, path, "application/octet-stream", piece).await
    }

    async fn send<A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Bytes,
    ) -> Result<A, RemoteError> {
        let first = self.0.current.load(Ordering::Relaxed);
        let mut trouble = RemoteError::Unreachable("no server is known".into());
        for offset in 0..self.0.servers.len() {
            let number = (first + offset) % self.0.servers.len();
            let server = &self.0.servers[number];
            let request = Request::builder()
                .method(method.clone())
                .uri(format!("{server}{BASE}{path}"))
                .header(header::AUTHORIZATION, self.authorization())
                .header(header::CONTENT_TYPE, content_type)
                .body(Full::new(body.clone()))
                .map_err(|error| RemoteError::Unreachable(error.to_string()))?;
            match self.answer(request).await {
                Ok(answer) => {
                    self.0.current.store(number, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(RemoteError::Unreachable(reason)) => {
                    trouble = RemoteError::Unreachable(format!("{server}: {reason}"));
                }
                Err(refused) => return Err(refused),
            }
        }
        Err(trouble)
    }

    async fn answer<A: DeserializeOwned>(&self, request: Request<Full<Bytes>>) -> Result<A, RemoteError> {
        let unreachable = |reason: String| RemoteError::Unreachable(reason);
        let answered = async {
            let response = self.0.client.request(request).await.map_err(|error| unreachable(said(&error)))?;
            let status = response.status();
            let body = Limited::new(response.into_body(), LONGEST_ANSWER).collect().await;
            let body = body.map_err(|error| unreachable(error.to_string()))?.to_bytes();
            if status.is_success() {
                return serde_json::from_slice(&body).map_err(|error| unreachable(format!("no good answer: {error}")));
            }
            let told: Trouble = serde_json::from_slice(&body).unwrap_or_else(|_| Trouble {
                code: String::new(),
                message: format!("it answers {status}: is it a server of saihai?"),
            });
            if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
                return Err(unreachable(told.message));
            }
            Err(RemoteError::Refused { status, code: told.code, message: told.message })
        };
        tokio::time::timeout(LIMIT, answered).await.unwrap_or_else(|_| Err(unreachable("it does not answer".into())))
    }
}

/// An address as it was given, with all that is needed of it.
fn address_of(address: &str) -> Result<String, BadServer> {
    let bad = |why: &str| BadServer(format!("{address}: {why}"));
    let uri: Uri = address.parse().map_err(|_| bad("this is no address, such as https://saihai.example.org"))?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.host().is_some() => {}
        Some(_) | None => return Err(bad("an address begins with https:// or http://")),
    }
    if uri.path() != "/" || uri.query().is_some() {
        return Err(bad("an address ends with the name and the port"));
    }
    Ok(address.trim_end_matches('/').to_owned())
}

fn tls(certificates: Option<&Path>) -> Result<ClientConfig, BadServer> {
    let mut roots = RootCertStore::empty();
    let trusted = match certificates {
        Some(file) => {
            let cannot = |error| BadServer(format!("{}: {error}", file.display()));
            let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).map_err(cannot)?.collect();
            read.map_err(cannot)?
        }
        None => rustls_native_certs::load_native_certs().certs,
    };
    let (added, _) = roots.add_parsable_certificates(trusted);
    if let (Some(file), 0) = (certificates, added) {
        return Err(BadServer(format!("{}: there is no certificate in it", file.display())));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| BadServer(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// An error with what is below it, in one line.
pub(crate) fn said(error: &(dyn std::error::Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        said = format!("{said}: {below}");
        cause = below.source();
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R10: an address that cannot work is refused with the reason.
    #[test]
    fn addresses_are_read_or_explained() {
        assert_eq!(address_of("https://saihai.example.org/").unwrap(), "https://saihai.example.org");
        assert_eq!(address_of("http://127.0.0.1:4700").unwrap(), "http://127.0.0.1:4700");
        for (wrong, part) in
            [("saihai.example.org", "https://"), ("ftp://a", "https://"), ("http://a/board", "ends"), ("", "address")]
        {
            let error = address_of(wrong).unwrap_err().to_string();
            assert!(error.contains(part), "{wrong}: {error}");
        }
    }

    /// R10, E8: the token is in no debug output.
    #[test]
    fn no_token_is_shown() {
        let connection = Connection::new(&["http://127.0.0.1:1".into()], "sht_secret".into(), None).unwrap();
        assert!(!format!("{connection:?}").contains("secret"));
    }
}
