//! Sessions: which runs are there, and what is known of each?

mod log;
mod transcript;

use axum::Json;
use axum::extract::State;
use board::{AgentId, Board, Command, SessionId, TaskId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::described;
use super::page::{self, Page};
use super::{NoQuery, Path, Query};
use crate::AppState;
use crate::notice::{Notice, Told};
use crate::person::{Owner, Person};
use crate::problem::Problem;
use board::wire::{Session, SessionDetail};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show))
        .routes(routes!(stop))
        .routes(routes!(log::log))
        .routes(routes!(transcript::transcript))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct SessionQuery {
    /// Only those that have not ended.
    #[serde(default)]
    running: bool,
    /// Only those of this task.
    #[param(value_type = Option<String>)]
    task: Option<TaskId>,
    /// Only those of this agent.
    #[param(value_type = Option<String>)]
    agent: Option<AgentId>,
    /// How many at most: 1 to 500, 100 if not said.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// Sessions, newest first
#[utoipa::path(
    get, path = "/projects/{project}/sessions", tag = "sessions", params(("project" = String, Path), SessionQuery),
    responses((status = 200, body = Page<described::Session>))
)]
async fn list(
    State(state): State<AppState>,
    person: Person,
    Path(project): Path<String>,
    Query(wanted): Query<SessionQuery>,
) -> Result<Json<Page<Session>>, Problem> {
    let limit = page::limit(wanted.limit)?;
    let after: Option<SessionId> = page::cursor(wanted.after.as_deref())?;
    let open = state.project(&person, &project).await?;
    let board = &open.board;
    let task = wanted.task.map(|task| board.task(task)).transpose().map_err(|refusal| person.refused(&refusal))?;
    wanted.agent.as_ref().map(|agent| board.agent(agent)).transpose().map_err(|refusal| person.refused(&refusal))?;
    let before = after.unwrap_or(SessionId(u32::MAX));
    let candidates: Box<dyn Iterator<Item = &board::Session>> = match task {
        _ if wanted.running => running(board, before),
        Some(task) => of_task(board, task, before),
        None => Box::new(older(board, before)),
    };
    let found = candidates.filter(|session| {
        task.is_none_or(|task| session.task() == Some(task.id))
            && wanted.agent.as_ref().is_none_or(|agent| session.agent == *agent)
    });
    Ok(Json(Page::of(found, limit, |session| session.id, Session::from)))
}

/// From the newest one before `before` on.
fn older(board: &Board, before: SessionId) -> impl Iterator<Item = &board::Session> {
    board.sessions.range(..before).rev().map(|(_, session)| session.as_ref())
}

/// The board knows those that run apart from the others.
fn running(board: &Board, before: SessionId) -> Box<dyn Iterator<Item = &board::Session> + '_> {
    let mut live: Vec<_> = board.all_live_sessions().filter(|session| session.id < before).collect();
    live.sort_by_key(|session| std::cmp::Reverse(session.id));
    Box::new(live.into_iter())
}

/// None of a task's is newer than its last one or older than its first.
fn of_task<'a>(
    board: &'a Board,
    task: &'a board::Task,
    before: SessionId,
) -> Box<dyn Iterator<Item = &'a board::Session> + 'a> {
    let Some(newest) = task.live.max(task.last_session) else { return Box::new(std::iter::empty()) };
    let before = before.min(SessionId(newest.0.saturating_add(1)));
    let mut over = false;
    Box::new(older(board, before).take_while(move |session| {
        let first = session.task() == Some(task.id) && session.generation.0 <= 1;
        !std::mem::replace(&mut over, first)
    }))
}

/// A session with the evidence about its work
#[utoipa::path(
    get, path = "/projects/{project}/sessions/{session}", tag = "sessions",
    params(("project" = String, Path), ("session" = String, Path)),
    responses((status = 200, body = described::SessionDetail))
)]
async fn show(
    State(state): State<AppState>,
    person: Person,
    Path((project, session)): Path<(String, SessionId)>,
    _: Query<NoQuery>,
) -> Result<Json<SessionDetail>, Problem> {
    let open = state.project(&person, &project).await?;
    let session = open.board.session(session).map_err(|refusal| person.refused(&refusal))?;
    Ok(Json(SessionDetail::of(&open.board, session, open.now, |waiting| board::say_waiting(waiting, person.language))))
}

/// What follows a stop.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct StopQuery {
    /// Do not block its task: it is started again.
    #[serde(default)]
    restart: bool,
}

/// Stop a session and block its task, so that no other starts; nothing is judged
#[utoipa::path(
    post, path = "/projects/{project}/sessions/{session}/stop", tag = "sessions",
    params(("project" = String, Path), ("session" = String, Path), StopQuery),
    responses((status = 200, body = described::Session))
)]
async fn stop(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path((project, session)): Path<(String, SessionId)>,
    Query(stop): Query<StopQuery>,
) -> Result<Json<Told<Session>>, Problem> {
    let open = state.project(&person, &project).await?;
    let command = Command::StopSession { session, restart: stop.restart };
    let receipt = open.project.submit(person.actor(), command).await;
    let receipt = receipt.map_err(|error| person.problem(&error))?;
    let session = receipt.after.session(session).map_err(|refusal| person.refused(&refusal))?;
    let said = person.say("The session is being stopped", "セッションを停止しています");
    let notice = session.task().and_then(|task| Notice::of_task(&person, &open, &receipt, task, said));
    Ok(Notice::with(notice, session.into()))
}
