//! What can agents see of tasks, and do with them?

use std::collections::BTreeMap;
use std::sync::Arc;

use board::wire::TaskItem;
use board::{
    Board, Command, DependsOn, Destination, NewTask, Party, Priority, RefusalReason, Status, Task, TaskId, TaskType,
    Tool,
};
use control::ControlError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answers::refuse;
use crate::answers::{Moved, TaskInfo};
use crate::arguments::{TaskRef, priorities, status, status_if_any, statuses, task_types};
use crate::call::{BoardAccess, Call};
use crate::caller::CallingSession;
use crate::phrase::{Phrase, phrase};
use crate::tool::{AllowedCaller, Effect, ToolHandler};

const PAGE: usize = 20;
const LONGEST_PAGE: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListTasks {
    #[schemars(schema_with = "statuses")]
    #[serde(default, deserialize_with = "status_if_any")]
    status: Option<Status>,
    assignee_id: Option<String>,
    parent_task_id: Option<TaskRef>,
    limit: Option<usize>,
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskList {
    tasks: Vec<TaskItem>,
    /// How many there are in all.
    total: usize,
    /// Pass it as `cursor` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl ToolHandler for ListTasks {
    const TOOL: Tool = Tool::ListTasks;
    const WHO: AllowedCaller = AllowedCaller::Session;
    const FOR_ORCHESTRATOR: bool = true;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase = phrase(
        "Tasks of the project; without a filter, the subtasks of your own task.",
        "プロジェクトのタスクを返します。条件がなければ、自分のタスクのサブタスクです。",
    );
    type Answer = TaskList;

    async fn run(self, call: Call) -> Result<TaskList, ControlError> {
        let access = call.board_access().await?;
        let after = match &self.cursor {
            None => TaskId(0),
            Some(cursor) => cursor.parse().map_err(|_| {
                refuse(RefusalReason::BadArguments(format!(
                    "`{}` is not a cursor that list_tasks gave",
                    cursor.chars().take(40).collect::<String>()
                )))
            })?,
        };
        let found = self.found(&access)?;
        let limit = self.limit.unwrap_or(PAGE).clamp(1, LONGEST_PAGE);
        let mut page: Vec<_> =
            found.iter().filter(|task| task.id > after).take(limit + 1).map(|task| TaskItem::from(*task)).collect();
        let more = page.len() > limit;
        page.truncate(limit);
        let next_cursor = page.last().filter(|_| more).map(|task| task.id.to_string());
        Ok(TaskList { tasks: page, total: found.len(), next_cursor })
    }
}

impl ListTasks {
    /// Everything that matches, by id. A filter looks at the whole project; without one, a session
    /// sees the subtasks of its task, and a chat or an orchestrator what is not settled.
    fn found<'a>(&self, access: &'a BoardAccess<'_>) -> Result<Vec<&'a Task>, ControlError> {
        let board = access.board();
        let own = match access {
            BoardAccess::Session(session) => session.session()?.task(),
            BoardAccess::Orchestrator { .. } => None,
        };
        let unfiltered = self.status.is_none() && self.assignee_id.is_none() && self.parent_task_id.is_none();
        let parent = match self.parent_task_id {
            Some(TaskRef(id)) => Some(board.task(id)?),
            None => own.filter(|_| unfiltered).map(|id| board.task(id)).transpose()?,
        };
        let wanted = |task: &&Task| {
            self.status.is_none_or(|status| task.status == status)
                && self.assignee_id.as_ref().is_none_or(|id| task.assignee.as_ref().is_some_and(|a| a.as_str() == id))
                && (!unfiltered || own.is_some() || !task.is_settled())
        };
        let mut found: Vec<_> = match parent {
            Some(parent) => board.children(parent).filter(wanted).collect(),
            None => board.tasks.values().map(Arc::as_ref).filter(wanted).collect(),
        };
        found.sort_by_key(|task| task.id);
        Ok(found)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetTask {
    task_id: TaskRef,
}

impl ToolHandler for GetTask {
    const TOOL: Tool = Tool::GetTask;
    const WHO: AllowedCaller = AllowedCaller::Session;
    const FOR_ORCHESTRATOR: bool = true;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase = phrase(
        "One task: notes, reasons, children, last evidence.",
        "1 つのタスク（記録、理由、サブタスク、最後の事実）を返します。",
    );
    type Answer = TaskInfo;

    async fn run(self, call: Call) -> Result<TaskInfo, ControlError> {
        let access = call.board_access().await?;
        let board = access.board();
        Ok(TaskInfo::of(board, board.task(self.task_id.0)?))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateTask {
    title: String,
    description: String,
    #[schemars(schema_with = "task_types")]
    #[serde(default, rename = "type")]
    task_type: Option<TaskType>,
    #[schemars(schema_with = "priorities")]
    #[serde(default)]
    priority: Option<Priority>,
    parent_task_id: Option<TaskRef>,
    dependencies: Option<Vec<TaskRef>>,
    /// the same key creates nothing twice
    idempotency_key: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Created {
    success: bool,
    task: TaskInfo,
}

impl ToolHandler for CreateTask {
    const TOOL: Tool = Tool::CreateTask;
    const WHO: AllowedCaller = AllowedCaller::Creator;
    const EFFECT: Effect = Effect::Add;
    const ABOUT: Phrase = phrase(
        "Add one subtask to your task; in a chat, a task that the owner asks for.",
        "自分のタスクにサブタスクを 1 つ追加します。チャットでは、オーナーに頼まれたタスクを追加します。",
    );
    type Answer = Created;

    async fn run(self, call: Call) -> Result<Created, ControlError> {
        let session = call.session()?;
        let needs = self.dependencies.unwrap_or_default();
        let new = NewTask {
            description: self.description,
            task_type: self.task_type.unwrap_or(TaskType::Task),
            priority: self.priority.unwrap_or(Priority::Medium),
            dependencies: needs.iter().map(|task| DependsOn::Task(task.0)).collect(),
            ..NewTask::titled(self.title)
        };
        let (board, ids) = create(session, self.parent_task_id, vec![new], self.idempotency_key).await?;
        let id = ids.first().copied().unwrap_or(TaskId(0));
        Ok(Created { success: true, task: TaskInfo::of(&board, board.task(id)?) })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateTasksBatch {
    tasks: Vec<NewItem>,
    parent_task_id: Option<TaskRef>,
    idempotency_key: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewItem {
    local_id: String,
    title: String,
    description: String,
    #[schemars(schema_with = "task_types")]
    #[serde(default, rename = "type")]
    task_type: Option<TaskType>,
    #[schemars(schema_with = "priorities")]
    #[serde(default)]
    priority: Option<Priority>,
    /// local ids it needs done first
    dependencies: Option<Vec<String>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreatedBatch {
    success: bool,
    tasks: Vec<CreatedItem>,
    /// From each local id to the id it got.
    #[schemars(with = "BTreeMap<String, String>")]
    task_ids: BTreeMap<String, TaskId>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreatedItem {
    local_id: String,
    #[schemars(with = "String")]
    task_id: TaskId,
    #[serde(flatten)]
    task: TaskItem,
}

impl ToolHandler for CreateTasksBatch {
    const TOOL: Tool = Tool::CreateTasksBatch;
    const WHO: AllowedCaller = AllowedCaller::TaskSession;
    const EFFECT: Effect = Effect::Add;
    const ABOUT: Phrase = phrase(
        "Split your task: create all subtasks in one call, or none.",
        "自分のタスクを分割します。すべてのサブタスクを 1 回で作成するか、1 件も作成しません。",
    );
    type Answer = CreatedBatch;

    async fn run(self, call: Call) -> Result<CreatedBatch, ControlError> {
        let session = call.session()?;
        let local_ids: Vec<_> = self.tasks.iter().map(|task| task.local_id.clone()).collect();
        let twice = local_ids.iter().enumerate().find(|(at, id)| local_ids[..*at].contains(id));
        if let Some((_, id)) = twice {
            return Err(refuse(RefusalReason::BadArguments(format!("the local_id `{}` is used twice", shortened(id)))));
        }
        let new = self.tasks.into_iter().map(|task| task.planned(&local_ids)).collect::<Result<Vec<_>, _>>()?;
        let (board, ids) = create(session, self.parent_task_id, new, self.idempotency_key).await?;
        let item = |(local_id, id): (&String, &TaskId)| {
            let task = TaskItem::from(board.task(*id)?);
            Ok(CreatedItem { local_id: local_id.clone(), task_id: *id, task })
        };
        let tasks = local_ids.iter().zip(&ids).map(item).collect::<Result<Vec<_>, ControlError>>()?;
        let task_ids = tasks.iter().map(|task| (task.local_id.clone(), task.task_id)).collect();
        Ok(CreatedBatch { success: true, tasks, task_ids })
    }
}

impl NewItem {
    fn planned(self, local_ids: &[String]) -> Result<NewTask, ControlError> {
        let depends_on = |name: String| {
            let local = local_ids.iter().position(|id| *id == name).map(DependsOn::New);
            local.or_else(|| name.parse().ok().map(DependsOn::Task)).ok_or_else(|| {
                let shown = shortened(&name);
                refuse(RefusalReason::BadArguments(format!("the dependency `{shown}` is no local_id of this batch")))
            })
        };
        let dependencies = self.dependencies.unwrap_or_default().into_iter().map(depends_on);
        Ok(NewTask {
            description: self.description,
            task_type: self.task_type.unwrap_or(TaskType::Task),
            priority: self.priority.unwrap_or(Priority::Medium),
            dependencies: dependencies.collect::<Result<_, _>>()?,
            ..NewTask::titled(self.title)
        })
    }
}

pub(super) fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Creates tasks, or finds those that the same key has created before.
async fn create(
    session: &CallingSession,
    parent: Option<TaskRef>,
    tasks: Vec<NewTask>,
    key: Option<String>,
) -> Result<(Arc<Board>, Vec<TaskId>), ControlError> {
    let parent = parent.map(|task| task.0);
    let command = Command::CreateTasks { parent, tasks, key: key.clone() };
    let receipt = session.submit(command).await?;
    let created = receipt.events.iter().find_map(|event| match &event.what {
        board::EventKind::TasksCreated { tasks, .. } => Some(tasks.iter().map(|task| task.id).collect()),
        _ => None,
    });
    let ids = match (created, key) {
        (Some(ids), _) => ids,
        (None, None) => Vec::new(),
        (None, Some(key)) => {
            let by = Party::Agent(session.session()?.agent.clone());
            let below = session.session()?.task();
            receipt.after.created_by_key(&by, below, &key).unwrap_or_default().to_vec()
        }
    };
    Ok((receipt.after, ids))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateTaskStatus {
    task_id: TaskRef,
    #[schemars(schema_with = "statuses")]
    #[serde(deserialize_with = "status")]
    status: Status,
    reason: Option<String>,
}

impl ToolHandler for UpdateTaskStatus {
    const TOOL: Tool = Tool::UpdateTaskStatus;
    const WHO: AllowedCaller = AllowedCaller::TaskSession;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "Move a subtask of yours: in_progress, done, todo, blocked, failed, cancelled.",
        "自分のサブタスクの状態を移します: in_progress、done、todo、blocked、failed、cancelled。",
    );
    type Answer = Moved;

    async fn run(self, call: Call) -> Result<Moved, ControlError> {
        move_task(&call.board_access().await?, self.task_id.0, self.status, self.reason).await
    }
}

pub(super) async fn move_task(
    access: &BoardAccess<'_>,
    task: TaskId,
    to: Status,
    reason: Option<String>,
) -> Result<Moved, ControlError> {
    let to = Destination::Status(to);
    let command = Command::MoveTask { task, to, reason: reason.clone(), forced: false, merged: false };
    let receipt = access.submit(command).await?;
    Ok(Moved {
        success: true,
        task_id: task,
        previous_status: receipt.before.task(task)?.status,
        new_status: receipt.after.task(task)?.status,
        reason,
    })
}
