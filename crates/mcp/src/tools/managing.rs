//! What only managers do: choose, assign, adjust, look after their workers.

use std::cmp::Reverse;

use board::{AgentId, Choice, Command, Priority, RefusalReason, Status, TaskId, Timestamp, Tool, replies};
use control::ControlError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::own::Profile;
use super::tasks::move_task;
use crate::answers::{Moved, refuse};
use crate::arguments::{TaskRef, choices, priorities};
use crate::call::Call;
use crate::phrase::{Phrase, phrase};
use crate::tool::{AllowedCaller, Effect, ToolHandler};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelectAction {
    #[schemars(schema_with = "choices")]
    action: Choice,
    reason: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Selected {
    success: bool,
    selected_action: &'static str,
    message: String,
}

impl ToolHandler for SelectAction {
    const TOOL: Tool = Tool::SelectAction;
    const WHO: AllowedCaller = AllowedCaller::ManagerAtWork;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "Choose what to do next: start assigns and starts subtasks, adjust changes the plan, wait ends this session until something changes.",
        "次の行動を選びます: start はサブタスクの割り当てと開始、adjust は計画の変更、wait は状況が変わるまでの待機です。",
    );
    type Answer = Selected;

    async fn run(self, call: Call) -> Result<Selected, ControlError> {
        let Self { action: choice, reason } = self;
        let receipt = call.session()?.submit(Command::SelectAction { choice, reason }).await?;
        let message = replies::selected(choice, receipt.after.settings.language);
        Ok(Selected { success: true, selected_action: choice.as_str(), message })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AssignTask {
    task_id: TaskRef,
    /// omit to unassign
    assignee_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Assigned {
    success: bool,
    #[schemars(with = "String")]
    task_id: TaskId,
    assignee_id: Option<String>,
    status: &'static str,
}

impl ToolHandler for AssignTask {
    const TOOL: Tool = Tool::AssignTask;
    const WHO: AllowedCaller = AllowedCaller::Manager;
    const FOR_ORCHESTRATOR: bool = true;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase("Give a subtask to one of your subordinates.", "サブタスクを部下に割り当てます。");
    type Answer = Assigned;

    async fn run(self, call: Call) -> Result<Assigned, ControlError> {
        let task = self.task_id.0;
        let assignee = self.assignee_id.map(agent_id).transpose()?;
        let receipt = call.board_access().await?.submit(Command::AssignTask { task, assignee, forced: false }).await?;
        let task = receipt.after.task(task)?;
        let assignee_id = task.assignee.as_ref().map(ToString::to_string);
        Ok(Assigned { success: true, task_id: task.id, assignee_id, status: task.status.as_str() })
    }
}

pub(super) fn agent_id(name: String) -> Result<AgentId, ControlError> {
    name.parse().map_err(|error: board::BadId| {
        let shown: String = error.text.chars().take(80).collect();
        refuse(RefusalReason::BadArguments(format!("`{shown}` is not {}", error.expected)))
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateTask {
    task_id: TaskRef,
    title: Option<String>,
    description: Option<String>,
    #[schemars(schema_with = "priorities")]
    #[serde(default)]
    priority: Option<Priority>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Updated {
    success: bool,
    #[schemars(with = "String")]
    task_id: TaskId,
    updated_fields: Vec<&'static str>,
    message: String,
}

impl ToolHandler for UpdateTask {
    const TOOL: Tool = Tool::UpdateTask;
    const WHO: AllowedCaller = AllowedCaller::Manager;
    const FOR_ORCHESTRATOR: bool = true;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase =
        phrase("Change a subtask's title, description or priority.", "サブタスクの題名、説明、優先度を変更します。");
    type Answer = Updated;

    async fn run(self, call: Call) -> Result<Updated, ControlError> {
        let task = self.task_id.0;
        let Self { title, description, priority, .. } = self;
        if title.is_none() && description.is_none() && priority.is_none() {
            return Err(refuse(RefusalReason::BadArguments("give a title, a description or a priority".into())));
        }
        let edit = board::TaskEdit { title, description, priority, ..board::TaskEdit::default() };
        let receipt = call.board_access().await?.submit(Command::EditTask { task, edit, forced: false }).await?;
        let (before, after) = (receipt.before.task(task)?, receipt.after.task(task)?);
        let changed = [
            ("title", before.title != after.title),
            ("description", before.description != after.description),
            ("priority", before.priority != after.priority),
        ];
        let updated_fields: Vec<_> =
            changed.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name).collect();
        let message = replies::task_updated(receipt.after.settings.language);
        Ok(Updated { success: true, task_id: task, updated_fields, message })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelTask {
    task_id: TaskRef,
    reason: String,
}

impl ToolHandler for CancelTask {
    const TOOL: Tool = Tool::CancelTask;
    const WHO: AllowedCaller = AllowedCaller::Manager;
    const FOR_ORCHESTRATOR: bool = true;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "Cancel a subtask that is no longer needed, and what is below it.",
        "不要になったサブタスクを、その下位も含めて中止します。",
    );
    type Answer = Moved;

    async fn run(self, call: Call) -> Result<Moved, ControlError> {
        move_task(&call.board_access().await?, self.task_id.0, Status::Cancelled, Some(self.reason)).await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlockTask {
    task_id: TaskRef,
    reason: String,
}

impl ToolHandler for BlockTask {
    const TOOL: Tool = Tool::BlockTask;
    const WHO: AllowedCaller = AllowedCaller::Manager;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase =
        phrase("Block a subtask that must not go on for now.", "今は進めてはいけないサブタスクをブロックします。");
    type Answer = Moved;

    async fn run(self, call: Call) -> Result<Moved, ControlError> {
        move_task(&call.board_access().await?, self.task_id.0, Status::Blocked, Some(self.reason)).await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommentTask {
    task_id: TaskRef,
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Commented {
    success: bool,
    #[schemars(with = "String")]
    task_id: TaskId,
    /// When it is read.
    message: String,
}

impl ToolHandler for CommentTask {
    const TOOL: Tool = Tool::CommentTask;
    const WHO: AllowedCaller = AllowedCaller::Manager;
    const FOR_ORCHESTRATOR: bool = true;
    const EFFECT: Effect = Effect::Add;
    const ABOUT: Phrase = phrase(
        "Tell whoever works on a subtask something; it is read before the work goes on.",
        "サブタスクの担当者に伝えます。作業を続ける前に読まれます。",
    );
    type Answer = Commented;

    async fn run(self, call: Call) -> Result<Commented, ControlError> {
        let task_id = self.task_id.0;
        let receipt =
            call.board_access().await?.submit(Command::CommentTask { task: task_id, text: self.text }).await?;
        Ok(Commented { success: true, task_id, message: replies::commented(&receipt.after, task_id) })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateTaskDependencies {
    task_id: TaskRef,
    add_dependencies: Option<Vec<TaskRef>>,
    remove_dependencies: Option<Vec<TaskRef>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Dependencies {
    success: bool,
    #[schemars(with = "String")]
    task_id: TaskId,
    #[schemars(with = "Vec<String>")]
    dependencies: Vec<TaskId>,
    #[schemars(with = "Vec<String>")]
    added: Vec<TaskId>,
    #[schemars(with = "Vec<String>")]
    removed: Vec<TaskId>,
}

impl ToolHandler for UpdateTaskDependencies {
    const TOOL: Tool = Tool::UpdateTaskDependencies;
    const WHO: AllowedCaller = AllowedCaller::Manager;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase("Change what a subtask waits for.", "サブタスクの依存先を変更します。");
    type Answer = Dependencies;

    async fn run(self, call: Call) -> Result<Dependencies, ControlError> {
        let ids = |tasks: Option<Vec<TaskRef>>| tasks.unwrap_or_default().iter().map(|task| task.0).collect();
        let (task, add, remove) = (self.task_id.0, ids(self.add_dependencies), ids(self.remove_dependencies));
        let command = Command::ChangeDependencies { task, add, remove, forced: false };
        let receipt = call.session()?.submit(command).await?;
        let (before, after) = (&receipt.before.task(task)?.dependencies, &receipt.after.task(task)?.dependencies);
        let beyond =
            |these: &[TaskId], those: &[TaskId]| these.iter().filter(|id| !those.contains(id)).copied().collect();
        Ok(Dependencies {
            success: true,
            task_id: task,
            dependencies: after.clone(),
            added: beyond(after, before),
            removed: beyond(before, after),
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetRecentCompletions {
    parent_task_id: Option<TaskRef>,
    /// RFC 3339; default: since your last session
    #[schemars(with = "Option<String>")]
    since: Option<Timestamp>,
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Completions {
    completions: Vec<Completion>,
    total: usize,
    #[schemars(with = "String")]
    since: Timestamp,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Completion {
    #[schemars(with = "String")]
    task_id: TaskId,
    title: String,
    assignee_id: Option<String>,
    #[schemars(with = "String")]
    completed_at: Timestamp,
    result: Option<&'static str>,
    summary: Option<String>,
}

impl ToolHandler for GetRecentCompletions {
    const TOOL: Tool = Tool::GetRecentCompletions;
    const WHO: AllowedCaller = AllowedCaller::Manager;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase = phrase(
        "Subtasks that were finished of late, with their summaries.",
        "最近完了したサブタスクとその要約を返します。",
    );
    type Answer = Completions;

    async fn run(self, call: Call) -> Result<Completions, ControlError> {
        let session = call.session()?;
        let board = &session.board;
        let parent = match self.parent_task_id {
            Some(TaskRef(id)) => board.task(id)?,
            None => session.task()?,
        };
        let last = parent.last_session.and_then(|id| board.sessions.get(&id)).and_then(|last| last.ended_at);
        let since = self.since.or(last).unwrap_or(parent.created_at);
        let mut done: Vec<_> =
            board.children(parent).filter(|task| task.status == Status::Done && task.status_at >= since).collect();
        done.sort_by_key(|task| (Reverse(task.status_at), Reverse(task.id)));
        let total = done.len();
        let completion = |task: &board::Task| Completion {
            task_id: task.id,
            title: task.title.clone(),
            assignee_id: task.assignee.as_ref().map(ToString::to_string),
            completed_at: task.status_at,
            result: task.report.as_ref().map(|report| report.result.as_str()),
            summary: task.report.as_ref().map(|report| report.summary.clone()),
        };
        let limit = self.limit.unwrap_or(10).clamp(1, 100);
        let completions = done.into_iter().take(limit).map(completion).collect();
        Ok(Completions { completions, total, since })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListSubordinates {}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Subordinates {
    subordinates: Vec<Subordinate>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Subordinate {
    id: String,
    name: String,
    hierarchy_type: &'static str,
    role: String,
    skills: Vec<String>,
    /// `busy` with a session, or `idle`.
    status: &'static str,
    #[schemars(with = "Vec<String>")]
    running_tasks: Vec<TaskId>,
    /// Unsettled tasks it has.
    load: usize,
    max_sessions: u32,
}

impl ToolHandler for ListSubordinates {
    const TOOL: Tool = Tool::ListSubordinates;
    const WHO: AllowedCaller = AllowedCaller::Manager;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase =
        phrase("Who works for you, on what, and how loaded they are.", "部下と、その担当タスクや負荷を返します。");
    type Answer = Subordinates;

    async fn run(self, call: Call) -> Result<Subordinates, ControlError> {
        let session = call.session()?;
        let board = &session.board;
        let subordinate = |agent: &board::Agent| {
            let running: Vec<_> = board.live_sessions(agent.id()).filter_map(board::Session::task).collect();
            Subordinate {
                id: agent.id().to_string(),
                name: agent.spec.name.clone(),
                hierarchy_type: agent.spec.hierarchy.as_str(),
                role: agent.spec.role.clone(),
                skills: agent.spec.skills.clone(),
                status: if running.is_empty() { "idle" } else { "busy" },
                running_tasks: running,
                load: board.open_tasks(agent.id()).len(),
                max_sessions: agent.spec.max_sessions,
            }
        };
        let manager = &session.session()?.agent;
        Ok(Subordinates { subordinates: board.subordinates(manager).map(subordinate).collect() })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetSubordinateProfile {
    agent_id: String,
}

impl ToolHandler for GetSubordinateProfile {
    const TOOL: Tool = Tool::GetSubordinateProfile;
    const WHO: AllowedCaller = AllowedCaller::Manager;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase =
        phrase("One subordinate: skills, model, scope.", "部下 1 人のスキル、モデル、範囲を返します。");
    type Answer = Profile;

    async fn run(self, call: Call) -> Result<Profile, ControlError> {
        let session = call.session()?;
        let (wanted, manager) = (agent_id(self.agent_id)?, &session.session()?.agent);
        let found = session.board.subordinates(manager).find(|agent| *agent.id() == wanted);
        let stranger = || refuse(RefusalReason::NotASubordinate { agent: wanted.clone(), manager: manager.clone() });
        found.map(Profile::of).ok_or_else(stranger)
    }
}
