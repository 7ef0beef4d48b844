//! What has the owner configured for the project?

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spending::{Budget, Price};
use crate::task::Completion;
use crate::words::words;
use crate::{ProjectId, RunnerId, Span, TaskType};

words! {
    /// The language of instructions and messages.
    Language { En = "en", Ja = "ja" }
}

words! {
    Sandbox { Strict = "strict", BestEffort = "best_effort", Off = "off" }
}

words! {
    MergeStrategy { Merge = "merge", Squash = "squash" }
}

words! {
    /// What becomes of work that the owner asks for in a chat: does it start at once, or wait for the owner (N11)?
    ChatRequests { Start = "start", Confirm = "confirm" }
}

words! {
    Isolation { Clone = "clone", Worktree = "worktree" }
}

words! {
    /// What must be seen in the difference before a task of a type is done.
    GoalType { TestAdded = "test_added", FilesChanged = "files_changed" }
}

/// A command that must succeed on the merge candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    pub name: String,
    pub command: String,
}

/// The Definition of Done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dod {
    /// Seconds for each check.
    pub timeout: u32,
    pub setup: Option<String>,
    pub checks: Vec<Check>,
    /// Files that are taken from the target while checks run, as patterns (V16).
    #[serde(default)]
    pub protect: Vec<String>,
}

/// A command that runs in a new workspace before its agent starts (R15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceSetup {
    pub command: String,
    /// Seconds.
    pub timeout: u32,
    /// The files that its outcome depends on; while they are the same, so is what it makes. None: not known.
    #[serde(default)]
    pub inputs: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Goal {
    pub kind: GoalType,
    pub pattern: String,
}

/// The bounded allowances (G1), and the other numbers that the rules use.
/// Events have them as they were then: what is missing there has its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Unsettled children of one parent.
    pub max_children: u32,
    /// Children of one parent, ever.
    pub max_children_ever: u32,
    /// How deep tasks nest; top level is 0, steps do not count.
    pub max_depth: u32,
    /// Rejected attempts before a task fails.
    pub max_attempts: u32,
    /// Retries of one task by agents.
    pub max_retries: u32,
    /// Sessions in a row without a new fact before a task is blocked.
    pub max_idle_sessions: u32,
    /// Conflicts in a row before a task is blocked.
    pub max_conflicts: u32,
    /// Sessions of one task in all.
    pub max_task_sessions: u32,
    /// Tool calls of one session.
    pub max_calls: u32,
    /// Messages sent by one session.
    pub max_messages: u32,
    /// Equal answers to `get_next_action` without a new fact between them.
    pub max_repeats: u32,
    /// Task sessions of the project at once.
    pub max_sessions: u32,
    pub lease: Span,
    /// The lease of a runner on another host: as long as the network may be away. Older logs have none.
    #[serde(default = "remote_lease")]
    pub remote_lease: Span,
    /// The lease of an agent that was attached by hand.
    pub attached_lease: Span,
    pub chat_idle: Span,
    pub message_ttl: Span,
    /// How long a ready task may wait for its mover before that is shown.
    pub start_reminder: Span,
    pub backoff_first: Span,
    pub backoff_most: Span,
    /// How long work that keeps colliding has the right of way on its files.
    pub right_of_way: Span,
}

/// A minute as for every runner, and ten more in which the network may be away.
fn remote_lease() -> Span {
    Span::minutes(11)
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_children: 5,
            max_children_ever: 30,
            max_depth: 3,
            max_attempts: 3,
            max_retries: 3,
            max_idle_sessions: 3,
            max_conflicts: 10,
            max_task_sessions: 50,
            max_calls: 2_000,
            max_messages: 20,
            max_repeats: 8,
            max_sessions: 100,
            lease: Span::seconds(60),
            remote_lease: remote_lease(),
            attached_lease: Span::minutes(60),
            chat_idle: Span::minutes(10),
            message_ttl: Span::seconds(300),
            start_reminder: Span::minutes(10),
            backoff_first: Span::seconds(5),
            backoff_most: Span::minutes(5),
            right_of_way: Span::minutes(60),
        }
    }
}

