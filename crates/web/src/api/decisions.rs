//! What was a session or agent told, and why?

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use board::{AgentId, Seq, SessionId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::described;
use super::page::{self, Page, Paging};
use super::{Path, Query};
use crate::person::Person;
use crate::problem::Problem;
use crate::{AppState, ProjectRequest};

/// What a session or agent was told, and why.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Decision {
    #[schema(value_type = described::Time)]
    at: Timestamp,
    /// The event on whose board it was decided.
    seq: Seq,
    /// `next_action`, `call`, `staffing` or `verdict`.
    kind: String,
    /// What was asked and answered.
    #[serde(flatten)]
    body: BTreeMap<String, serde_json::Value>,
}

/// Every call of a session, what it was told and why, newest first
///
/// The newest 100,000 of a project are kept. Calls that only repeated themselves are one, with how often.
#[utoipa::path(
    get, path = "/projects/{project}/sessions/{session}/decisions", tag = "sessions",
    params(("project" = String, Path), ("session" = String, Path), Paging),
    responses((status = 200, body = Page<Decision>))
)]
pub(super) async fn of_session(
    State(state): State<AppState>,
    person: Person,
    Path((project, session)): Path<(String, SessionId)>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Decision>>, Problem> {
    let open = state.project(&person, &project).await?;
    open.board.session(session).map_err(|refusal| person.refused(&refusal))?;
    read(&open, &person, &session.to_string(), &paging).await
}

/// What a coordinator or runner was told about an agent, and why, newest first
///
/// The newest 100,000 of a project are kept. Equal answers in a row are one, with how often.
#[utoipa::path(
    get, path = "/projects/{project}/agents/{agent}/decisions", tag = "agents",
    params(("project" = String, Path), ("agent" = String, Path), Paging),
    responses((status = 200, body = Page<Decision>))
)]
pub(super) async fn of_agent(
    State(state): State<AppState>,
    person: Person,
    Path((project, agent)): Path<(String, AgentId)>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Decision>>, Problem> {
    let open = state.project(&person, &project).await?;
    open.board.agent(&agent).map_err(|refusal| person.refused(&refusal))?;
    read(&open, &person, agent.as_str(), &paging).await
}

async fn read(
    open: &ProjectRequest,
    person: &Person,
    subject: &str,
    paging: &Paging,
) -> Result<Json<Page<Decision>>, Problem> {
    let limit = page::limit(paging.limit)?;
    let before: u64 = page::cursor(paging.after.as_deref())?.unwrap_or(u64::MAX);
    let found = open.project.decisions(subject, before, limit + 1).await;
    let found = found.map_err(|error| person.problem(&error))?;
    Ok(Json(Page::of(found, limit, |one| one.number, |one| shape(&one.decision))))
}

fn shape(decision: &control::Decision) -> Decision {
    let body = serde_json::from_str(&decision.body).unwrap_or_default();
    Decision { at: Timestamp(decision.at), seq: decision.seq, kind: decision.kind.clone(), body }
}
