//! What do people see? Pages, rendered here and kept up by the browser.

use axum::Router;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use super::Window;

pub(super) fn router() -> Router<Window> {
    Router::new()
}

pub(super) async fn not_found() -> Response {
    StatusCode::NOT_FOUND.into_response()
}