/// What a limit is set to.
#[derive(Debug)]
pub enum LimitValue<'a> {
    /// A number, and the range within which it makes sense.
    Number(&'a mut u32, RangeInclusive<u32>),
    Time(&'a mut Span),
}

impl Limits {
    /// How long a claim of this runner lasts if it is not renewed.
    pub fn lease_of(&self, runner: &RunnerId) -> Span {
        if runner.is_on_another_host() { self.remote_lease } else { self.lease }
    }

    /// Every limit with its name: the one list of them, for those who read limits and for those who judge them.
    pub fn each(&mut self) -> [(&'static str, LimitValue<'_>); 21] {
        use LimitValue::{Number, Time};
        // Taken apart, so that a new limit does not compile until it is here.
        let Self {
            max_children,
            max_children_ever,
            max_depth,
            max_attempts,
            max_retries,
            max_idle_sessions,
            max_conflicts,
            max_task_sessions,
            max_calls,
            max_messages,
            max_repeats,
            max_sessions,
            lease,
            remote_lease,
            attached_lease,
            chat_idle,
            message_ttl,
            start_reminder,
            backoff_first,
            backoff_most,
            right_of_way,
        } = self;
        [
            ("max_children", Number(max_children, 1..=20)),
            ("max_children_ever", Number(max_children_ever, 1..=1_000)),
            ("max_depth", Number(max_depth, 0..=10)),
            ("max_attempts", Number(max_attempts, 1..=20)),
            ("max_retries", Number(max_retries, 0..=20)),
            ("max_idle_sessions", Number(max_idle_sessions, 1..=100)),
            ("max_conflicts", Number(max_conflicts, 1..=100)),
            ("max_task_sessions", Number(max_task_sessions, 1..=1_000)),
            ("max_calls", Number(max_calls, 10..=1_000_000)),
            ("max_messages", Number(max_messages, 0..=1_000)),
            ("max_repeats", Number(max_repeats, 2..=1_000_000)),
            ("max_sessions", Number(max_sessions, 1..=10_000)),
            ("lease", Time(lease)),
            ("remote_lease", Time(remote_lease)),
            ("attached_lease", Time(attached_lease)),
            ("chat_idle", Time(chat_idle)),
            ("message_ttl", Time(message_ttl)),
            ("start_reminder", Time(start_reminder)),
            ("backoff_first", Time(backoff_first)),
            ("backoff_most", Time(backoff_most)),
            ("right_of_way", Time(right_of_way)),
        ]
    }

    /// The first limit that is not within its range, and that range.
    pub fn out_of_range(&self) -> Option<(&'static str, RangeInclusive<u32>)> {
        self.clone().each().into_iter().find_map(|(name, value)| match value {
            LimitValue::Number(value, range) if !range.contains(value) => Some((name, range)),
            LimitValue::Number(..) | LimitValue::Time(_) => None,
        })
    }
}

/// What one agent or check may use of the machine (R13). Honest work does not come near it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SandboxLimits {
    /// Processes and threads at once.
    pub processes: u32,
    /// Memory of all its processes together, in MiB; `None`: three quarters of the machine's.
    pub memory_mib: Option<u32>,
    /// Open files of one process.
    pub open_files: u32,
    /// One file, in MiB.
    pub file_size_mib: u32,
    /// Workspace, HOME and TMPDIR together, in MiB.
    pub disk_mib: u32,
    /// Files and directories there.
    pub files: u32,
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self {
            processes: 4096,
            memory_mib: None,
            open_files: 65_536,
            file_size_mib: 20 << 10,
            disk_mib: 50 << 10,
            files: 2_000_000,
        }
    }
}

/// `.saihai/config.yaml`, as the board knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub id: ProjectId,
    pub name: String,
    pub language: Language,
    pub target_branch: String,
    pub completion: Completion,
    pub sandbox: Sandbox,
    pub merge: MergeStrategy,
    pub isolation: Isolation,
    pub dod: Dod,
    pub goals: Vec<(TaskType, Vec<Goal>)>,
    pub limits: Limits,
    /// Seconds that the workspace of a failed task is kept.
    pub keep_failed: u64,
    /// What agents and checks may read besides their workspace, relative to the repository.
    #[serde(default)]
    pub sandbox_read: Vec<String>,
    /// The TCP ports that they may connect to; `None`: all.
    #[serde(default)]
    pub sandbox_connect: Option<Vec<u16>>,
    /// What each of them may use of the machine.
    #[serde(default)]
    pub sandbox_limits: SandboxLimits,
    /// Clients at once on one runner; `None`: as many as it has cores.
    #[serde(default)]
    pub max_parallel: Option<u32>,
    /// Older logs have none.
    #[serde(default = "start_at_once")]
    pub chat_requests: ChatRequests,
    #[serde(default)]
    pub workspace_setup: Option<WorkspaceSetup>,
    /// The repository that all hosts share, as git names it; `None`: the one in which the project was registered (R10).
    #[serde(default)]
    pub remote: Option<String>,
    #[serde(default)]
    pub budget: Budget,
    /// Of models whose clients do not tell what they cost. The first that fits counts.
    #[serde(default)]
    pub prices: Vec<Price>,
}

fn start_at_once() -> ChatRequests {
    ChatRequests::Start
}

impl Settings {
    pub fn new(id: ProjectId) -> Self {
        Self {
            name: id.to_string(),
            id,
            language: Language::En,
            target_branch: "main".into(),
            completion: Completion::Merged,
            sandbox: Sandbox::Strict,
            merge: MergeStrategy::Merge,
            isolation: Isolation::Clone,
            dod: Dod { timeout: 300, ..Dod::default() },
            goals: Vec::new(),
            limits: Limits::default(),
            keep_failed: 7 * 24 * 3600,
            sandbox_read: Vec::new(),
            sandbox_connect: None,
            sandbox_limits: SandboxLimits::default(),
            max_parallel: None,
            chat_requests: ChatRequests::Start,
            workspace_setup: None,
            remote: None,
            budget: Budget::default(),
            prices: Vec::new(),
        }
    }
}

words! {
    /// An allowance that blocks the work when it is spent. (Attempts fail the task instead, and
    /// children and retries are simply refused.)
    Fuel {
        Calls = "max_calls",
        Messages = "max_messages",
        Repeats = "max_repeats",
        IdleSessions = "max_idle_sessions",
        TaskSessions = "max_task_sessions",
        Conflicts = "max_conflicts",
        SessionBudget = "session_budget",
        TaskBudget = "task_budget",
        DayBudget = "day_budget",
    }
}

impl Fuel {
    /// The reason with which the task is blocked.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Repeats | Self::IdleSessions => "no_progress",
            Self::Calls => "fuel_spent: max_calls",
            Self::Messages => "fuel_spent: max_messages",
            Self::TaskSessions => "fuel_spent: max_task_sessions",
            Self::Conflicts => "fuel_spent: max_conflicts",
            Self::SessionBudget => "budget: session",
            Self::TaskBudget => "budget: task",
            Self::DayBudget => "budget: day",
        }
    }
}
