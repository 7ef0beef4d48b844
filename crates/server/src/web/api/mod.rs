//! What can programs ask and do? `/api/v1`, described by its own OpenAPI document (W4).
//!
//! A handler parses, finds out who asks, and submits a command; what may happen is the board's. The
//! document is made from the handlers, so none can be missing from it.

mod tasks;

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts};
use axum::routing::get;
use axum::{Json, Router};
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::person::Person;
use super::problem::Problem;
use super::{Window, live};

#[derive(OpenApi)]
#[openapi(
    info(title = "Saihai", description = "The board of a team of coding agents, for people and their programs."),
    components(schemas(Problem))
)]
struct Described;

/// The handlers, and the document that describes them.
pub(super) fn router() -> (Router<Window>, Document) {
    let described = OpenApiRouter::with_openapi(Described::openapi());
    described.merge(tasks::router()).routes(routes!(live::events)).split_for_parts()
}

/// Serves the document, to those who are logged in as everything else.
pub(super) fn document(mut document: Document) -> Router<Window> {
    document.servers = Some(vec![utoipa::openapi::Server::new("/api/v1")]);
    Router::new().route("/openapi.json", get(move |_: Person| async move { Json(document) }))
}

/// A body, with a problem that says what is wrong with it.
#[derive(FromRequest)]
#[from_request(via(Json), rejection(Problem))]
pub(in crate::web) struct Body<T>(pub(in crate::web) T);

/// The parts of a path, likewise.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Problem))]
pub(in crate::web) struct Path<T>(pub(in crate::web) T);

/// What stands behind the question mark, likewise.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Problem))]
pub(in crate::web) struct Query<T>(pub(in crate::web) T);

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        Problem::bad_argument(rejection.body_text(), "See /api/v1/openapi.json for what is expected.")
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Problem::bad_argument(rejection.body_text(), "See /api/v1/openapi.json for what can be asked for.")
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Problem::not_found(rejection.body_text(), "See /api/v1/openapi.json for what there is.")
    }
}
