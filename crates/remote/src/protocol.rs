//! What is said between a runner and a server? Fields are only ever added; what one side does not know it passes over.

use board::{
    CheckResult, Examination, ExaminationStep, Generation, Merge, ProjectId, RunnerId, RunnerOffer, Sandbox, Seq,
    SessionId, Timestamp,
};
use control::RunnerHeartbeat;
use dispatch::{Claim, ExamineOrder, TargetOrder, Wanted, WorkOrder};
use runner::MoveOutcome;
use serde::{Deserialize, Serialize};

/// The versions of the protocol that this program speaks, the oldest and the newest.
pub const PROTOCOL: (u32, u32) = (1, 1);

/// Where the routes of the protocol are.
pub(crate) const BASE: &str = "/runner/v1";

/// Bytes that are sent at once of something long.
pub(crate) const PIECE: usize = 512 << 10;

/// The newest version that both speak.
pub(crate) fn in_common(one: (u32, u32), other: (u32, u32)) -> Option<u32> {
    let newest = one.1.min(other.1);
    (newest >= one.0.max(other.0)).then_some(newest)
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskRegister {
    pub(crate) heartbeat: RunnerHeartbeat,
}

/// How a server answers a runner that comes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    pub runner: RunnerId,
    /// The version of the protocol that both will speak.
    pub protocol: u32,
    pub projects: Vec<ProjectInfo>,
}

/// What a runner has to know of a project before it is told what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectInfo {
    pub id: ProjectId,
    /// When its board began.
    pub began: Timestamp,
    pub target_branch: String,
    pub sandbox: Sandbox,
    pub origin: Origin,
}

/// Where a project's repository is for runners on other hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A remote that every host can reach.
    Remote(String),
    /// The server's own, which it serves.
    Server,
    /// This server has none, and the project names no remote.
    Missing,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskWanted {
    pub(crate) after: Option<Seq>,
    /// With everything that is asked, so that a server that has just started knows the runner.
    pub(crate) heartbeat: RunnerHeartbeat,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerWanted {
    pub(crate) wanted: Wanted,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskClaim {
    pub(crate) claim: Claim,
    pub(crate) offer: RunnerOffer,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerClaim {
    pub(crate) order: Option<WorkOrder>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskReportTarget {
    pub(crate) commit: String,
    pub(crate) results: Vec<CheckResult>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerTargetOrder {
    pub(crate) order: Option<TargetOrder>,
}

/// A session, as the runner knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionRef {
    pub(crate) session: SessionId,
    pub(crate) generation: Generation,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerExamineOrder {
    pub(crate) order: Option<ExamineOrder>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskStep {
    pub(crate) of: SessionRef,
    pub(crate) number: u32,
    pub(crate) found: Option<Examination>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerStep {
    pub(crate) step: Option<ExaminationStep>,
}

/// Nothing to say.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Nothing {}

/// Where is a ref of the server's repository?
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskRef {
    pub(crate) reference: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerRef {
    pub(crate) commit: Option<String>,
}

/// The work of a session is to be known to others. Its commits were sent as a bundle.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskPublish {
    pub(crate) of: SessionRef,
    pub(crate) head: String,
    pub(crate) bundle: SentBundle,
}

/// Asks to move the target. The commits that it does not have were sent as a bundle.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskMove {
    pub(crate) of: SessionRef,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) bundle: SentBundle,
}

/// What was sent in pieces before: it must be here whole, and as it was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentBundle {
    pub(crate) length: u64,
    pub(crate) blake3: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerMove {
    pub(crate) outcome: MoveOutcome,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskStillWaiting {
    pub(crate) of: SessionRef,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) files: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerStillWaiting {
    pub(crate) waiting: Option<Merge>,
}

/// How much is there of something that is sent in pieces: the next one begins here.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerPiece {
    pub(crate) end: u64,
}

/// What is kept of a session's output, to be compared with what was printed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnswerOutput {
    pub(crate) oldest: u64,
    pub(crate) end: u64,
    /// The hash of all of it.
    pub(crate) blake3: String,
}

/// What a request that cannot be answered is answered with.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Trouble {
    pub(crate) code: String,
    pub(crate) message: String,
}

#[cfg(test)]
mod tests {
    use super::{AskWanted, in_common};

    /// R10, E9: a newer and an older program agree on what both speak, or say that they cannot.
    #[test]
    fn versions_in_common() {
        assert_eq!(in_common((1, 1), (1, 1)), Some(1));
        assert_eq!(in_common((1, 2), (2, 3)), Some(2));
        assert_eq!(in_common((1, 3), (1, 2)), Some(2));
        assert_eq!(in_common((1, 1), (2, 2)), None);
    }

    /// R10, E9: what a newer program says besides is passed over, and what an older one does not say has a default.
    #[test]
    fn fields_may_be_added() {
        let newer = r#"{"after": 3, "gpu_memory": 80, "heartbeat": {"name": "one", "moon": "full", "offer": {}}}"#;
        let asked: AskWanted = serde_json::from_str(newer).unwrap();
        assert_eq!((asked.after, asked.heartbeat.name.as_str()), (Some(3), "one"));
        let older: AskWanted = serde_json::from_str(r#"{"after": null, "heartbeat": {}}"#).unwrap();
        assert_eq!(older.heartbeat.offer, board::RunnerOffer::default());
    }
}
