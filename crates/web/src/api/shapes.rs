//! Which shape do answers have? The same names and meanings as the command line's `--json`.

use std::collections::BTreeMap;

use board::{Board, Rejection, Seq, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::{described, words};

/// A task or step.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Task {
    id: String,
    title: String,
    description: String,
    #[serde(rename = "type")]
    #[schema(value_type = words::TaskType)]
    task_type: board::TaskType,
    #[schema(value_type = words::Kind)]
    kind: board::Kind,
    #[schema(value_type = words::Priority)]
    priority: board::Priority,
    #[schema(value_type = words::Status)]
    status: board::Status,
    parent_id: Option<String>,
    assignee_id: Option<String>,
    created_by: String,
    /// What must be done first.
    dependencies: Vec<String>,
    labels: Vec<String>,
    blocked_reason: Option<String>,
    /// Why it failed or was cancelled.
    reason: Option<String>,
    /// Rejected attempts since it was last retried or reopened.
    attempts: u32,
    #[schema(value_type = words::Time)]
    created_at: Timestamp,
    #[schema(value_type = words::Time)]
    updated_at: Timestamp,
}

impl From<&board::Task> for Task {
    fn from(task: &board::Task) -> Self {
        Self {
            id: task.id.to_string(),
            title: task.title.clone(),
            description: task.description.clone(),
            task_type: task.task_type,
            kind: task.kind,
            priority: task.priority,
            status: task.status,
            parent_id: task.parent.map(|id| id.to_string()),
            assignee_id: task.assignee.as_ref().map(ToString::to_string),
            created_by: task.creator.to_string(),
            dependencies: task.dependencies.iter().map(ToString::to_string).collect(),
            labels: task.labels.clone(),
            blocked_reason: task.block.as_ref().map(|block| block.reason.clone()),
            reason: task.conclusion.as_ref().map(|conclusion| conclusion.reason.clone()),
            attempts: task.used.attempts,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

/// A task with everything that is known of it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TaskDetail {
    #[serde(flatten)]
    task: Task,
    /// Who starts, changes and cancels it.
    mover: String,
    blocked_by: Option<String>,
    /// The ancestor that is not in progress.
    held_by: Option<String>,
    children: Vec<String>,
    branch: Option<String>,
    base_commit: Option<String>,
    /// What its agent last claimed.
    #[schema(value_type = Option<words::Outcome>)]
    result: Option<board::Outcome>,
    summary: Option<String>,
    /// What was wrong with the last attempt.
    #[schema(value_type = Option<described::Rejection>)]
    feedback: Option<Rejection>,
    #[schema(value_type = Option<described::Context>)]
    context: Option<board::Context>,
    #[schema(value_type = described::RemainingFuel)]
    left: board::RemainingFuel,
}

impl TaskDetail {
    pub(super) fn of(board: &Board, task: &board::Task) -> Self {
        Self {
            task: task.into(),
            mover: board.mover(task).to_string(),
            blocked_by: task.block.as_ref().map(|block| block.by.to_string()),
            held_by: board.held_by(task).map(|id| id.to_string()),
            children: task.children.iter().map(ToString::to_string).collect(),
            branch: task.branch.clone(),
            base_commit: task.base_commit.clone(),
            result: task.report.as_ref().map(|report| report.result),
            summary: task.report.as_ref().map(|report| report.summary.clone()),
            feedback: task.feedback.clone(),
            context: task.context.clone(),
            left: board::left(board, task),
        }
    }
}

/// Why a task is (not) running, what must happen, and who must do it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Why {
    pub(super) id: String,
    #[schema(value_type = words::Status)]
    pub(super) status: board::Status,
    pub(super) mover: String,
    /// In the language of whoever asks.
    pub(super) reasons: Vec<String>,
    /// The same for programs: each has one key, which names it; spans of time are milliseconds.
    #[schema(value_type = Vec<serde_json::Value>)]
    pub(super) lines: Vec<board::Line>,
    #[schema(value_type = described::RemainingFuel)]
    pub(super) left: board::RemainingFuel,
}

/// A move that is open to whoever asks.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Offer {
    #[schema(value_type = words::Move)]
    pub(super) name: board::lifecycle::Move,
    #[schema(value_type = words::Status)]
    pub(super) to: board::Status,
    /// It must be said why.
    pub(super) needs_reason: bool,
}

/// Why something would be refused.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Refused {
    #[schema(value_type = words::Code)]
    pub(super) code: board::Code,
    pub(super) detail: String,
    pub(super) hint: String,
}

/// What may be done with a task now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Offers {
    pub(super) moves: Vec<Offer>,
    pub(super) may_edit: bool,
    /// Why not, and who may.
    pub(super) refusal: Option<Refused>,
}

/// What a task's work changes, as git shows it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Diff {
    pub(super) text: String,
    /// There is more.
    pub(super) cut: bool,
}

