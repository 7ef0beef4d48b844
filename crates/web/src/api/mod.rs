//! What can programs ask and do? `/api/v1`, described by its own OpenAPI document (W4).
//!
//! A handler parses, finds out who asks, and submits a command; what may happen is the board's. The
//! document is made from the handlers, so none can be missing from it.

mod agents;
mod body;
mod decisions;
mod described;
mod document;
mod event_stream;
mod events;
mod me;
mod memory;
mod messages;
mod page;
mod projects;
mod queue;
mod report;
mod runners;
mod sessions;
mod tasks;
mod tokens;

use axum::Router;
use axum::extract::FromRequestParts;
use axum::extract::rejection::{PathRejection, QueryRejection};
use http::StatusCode;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::problem::Problem;

pub(crate) use self::body::Body;
pub(super) use self::document::served;

/// The handlers, and the document that describes them.
pub(super) fn router() -> (Router<AppState>, serde_json::Value) {
    let described = OpenApiRouter::with_openapi(document::head())
        .merge(me::router())
        .merge(projects::router())
        .merge(tasks::router())
        .merge(agents::router())
        .merge(sessions::router())
        .routes(routes!(decisions::of_session))
        .routes(routes!(decisions::of_agent))
        .merge(queue::router())
        .routes(routes!(report::report))
        .merge(messages::router())
        .merge(memory::router())
        .merge(events::router())
        .merge(tokens::router())
        .merge(runners::router())
        .routes(routes!(event_stream::events));
    let (router, document) = described.split_for_parts();
    (router.fallback(nothing_here).method_not_allowed_fallback(not_so), document::completed(document))
}

async fn nothing_here() -> Problem {
    Problem::not_found("There is nothing at this address.", SEE)
}

async fn not_so() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "This cannot be done with this address.", SEE)
}

const SEE: &str = "See /api/v1/openapi.json for what there is and what it takes.";

/// The parts of a path, likewise.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Problem))]
pub(crate) struct Path<T>(pub(crate) T);

/// What stands behind the question mark, likewise.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Problem))]
pub(crate) struct Query<T>(pub(crate) T);

/// An address that takes no query: any parameter is refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoQuery {}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Problem::bad_argument(rejection.body_text(), SEE)
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Problem::not_found(rejection.body_text(), SEE)
    }
}
