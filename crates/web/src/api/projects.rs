//! Projects: which are there, how do they stand, and do they go on?

use axum::Json;
use axum::extract::State;
use board::{Command, ProjectId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::described;
use super::page::{self, Page};
use super::{NoQuery, Path, Query};
use crate::notice::{Notice, Told};
use crate::person::{Owner, Person};
use crate::problem::Problem;
use crate::{AppState, ProjectRequest};
use board::wire::{Project, ProjectDetail};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show)).routes(routes!(pause)).routes(routes!(resume))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ProjectQuery {
    /// How many at most: 1 to 500, 100 if not said.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// The projects, by id
#[utoipa::path(
    get, path = "/projects", tag = "projects", params(ProjectQuery),
    responses((status = 200, body = Page<described::Project>))
)]
async fn list(
    State(state): State<AppState>,
    person: Person,
    Query(wanted): Query<ProjectQuery>,
) -> Result<Json<Page<Project>>, Problem> {
    let limit = page::limit(wanted.limit)?;
    let after: Option<ProjectId> = page::cursor(wanted.after.as_deref())?;
    let installation = state.server.installation().newest().await.map_err(|error| person.problem(&error))?;
    let mut found = Vec::new();
    for known in installation.projects.values().filter(|project| after.as_ref().is_none_or(|after| project.id > *after))
    {
        // One that was only announced has no board yet.
        let Some(project) = state.server.project(&known.id).await.map_err(|error| person.problem(&error))? else {
            continue;
        };
        let board = project.newest().await.map_err(|error| person.problem(&error))?;
        found.push((&known.id, Project::of(&board, known.path.clone(), state.server.now())));
        if found.len() > limit {
            break;
        }
    }
    Ok(Json(Page::of(found, limit, |(id, _)| id.to_string(), |(_, project)| project)))
}

/// A project with its settings
#[utoipa::path(
    get, path = "/projects/{project}", tag = "projects", params(("project" = String, Path)),
    responses((status = 200, body = described::ProjectDetail))
)]
async fn show(
    State(state): State<AppState>,
    person: Person,
    Path(project): Path<String>,
    _: Query<NoQuery>,
) -> Result<Json<ProjectDetail>, Problem> {
    let open = state.project(&person, &project).await?;
    let path = state.repository(&open.id).display().to_string();
    Ok(Json(ProjectDetail::of(&open.board, path, open.now)))
}

/// How a project is paused.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct PauseQuery {
    /// Also stop what runs.
    #[serde(default)]
    now: bool,
}

/// Start no more task work; what runs goes on, and what has ended is judged and merged
#[utoipa::path(
    post, path = "/projects/{project}/pause", tag = "projects", params(("project" = String, Path), PauseQuery),
    responses((status = 200, body = described::Project))
)]
async fn pause(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path(project): Path<String>,
    Query(pause): Query<PauseQuery>,
) -> Result<Json<Told<Project>>, Problem> {
    let open = state.project(&person, &project).await?;
    let said = if pause.now {
        person.say("Paused, and what ran is being stopped", "一時停止し、実行中のものを停止しています")
    } else {
        person.say(
            "Paused: nothing more is started, what runs goes on",
            "一時停止: 新しく開始しません。実行中のものは続きます",
        )
    };
    state.change(&person, open, Command::Pause { now: pause.now }, said, &Command::Resume).await
}

/// Let task work go on
#[utoipa::path(
    post, path = "/projects/{project}/resume", tag = "projects", params(("project" = String, Path)),
    responses((status = 200, body = described::Project))
)]
async fn resume(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path(project): Path<String>,
    _: Query<NoQuery>,
) -> Result<Json<Told<Project>>, Problem> {
    let open = state.project(&person, &project).await?;
    let said = person.say("Resumed", "一時停止を解除しました");
    state.change(&person, open, Command::Resume, said, &Command::Pause { now: false }).await
}

impl AppState {
    async fn change(
        &self,
        person: &Person,
        open: ProjectRequest,
        command: Command,
        said: &str,
        back: &Command,
    ) -> Result<Json<Told<Project>>, Problem> {
        let receipt = open.project.submit(person.actor(), command).await.map_err(|error| person.problem(&error))?;
        let path = self.repository(&open.id).display().to_string();
        let notice = Notice::of_project(person, &open, &receipt, said, back);
        Ok(Notice::with(notice, Project::of(&receipt.after, path, self.server.now())))
    }
}
