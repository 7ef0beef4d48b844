//! What does the owner's orchestrator do: a client that directs a whole project in the owner's place (M6)?

use std::collections::BTreeMap;
use std::sync::Arc;

use board::lifecycle::Move;
use board::wire::{Project, TaskItem};
use board::{
    Board, Client, Command, DependsOn, Destination, EventKind, NewTask, Party, Priority, RefusalReason, SessionId,
    Status, Task, TaskId, TaskType, Timestamp, Tool, say_why,
};
use control::{ControlError, Receipt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use server::LocalFiles;

use super::managing::agent_id;
use super::tasks::shortened;
use crate::answers::{Moved, refuse};
use crate::arguments::{TaskRef, priorities, task_types};
use crate::call::{BoardAccess, Call};
use crate::phrase::{Phrase, phrase};
use crate::tool::{AllowedCaller, Effect, ToolHandler};

pub(super) fn bad(what: impl Into<String>) -> ControlError {
    refuse(RefusalReason::BadArguments(what.into()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetOverview {}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Overview {
    project: Project,
    /// Blocked and failed: nothing moves them but you or the owner.
    needs_attention: Vec<TaskItem>,
    running: Vec<RunningSession>,
    agents: Vec<AgentItem>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RunningSession {
    #[schemars(with = "String")]
    session_id: SessionId,
    agent_id: String,
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    #[schemars(with = "String")]
    since: Timestamp,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AgentItem {
    id: String,
    name: String,
    hierarchy_type: &'static str,
    role: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skills: Vec<String>,
    /// No runner starts it: a person attaches it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    attached: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_agent_id: Option<String>,
    /// Unsettled tasks it has.
    load: usize,
}

impl ToolHandler for GetOverview {
    const TOOL: Tool = Tool::GetOverview;
    const WHO: AllowedCaller = AllowedCaller::Orchestrator;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase = phrase(
        "How the project stands: counts, what needs attention, what runs, and who is there.",
        "プロジェクトの状況（件数、対応が必要なもの、実行中のもの、エージェント）を返します。",
    );
    type Answer = Overview;

    async fn run(self, call: Call) -> Result<Overview, ControlError> {
        let access = call.board_access().await?;
        let board = access.board();
        let repository = call.server().repository(&board.settings.id).unwrap_or_default();
        let stuck = |task: &&Arc<Task>| matches!(task.status, Status::Blocked | Status::Failed);
        let mut needs_attention: Vec<_> =
            board.tasks.values().filter(stuck).map(|task| TaskItem::from(&**task)).collect();
        needs_attention.sort_by_key(|task| task.id);
        let running = board.all_live_sessions().map(|session| RunningSession {
            session_id: session.id,
            agent_id: session.agent.to_string(),
            task_id: session.task(),
            since: session.claimed_at,
        });
        let agents = board.agents.values().filter(|agent| agent.active).map(|agent| AgentItem {
            id: agent.id().to_string(),
            name: agent.spec.name.clone(),
            hierarchy_type: agent.spec.hierarchy.as_str(),
            role: agent.spec.role.clone(),
            skills: agent.spec.skills.clone(),
            attached: agent.spec.client == Client::Attached,
            parent_agent_id: agent.spec.parent.as_ref().map(ToString::to_string),
            load: board.open_tasks(agent.id()).len(),
        });
        Ok(Overview {
            project: Project::of(board, repository.to_string_lossy().into_owned(), call.server().now()),
            needs_attention,
            running: running.collect(),
            agents: agents.collect(),
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainTask {
    task_id: TaskRef,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Explanation {
    #[schemars(with = "String")]
    task_id: TaskId,
    status: Status,
    /// Who starts, changes and cancels it.
    mover: String,
    /// What it waits for, what must happen, and who must do it.
    reasons: Vec<String>,
}

impl ToolHandler for ExplainTask {
    const TOOL: Tool = Tool::ExplainTask;
    const WHO: AllowedCaller = AllowedCaller::Orchestrator;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase = phrase(
        "Why a task is, or is not, going on, and what has to happen.",
        "タスクが進んでいる、または進んでいない理由と、必要なことを返します。",
    );
    type Answer = Explanation;

    async fn run(self, call: Call) -> Result<Explanation, ControlError> {
        let access = call.board_access().await?;
        let (board, now) = (access.board(), call.server().now());
        let runner = call.server().runner_view(&board.settings.id).await?;
        let why = board::why(board, self.task_id.0, now, &runner)?;
        let task = board.task(self.task_id.0)?;
        Ok(Explanation {
            task_id: task.id,
            status: task.status,
            mover: board.mover(task).to_string(),
            reasons: why.lines.iter().map(|line| say_why(line, task.id, board.settings.language)).collect(),
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateTasks {
    tasks: Vec<PlannedTask>,
    /// the same key creates nothing twice
    idempotency_key: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlannedTask {
    local_id: String,
    title: String,
    description: String,
    #[schemars(schema_with = "task_types")]
    #[serde(default, rename = "type")]
    task_type: Option<TaskType>,
    #[schemars(schema_with = "priorities")]
    #[serde(default)]
    priority: Option<Priority>,
    assignee_id: Option<String>,
    /// the local_id of a task earlier in the list, or a task id
    parent: Option<String>,
    /// local ids of tasks with the same parent, or task ids
    dependencies: Option<Vec<String>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreatedTasks {
    success: bool,
    /// From each local id to the id it got.
    #[schemars(with = "BTreeMap<String, String>")]
    task_ids: BTreeMap<String, TaskId>,
}

impl ToolHandler for CreateTasks {
    const TOOL: Tool = Tool::CreateTasks;
    const WHO: AllowedCaller = AllowedCaller::Orchestrator;
    const EFFECT: Effect = Effect::Add;
    const ABOUT: Phrase = phrase(
        "Create tasks, with tasks below them. They do not start before start_tasks.",
        "タスクと、その下のタスクを作成します。start_tasks まで始まりません。",
    );
    type Answer = CreatedTasks;

    async fn run(self, call: Call) -> Result<CreatedTasks, ControlError> {
        let access = call.board_access().await?;
        let levels = siblings(self.tasks)?;
        let mut task_ids = BTreeMap::new();
        for (parent, tasks) in levels {
            let parent = parent.map(|name| task_named(&name, &task_ids)).transpose()?;
            let local_ids: Vec<_> = tasks.iter().map(|task| task.local_id.clone()).collect();
            let tasks = tasks.into_iter().map(|task| task.planned(&local_ids, &task_ids));
            let tasks = tasks.collect::<Result<Vec<_>, _>>()?;
            let key = self.idempotency_key.clone();
            let receipt = access.submit(Command::CreateTasks { parent, tasks, key: key.clone() }).await?;
            task_ids.extend(local_ids.into_iter().zip(created(&receipt, parent, key.as_deref())));
        }
        Ok(CreatedTasks { success: true, task_ids })
    }
}

type Siblings = Vec<(Option<String>, Vec<PlannedTask>)>;

/// The tasks of each parent together, parents first.
fn siblings(tasks: Vec<PlannedTask>) -> Result<Siblings, ControlError> {
    let mut seen: Vec<String> = Vec::new();
    let mut groups: Siblings = Vec::new();
    for task in tasks {
        if seen.contains(&task.local_id) {
            return Err(bad(format!("the local_id `{}` is used twice", shortened(&task.local_id))));
        }
        let later = |parent: &String| !seen.contains(parent) && parent.parse::<TaskId>().is_err();
        if let Some(parent) = task.parent.as_ref().filter(|parent| later(parent)) {
            return Err(bad(format!("the parent `{}` is no local_id earlier in the list", shortened(parent))));
        }
        seen.push(task.local_id.clone());
        match groups.iter_mut().find(|(parent, _)| *parent == task.parent) {
            Some((_, group)) => group.push(task),
            None => groups.push((task.parent.clone(), vec![task])),
        }
    }
    if groups.is_empty() {
        return Err(bad("`tasks` is empty"));
    }
    Ok(groups)
}

fn task_named(name: &str, known: &BTreeMap<String, TaskId>) -> Result<TaskId, ControlError> {
    let found = known.get(name).copied().or_else(|| name.parse().ok());
    found.ok_or_else(|| bad(format!("`{}` is neither a local_id nor a task", shortened(name))))
}

impl PlannedTask {
    fn planned(self, siblings: &[String], known: &BTreeMap<String, TaskId>) -> Result<NewTask, ControlError> {
        let depends_on = |name: String| match siblings.iter().position(|id| *id == name) {
            Some(place) => Ok(DependsOn::New(place)),
            None => task_named(&name, known).map(DependsOn::Task),
        };
        let dependencies = self.dependencies.unwrap_or_default().into_iter().map(depends_on);
        Ok(NewTask {
            description: self.description,
            task_type: self.task_type.unwrap_or(TaskType::Task),
            priority: self.priority.unwrap_or(Priority::Medium),
            assignee: self.assignee_id.map(agent_id).transpose()?,
            dependencies: dependencies.collect::<Result<_, _>>()?,
            ..NewTask::titled(self.title)
        })
    }
}

/// What was created, by this call or by an earlier one with the same key.
fn created(receipt: &Receipt<Board>, parent: Option<TaskId>, key: Option<&str>) -> Vec<TaskId> {
    let now = receipt.events.iter().find_map(|event| match &event.what {
        EventKind::TasksCreated { tasks, .. } => Some(tasks.iter().map(|task| task.id).collect()),
        _ => None,
    });
    let before = || receipt.after.created_by_key(&Party::Owner, parent, key?).map(<[TaskId]>::to_vec);
    now.or_else(before).unwrap_or_default()
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartTasks {
    task_ids: Vec<TaskRef>,
    /// for tasks that are blocked: the answer that their agents are told
    answer: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StartedTasks {
    /// Whether all of them could be started.
    success: bool,
    started: Vec<Moved>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<NotStarted>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NotStarted {
    #[schemars(with = "String")]
    task_id: TaskId,
    code: &'static str,
    message: String,
}

impl ToolHandler for StartTasks {
    const TOOL: Tool = Tool::StartTasks;
    const WHO: AllowedCaller = AllowedCaller::Orchestrator;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "Let agents begin with tasks, or go on with blocked ones.",
        "タスクを開始させます。ブロック中のタスクは続行させます。",
    );
    type Answer = StartedTasks;

    async fn run(self, call: Call) -> Result<StartedTasks, ControlError> {
        let access = call.board_access().await?;
        let language = access.board().settings.language;
        let (mut started, mut refused) = (Vec::new(), Vec::new());
        for TaskRef(task_id) in self.task_ids {
            let blocked = access.board().task(task_id).is_ok_and(|task| task.status == Status::Blocked);
            let (name, reason) = if blocked { (Move::Unblock, self.answer.clone()) } else { (Move::Start, None) };
            match move_by(&access, task_id, name, reason, false).await {
                Ok(moved) => started.push(moved),
                Err(ControlError::Refused(refusal)) => refused.push(NotStarted {
                    task_id,
                    code: refusal.code().as_str(),
                    message: refusal.message(language),
                }),
                Err(error) => return Err(error),
            }
        }
        Ok(StartedTasks { success: refused.is_empty(), started, refused })
    }
}

async fn move_by(
    access: &BoardAccess<'_>,
    task: TaskId,
    name: Move,
    reason: Option<String>,
    merged: bool,
) -> Result<Moved, ControlError> {
    let to = Destination::By(name);
    let receipt = access.submit(Command::MoveTask { task, to, reason: reason.clone(), forced: false, merged }).await?;
    moved(&receipt, task, reason)
}

fn moved(receipt: &Receipt<Board>, task: TaskId, reason: Option<String>) -> Result<Moved, ControlError> {
    Ok(Moved {
        success: true,
        task_id: task,
        previous_status: receipt.before.task(task)?.status,
        new_status: receipt.after.task(task)?.status,
        reason,
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetryTask {
    task_id: TaskRef,
    /// what to do differently; its agent is told
    reason: Option<String>,
}

impl ToolHandler for RetryTask {
    const TOOL: Tool = Tool::RetryTask;
    const WHO: AllowedCaller = AllowedCaller::Orchestrator;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase =
        phrase("Start a failed task again, with new attempts.", "失敗したタスクを、試みの回数を戻して再び開始します。");
    type Answer = Moved;

    async fn run(self, call: Call) -> Result<Moved, ControlError> {
        let (access, task) = (call.board_access().await?, self.task_id.0);
        let command = Command::RetryTask { task, reason: self.reason.clone(), forced: false, later: false };
        moved(&access.submit(command).await?, task, self.reason)
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Decision {
    Approve,
    SendBack,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewTask {
    task_id: TaskRef,
    decision: Decision,
    /// what is wrong; needed to send it back
    reason: Option<String>,
}

impl ToolHandler for ReviewTask {
    const TOOL: Tool = Tool::ReviewTask;
    const WHO: AllowedCaller = AllowedCaller::Orchestrator;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "Approve work that is in the target branch, or send work back with what is wrong.",
        "対象ブランチに入った作業を承認します。または、問題点を添えて差し戻します。",
    );
    type Answer = Moved;

    async fn run(self, call: Call) -> Result<Moved, ControlError> {
        let (access, id) = (call.board_access().await?, self.task_id.0);
        let task = access.board().task(id)?.clone();
        match self.decision {
            Decision::Approve => {
                let (repository, board) = (repository(&call, &access), Arc::clone(access.board()));
                let look = move |files: &dyn LocalFiles| files.is_merged(&repository, &board, &task);
                let merged = call.server().look(look).await.unwrap_or_default();
                move_by(&access, id, Move::Finish, self.reason, merged).await
            }
            Decision::SendBack => {
                let reason = self.reason.ok_or_else(|| bad("`reason` says what is wrong; its agent is told"))?;
                let name = if task.status == Status::Done { Move::Reopen } else { Move::Unstart };
                move_by(&access, id, name, Some(reason), false).await
            }
        }
    }
}

pub(super) fn repository(call: &Call, access: &BoardAccess<'_>) -> std::path::PathBuf {
    call.server().repository(&access.board().settings.id).unwrap_or_default()
}