/// An event with its place in the log, without secrets.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Event {
    seq: Seq,
    #[schema(value_type = words::Time)]
    at: Timestamp,
    #[schema(value_type = described::Actor)]
    by: board::Actor,
    /// What happened, such as `task_moved`.
    #[serde(rename = "type")]
    kind: &'static str,
    data: serde_json::Value,
}

impl Event {
    pub(super) fn of(seq: Seq, event: &board::Event) -> Self {
        let board::view::EventView { seq, at, by, kind, data } = board::view::EventView::of(seq, event);
        Self { seq, at, by, kind, data }
    }
}

/// One run of one agent.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Session {
    id: String,
    task_id: Option<String>,
    agent_id: String,
    /// `task` or `chat`.
    purpose: &'static str,
    #[schema(value_type = words::SessionStatus)]
    status: board::SessionStatus,
    #[schema(value_type = Option<words::EndReason>)]
    end_reason: Option<board::EndReason>,
    exit_code: Option<i32>,
    signal: Option<String>,
    #[schema(value_type = Option<words::DodResult>)]
    dod_result: Option<board::DodResult>,
    /// `none`, `failed`, `blocked`, `rejected` or `done`.
    verdict: Option<&'static str>,
    #[schema(value_type = Option<described::Verdict>)]
    verdict_detail: Option<board::Verdict>,
    artifacts: Vec<String>,
    error: Option<String>,
    #[schema(value_type = Option<described::ModelReport>)]
    model: Option<board::ModelReport>,
    #[schema(value_type = Option<described::Usage>)]
    usage: Option<board::Usage>,
    /// Who sees to its end: `runner`, `attached` or `hand`.
    driver: &'static str,
    calls: u32,
    #[schema(value_type = words::Time)]
    last_call_at: Timestamp,
    #[schema(value_type = words::Time)]
    started_at: Timestamp,
    #[schema(value_type = Option<words::Time>)]
    ended_at: Option<Timestamp>,
    duration_ms: Option<i64>,
}

impl From<&board::Session> for Session {
    fn from(session: &board::Session) -> Self {
        let view = board::view::SessionView::of(session);
        Self {
            id: view.id.to_string(),
            task_id: view.task_id.map(|id| id.to_string()),
            agent_id: view.agent_id.to_string(),
            purpose: view.purpose,
            status: view.status,
            end_reason: view.end_reason,
            exit_code: view.exit_code,
            signal: view.signal.map(str::to_owned),
            dod_result: view.dod_result,
            verdict: view.verdict,
            verdict_detail: view.verdict_detail.cloned(),
            artifacts: view.artifacts.to_vec(),
            error: view.error.map(str::to_owned),
            model: view.model.cloned(),
            usage: view.usage,
            driver: view.driver,
            calls: view.calls,
            last_call_at: view.last_call_at,
            started_at: view.started_at,
            ended_at: view.ended_at,
            duration_ms: view.duration_ms,
        }
    }
}

/// A session with the evidence about its work.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SessionDetail {
    #[serde(flatten)]
    session: Session,
    #[schema(value_type = Option<described::WorkspaceFacts>)]
    workspace: Option<board::WorkspaceFacts>,
    #[schema(value_type = Option<described::Claim>)]
    claim: Option<board::CompletionReport>,
    /// Why it was told to stop.
    #[schema(value_type = Option<words::StopCause>)]
    stop: Option<board::StopCause>,
    /// What keeps its work from being merged.
    waits_on: Option<String>,
}

impl From<&board::Session> for SessionDetail {
    fn from(session: &board::Session) -> Self {
        Self {
            session: session.into(),
            workspace: session.workspace.clone(),
            claim: session.report.clone(),
            stop: session.stop,
            waits_on: session.waits_to_merge().map(str::to_owned),
        }
    }
}

/// A piece of a session's output. Positions are bytes of the whole output.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Log {
    pub(super) id: String,
    pub(super) start: u64,
    /// Where to read on.
    pub(super) end: u64,
    /// The oldest position that is kept.
    pub(super) oldest: u64,
    /// Where the output ends by now.
    pub(super) newest: u64,
    /// What is not UTF-8 is replaced.
    pub(super) text: String,
}

/// What a session or agent was told, and why.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Decision {
    #[schema(value_type = words::Time)]
    pub(super) at: Timestamp,
    /// The event on whose board it was decided.
    pub(super) seq: Seq,
    /// `next_action`, `call`, `staffing` or `verdict`.
    pub(super) kind: String,
    /// What was asked and answered.
    #[serde(flatten)]
    pub(super) body: BTreeMap<String, serde_json::Value>,
}

/// Somebody on the roster.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Agent {
    id: String,
    name: String,
    #[schema(value_type = words::Hierarchy)]
    hierarchy_type: board::Hierarchy,
    role_type: String,
    /// The manager it works for.
    parent: Option<String>,
    #[schema(value_type = words::Mode)]
    mode: board::Mode,
    #[schema(value_type = words::Client)]
    client: board::Client,
    model: Option<String>,
    /// It is on the roster; one that left stays for the record.
    active: bool,
    has_passkey: bool,
    max_sessions: u32,
    running: Vec<String>,
    open_tasks: Vec<String>,
}

