//! The way between a runner and the servers: requests and answers are lost, come twice, and come late (T1, R10).

use std::sync::{Arc, Mutex, PoisonError};

use board::{CheckResult, Examination, ExaminationStep, Generation, SessionId};
use control::LocalDispatch;
use dispatch::{AtWork, Claim, Dispatch as _, DispatchError, ExamineOrder, FactReport, TargetOrder, WorkOrder};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

/// A request that changes something, as it was sent.
#[derive(Clone, Debug)]
enum Request {
    Claim(Claim),
    Renew(AtWork),
    Report(FactReport),
    ReportTarget { commit: String, results: Vec<CheckResult> },
    Step { session: SessionId, generation: Generation, number: u32, found: Option<Examination> },
}

impl Request {
    /// Nobody hears the answer.
    async fn arrives(&self, at: &LocalDispatch) {
        match self {
            Self::Claim(claim) => drop(at.claim(claim).await),
            Self::Renew(at_work) => drop(at.renew(at_work).await),
            Self::Report(report) => drop(at.report(report).await),
            Self::ReportTarget { commit, results } => drop(at.report_target(commit, results).await),
            Self::Step { session, generation, number, found } => {
                drop(at.examination_step(*session, *generation, *number, found.as_ref()).await);
            }
        }
    }
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Arrives,
    Lost,
    AnswerLost,
    /// It arrives, and once more some time later, after others that were sent since.
    AgainLater,
}

/// What is on its way. It outlives runners and servers.
#[derive(Debug)]
pub(super) struct Network {
    rng: ChaCha8Rng,
    late: Arc<Mutex<Vec<Request>>>,
}

impl Network {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), late: Arc::default() }
    }

    /// A way for one request.
    pub(super) fn way(&mut self, to: LocalDispatch, is_sound: bool) -> Way {
        let fate = match self.rng.random_range(0..100) {
            _ if is_sound => Fate::Arrives,
            0..2 => Fate::Lost,
            2..4 => Fate::AnswerLost,
            4..8 => Fate::AgainLater,
            _ => Fate::Arrives,
        };
        Way { to, fate, late: Arc::clone(&self.late) }
    }

    /// Perhaps one that was sent before arrives now.
    pub(super) async fn late_arrival(&mut self, at: &LocalDispatch) {
        let request = {
            let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
            if late.is_empty() || self.rng.random_bool(0.7) {
                return;
            }
            let which = self.rng.random_range(0..late.len());
            late.swap_remove(which)
        };
        request.arrives(at).await;
    }
}

/// The port, as it is reached this time.
#[derive(Debug)]
pub(super) struct Way {
    to: LocalDispatch,
    fate: Fate,
    late: Arc<Mutex<Vec<Request>>>,
}

impl Way {
    async fn send<T>(
        &self,
        request: impl FnOnce() -> Request,
        answer: impl Future<Output = Result<T, DispatchError>>,
    ) -> Result<T, DispatchError> {
        let lost = || DispatchError::Unavailable("simulated: nobody answers".into());
        match self.fate {
            Fate::Arrives => answer.await,
            Fate::Lost => Err(lost()),
            Fate::AnswerLost => answer.await.and(Err(lost())),
            Fate::AgainLater => {
                self.late.lock().unwrap_or_else(PoisonError::into_inner).push(request());
                answer.await
            }
        }
    }

    pub(super) async fn claim(&self, claim: &Claim) -> Result<Option<WorkOrder>, DispatchError> {
        self.send(|| Request::Claim(claim.clone()), self.to.claim(claim)).await
    }

    pub(super) async fn renew(&self, at_work: &AtWork) -> Result<(), DispatchError> {
        self.send(|| Request::Renew(at_work.clone()), self.to.renew(at_work)).await
    }

    pub(super) async fn report(&self, report: &FactReport) -> Result<(), DispatchError> {
        self.send(|| Request::Report(report.clone()), self.to.report(report)).await
    }

    pub(super) async fn report_target(&self, commit: &str, results: &[CheckResult]) -> Result<(), DispatchError> {
        let request = || Request::ReportTarget { commit: commit.to_owned(), results: results.to_vec() };
        self.send(request, self.to.report_target(commit, results)).await
    }

    pub(super) async fn target_order(&self) -> Result<Option<TargetOrder>, DispatchError> {
        self.to.target_order().await
    }

    pub(super) async fn examine_order(
        &self,
        session: SessionId,
        generation: Generation,
    ) -> Result<Option<ExamineOrder>, DispatchError> {
        self.to.examine_order(session, generation).await
    }

    pub(super) async fn examination_step(
        &self,
        session: SessionId,
        generation: Generation,
        number: u32,
        found: Option<&Examination>,
    ) -> Result<Option<ExaminationStep>, DispatchError> {
        let request = || Request::Step { session, generation, number, found: found.cloned() };
        self.send(request, self.to.examination_step(session, generation, number, found)).await
    }
}
