//! What does a runner need to know to run a session, and to examine what it left?

use board::{
    AgentSpec, Board, CheckRun, Completion, EnvValues, Generation, Hierarchy, Priority, ProjectId, Purpose, Rejection,
    Seq, Session, SessionId, SessionStatus, Settings, Task, TaskId, TaskType, WorkspaceFacts, target_red,
};
use serde::{Deserialize, Serialize};

/// A task, as far as those who work on it have to know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskBrief {
    pub id: TaskId,
    pub title: String,
    pub description: String,
    pub task_type: TaskType,
    pub priority: Priority,
    /// What was wrong with the last attempt.
    pub feedback: Option<Rejection>,
    /// What was written about it, oldest first: who, and what.
    #[serde(default)]
    pub comments: Vec<(String, String)>,
    /// Commits of the target that it undoes, the newest first (V14).
    #[serde(default)]
    pub reverts: Vec<String>,
    /// When it is done, if that is not as in the settings.
    #[serde(default)]
    pub completion: Option<Completion>,
    pub branch: String,
    /// Where the work began, if that was recorded.
    pub base: Option<String>,
}

/// How many comments of a task are told.
const COMMENTS: usize = 20;

fn told(comment: &board::Comment) -> (String, String) {
    (comment.by.to_string(), comment.text.clone())
}

impl From<&Task> for TaskBrief {
    fn from(task: &Task) -> Self {
        Self {
            id: task.id,
            title: task.title.clone(),
            description: task.description.clone(),
            task_type: task.task_type,
            priority: task.priority,
            feedback: task.feedback.clone(),
            comments: task.comments.iter().rev().take(COMMENTS).rev().map(told).collect(),
            reverts: task.reverts.as_ref().map(|reverts| reverts.commits.clone()).unwrap_or_default(),
            completion: task.completion,
            branch: task.branch_name(),
            base: task.base_commit.clone(),
        }
    }
}

/// All that is needed to run one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkOrder {
    /// The board's last event when the order was made.
    pub revision: Seq,
    pub project: ProjectId,
    pub session: SessionId,
    pub generation: Generation,
    pub purpose: Purpose,
    pub agent: AgentSpec,
    /// What the variables of its `env` are set to.
    pub env: EnvValues,
    /// `None` for a chat.
    pub task: Option<TaskBrief>,
    pub settings: Settings,
}

impl WorkOrder {
    /// The workspace it works in. Whoever does no work itself gets a copy to look at instead.
    pub fn workspace(&self) -> Option<WorkspaceOrder> {
        let task = self.task.clone().filter(|_| self.agent.hierarchy == Hierarchy::Worker)?;
        Some(WorkspaceOrder { agent: self.agent.clone(), task, settings: self.settings.clone() })
    }
}

/// All that is needed to make the workspace of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceOrder {
    pub agent: AgentSpec,
    pub task: TaskBrief,
    pub settings: Settings,
}

/// All that is needed to examine the work of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExamineOrder {
    pub session: SessionId,
    pub generation: Generation,
    pub agent: AgentSpec,
    pub task: TaskBrief,
    pub settings: Settings,
    /// What was found before. What was tested on a target is not tested again on the same one (V11).
    pub known: Option<WorkspaceFacts>,
    /// The candidate to which the target was being moved when this was last heard of. It may be there.
    pub merging: Option<String>,
    /// What earlier sessions of the task have merged. It is not the work of this one.
    pub reported_merges: Vec<String>,
    /// The number of the last fact about the session.
    pub facts: u32,
}

/// All that is needed to run checks on the target alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetOrder {
    pub run: CheckRun,
    pub settings: Settings,
}

/// What failed on the target when it was last looked at; `None` if nothing did.
pub fn target_order(board: &Board) -> Option<TargetOrder> {
    let red = target_red(board)?;
    let dod = &board.settings.dod;
    let failed = |check: &&board::Check| red.failed.iter().any(|result| result.name == check.name);
    let checks = dod.checks.iter().filter(failed).cloned().collect();
    let run = CheckRun { setup: dod.setup.clone(), checks, protect: Vec::new() };
    Some(TargetOrder { run, settings: (*board.settings).clone() })
}

/// The order to run a session, with the values of its agent's variables, which are not on the board.
pub fn work_order(board: &Board, session: &Session, env: EnvValues) -> Option<WorkOrder> {
    let agent = board.agents.get(&session.agent)?.spec.clone();
    let task = match session.purpose {
        Purpose::Task(id) => Some(TaskBrief::from(board.task(id).ok()?)),
        Purpose::Chat => None,
    };
    Some(WorkOrder {
        revision: board.seq,
        project: board.settings.id.clone(),
        session: session.id,
        generation: session.generation,
        purpose: session.purpose,
        agent,
        env,
        task,
        settings: (*board.settings).clone(),
    })
}

pub fn workspace_order(board: &Board, agent: &AgentSpec, task: &Task) -> WorkspaceOrder {
    WorkspaceOrder { agent: agent.clone(), task: task.into(), settings: (*board.settings).clone() }
}

/// The order to examine a session's work; `None` if it does not wait to be examined.
pub fn examine_order(board: &Board, session: SessionId, generation: Generation) -> Option<ExamineOrder> {
    let session = board.session(session).ok()?;
    if session.status != SessionStatus::Verifying || session.generation != generation {
        return None;
    }
    let task = board.task(session.task()?).ok()?;
    let merge_of = |session: &Session| session.workspace.as_ref()?.merged_as().map(str::to_owned);
    let earlier = task.sessions.iter().filter(|id| **id != session.id).filter_map(|id| board.sessions.get(id));
    Some(ExamineOrder {
        session: session.id,
        generation,
        agent: board.agents.get(&session.agent)?.spec.clone(),
        task: task.into(),
        settings: (*board.settings).clone(),
        known: session.workspace.clone(),
        merging: session.merging.clone(),
        reported_merges: earlier.filter_map(|session| merge_of(session)).collect(),
        facts: session.facts,
    })
}
