//! Which shape do tasks, sessions and messages have on the wire (C6)? Stable for scripts.

use serde::Serialize;

use crate::board::Board;
use crate::evidence::{DodResult, EndReason, Rejection, Usage, Verdict};
use crate::session::{Session, SessionStatus};
use crate::task::{Kind, Priority, Status, Task, TaskType};
use crate::{Agent, AgentId, Message, MessageId, Party, Span, TaskId, Timestamp, fuel};

#[derive(Clone, Debug, Serialize)]
pub struct TaskView<'a> {
    pub id: TaskId,
    pub title: &'a str,
    pub description: &'a str,
    #[serde(rename = "type")]
    pub task_type: TaskType,
    pub kind: Kind,
    pub priority: Priority,
    pub status: Status,
    pub parent_id: Option<TaskId>,
    pub assignee_id: Option<&'a AgentId>,
    pub created_by: String,
    pub dependencies: &'a [TaskId],
    pub labels: &'a [String],
    pub blocked_reason: Option<&'a str>,
    /// Why it failed or was cancelled.
    pub reason: Option<&'a str>,
    pub attempts: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl<'a> TaskView<'a> {
    pub fn of(task: &'a Task) -> Self {
        Self {
            id: task.id,
            title: &task.title,
            description: &task.description,
            task_type: task.task_type,
            kind: task.kind,
            priority: task.priority,
            status: task.status,
            parent_id: task.parent,
            assignee_id: task.assignee.as_ref(),
            created_by: task.creator.to_string(),
            dependencies: &task.dependencies,
            labels: &task.labels,
            blocked_reason: task.block.as_ref().map(|block| block.reason.as_str()),
            reason: task.conclusion.as_ref().map(|conclusion| conclusion.reason.as_str()),
            attempts: task.used.attempts,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

/// A task with everything that `task show` tells of it.
#[derive(Clone, Debug, Serialize)]
pub struct TaskDetail<'a> {
    #[serde(flatten)]
    pub task: TaskView<'a>,
    pub mover: String,
    pub blocked_by: Option<String>,
    pub held_by: Option<TaskId>,
    pub children: &'a [TaskId],
    pub branch: Option<&'a str>,
    pub base_commit: Option<&'a str>,
    pub result: Option<&'static str>,
    pub summary: Option<&'a str>,
    pub feedback: Option<&'a Rejection>,
    pub context: Option<&'a crate::Context>,
    pub left: fuel::RemainingFuel,
}

impl<'a> TaskDetail<'a> {
    pub fn of(board: &Board, task: &'a Task) -> Self {
        Self {
            task: TaskView::of(task),
            mover: board.mover(task).to_string(),
            blocked_by: task.block.as_ref().map(|block| block.by.to_string()),
            held_by: board.held_by(task),
            children: &task.children,
            branch: task.branch.as_deref(),
            base_commit: task.base_commit.as_deref(),
            result: task.report.as_ref().map(|report| report.result.as_str()),
            summary: task.report.as_ref().map(|report| report.summary.as_str()),
            feedback: task.feedback.as_ref(),
            context: task.context.as_ref(),
            left: fuel::left(board, task),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct SessionView<'a> {
    pub id: crate::SessionId,
    pub task_id: Option<TaskId>,
    pub agent_id: &'a AgentId,
    pub purpose: &'static str,
    pub status: SessionStatus,
    pub end_reason: Option<EndReason>,
    pub exit_code: Option<i32>,
    pub signal: Option<&'a str>,
    pub dod_result: Option<DodResult>,
    pub verdict: Option<&'static str>,
    pub verdict_detail: Option<&'a Verdict>,
    pub artifacts: &'a [String],
    pub error: Option<&'a str>,
    pub model: Option<&'a crate::ModelReport>,
    pub usage: Option<Usage>,
    /// Who sees to its end: `runner`, `attached` or `hand`.
    pub driver: &'static str,
    pub calls: u32,
    pub last_call_at: Timestamp,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub duration_ms: Option<i64>,
}

impl<'a> SessionView<'a> {
    pub fn of(session: &'a Session) -> Self {
        let end = session.end.as_ref();
        Self {
            id: session.id,
            task_id: session.task(),
            agent_id: &session.agent,
            purpose: session.purpose.as_str(),
            status: session.status,
            end_reason: end.map(|end| end.reason),
            exit_code: end.and_then(|end| end.exit_code),
            signal: end.and_then(|end| end.signal.as_deref()),
            dod_result: session.dod_result,
            verdict: session.verdict.as_ref().map(Verdict::as_str),
            verdict_detail: session.verdict.as_ref(),
            artifacts: &session.artifacts,
            error: end.and_then(|end| end.error.as_deref()),
            model: session.model.as_ref(),
            usage: session.usage,
            driver: session.driver.as_str(),
            calls: session.calls,
            last_call_at: session.last_call_at,
            started_at: session.claimed_at,
            ended_at: session.ended_at,
            duration_ms: session.ended_at.map(|ended| (ended - session.claimed_at).0),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct AgentView<'a> {
    pub id: &'a AgentId,
    pub name: &'a str,
    pub hierarchy_type: crate::Hierarchy,
    pub role_type: &'a str,
    pub parent: Option<&'a AgentId>,
    pub mode: crate::Mode,
    pub client: crate::Client,
    pub model: Option<&'a str>,
    pub active: bool,
    pub has_passkey: bool,
    pub max_sessions: u32,
    pub running: Vec<crate::SessionId>,
    pub open_tasks: Vec<TaskId>,
}

impl<'a> AgentView<'a> {
    pub fn of(board: &Board, agent: &'a Agent) -> Self {
        Self {
            id: &agent.spec.id,
            name: &agent.spec.name,
            hierarchy_type: agent.spec.hierarchy,
            role_type: &agent.spec.role,
            parent: agent.spec.parent.as_ref(),
            mode: agent.spec.mode,
            client: agent.spec.client,
            model: agent.spec.model.as_deref(),
            active: agent.active,
            has_passkey: agent.passkey.is_some(),
            max_sessions: agent.spec.max_sessions,
            running: board.live_sessions(agent.id()).map(|session| session.id).collect(),
            open_tasks: board.open_tasks(agent.id()).iter().map(|task| task.id).collect(),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct MessageView<'a> {
    pub id: MessageId,
    pub from: String,
    pub to: String,
    pub content: &'a str,
    pub related_task_id: Option<TaskId>,
    pub at: Timestamp,
    pub read: bool,
    pub expired: bool,
}

impl<'a> MessageView<'a> {
    pub fn of(board: &Board, message: &'a Message) -> Self {
        let read = match &message.to {
            Party::Agent(agent) => board.agents.get(agent).is_some_and(|agent| agent.read_upto >= message.id),
            Party::Owner | Party::System => true,
        };
        Self {
            id: message.id,
            from: message.from.to_string(),
            to: message.to.to_string(),
            content: &message.content,
            related_task_id: message.related_task,
            at: message.at,
            read,
            expired: message.expired,
        }
    }
}

/// An event with its place in the log, without secrets.
#[derive(Clone, Debug, Serialize)]
pub struct EventView {
    pub seq: crate::Seq,
    pub at: Timestamp,
    pub by: crate::Actor,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub data: serde_json::Value,
}

impl EventView {
    pub fn of(seq: crate::Seq, event: &crate::Event) -> Self {
        let event = event.redacted();
        // The name of what happened is told beside it.
        let data = match serde_json::to_value(&event.what) {
            Ok(serde_json::Value::Object(object)) => object.into_iter().next().map(|(_, data)| data),
            Ok(_) | Err(_) => None,
        };
        Self { seq, at: event.at, kind: event.name(), by: event.by, data: data.unwrap_or_default() }
    }
}

/// A ready task that nobody starts (L2): whom it waits for, and how long.
pub fn waiting_to_start(board: &Board, task: &Task, now: Timestamp) -> Option<(Party, Span)> {
    let waited = now - task.status_at;
    let reminded = task.assignee.is_some() && waited >= board.settings.limits.start_reminder;
    (reminded && crate::can_start(board, task)).then(|| (board.mover(task), waited))
}
