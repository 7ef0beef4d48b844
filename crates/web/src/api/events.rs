//! The log: what has happened in a project, in order?

use axum::Json;
use axum::extract::State;
use board::Seq;
use board::wire::Event;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::described;
use super::page::{self, Page, Paging};
use super::{Path, Query};
use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Events of a project, oldest first
#[utoipa::path(
    get, path = "/projects/{project}/events", tag = "events", params(("project" = String, Path), Paging),
    responses((status = 200, body = Page<described::Event>))
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
