//! Which shape do answers have that only agents get (M5)? The names of the seeds, around the shapes of
//! [`board::wire`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use board::wire::{CommentText, Evidence, Task, TaskSummary};
use board::{
    Answer, Board, Context, Language, Outcome, Progress, Refusal, RefusalReason, Status, TaskId, Tool, instruction,
    say_rejection,
};
use control::ControlError;
use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use serde::Serialize;

/// How many comments of a task an agent is told.
const COMMENTS: usize = 20;

/// What a tool may answer with.
pub(crate) trait IntoToolResult {
    fn into_tool_result(self) -> CallToolResult;
}

impl<T: Serialize> IntoToolResult for T {
    fn into_tool_result(self) -> CallToolResult {
        CallToolResult::structured(serde_json::to_value(self).expect("answers have string keys only"))
    }
}

/// A task with what an agent has to know of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskInfo {
    #[serde(flatten)]
    task: Task,
    /// What its agent last reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Context>,
    /// What was wrong with the last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    /// What the owner and your manager have written about it: the last ones, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comments: Vec<CommentText>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<TaskSummary>,
    /// What was observed of its last session.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_evidence: Option<Evidence>,
}

impl TaskInfo {
    pub(crate) fn of(board: &Board, task: &board::Task) -> Self {
        let language = board.settings.language;
        let last = task.last_session.and_then(|id| board.sessions.get(&id));
        Self {
            task: task.into(),
            result: task.report.as_ref().map(|report| report.result),
            summary: task.report.as_ref().map(|report| report.summary.clone()),
            context: task.context.clone(),
            feedback: task.feedback.as_ref().map(|why| say_rejection(why, language)),
            comments: task.comments.iter().rev().take(COMMENTS).rev().map(CommentText::from).collect(),
            children: board.children(task).map(TaskSummary::of).collect(),
            last_evidence: last.map(|session| Evidence::from(&**session)),
        }
    }
}

/// The answer to `get_next_action` (N1).
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NextActionAnswer {
    action: &'static str,
    state: &'static str,
    instruction: String,
    tools: Vec<Tool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<TaskSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subtask: Option<TaskSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Progress>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<TaskSummary>,
    /// What was written about your task since you last read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comments: Vec<CommentText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl NextActionAnswer {
    pub(crate) fn of(answer: &Answer, language: Language) -> Self {
        Self {
            action: answer.action.action(),
            state: answer.action.state(),
            instruction: instruction(answer, language),
            tools: answer.tools.clone(),
            task: answer.task.clone(),
            subtask: answer.subtask.clone(),
            progress: answer.progress,
            waiting: answer.waiting.clone(),
            comments: answer.comments.clone(),
            reason: answer.action.reason(),
        }
    }
}

/// A next action as it is sent.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(transparent)]
pub(crate) struct RenderedNextAction(#[schemars(with = "NextActionAnswer")] CallToolResult);

impl IntoToolResult for RenderedNextAction {
    fn into_tool_result(self) -> CallToolResult {
        self.0
    }
}

/// Next actions that were sent: an agent that asks again is given the same answer until the board changes, and
/// rendering it would be most of the work.
#[derive(Debug, Default)]
pub(crate) struct RenderedNextActions {
    /// By the address of the answer, which nothing else can have while the answer is kept here.
    known: Mutex<HashMap<usize, (Arc<Answer>, RenderedNextAction)>>,
}

/// Above this many all are dropped.
const RENDERED: usize = 1_024;

impl RenderedNextActions {
    pub(crate) fn rendered(&self, answer: Arc<Answer>, language: Language) -> RenderedNextAction {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > RENDERED {
            known.clear();
        }
        let address = Arc::as_ptr(&answer).addr();
        let (_, rendered) = known.entry(address).or_insert_with(|| {
            let rendered = NextActionAnswer::of(&answer, language).into_tool_result();
            (answer, RenderedNextAction(rendered))
        });
        rendered.clone()
    }
}

/// What was changed about a task's status.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Moved {
    pub(crate) success: bool,
    pub(crate) task_id: TaskId,
    pub(crate) previous_status: Status,
    pub(crate) new_status: Status,
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

/// What a refusal is like on the wire.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RefusalBody {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The next legal call.
    pub(crate) hint: String,
    /// The calls that are open now.
    #[schemars(with = "Vec<String>")]
    pub(crate) tools: Vec<Tool>,
}

pub(crate) fn refuse(because: RefusalReason) -> ControlError {
    ControlError::Refused(Refusal::from(because))
}
