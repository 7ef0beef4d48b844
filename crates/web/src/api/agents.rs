//! Agents: who is on the roster, and what does each of them do?

use axum::Json;
use axum::extract::State;
use board::AgentId;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::described;
use super::page::{self, Page};
use super::{NoQuery, Path, Query};
use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;
use board::wire::{Agent, AgentDetail};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct AgentQuery {
    /// Also those that left.
    #[serde(default)]
    all: bool,
    /// How many at most: 1 to 500, 100 if not said.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// The roster, by id
#[utoipa::path(
    get, path = "/projects/{project}/agents", tag = "agents", params(("project" = String, Path), AgentQuery),
    responses((status = 200, body = Page<described::Agent>))
)]
async fn list(
    State(state): State<AppState>,
    person: Person,
    Path(project): Path<String>,
    Query(wanted): Query<AgentQuery>,
) -> Result<Json<Page<Agent>>, Problem> {
    let limit = page::limit(wanted.limit)?;
    let after: Option<AgentId> = page::cursor(wanted.after.as_deref())?;
    let open = state.project(&person, &project).await?;
    let found = open.board.agents.values().map(AsRef::as_ref).filter(|agent: &&board::Agent| {
        (wanted.all || agent.active) && after.as_ref().is_none_or(|after| agent.id() > after)
    });
    Ok(Json(Page::of(found, limit, |agent| agent.id().clone(), |agent| Agent::of(&open.board, agent))))
}

/// An agent: its definition, and whether it should be running
#[utoipa::path(
    get, path = "/projects/{project}/agents/{agent}", tag = "agents",
    params(("project" = String, Path), ("agent" = String, Path)),
    responses((status = 200, body = described::AgentDetail))
)]
async fn show(
    State(state): State<AppState>,
    person: Person,
    Path((project, agent)): Path<(String, AgentId)>,
    _: Query<NoQuery>,
) -> Result<Json<AgentDetail>, Problem> {
    let open = state.project(&person, &project).await?;
    let staffing = board::staffing(&open.board, &agent, open.now).map_err(|refusal| person.refused(&refusal))?;
    let agent = open.board.agent(&agent).map_err(|refusal| person.refused(&refusal))?;
    Ok(Json(AgentDetail { agent: Agent::of(&open.board, agent), definition: agent.spec.clone(), staffing }))
}
