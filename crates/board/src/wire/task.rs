//! Which shape does a task have on the wire?

use schemars::JsonSchema;
use serde::Serialize;

use crate::board::Board;
use crate::comments;
use crate::evidence::Rejection;
use crate::fuel::{self, RemainingFuel};
use crate::session::Outcome;
use crate::spending::Spent;
use crate::task::{self, Context, Kind, Priority, ProposalAnswer, Repairs, Status, TaskType};
use crate::{AgentId, Seq, SessionId, TaskId, Timestamp};

/// A task in a few words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskSummary {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee_id: Option<AgentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What its agent said it achieved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl TaskSummary {
    /// Only what it is called and how it stands.
    pub fn brief(task: &task::Task) -> Self {
        let (id, title, status) = (task.id, task.title.clone(), task.status);
        Self { id, title, status, assignee_id: None, description: None, summary: None }
    }

    pub fn of(task: &task::Task) -> Self {
        Self { assignee_id: task.assignee.clone(), ..Self::brief(task) }
    }

    #[must_use]
    pub fn with_description(self, task: &task::Task) -> Self {
        Self { description: Some(task.description.clone()), ..self }
    }

    #[must_use]
    pub fn with_summary(self, task: &task::Task) -> Self {
        Self { summary: task.report.as_ref().map(|report| report.summary.clone()), ..self }
    }
}

/// A task in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskItem {
    pub id: TaskId,
    pub title: String,
    #[serde(rename = "type")]
    pub task_type: TaskType,
    pub priority: Priority,
    pub status: Status,
    pub parent_id: Option<TaskId>,
    pub assignee_id: Option<AgentId>,
    /// What must be done first.
    pub dependencies: Vec<TaskId>,
    pub blocked_reason: Option<String>,
    /// Why it failed or was cancelled.
    pub reason: Option<String>,
}

impl From<&task::Task> for TaskItem {
    fn from(task: &task::Task) -> Self {
        Self {
            id: task.id,
            title: task.title.clone(),
            task_type: task.task_type,
            priority: task.priority,
            status: task.status,
            parent_id: task.parent,
            assignee_id: task.assignee.clone(),
            dependencies: task.dependencies.clone(),
            blocked_reason: task.block.as_ref().map(|block| block.reason.clone()),
            reason: task.conclusion.as_ref().map(|conclusion| conclusion.reason.clone()),
        }
    }
}

/// What was written about a task, as its agent reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommentText {
    pub by: String,
    pub text: String,
    pub at: Timestamp,
}

impl From<&task::Comment> for CommentText {
    fn from(comment: &task::Comment) -> Self {
        Self { by: comment.by.to_string(), text: comment.text.clone(), at: comment.at }
    }
}

/// What was written about a task, and who has read it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Comment {
    #[serde(flatten)]
    pub comment: CommentText,
    /// The sessions that were told.
    pub read_by: Vec<SessionId>,
}

impl Comment {
    pub fn of(board: &Board, task: &task::Task, comment: &task::Comment) -> Self {
        let read_by = comments::readers(board, task, comment).map(|session| session.id).collect();
        Self { comment: comment.into(), read_by }
    }
}

/// What an agent wants the project to remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proposal {
    /// Its name: the number of the event that made it.
    pub number: Seq,
    pub task_id: TaskId,
    pub by: AgentId,
    pub text: String,
    pub at: Timestamp,
    /// What the owner said; `null` while it waits.
    pub answer: Option<ProposalAnswer>,
}

impl Proposal {
    pub fn of(task: &task::Task, proposal: &task::Proposal) -> Self {
        let task::Proposal { seq, by, text, at, answer } = proposal.clone();
        Self { number: seq, task_id: task.id, by, text, at, answer }
    }
}

/// A task or step.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Task {
    #[serde(flatten)]
    pub item: TaskItem,
    pub description: String,
    pub kind: Kind,
    pub created_by: String,
    pub labels: Vec<String>,
    /// What it is meant to repair: `target` if it goes through although a check fails there.
    pub repairs: Option<Repairs>,
    /// The task whose merged work it undoes.
    pub reverts: Option<TaskId>,
    /// Rejected attempts since it was last retried or reopened.
    pub attempts: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl From<&task::Task> for Task {
    fn from(task: &task::Task) -> Self {
        Self {
            item: task.into(),
            description: task.description.clone(),
            kind: task.kind,
            created_by: task.creator.to_string(),
            labels: task.labels.clone(),
            repairs: task.repairs,
            reverts: task.reverts.as_ref().map(|reverts| reverts.task),
            attempts: task.used.attempts,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

/// A task with everything that is known of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskDetail {
    #[serde(flatten)]
    pub task: Task,
    /// Who starts, changes and cancels it.
    pub mover: String,
    pub blocked_by: Option<String>,
    /// The ancestor that is not in progress.
    pub held_by: Option<TaskId>,
    pub children: Vec<TaskId>,
    pub branch: Option<String>,
    pub base_commit: Option<String>,
    /// What its agent last reported.
    pub result: Option<Outcome>,
    pub summary: Option<String>,
    /// What was wrong with the last attempt.
    pub feedback: Option<Rejection>,
    pub context: Option<Context>,
    /// What the owner and its mover have written about it, oldest first.
    pub comments: Vec<Comment>,
    /// What its agents propose for the memory bank.
    pub proposals: Vec<Proposal>,
    pub left: RemainingFuel,
    /// What its sessions have used, in tokens and money.
    pub spent: Spent,
}

impl TaskDetail {
    pub fn of(board: &Board, task: &task::Task) -> Self {
        Self {
            task: task.into(),
            mover: board.mover(task).to_string(),
            blocked_by: task.block.as_ref().map(|block| block.by.to_string()),
            held_by: board.held_by(task),
            children: task.children.clone(),
            branch: task.branch.clone(),
            base_commit: task.base_commit.clone(),
            result: task.report.as_ref().map(|report| report.result),
            summary: task.report.as_ref().map(|report| report.summary.clone()),
            feedback: task.feedback.clone(),
            context: task.context.clone(),
            comments: task.comments.iter().map(|comment| Comment::of(board, task, comment)).collect(),
            proposals: task.proposals.iter().map(|proposal| Proposal::of(task, proposal)).collect(),
            left: fuel::left(board, task),
            spent: task.spent,
        }
    }
}
