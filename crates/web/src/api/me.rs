//! Who am I here?

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::described;
use super::{NoQuery, Query};
use crate::AppState;
use crate::person::Person;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(me))
}

/// The person who asks.
#[derive(Debug, Serialize, ToSchema)]
struct Me {
    name: String,
    /// An owner may change things, a viewer only look.
    #[schema(value_type = described::Role)]
    role: board::Role,
    /// In which problems and explanations are told.
    #[schema(value_type = described::Language)]
    language: board::Language,
}

/// Who you are
#[utoipa::path(
    get, path = "/me", tag = "me",
    responses((status = 200, body = Me))
)]
async fn me(person: Person, _: Query<NoQuery>) -> Json<Me> {
    Json(Me { name: person.name, role: person.role, language: person.language })
}
