//! How is a task made and changed? By the same commands as from everywhere.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use board::lifecycle::Move;
use board::{
    AgentId, Board, Command, Completion, DependsOn, EventKind, NewTask, Party, Priority, Repairs, TaskEdit, TaskId,
    TaskType,
};
use control::Receipt;
use http::{StatusCode, header};
use serde::Deserialize;
use utoipa::ToSchema;

use super::super::described;
use super::super::{Body, NoQuery, Path, Query};
use crate::notice::{Notice, Told, moved_word};
use crate::person::{Owner, Person};
use crate::problem::Problem;
use crate::{AppState, ProjectRequest};
use board::wire::{self, Task};

/// A task that is to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Create {
    /// What is to be done, in a line.
    title: String,
    /// The same at length.
    #[serde(default)]
    description: String,
    #[serde(rename = "type")]
    #[schema(value_type = Option<described::TaskType>)]
    task_type: Option<TaskType>,
    #[schema(value_type = Option<described::Priority>)]
    priority: Option<Priority>,
    /// The task it is part of.
    #[schema(value_type = Option<String>)]
    parent: Option<TaskId>,
    /// Who does it.
    #[schema(value_type = Option<String>)]
    assignee: Option<AgentId>,
    /// Tasks that must be done first.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    dependencies: Vec<TaskId>,
    /// Words to find it by.
    #[serde(default)]
    labels: Vec<String>,
    /// When is it done; the project's if not said.
    #[schema(value_type = Option<described::Completion>)]
    completion: Option<Completion>,
    /// It may be done without a change.
    #[serde(default)]
    allow_empty: bool,
    /// `target`: it mends what fails in the target, and goes through although a check fails there.
    #[schema(value_type = Option<described::Repairs>)]
    repairs: Option<Repairs>,
    /// Start it at once. If that cannot be, it is made all the same, and is not in progress.
    #[serde(default)]
    start: bool,
    /// Making one again with the same key gives the task of the first time.
    idempotency_key: Option<String>,
}

/// Make a task
#[utoipa::path(
    post, path = "/projects/{project}/tasks", tag = "tasks", params(("project" = String, Path)), request_body = Create,
    responses(
        (status = 201, body = described::Task, headers(("Location" = String, description = "Where it is."))),
        (status = 200, body = described::Task, description = "It was made with this key before."),
    )
)]
pub(super) async fn create(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path(project): Path<String>,
    _: Query<NoQuery>,
    Body(create): Body<Create>,
) -> Result<Response, Problem> {
    let open = state.project(&person, &project).await?;
    let Create { parent, start, idempotency_key: key, .. } = create;
    let new = NewTask {
        title: create.title,
        description: create.description,
        task_type: create.task_type.unwrap_or(TaskType::Task),
        priority: create.priority.unwrap_or(Priority::Medium),
        assignee: create.assignee,
        dependencies: create.dependencies.into_iter().map(DependsOn::Task).collect(),
        labels: create.labels,
        completion: create.completion,
        allow_empty: create.allow_empty,
        repairs: create.repairs,
        reverts: None,
    };
    let command = Command::CreateTasks { parent, tasks: vec![new], key: key.clone() };
    let receipt = open.project.submit(person.actor(), command).await.map_err(|error| person.problem(&error))?;
    let created = first_created(&receipt);
    let status = if created.is_some() { StatusCode::CREATED } else { StatusCode::OK };
    let known = || receipt.after.created_by_key(&Party::Owner, parent, key.as_deref()?)?.first().copied();
    let id = created.or_else(known).expect("a task was made, now or with this key before");
    let started = if start && created.is_some() { Some(open.start(&person, id).await) } else { None };
    let (board, said) = match started {
        None => (receipt.after, person.say("Created", "作成しました").to_owned()),
        Some(Ok(board)) => (board, person.say("Created and started", "作成し、開始しました").to_owned()),
        Some(Err(refused)) => {
            let said = person.say("Created, not started:", "作成しましたが、開始できません:");
            (receipt.after, format!("{said} {}", refused.detail))
        }
    };
    created_answer(&board, id, &open, &person, status, said)
}

/// What is to be different; what is not said stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    title: Option<String>,
    description: Option<String>,
    #[schema(value_type = Option<described::Priority>)]
    priority: Option<Priority>,
    #[serde(rename = "type")]
    #[schema(value_type = Option<described::TaskType>)]
    task_type: Option<TaskType>,
    /// All that it should have.
    labels: Option<Vec<String>>,
    /// Insist where the task is another's to move; it is recorded.
    #[serde(default)]
    force: bool,
}

