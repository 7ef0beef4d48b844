//! How does a runner speak with whoever keeps the board?

use std::collections::BTreeMap;

use async_trait::async_trait;
use board::{CheckResult, Examination, ExaminationStep, Fact, Generation, SecretHash, Seq, SessionId, Span, SpawnId};
use serde::{Deserialize, Serialize};

use crate::{ExamineOrder, Offer, TargetOrder, Wanted, WorkOrder};

/// What a runner asks for when it takes an offer. Only the hash of the session's credential leaves the runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub offer: Offer,
    pub spawn: SpawnId,
    pub credential: SecretHash,
}

/// A fact about a session, with its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactReport {
    pub session: SessionId,
    pub generation: Generation,
    pub number: u32,
    pub fact: Fact,
}

/// The sessions whose processes are there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtWork {
    pub sessions: Vec<(SessionId, Generation)>,
    /// How long each has printed nothing, where that is known.
    #[serde(default)]
    pub quiet: BTreeMap<SessionId, Span>,
}

/// Nobody has heard: what was asked may be asked again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DispatchError {
    #[error("{0}")]
    Unavailable(String),
    /// There will be no answer any more.
    #[error("the project is closed")]
    Closed,
}

/// The port of a runner (R12). Asking twice does no harm: claims are told apart by their spawn, facts by their number.
#[async_trait]
pub trait Dispatch: Send + Sync + std::fmt::Debug {
    /// What is wanted of the runner. Waits until that may be something else than at revision `after`.
    async fn wanted(&self, after: Option<Seq>) -> Result<Wanted, DispatchError>;

    /// Takes an offer; `None` if another was first, or it does not stand any more.
    async fn claim(&self, claim: &Claim) -> Result<Option<WorkOrder>, DispatchError>;

    /// The processes of these sessions are there.
    async fn renew(&self, at_work: &AtWork) -> Result<(), DispatchError>;

    /// Tells a fact. One that is refused is told as well: the board knows it already, or waits for it no more.
    async fn report(&self, report: &FactReport) -> Result<(), DispatchError>;

    /// Tells what the checks say of a commit of the target alone.
    async fn report_target(&self, commit: &str, results: &[CheckResult]) -> Result<(), DispatchError>;

    /// The order to run the checks that failed on the target again; `None` if none did.
    async fn target_order(&self) -> Result<Option<TargetOrder>, DispatchError>;

    /// The order to examine a session's work; `None` if the board waits for it no more.
    async fn examine_order(
        &self,
        session: SessionId,
        generation: Generation,
    ) -> Result<Option<ExamineOrder>, DispatchError>;

    /// Tells what was found of a session's work, if anything, and asks what comes next, on the newest board; `None` if
    /// the board waits for it no more.
    async fn examination_step(
        &self,
        session: SessionId,
        generation: Generation,
        number: u32,
        found: Option<&Examination>,
    ) -> Result<Option<ExaminationStep>, DispatchError>;
}
