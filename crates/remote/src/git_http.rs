//! How does a runner fetch from the server's repository? By git's own protocol over HTTP, read-only.

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use futures::StreamExt as _;
use git::{Git, HttpRequest};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio_util::io::ReaderStream;

use crate::caller::{InProject, Refused};
use crate::repository::own_repository;
use crate::state::RunnerService;

/// The headers of an answer are a few lines.
const MOST_HEADERS: usize = 32;

pub(crate) async fn info_refs(
    place: InProject,
    State(service): State<RunnerService>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let query = query.unwrap_or_default();
    if query != "service=git-upload-pack" {
        return Err(Refused::new(StatusCode::FORBIDDEN, "not_allowed", "the repository can only be read here"));
    }
    answer(&place, &service, request("GET", "/info/refs", &query, &headers), Body::empty()).await
}

pub(crate) async fn upload_pack(
    place: InProject,
    State(service): State<RunnerService>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    answer(&place, &service, request("POST", "/git-upload-pack", "", &headers), body).await
}

fn request(method: &str, path: &str, query: &str, headers: &HeaderMap) -> HttpRequest {
    let header =
        |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    HttpRequest {
        method: method.into(),
        path: path.into(),
        query: query.into(),
        content_type: header(header::CONTENT_TYPE),
        content_encoding: header(header::CONTENT_ENCODING),
        git_protocol: header(HeaderName::from_static("git-protocol")),
    }
}

async fn answer(
    place: &InProject,
    service: &RunnerService,
    request: HttpRequest,
    body: Body,
) -> Result<Response, Refused> {
    let repository = own_repository(service, &place.id)?;
    let mut command = Command::from(Git::in_repository(repository).http_backend(&request));
    let mut child = command.kill_on_drop(true).spawn().map_err(Refused::unavailable)?;
    let missing = || Refused::unavailable("git cannot be spoken to");
    let (mut input, output) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
    // Beside its answer, which may begin before all of the request is there.
    let feeding = tokio::spawn(async move {
        let mut pieces = body.into_data_stream();
        while let Some(Ok(piece)) = pieces.next().await {
            if input.write_all(&piece).await.is_err() {
                break;
            }
        }
    });
    let mut output = BufReader::new(output);
    let mut response = head(&mut output).await?;
    let body = Running { pieces: ReaderStream::new(output), _child: child, _feeding: AbortOnDrop(feeding) };
    let body = futures::stream::unfold(body, |mut running| async {
        let piece = running.pieces.next().await?;
        Some((piece, running))
    });
    *response.body_mut() = Body::from_stream(body);
    Ok(response)
}

/// Git, as long as its answer is read: when nobody reads it any more, it is ended.
struct Running {
    pieces: ReaderStream<BufReader<ChildStdout>>,
    _child: Child,
    _feeding: AbortOnDrop,
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The status and the headers with which git's answer begins.
async fn head(output: &mut BufReader<ChildStdout>) -> Result<Response, Refused> {
    let mut response = Response::new(Body::empty());
    for _ in 0..MOST_HEADERS {
        let mut line = String::new();
        if output.read_line(&mut line).await.map_err(Refused::unavailable)? == 0 {
            return Err(Refused::unavailable("git gave no answer"));
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(response);
        }
        let Some((name, value)) = line.split_once(": ") else { continue };
        if name.eq_ignore_ascii_case("status") {
            let code = value.split(' ').next().and_then(|code| code.parse().ok());
            *response.status_mut() = code.unwrap_or(StatusCode::BAD_GATEWAY);
        } else if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    Err(Refused::unavailable("git's answer cannot be read"))
}
