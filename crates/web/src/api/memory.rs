//! The memory bank: what has the project decided?

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use board::comments::{open_proposal, open_proposals};
use board::{Code, Command, ProposalAnswer, Seq, wire};
use definitions::memory::{self, NewMemoryEntry, ShowError};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{self, Page, Paging};
use super::{Body, NoQuery, Path, Query, described};
use crate::person::{Owner, Person};
use crate::problem::Problem;
use crate::{AppState, ProjectRequest};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show))
        .routes(routes!(proposals))
        .routes(routes!(accept))
        .routes(routes!(decline))
}

/// A file of the memory bank.
#[derive(Debug, Serialize, ToSchema)]
struct Entry {
    /// Relative to the repository.
    path: String,
    title: String,
    category: Option<String>,
    summary: Option<String>,
}

impl From<memory::MemoryEntry> for Entry {
    fn from(entry: memory::MemoryEntry) -> Self {
        let memory::MemoryEntry { path, title, category, summary } = entry;
        Self { path: path.display().to_string(), title, category, summary }
    }
}

/// An entry with its text.
#[derive(Debug, Serialize, ToSchema)]
struct Shown {
    #[serde(flatten)]
    entry: Entry,
    /// Markdown, without the front matter.
    body: String,
}

/// A page of the memory bank.
#[derive(Debug, Serialize, ToSchema)]
struct Memory {
    items: Vec<Entry>,
    /// Send it as `after` for the page that follows; `null` if this is the last.
    next: Option<String>,
    /// What is wrong with files that cannot be read.
    problems: Vec<String>,
}

/// What the project has decided, by path
#[utoipa::path(
    get, path = "/projects/{project}/memory", tag = "memory", params(("project" = String, Path), Paging),
    responses((status = 200, body = Memory))
)]
async fn list(
    State(state): State<AppState>,
    person: Person,
    Path(project): Path<String>,
    Query(paging): Query<Paging>,
) -> Result<Json<Memory>, Problem> {
    let limit = page::limit(paging.limit)?;
    let open = state.project(&person, &project).await?;
    let directory = state.definitions(&open);
    let (entries, problems) = state.with_local_files(move |_| memory::list(&directory)).await?;
    let after = paging.after.map(PathBuf::from);
    let found = entries.into_iter().filter(|entry| after.as_ref().is_none_or(|after| entry.path > *after));
    let Page { items, next } = Page::of(found, limit, |entry| entry.path.display().to_string(), Entry::from);
    Ok(Json(Memory { items, next, problems: problems.iter().map(ToString::to_string).collect() }))
}

/// An entry of the memory bank
///
/// By its path in the repository or in the memory bank, or by the name of its file.
#[utoipa::path(
    get, path = "/projects/{project}/memory/{*path}", tag = "memory",
    params(("project" = String, Path), ("path" = String, Path)),
    responses((status = 200, body = Shown))
)]
async fn show(
    State(state): State<AppState>,
    person: Person,
    Path((project, path)): Path<(String, String)>,
    _: Query<NoQuery>,
) -> Result<Json<Shown>, Problem> {
    let open = state.project(&person, &project).await?;
    let directory = state.definitions(&open);
    let shown = state.with_local_files(move |_| memory::show(&directory, &path)).await?;
    let hint = person.say("Ask for the path of one that is listed.", "一覧にあるパスを指定してください。");
    let shown = shown.map_err(|error| match &error {
        ShowError::NotFound { .. } => Problem::not_found(error.to_string(), hint),
        ShowError::Ambiguous { .. } => Problem::bad_argument(error.to_string(), hint),
        ShowError::Unreadable(_) => Problem::new(
            StatusCode::CONFLICT,
            Code::StateConflict.as_str(),
            error.to_string(),
            person.say("Mend the file in the repository.", "リポジトリのファイルを直してください。"),
        ),
    })?;
    Ok(Json(Shown { entry: shown.entry.into(), body: shown.body }))
}

/// What agents propose for the memory bank, oldest first
///
/// Those that wait for an answer.
#[utoipa::path(
    get, path = "/projects/{project}/proposals", tag = "memory", params(("project" = String, Path)),
    responses((status = 200, body = Vec<described::Proposal>))
)]
async fn proposals(
    State(state): State<AppState>,
    person: Person,
    Path(project): Path<String>,
    _: Query<NoQuery>,
) -> Result<Json<Vec<wire::Proposal>>, Problem> {
    let open = state.project(&person, &project).await?;
    let waiting = open_proposals(&open.board);
    Ok(Json(waiting.into_iter().map(|(task, proposal)| wire::Proposal::of(task, proposal)).collect()))
}

/// Where a proposal is to be kept.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AcceptRequest {
    /// A title instead of its first line.
    title: Option<String>,
    /// The folder it goes to.
    category: Option<String>,
}

/// Write what an agent proposed into the memory bank
///
/// The file is not committed; agents see it when it is.
#[utoipa::path(
    post, path = "/projects/{project}/proposals/{number}/accept", tag = "memory",
    params(("project" = String, Path), ("number" = u64, Path)), request_body = AcceptRequest,
    responses((status = 201, body = Accepted))
)]
async fn accept(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path((project, number)): Path<(String, Seq)>,
    _: Query<NoQuery>,
    Body(request): Body<AcceptRequest>,
) -> Result<Response, Problem> {
    let open = state.project(&person, &project).await?;
    let (_, proposal) = open_proposal(&open.board, number).map_err(|refusal| person.refused(&refusal))?;
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let new = NewMemoryEntry::proposed(&proposal.text, filled(request.title), filled(request.category));
    let directory = state.definitions(&open);
    let path = state.with_local_files(move |_| memory::add(&directory, &new)).await?.map_err(|error| {
        let hint = person.say("Choose another title or category.", "別の題名か分類を指定してください。");
        Problem::new(StatusCode::CONFLICT, Code::StateConflict.as_str(), error.to_string(), hint)
    })?;
    let answer = Command::AnswerProposal { proposal: number, answer: ProposalAnswer::Accepted };
    open.project.submit(person.actor(), answer).await.map_err(|error| person.problem(&error))?;
    Ok((StatusCode::CREATED, Json(Accepted { path: path.display().to_string() })).into_response())
}

/// Where it was written.
#[derive(Debug, Serialize, ToSchema)]
struct Accepted {
    /// Relative to the repository.
    path: String,
}

/// Leave what an agent proposed out of the memory bank
#[utoipa::path(
    post, path = "/projects/{project}/proposals/{number}/decline", tag = "memory",
    params(("project" = String, Path), ("number" = u64, Path)), responses((status = 204, description = "It waits no longer."))
)]
async fn decline(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path((project, number)): Path<(String, Seq)>,
    _: Query<NoQuery>,
) -> Result<StatusCode, Problem> {
    let open = state.project(&person, &project).await?;
    let answer = Command::AnswerProposal { proposal: number, answer: ProposalAnswer::Declined };
    open.project.submit(person.actor(), answer).await.map_err(|error| person.problem(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

impl AppState {
    /// Where a project's definitions are.
    fn definitions(&self, open: &ProjectRequest) -> PathBuf {
        self.repository(&open.id).join(".saihai")
    }
}
