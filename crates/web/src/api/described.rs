//! How does the board write what it knows? Its own forms, described for programs.
//!
//! Values of these are never made: what is sent is the board's, and a test compares the two.

#![expect(dead_code, reason = "they only describe")]

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::words;

/// Who did something.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Actor {
    /// A person, by name.
    Owner(String),
    /// An agent, through one of its sessions.
    Session(String),
    /// A runner, which reports what it observed.
    Runner(String),
    /// Saihai itself: what follows from time alone.
    System,
}

/// What a session is for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Purpose {
    Task(String),
    Chat,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CheckResult {
    name: String,
    #[schema(value_type = words::CheckOutcome)]
    outcome: (),
    /// The end of its output.
    output: String,
}

/// What became of the branch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Merge {
    NotTried,
    Conflict {
        files: Vec<String>,
    },
    /// It may be merged, and cannot be yet.
    Waiting {
        reason: String,
        files: Vec<String>,
    },
    /// The target contains the work; its commit there.
    Merged {
        commit: String,
    },
}

/// What was found in the workspace and its merge candidate.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WorkspaceFacts {
    commits: u32,
    /// Files that differ between the target's head and the candidate.
    changed: Vec<String>,
    /// Those of them outside the write scope.
    outside_scope: Vec<String>,
    checks: Vec<CheckResult>,
    /// Goals of the task's type that the difference does not meet.
    goals_unmet: Vec<String>,
    merge: Merge,
}

/// Why nothing is concluded, and no attempt charged.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Inconclusive {
    Stopped,
    Lost,
    LaunchFailed,
    RateLimited,
    VendorUnavailable,
    Waiting,
    ManagerExit,
    Pending,
}

/// Why the work goes back to its agent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Rejection {
    NoReport,
    ScopeViolation { files: Vec<String> },
    NoChange,
    Conflict { files: Vec<String> },
    Check { failed: Vec<CheckResult> },
    Goal { unmet: Vec<String> },
    ChildrenOpen,
}

/// What the facts about a session mean for its task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    None(Inconclusive),
    Failed { reason: String },
    Blocked { reason: String },
    Rejected(Rejection),
    Done,
}

/// What an agent noted for whoever works on the task next.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Context {
    progress: Option<String>,
    findings: Option<String>,
    blockers: Option<String>,
    next_steps: Option<String>,
}

/// What is left of a task's allowances.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RemainingFuel {
    attempts: u32,
    retries_by_agents: u32,
    idle_sessions: u32,
    sessions: u32,
    children: u32,
}

/// "I am finished": a request to be judged.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Claim {
    #[schema(value_type = words::Outcome)]
    result: (),
    summary: String,
    next_steps: Option<String>,
    #[schema(value_type = words::Time)]
    at: (),
}

/// The model that the agent says it is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ModelReport {
    provider: String,
    model_id: String,
    /// It is the one that the roster names.
    matches: bool,
}

/// What the client used, where it tells.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Usage {
    input_tokens: u64,
    output_tokens: u64,
    /// In millionths of a US dollar.
    cost_micros: Option<u64>,
}

/// What should happen with an agent, and why.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Staffing {
    #[schema(value_type = words::Action)]
    action: (),
    #[schema(value_type = words::Reason)]
    reason: (),
    purpose: Option<Purpose>,
    /// The session that should stop.
    session: Option<String>,
    /// Until when it holds, where that is known.
    #[schema(value_type = Option<words::Time>)]
    until: (),
}

/// Which files an agent sees and may change, as gitignore patterns.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Scope {
    read: Vec<String>,
    write: Vec<String>,
    exclude: Vec<String>,
    scratch: Vec<String>,
}

/// An agent as its definition file describes it. The values of its environment are hidden.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Definition {
    id: String,
    name: String,
    #[schema(value_type = words::Hierarchy)]
    hierarchy: (),
    role: String,
    /// The manager it works for.
    parent: Option<String>,
    #[schema(value_type = words::Mode)]
    mode: (),
    #[schema(value_type = words::Client)]
    client: (),
    command: Vec<String>,
    model: Option<String>,
    system_prompt: String,
    prompt_file: Option<String>,
    scope: Scope,
    #[schema(value_type = words::Decompose)]
    decompose: (),
    max_sessions: u32,
    /// Seconds of wall clock for one session.
    timeout: u32,
    /// Seconds without output or call.
    stall_timeout: u32,
    env: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Check {
    name: String,
    command: String,
}

/// The Definition of Done.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Dod {
    /// Seconds for each check.
    timeout: u32,
    setup: Option<String>,
    checks: Vec<Check>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Goal {
    #[schema(value_type = words::GoalType)]
    kind: (),
    pattern: String,
}

/// The bounded allowances. Spans of time are milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Limits {
    max_children: u32,
    max_children_ever: u32,
    max_depth: u32,
    max_attempts: u32,
    max_retries: u32,
    max_idle_sessions: u32,
    max_task_sessions: u32,
    max_calls: u32,
    max_messages: u32,
    max_repeats: u32,
    max_sessions: u32,
    lease: i64,
    attached_lease: i64,
    chat_idle: i64,
    message_ttl: i64,
    start_reminder: i64,
    backoff_first: i64,
    backoff_most: i64,
}
