//! What was done since a time, by whom, and at what cost?

use axum::Json;
use axum::extract::State;
use board::wire::Report;
use board::{Span, Timestamp};
use serde::Deserialize;
use utoipa::IntoParams;

use super::described;
use super::{Path, Query};
use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;

/// If it is not said since when.
const A_DAY: Span = Span::minutes(24 * 60);

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// The beginning; 24 hours ago if not said.
    #[param(value_type = Option<described::Time>)]
    since: Option<Timestamp>,
}

/// What was done since a time, by whom, and at what cost
#[utoipa::path(
    get, path = "/projects/{project}/report", tag = "projects", params(("project" = String, Path), Wanted),
    responses((status = 200, body = described::Report))
)]
pub(super) async fn report(
    State(state): State<AppState>,
    person: Person,
    Path(project): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Report>, Problem> {
    let open = state.project(&person, &project).await?;
    let since = wanted.since.unwrap_or(open.now + Span(-A_DAY.0));
    Ok(Json(Report::of(&open.board, since, open.now)))
}