/// Change a task's content
#[utoipa::path(
    patch, path = "/projects/{project}/tasks/{task}", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path)), request_body = Edit,
    responses((status = 200, body = described::Task))
)]
pub(super) async fn edit(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path((project, task)): Path<(String, TaskId)>,
    _: Query<NoQuery>,
    Body(edit): Body<Edit>,
) -> Result<Json<Told<Task>>, Problem> {
    let open = state.project(&person, &project).await?;
    let Edit { title, description, priority, task_type, labels, force: forced } = edit;
    let edit = TaskEdit { title, description, priority, task_type, labels };
    let said = |_: &board::Task| person.say("Changed", "変更しました").to_owned();
    open.changed(&person, task, Command::EditTask { task, edit, forced }, said).await
}

/// Who is to do it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Assign {
    /// An agent, or `null` for nobody.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(value_type = Option<String>, required)]
    agent: Option<AgentId>,
    /// Insist where the task is another's to move; it is recorded.
    #[serde(default)]
    force: bool,
}

/// Give a task to an agent, or to nobody
#[utoipa::path(
    put, path = "/projects/{project}/tasks/{task}/assignee", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path)), request_body = Assign,
    responses((status = 200, body = described::Task))
)]
pub(super) async fn assign(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path((project, task)): Path<(String, TaskId)>,
    _: Query<NoQuery>,
    Body(assign): Body<Assign>,
) -> Result<Json<Told<Task>>, Problem> {
    let open = state.project(&person, &project).await?;
    let command = Command::AssignTask { task, assignee: assign.agent, forced: assign.force };
    let said = |task: &board::Task| match &task.assignee {
        Some(agent) => format!("{} {agent}", person.say("Assigned to", "担当:")),
        None => person.say("Assigned to nobody", "担当者を外しました").to_owned(),
    };
    open.changed(&person, task, command, said).await
}

/// What it is to wait for, and what no longer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Depend {
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    add: Vec<TaskId>,
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    remove: Vec<TaskId>,
    /// Insist where the task is another's to move; it is recorded.
    #[serde(default)]
    force: bool,
}

/// Make a task wait for others, or no longer
#[utoipa::path(
    patch, path = "/projects/{project}/tasks/{task}/dependencies", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path)), request_body = Depend,
    responses((status = 200, body = described::Task))
)]
pub(super) async fn depend(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path((project, task)): Path<(String, TaskId)>,
    _: Query<NoQuery>,
    Body(depend): Body<Depend>,
) -> Result<Json<Told<Task>>, Problem> {
    let open = state.project(&person, &project).await?;
    let Depend { add, remove, force: forced } = depend;
    let said = |_: &board::Task| person.say("What it waits for is changed", "依存先を変更しました").to_owned();
    open.changed(&person, task, Command::ChangeDependencies { task, add, remove, forced }, said).await
}

/// What is to be said about a task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommentRequest {
    text: String,
}

/// Write about a task for whoever works on it
///
/// A running agent reads it with its next call, any other with its next start.
#[utoipa::path(
    post, path = "/projects/{project}/tasks/{task}/comments", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path)), request_body = CommentRequest,
    responses((status = 201, body = described::Comment))
)]
pub(super) async fn comment(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path((project, task)): Path<(String, TaskId)>,
    _: Query<NoQuery>,
    Body(request): Body<CommentRequest>,
) -> Result<Response, Problem> {
    let open = state.project(&person, &project).await?;
    let command = Command::CommentTask { task, text: request.text };
    let receipt = open.project.submit(person.actor(), command).await.map_err(|error| person.problem(&error))?;
    let task = receipt.after.task(task).map_err(|refusal| person.refused(&refusal))?;
    let comment = task.comments.last().map(|comment| wire::Comment::of(&receipt.after, task, comment));
    Ok((StatusCode::CREATED, Json(comment)).into_response())
}

/// What is to be said about a move.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MoveRequest {
    /// Why; to block and to cancel need it. With a retry, an unblocking, a reopening and a return it is a comment for
    /// the agent.
    reason: Option<String>,
    /// Insist where the task is another's to move; it is recorded.
    #[serde(default)]
    force: bool,
    /// A retry only puts the task back, and does not start it.
    #[serde(default)]
    later: bool,
}

