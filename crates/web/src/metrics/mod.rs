//! How much happens, and how long does it take? For Prometheus.

mod follower;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{Method, header};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use server::ServerState;
use tokio::sync::watch;

use super::AppState;
use super::person::Person;
use super::problem::Problem;

pub(crate) use self::follower::Counted;

/// How long to wait for events to be counted that are on the board already.
const CATCHING_UP: Duration = Duration::from_secs(2);

/// Seconds; from a fraction of a millisecond to a long merge queue.
const BUCKETS: &[f64] = &[
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0,
];

/// One for the process: what is counted is counted wherever it happens.
static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// From now on everything is counted.
pub(super) fn begin(server: &Arc<ServerState>) -> watch::Receiver<Counted> {
    HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".into()), BUCKETS);
        builder.ok()?.install_recorder().ok()
    });
    follower::begin(Arc::clone(server))
}

pub(super) async fn metrics(State(state): State<AppState>, _: Person) -> Result<Response, Problem> {
    state.gauge().await;
    let text = HANDLE.get().and_then(Option::as_ref).map(PrometheusHandle::render).unwrap_or_default();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// Times every request by its route.
pub(super) async fn measure(path: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let route = path.map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let method = method(request.method());
    let begun = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_str().to_owned();
    metrics::histogram!("saihai_http_request_seconds", "route" => route, "method" => method, "status" => status)
        .record(begun.elapsed().as_secs_f64());
    response
}

/// Methods that a client made up are counted as one, so that they cannot fill the metrics.
fn method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "other",
    }
}

impl AppState {
    /// How things stand right now. What led there is counted by then, as far as can be waited for.
    async fn gauge(&self) {
        let mut heads = Counted::new();
        for id in self.server.installation().state().projects.keys() {
            let Ok(Some(project)) = self.server.project(id).await else { continue };
            let Ok(board) = project.newest().await else { continue };
            heads.insert(id.clone(), board.seq);
            for status in board::Status::ALL {
                let count = board.count(*status);
                metrics::gauge!("saihai_tasks", "project" => id.to_string(), "status" => status.as_str())
                    .set(count as f64);
            }
            for status in board::SessionStatus::ALL.iter().filter(|status| **status != board::SessionStatus::Ended) {
                let count = board.all_live_sessions().filter(|session| session.status == *status).count();
                let gauge =
                    metrics::gauge!("saihai_sessions", "project" => id.to_string(), "status" => status.as_str());
                gauge.set(count as f64);
            }
            metrics::gauge!("saihai_events", "project" => id.to_string()).set(board.seq as f64);
        }
        for (label, demand) in self.server.demand().await.unwrap_or_default() {
            metrics::gauge!("saihai_sessions_waiting", "label" => label.clone()).set(demand.waiting as f64);
            metrics::gauge!("saihai_sessions_running", "label" => label).set(demand.running as f64);
        }
        let mut counted = self.counted.clone();
        let caught_up = |counted: &Counted| heads.iter().all(|(id, head)| counted.get(id) >= Some(head));
        if tokio::time::timeout(CATCHING_UP, counted.wait_for(caught_up)).await.is_err() {
            tracing::debug!("some events are not counted yet");
        }
    }
}
