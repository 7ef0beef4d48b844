//! How much happens, and how long does it take? For Prometheus.

use std::sync::OnceLock;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use super::Window;
use super::person::Person;
use super::problem::Problem;

/// Seconds; from a fraction of a millisecond to a long merge queue.
const BUCKETS: &[f64] = &[
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0,
];

/// One for the process: what is counted is counted wherever it happens.
static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// From now on everything is counted.
pub(super) fn begin() {
    HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".into()), BUCKETS);
        builder.ok()?.install_recorder().ok()
    });
}

pub(super) async fn metrics(State(window): State<Window>, _: Person) -> Result<Response, Problem> {
    window.gauge().await;
    let text = HANDLE.get().and_then(Option::as_ref).map(PrometheusHandle::render).unwrap_or_default();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// Times every request by its route.
pub(super) async fn measure(path: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let route = path.map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let method = request.method().as_str().to_owned();
    let begun = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_str().to_owned();
    metrics::histogram!("saihai_http_request_seconds", "route" => route, "method" => method, "status" => status)
        .record(begun.elapsed().as_secs_f64());
    response
}

impl Window {
    /// How things stand right now.
    async fn gauge(&self) {
        for id in self.desk.installation.state().projects.keys() {
            let Ok(Some(project)) = self.desk.project(id).await else { continue };
            let board = project.board();
            for status in board::Status::ALL {
                let count = board.tasks.values().filter(|task| task.status == *status).count();
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
    }
}