impl Agent {
    pub(super) fn of(board: &Board, agent: &board::Agent) -> Self {
        let view = board::view::AgentView::of(board, agent);
        Self {
            id: view.id.to_string(),
            name: view.name.to_owned(),
            hierarchy_type: view.hierarchy_type,
            role_type: view.role_type.to_owned(),
            parent: view.parent.map(ToString::to_string),
            mode: view.mode,
            client: view.client,
            model: view.model.map(str::to_owned),
            active: view.active,
            has_passkey: view.has_passkey,
            max_sessions: view.max_sessions,
            running: view.running.iter().map(ToString::to_string).collect(),
            open_tasks: view.open_tasks.iter().map(ToString::to_string).collect(),
        }
    }
}

/// An agent, its definition, and whether it should be running.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AgentDetail {
    pub(super) agent: Agent,
    #[schema(value_type = described::Definition)]
    pub(super) definition: board::AgentSpec,
    #[schema(value_type = described::Staffing)]
    pub(super) staffing: board::Staffing,
}

/// A message between the owner and an agent.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Message {
    id: String,
    from: String,
    to: String,
    content: String,
    related_task_id: Option<String>,
    #[schema(value_type = words::Time)]
    at: Timestamp,
    read: bool,
    /// Nobody came to read it in time.
    expired: bool,
}

impl Message {
    pub(super) fn of(board: &Board, message: &board::Message) -> Self {
        let view = board::view::MessageView::of(board, message);
        Self {
            id: view.id.to_string(),
            from: view.from,
            to: view.to,
            content: view.content.to_owned(),
            related_task_id: view.related_task_id.map(|id| id.to_string()),
            at: view.at,
            read: view.read,
            expired: view.expired,
        }
    }
}

/// A project and how it stands.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Project {
    id: String,
    name: String,
    /// Where its repository is.
    path: String,
    /// No task session starts; chats go on.
    paused: bool,
    /// How many tasks and steps have each status.
    tasks: BTreeMap<&'static str, usize>,
    running_sessions: usize,
    /// The number of its newest event.
    events: Seq,
}

impl Project {
    pub(super) fn of(board: &Board, path: String) -> Self {
        let tasks = board::Status::ALL.iter().map(|status| (status.as_str(), board.count(*status))).collect();
        Self {
            id: board.settings.id.to_string(),
            name: board.settings.name.clone(),
            path,
            paused: board.paused,
            tasks,
            running_sessions: board.all_live_sessions().count(),
            events: board.seq,
        }
    }
}

/// What must be seen in the difference before a task of a type is done.
#[derive(Debug, Serialize, ToSchema)]
struct Goals {
    #[serde(rename = "type")]
    #[schema(value_type = words::TaskType)]
    task_type: board::TaskType,
    #[schema(value_type = Vec<described::Goal>)]
    goals: Vec<board::Goal>,
}

/// A project with its settings.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ProjectDetail {
    #[serde(flatten)]
    project: Project,
    /// How many are or were on the roster.
    agents: usize,
    #[schema(value_type = words::Language)]
    language: board::Language,
    target_branch: String,
    #[schema(value_type = words::Completion)]
    completion: board::Completion,
    #[schema(value_type = words::Sandbox)]
    sandbox: board::Sandbox,
    /// What agents and checks may read besides their workspace.
    sandbox_read: Vec<String>,
    /// The TCP ports that they may connect to; `null`: all.
    sandbox_connect: Option<Vec<u16>>,
    #[schema(value_type = words::MergeStrategy)]
    merge: board::MergeStrategy,
    #[schema(value_type = words::Isolation)]
    isolation: board::Isolation,
    #[schema(value_type = described::Dod)]
    dod: board::Dod,
    goals: Vec<Goals>,
    #[schema(value_type = described::Limits)]
    limits: board::Limits,
    /// Seconds that the workspace of a failed task is kept.
    keep_failed: u64,
    /// Clients at once on one runner; `null`: as many as it has cores.
    max_parallel: Option<u32>,
}

impl ProjectDetail {
    pub(super) fn of(board: &Board, path: String) -> Self {
        let settings = &board.settings;
        let goals = settings.goals.iter().cloned().map(|(task_type, goals)| Goals { task_type, goals });
        Self {
            project: Project::of(board, path),
            agents: board.agents.len(),
            language: settings.language,
            target_branch: settings.target_branch.clone(),
            completion: settings.completion,
            sandbox: settings.sandbox,
            sandbox_read: settings.sandbox_read.clone(),
            sandbox_connect: settings.sandbox_connect.clone(),
            merge: settings.merge,
            isolation: settings.isolation,
            dod: settings.dod.clone(),
            goals: goals.collect(),
            limits: settings.limits.clone(),
            keep_failed: settings.keep_failed,
            max_parallel: settings.max_parallel,
        }
    }
}