/// Move a task
///
/// `move` is a row of the lifecycle: queue, shelve, start, unstart, block, unblock, requeue, finish, fail, retry, cancel or
/// reopen.
#[utoipa::path(
    post, path = "/projects/{project}/tasks/{task}/{move}", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path), ("move" = described::Move, Path)), request_body = MoveRequest,
    responses((status = 200, body = described::Task))
)]
pub(super) async fn act(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path((project, task, name)): Path<(String, TaskId, Move)>,
    _: Query<NoQuery>,
    Body(request): Body<MoveRequest>,
) -> Result<Json<Told<Task>>, Problem> {
    let open = state.project(&person, &project).await?;
    let found = open.board.task(task).map_err(|refusal| person.refused(&refusal))?;
    if name == Move::Create {
        return Err(Problem::not_found(format!("`{name}` moves no task."), "Create one with POST …/tasks."));
    }
    let merged = name == Move::Finish && state.is_merged(&open, found).await?;
    let forced = request.force;
    let command = match name {
        Move::Retry => Command::RetryTask { task, reason: request.reason, forced, later: request.later },
        name => Command::MoveTask { task, to: board::Destination::By(name), reason: request.reason, forced, merged },
    };
    open.changed(&person, task, command, |task| moved_word(&person, name, task).to_owned()).await
}

/// Why work is undone.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RevertRequest {
    /// Whoever has to resolve conflicts reads it.
    reason: Option<String>,
}

/// Undo a task's merged work
///
/// A new task does it, through the same checks and queue. Where git can do it alone, no agent is started.
#[utoipa::path(
    post, path = "/projects/{project}/tasks/{task}/revert", tag = "tasks",
    params(("project" = String, Path), ("task" = String, Path)), request_body = RevertRequest,
    responses((status = 201, body = described::Task, headers(("Location" = String, description = "The new task."))))
)]
pub(super) async fn revert(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path((project, task)): Path<(String, TaskId)>,
    _: Query<NoQuery>,
    Body(request): Body<RevertRequest>,
) -> Result<Response, Problem> {
    let open = state.project(&person, &project).await?;
    let found = open.board.task(task).map_err(|refusal| person.refused(&refusal))?;
    let commits = board::merges(&open.board, found);
    let language = open.board.settings.language;
    let command = board::replies::revert(found, &commits, request.reason.as_deref(), language);
    let receipt = open.project.submit(person.actor(), command).await.map_err(|error| person.problem(&error))?;
    let id = first_created(&receipt).expect("a task was made");
    let said = person.say("Started, to undo what was merged", "マージした変更の取り消しを開始しました").to_owned();
    created_answer(&receipt.after, id, &open, &person, StatusCode::CREATED, said)
}

fn first_created(receipt: &Receipt<Board>) -> Option<TaskId> {
    receipt.events.iter().find_map(|event| match &event.what {
        EventKind::TasksCreated { tasks, .. } => tasks.first().map(|task| task.id),
        _ => None,
    })
}

/// Shows a task that was made.
fn created_answer(
    board: &Board,
    id: TaskId,
    open: &ProjectRequest,
    person: &Person,
    status: StatusCode,
    said: String,
) -> Result<Response, Problem> {
    let task = board.task(id).map_err(|refusal| person.refused(&refusal))?;
    let place = format!("/api/v1/projects/{}/tasks/{id}", open.id);
    let notice = Notice::of_created(person, open, task, said);
    Ok((status, [(header::LOCATION, place)], Notice::with(notice, Task::from(task))).into_response())
}

impl AppState {
    /// Is the task's branch in the target?
    pub(super) async fn is_merged(&self, open: &ProjectRequest, task: &board::Task) -> Result<bool, Problem> {
        let (repository, board, task) = (self.repository(&open.id), open.board.clone(), task.clone());
        self.with_local_files(move |local_files| local_files.is_merged(&repository, &board, &task)).await
    }
}

impl ProjectRequest {
    /// Submits a command about a task, and shows the task as it is then.
    async fn changed(
        &self,
        person: &Person,
        id: TaskId,
        command: Command,
        said: impl FnOnce(&board::Task) -> String,
    ) -> Result<Json<Told<Task>>, Problem> {
        let receipt = self.project.submit(person.actor(), command).await.map_err(|error| person.problem(&error))?;
        let task = receipt.after.task(id).map_err(|refusal| person.refused(&refusal))?;
        let notice = Notice::of_task(person, self, &receipt, id, &said(task));
        Ok(Notice::with(notice, task.into()))
    }

    /// Starts a task that was just made.
    async fn start(&self, person: &Person, task: TaskId) -> Result<Arc<Board>, Problem> {
        let to = board::Destination::By(Move::Start);
        let command = Command::MoveTask { task, to, reason: None, forced: false, merged: false };
        let receipt = self.project.submit(person.actor(), command).await.map_err(|error| person.problem(&error))?;
        Ok(receipt.after)
    }
}
