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
    pub outcome: CheckOutcome,
    /// The end of its output.
    pub output: String,
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
