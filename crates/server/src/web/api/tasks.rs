//! Tasks: what is to be done, and what may be done with it?

use axum::Json;
use axum::extract::State;
use board::lifecycle::{Move, TABLE};
use board::{Because, Command, Refusal, TaskId};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Body, Path};
use crate::web::Window;
use crate::web::person::Owner;
use crate::web::problem::Problem;

pub(super) fn router() -> OpenApiRouter<Window> {
    OpenApiRouter::new().routes(routes!(act))
}

/// What is to be said about a move.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Deed {
    /// Why; to block and to cancel need it.
    reason: Option<String>,
    /// Insist where the task is another's to move; it is recorded.
    #[serde(default)]
    force: bool,
}

/// Move a task
///
/// `move` is a row of the lifecycle: queue, shelve, start, unstart, block, unblock, finish, retry, cancel or reopen.
#[utoipa::path(
    post, path = "/projects/{project}/tasks/{task}/{move}", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path), ("move" = String, Path)), request_body = Deed,
    responses((status = 200), (status = "4XX", body = Problem))
)]
async fn act(
    State(window): State<Window>,
    Owner(person): Owner,
    Path((project, task, name)): Path<(String, TaskId, Move)>,
    Body(deed): Body<Deed>,
) -> Result<Json<serde_json::Value>, Problem> {
    let open = window.project(&person, &project).await?;
    let found = open.board.task(task).map_err(|refusal| Problem::refused(&refusal, person.language))?;
    let to = TABLE.iter().find(|rule| rule.name == name).and_then(board::lifecycle::Rule::destination);
    let Some(to) = to else {
        return Err(Problem::not_found(format!("`{name}` moves no task."), "Create one with POST …/tasks."));
    };
    let merged = name == Move::Finish && {
        let (repository, board, found) = (window.repository(&open.id), open.board.clone(), found.clone());
        window.look(move |premises| premises.is_merged(&repository, &board, &found)).await?
    };
    let command = Command::MoveTask { task, to, reason: deed.reason, forced: deed.force, merged };
    let receipt = open.project.submit(person.actor(), command).await.map_err(|error| person.problem(&error))?;
    let task = receipt.after.task(task).map_err(|_| Refusal::from(Because::NoSuchTask(task)));
    let task = task.map_err(|refusal| Problem::refused(&refusal, person.language))?;
    Ok(Json(serde_json::to_value(board::view::TaskView::of(task)).unwrap_or_default()))
}
