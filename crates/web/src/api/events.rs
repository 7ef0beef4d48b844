//! The log: what has happened in a project, in order?

use axum::Json;
use axum::extract::State;
use board::Seq;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{self, Page};
use super::shapes::Event;
use super::{Path, Query};
use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Paging {
    /// How many at most: 1 to 500, 100 if not said.
    limit: Option<usize>,
    /// The number of the event before the first that is wanted; also the `next` of the page before.
    after: Option<String>,
}

/// Events of a project, oldest first
#[utoipa::path(
    get, path = "/projects/{project}/events", tag = "events", params(("project" = String, Path), Paging),
    responses((status = 200, body = Page<Event>))
)]
async fn list(
    State(state): State<AppState>,
    person: Person,
    Path(project): Path<String>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Event>>, Problem> {
    let limit = page::limit(paging.limit)?;
    let after: Seq = page::cursor(paging.after.as_deref())?.unwrap_or(0);
    let open = state.project(&person, &project).await?;
    let found = open.project.events_after(after, limit + 1).await;
    let found = found.map_err(|error| person.problem(&error))?;
    Ok(Json(Page::of(found, limit, |(seq, _)| *seq, |(seq, event)| Event::of(seq, &event))))
}
