//! What was observed of a session, and what can it come to? The facts and the verdicts, as plain data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::words::words;

words! {
    EndReason {
        Exited = "exited",
        Signaled = "signaled",
        TimedOut = "timed_out",
        Stalled = "stalled",
        LaunchFailed = "launch_failed",
        Stopped = "stopped",
        Lost = "lost",
        /// It used more of the machine than it may (R13).
        LimitReached = "limit_reached",
    }
}

words! {
    DodResult {
        Pending = "pending",
        Merged = "merged",
        Failed = "failed",
        Timeout = "timeout",
        Error = "error",
        NotNeeded = "not_needed",
    }
}

/// What the vendor said through the client, as its adapter reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VendorTrouble {
    RateLimited { until: Timestamp },
    Unavailable,
}

/// How the process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessEnd {
    pub reason: EndReason,
    pub exit_code: Option<i32>,
    pub signal: Option<String>,
    pub vendor: Option<VendorTrouble>,
    pub error: Option<String>,
}

impl ProcessEnd {
    pub fn exited(code: i32) -> Self {
        Self { reason: EndReason::Exited, exit_code: Some(code), signal: None, vendor: None, error: None }
    }

    pub fn because(reason: EndReason) -> Self {
        Self { reason, exit_code: None, signal: None, vendor: None, error: None }
    }
}

/// What the client used, where it tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// In millionths of a US dollar.
    pub cost_micros: Option<u64>,
}

impl Eq for Usage {}

words! {
    /// A check has three outcomes, and a time-out is a failure with a name of its own. One that
    /// did not run is never excused (F66).
    CheckOutcome { Pass = "pass", Fail = "fail", TimedOut = "timed_out", DidNotRun = "did_not_run" }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    pub name: String,
    /// The command that ran. A check that is defined otherwise by now has no result yet. Empty in older logs.
    #[serde(default)]
    pub command: String,
    pub outcome: CheckOutcome,
    /// The end of its output.
    pub output: String,
}

/// What the checks say of a commit of the target branch alone (V9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetChecks {
    pub commit: String,
    pub results: Vec<CheckResult>,
}

/// What became of the branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Merge {
    NotTried,
    Conflict {
        files: Vec<String>,
    },
    /// It may be merged, and cannot be yet: the user's own files are in the way (V6).
    Waiting {
        reason: String,
        files: Vec<String>,
    },
    /// The target contains the work, and that was verified; its commit there.
    Merged {
        commit: String,
    },
}

/// What work changes of the files that decide what the checks say (V16).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeChanges {
    /// The patterns of `dod.protect` when the checks ran.
    pub protect: Vec<String>,
    /// The files that these name: the checks ran with those of the target.
    pub protected: Vec<String>,
    /// The files that the checks name or read besides: the checks ran with the changed ones.
    pub trusted: Vec<String>,
}

/// What was found in the workspace and its merge candidate (V1, V5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceFacts {
    pub commits: u32,
    /// Files that differ between the target's head and the candidate.
    pub changed: Vec<String>,
    /// Those of them outside the write scope.
    pub outside_scope: Vec<String>,
    pub checks: Vec<CheckResult>,
    /// Goals of the task's type that the difference does not meet.
    pub goals_unmet: Vec<String>,
    pub merge: Merge,
    /// The commit of the target that the candidate was made on.
    #[serde(default)]
    pub target: Option<String>,
    /// The commit that the checks ran on, and that the target is moved to.
    #[serde(default)]
    pub candidate: Option<String>,
    /// What it changes of the files that decide what the checks say.
    #[serde(default)]
    pub judge_changes: JudgeChanges,
    /// The tree of the work's last commit. If it is another than before, the session has made progress (A5).
    #[serde(default)]
    pub tree: Option<String>,
    /// Git undid alone what the task is to undo, and no agent was started (V14).
    #[serde(default)]
    pub undone_by_git: bool,
}

impl WorkspaceFacts {
    /// The target contains the work.
    pub fn is_merged(&self) -> bool {
        self.merged_as().is_some()
    }

    /// The commit that brought it into the target.
    pub fn merged_as(&self) -> Option<&str> {
        match &self.merge {
            Merge::Merged { commit } => Some(commit),
            Merge::NotTried | Merge::Conflict { .. } | Merge::Waiting { .. } => None,
        }
    }
}

/// What is known of ended work (V10). Nothing in it is made up: what was not looked at is not here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Examination {
    /// There is no workspace to look at: the report and the end of the process decide.
    NotNeeded,
    /// It could not be looked at, for reasons of our own: git, disk, sandbox. It is tried again, and charged to nobody.
    Failed {
        reason: String,
    },
    /// The agent left a workspace that git cannot read. It was set aside.
    Unreadable {
        reason: String,
    },
    /// The workspace is not there any more.
    Gone,
    Found(Box<WorkspaceFacts>),
}

/// Why nothing is concluded, and no attempt charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inconclusive {
    Stopped,
    Lost,
    LaunchFailed,
    RateLimited,
    VendorUnavailable,
    /// Left with `wait`.
    Waiting,
    /// A manager's process ended badly; A3 backs off.
    ManagerExit,
    /// Driven by hand, and not merged yet.
    Pending,
}

/// Why the work goes back to its agent (V3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    NoReport,
    ScopeViolation {
        files: Vec<String>,
    },
    NoChange,
    Conflict {
        files: Vec<String>,
    },
    Check {
        failed: Vec<CheckResult>,
    },
    Goal {
        unmet: Vec<String>,
    },
    /// A child is not settled, or none of a manager's is done.
    ChildrenOpen,
    /// The process ended badly, and is started once more (A5).
    EndedBadly {
        reason: String,
    },
    /// The agent left a workspace that git cannot read.
    Unreadable {
        reason: String,
    },
    /// It used more of the machine than it may. The first time costs no attempt (R13).
    LimitReached {
        reason: String,
    },
}

impl Rejection {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NoReport => "no_report",
            Self::ScopeViolation { .. } => "scope_violation",
            Self::NoChange => "no_change",
            Self::Conflict { .. } => "conflict",
            // V2.8 knows one word for both.
            Self::Check { .. } | Self::Goal { .. } => "check",
            Self::ChildrenOpen => "children_open",
            Self::EndedBadly { .. } => "ended_badly",
            Self::Unreadable { .. } => "unreadable",
            Self::LimitReached { .. } => "limit_reached",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    None(Inconclusive),
    Failed { reason: String },
    Blocked { reason: String },
    Rejected(Rejection),
    Done,
}

impl Verdict {
    /// The word under which lists show it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::None(_) => "none",
            Self::Failed { .. } => "failed",
            Self::Blocked { .. } => "blocked",
            Self::Rejected(_) => "rejected",
            Self::Done => "done",
        }
    }
}
