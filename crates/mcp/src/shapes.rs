//! Which shape do answers have (M5)? The names of the seeds, and a schema for each.

use board::{
    Answer, Board, MessageId, Progress, Session, Task, TaskId, TaskSummary, Timestamp, Tool, instruction, say_rejection,
};
use schemars::JsonSchema;
use serde::Serialize;

/// A task in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskItem {
    #[schemars(with = "String")]
    pub(crate) id: TaskId,
    title: String,
    #[serde(rename = "type")]
    task_type: &'static str,
    priority: &'static str,
    status: &'static str,
    #[schemars(with = "Option<String>")]
    parent_id: Option<TaskId>,
    assignee_id: Option<String>,
    #[schemars(with = "Vec<String>")]
    dependencies: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_reason: Option<String>,
    /// Why it failed or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl TaskItem {
    pub(crate) fn of(task: &Task) -> Self {
        Self {
            id: task.id,
            title: task.title.clone(),
            task_type: task.task_type.as_str(),
            priority: task.priority.as_str(),
            status: task.status.as_str(),
            parent_id: task.parent,
            assignee_id: task.assignee.as_ref().map(ToString::to_string),
            dependencies: task.dependencies.clone(),
            blocked_reason: task.block.as_ref().map(|block| block.reason.clone()),
            reason: task.conclusion.as_ref().map(|conclusion| conclusion.reason.clone()),
        }
    }
}

/// What an agent noted for whoever works on the task next.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Notes {
    progress: Option<String>,
    findings: Option<String>,
    blockers: Option<String>,
    next_steps: Option<String>,
}

/// A task with what is known of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskInfo {
    #[serde(flatten)]
    item: TaskItem,
    description: String,
    labels: Vec<String>,
    created_by: String,
    attempts: u32,
    #[schemars(with = "String")]
    created_at: Timestamp,
    #[schemars(with = "String")]
    updated_at: Timestamp,
    /// What its agent last claimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Notes>,
    /// What was wrong with the last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Short>,
    /// What was observed of its last session.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_evidence: Option<EvidenceInfo>,
}

impl TaskInfo {
    pub(crate) fn of(board: &Board, task: &Task) -> Self {
        let language = board.settings.language;
        let last = task.last_session.and_then(|id| board.sessions.get(&id));
        Self {
            item: TaskItem::of(task),
            description: task.description.clone(),
            labels: task.labels.clone(),
            created_by: task.creator.to_string(),
            attempts: task.used.attempts,
            created_at: task.created_at,
            updated_at: task.updated_at,
            result: task.report.as_ref().map(|report| report.result.as_str()),
            summary: task.report.as_ref().map(|report| report.summary.clone()),
            context: task.context.as_ref().map(|context| Notes {
                progress: context.progress.clone(),
                findings: context.findings.clone(),
                blockers: context.blockers.clone(),
                next_steps: context.next_steps.clone(),
            }),
            feedback: task.feedback.as_ref().map(|why| say_rejection(why, language)),
            children: board.children(task).map(Short::of).collect(),
            last_evidence: last.map(|session| EvidenceInfo::of(session)),
        }
    }
}

/// A task in a few words.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Short {
    #[schemars(with = "String")]
    id: TaskId,
    title: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// What its agent said it achieved.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
}

impl Short {
    pub(crate) fn of(task: &Task) -> Self {
        Self {
            id: task.id,
            title: task.title.clone(),
            status: task.status.as_str(),
            assignee_id: task.assignee.as_ref().map(ToString::to_string),
            description: None,
            summary: None,
        }
    }

    pub(crate) fn with_description(task: &Task) -> Self {
        Self { description: Some(task.description.clone()), ..Self::of(task) }
    }

    pub(crate) fn with_summary(task: &Task) -> Self {
        Self { summary: task.report.as_ref().map(|report| report.summary.clone()), ..Self::of(task) }
    }

    fn brief(brief: &TaskSummary) -> Self {
        let TaskSummary { id, title, status, description } = brief;
        let (title, description) = (title.clone(), description.clone());
        Self { id: *id, title, status: status.as_str(), assignee_id: None, description, summary: None }
    }
}

/// What was observed of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EvidenceInfo {
    session_id: String,
    end_reason: Option<&'static str>,
    exit_code: Option<i32>,
    signal: Option<String>,
    dod_result: Option<&'static str>,
    verdict: Option<&'static str>,
    changed_files: Vec<String>,
}

impl EvidenceInfo {
    fn of(session: &Session) -> Self {
        let end = session.end.as_ref();
        Self {
            session_id: session.id.to_string(),
            end_reason: end.map(|end| end.reason.as_str()),
            exit_code: end.and_then(|end| end.exit_code),
            signal: end.and_then(|end| end.signal.clone()),
            dod_result: session.dod_result.map(board::DodResult::as_str),
            verdict: session.verdict.as_ref().map(board::Verdict::as_str),
            changed_files: session.artifacts.clone(),
        }
    }
}

/// The answer to `get_next_action` (N1).
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NextActionAnswer {
    action: &'static str,
    state: &'static str,
    instruction: String,
    #[schemars(with = "Vec<String>")]
    tools: Vec<Tool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Short>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subtask: Option<Short>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Counts>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<Short>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// How the children of a task stand.
#[derive(Debug, Serialize, JsonSchema)]
struct Counts {
    total: usize,
    done: usize,
    in_progress: usize,
    unstarted: usize,
    blocked: usize,
    failed: usize,
}

impl NextActionAnswer {
    pub(crate) fn of(answer: &Answer, language: board::Language) -> Self {
        let counts = |progress: Progress| {
            let Progress { total, done, in_progress, unstarted, blocked, failed } = progress;
            Counts { total, done, in_progress, unstarted, blocked, failed }
        };
        Self {
            action: answer.action.action(),
            state: answer.action.state(),
            instruction: instruction(answer, language),
            tools: answer.tools.clone(),
            task: answer.task.as_ref().map(Short::brief),
            subtask: answer.subtask.as_ref().map(Short::brief),
            progress: answer.progress.map(counts),
            waiting: answer.waiting.iter().map(Short::brief).collect(),
            reason: answer.action.reason(),
        }
    }
}

/// What was changed about a task's status.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Moved {
    pub(crate) success: bool,
    #[schemars(with = "String")]
    pub(crate) task_id: TaskId,
    pub(crate) previous_status: &'static str,
    pub(crate) new_status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// It happened; what next, if that needs words.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Done {
    success: bool,
    message: String,
}

impl Done {
    pub(crate) fn saying(message: String) -> Self {
        Self { success: true, message }
    }
}

/// A message of a chat.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MessageItem {
    #[schemars(with = "String")]
    id: MessageId,
    from: String,
    to: String,
    content: String,
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    related_task_id: Option<TaskId>,
    #[schemars(with = "String")]
    at: Timestamp,
}

impl MessageItem {
    pub(crate) fn of(message: &board::Message) -> Self {
        Self {
            id: message.id,
            from: message.from.to_string(),
            to: message.to.to_string(),
            content: message.content.clone(),
            related_task_id: message.related_task,
            at: message.at,
        }
    }
}
