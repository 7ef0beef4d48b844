//! What is there to know about one task?

use axum::Json;
use axum::extract::State;
use board::wire::{Event, TaskDetail};
use board::{Audience, Seq, Status, TaskId};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::described;
use super::super::page::{self, Page, Paging};
use super::super::{NoQuery, Path, Query};
use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;
use crate::task_events::newest_events;

/// The longest difference that is shown, in bytes.
const LONGEST_DIFF: usize = 1024 * 1024;

/// Why a task is (not) running, what must happen, and who must do it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Why {
    id: String,
    #[schema(value_type = described::Status)]
    status: board::Status,
    mover: String,
    /// In the language of whoever asks.
    reasons: Vec<String>,
    /// The same for programs: each has one key, which names it; spans of time are milliseconds.
    #[schema(value_type = Vec<serde_json::Value>)]
    lines: Vec<board::Line>,
    #[schema(value_type = described::RemainingFuel)]
    left: board::RemainingFuel,
}

/// A move that is open to whoever asks.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Offer {
    #[schema(value_type = described::Move)]
    name: board::lifecycle::Move,
    #[schema(value_type = described::Status)]
    to: board::Status,
    /// It must be said why.
    needs_reason: bool,
}

/// Why something would be refused.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Refused {
    #[schema(value_type = described::Code)]
    code: board::Code,
    detail: String,
    hint: String,
}

/// What may be done with a task now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Offers {
    moves: Vec<Offer>,
    may_edit: bool,
    /// Why not, and who may.
    refusal: Option<Refused>,
}

/// What a task's work changes, as git shows it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Diff {
    text: String,
    /// There is more.
    cut: bool,
}

/// One task
#[utoipa::path(
    get, path = "/projects/{project}/tasks/{task}", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path)),
    responses((status = 200, body = described::TaskDetail))
)]
pub(super) async fn show(
    State(state): State<AppState>,
    person: Person,
    Path((project, task)): Path<(String, TaskId)>,
    _: Query<NoQuery>,
) -> Result<Json<TaskDetail>, Problem> {
    let open = state.project(&person, &project).await?;
    let task = open.board.task(task).map_err(|refusal| person.refused(&refusal))?;
    Ok(Json(TaskDetail::of(&open.board, task)))
}

/// Why a task is (not) running, what must happen, and who must do it
#[utoipa::path(
    get, path = "/projects/{project}/tasks/{task}/why", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path)),
    responses((status = 200, body = Why))
)]
pub(super) async fn why(
    State(state): State<AppState>,
    person: Person,
    Path((project, task)): Path<(String, TaskId)>,
    _: Query<NoQuery>,
) -> Result<Json<Why>, Problem> {
    let open = state.project(&person, &project).await?;
    let runner = state.runner_view(&person, &open.id).await?;
    let why = board::why(&open.board, task, open.now, &runner).map_err(|refusal| person.refused(&refusal))?;
    let task = open.board.task(task).map_err(|refusal| person.refused(&refusal))?;
    Ok(Json(Why {
        id: task.id.to_string(),
        status: why.status,
        mover: open.board.mover(task).to_string(),
        reasons: why.lines.iter().map(|line| board::say_why(line, task.id, person.language)).collect(),
        lines: why.lines,
        left: board::left(&open.board, task),
    }))
}

/// Everything that has happened to a task, newest first
#[utoipa::path(
    get, path = "/projects/{project}/tasks/{task}/events", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path), Paging),
    responses((status = 200, body = Page<described::Event>))
)]
pub(super) async fn events(
    State(state): State<AppState>,
    person: Person,
    Path((project, task)): Path<(String, TaskId)>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Event>>, Problem> {
    let limit = page::limit(paging.limit)?;
    let before: Option<Seq> = page::cursor(paging.after.as_deref())?;
    let open = state.project(&person, &project).await?;
    let task = open.board.task(task).map_err(|refusal| person.refused(&refusal))?;
    let found = newest_events(&open.project, task, before.unwrap_or(Seq::MAX), limit + 1).await;
    let found = found.map_err(|error| person.problem(&error))?;
    Ok(Json(Page::of(found, limit, |(seq, _)| *seq, |(seq, event)| Event::of(seq, &event))))
}

/// What a task's work changes
///
/// A difference that is longer than 1 MiB is cut.
#[utoipa::path(
    get, path = "/projects/{project}/tasks/{task}/diff", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path)),
    responses((status = 200, body = Diff))
)]
pub(super) async fn diff(
    State(state): State<AppState>,
    person: Person,
    Path((project, task)): Path<(String, TaskId)>,
    _: Query<NoQuery>,
) -> Result<Json<Diff>, Problem> {
    let open = state.project(&person, &project).await?;
    let task = open.board.task(task).map_err(|refusal| person.refused(&refusal))?.clone();
    let (repository, board, id) = (state.repository(&open.id), open.board, task.id);
    let found =
        state.with_local_files(move |local_files| local_files.diff(&repository, &board, &task, LONGEST_DIFF)).await?;
    let found = found.ok_or_else(|| {
        Problem::not_found(
            match person.language {
                board::Language::En => format!("There is no work on {id} in this repository."),
                board::Language::Ja => format!("{id} の作業はこのリポジトリにありません。"),
            },
            person.say("Its branch is made when it is started.", "ブランチは開始時に作られます。"),
        )
    })?;
    Ok(Json(Diff { text: found.text, cut: found.cut }))
}

/// What may be done with a task now, by whoever asks
#[utoipa::path(
    get, path = "/projects/{project}/tasks/{task}/offers", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path)),
    responses((status = 200, body = Offers))
)]
pub(super) async fn offers(
    State(state): State<AppState>,
    person: Person,
    Path((project, task)): Path<(String, TaskId)>,
    _: Query<NoQuery>,
) -> Result<Json<Offers>, Problem> {
    let open = state.project(&person, &project).await?;
    let task = open.board.task(task).map_err(|refusal| person.refused(&refusal))?;
    if !person.is_owner() {
        let (detail, hint) = person.only_looks();
        let refusal = Refused { code: board::Code::NotAllowed, detail: detail.into(), hint: hint.into() };
        return Ok(Json(Offers { moves: Vec::new(), may_edit: false, refusal: Some(refusal) }));
    }
    let merged = task.status == Status::InProgress && state.is_merged(&open, task).await?;
    let offer = |offer: board::LegalMove| Offer { name: offer.name, to: offer.to, needs_reason: offer.needs_reason };
    let moves =
        board::legal_moves(&open.board, &person.actor(), task, merged, open.now).into_iter().map(offer).collect();
    let refusal = board::may_edit(&open.board, &person.actor(), task, open.now).err().map(|refusal| Refused {
        code: refusal.code(),
        detail: refusal.message(person.language),
        hint: refusal.hint(person.language, Audience::Person),
    });
    Ok(Json(Offers { moves, may_edit: refusal.is_none(), refusal }))
}
