//! How does a runner in the same process reach the board?

use async_trait::async_trait;
use board::{
    Actor, CheckResult, Command, Driver, Examination, ExaminationStep, Generation, RunnerId, Seq, SessionId,
    SessionStatus, examination, examination_step, staff_chat, staff_task,
};
use dispatch::{Claim, Dispatch, DispatchError, ExamineOrder, FactReport, TargetOrder, Wanted, WorkOrder};

use crate::trace::{Subject, Traced};
use crate::{ControlError, Project};

/// The port of one runner to one project.
#[derive(Clone, Debug)]
pub struct LocalDispatch {
    project: Project,
    runner: RunnerId,
}

impl LocalDispatch {
    pub fn new(project: Project, runner: RunnerId) -> Self {
        Self { project, runner }
    }

    fn actor(&self) -> Actor {
        Actor::Runner(self.runner.clone())
    }

    /// Submits; `false` if it was refused.
    async fn submit(&self, command: Command) -> Result<bool, DispatchError> {
        match self.project.submit(self.actor(), command).await {
            Ok(_) => Ok(true),
            Err(ControlError::Refused(_)) => Ok(false),
            Err(error) => Err(unheard(error)),
        }
    }

    /// Remembers why the session was started (E6).
    async fn record_staffing(&self, claim: &Claim) {
        let (board, at) = (self.project.board(), self.project.clock().now());
        let Ok(agent) = board.agent(&claim.offer.agent) else { return };
        let answer = match claim.offer.task {
            Some(task) => board.task(task).ok().map(|task| staff_task(&board, agent, task, at)),
            None => staff_chat(&board, agent, at),
        };
        let body = std::sync::Arc::new(serde_json::to_value(answer).unwrap_or_default());
        let subject = Subject::Agent(claim.offer.agent.clone());
        self.project.record(Traced { at, seq: board.seq, kind: "staffing", subject, body }).await;
    }
}

fn unheard(error: ControlError) -> DispatchError {
    match error {
        ControlError::Closed => DispatchError::Closed,
        error => DispatchError::Unavailable(error.to_string()),
    }
}

#[async_trait]
impl Dispatch for LocalDispatch {
    async fn wanted(&self, after: Option<Seq>) -> Result<Wanted, DispatchError> {
        let mut boards = self.project.writer().watch();
        let newer = |board: &std::sync::Arc<board::Board>| after.is_none_or(|after| board.seq > after);
        let board = boards.wait_for(newer).await.map_err(|_| DispatchError::Closed)?.clone();
        Ok(dispatch::wanted(&board, &self.runner, self.project.clock().now()))
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<WorkOrder>, DispatchError> {
        self.record_staffing(claim).await;
        let driver = Driver::Runner { runner: self.runner.clone(), spawn: claim.spawn.clone() };
        let command = Command::Claim {
            agent: claim.offer.agent.clone(),
            purpose: claim.offer.purpose(),
            driver,
            credential: Some(claim.credential.clone()),
            forced: false,
        };
        // Read before the claim: whoever has claimed can start.
        let env = self.project.env_values(&claim.offer.agent).await.map_err(unheard)?;
        match self.project.submit(self.actor(), command).await {
            Ok(receipt) => {
                let session = receipt.after.session_with(&claim.credential);
                Ok(session.and_then(|session| dispatch::work_order(&receipt.after, session, env)))
            }
            Err(ControlError::Refused(_)) => Ok(None),
            Err(error) => Err(unheard(error)),
        }
    }

    async fn renew(&self, sessions: &[(SessionId, Generation)]) -> Result<(), DispatchError> {
        self.submit(Command::RenewLeases { sessions: sessions.to_vec() }).await.map(drop)
    }

    async fn report(&self, report: &FactReport) -> Result<(), DispatchError> {
        let FactReport { session, generation, number, fact } = report.clone();
        self.submit(Command::Report { session, generation, number, fact }).await.map(drop)
    }

    async fn report_target(&self, commit: &str, results: &[CheckResult]) -> Result<(), DispatchError> {
        let command = Command::ReportTarget { commit: commit.to_owned(), results: results.to_vec() };
        self.submit(command).await.map(drop)
    }

    async fn target_order(&self) -> Result<Option<TargetOrder>, DispatchError> {
        let board = self.project.newest().await.map_err(unheard)?;
        Ok(dispatch::target_order(&board))
    }

    async fn examine_order(
        &self,
        session: SessionId,
        generation: Generation,
    ) -> Result<Option<ExamineOrder>, DispatchError> {
        let board = self.project.newest().await.map_err(unheard)?;
        Ok(dispatch::examine_order(&board, session, generation))
    }

    async fn examination_step(
        &self,
        id: SessionId,
        generation: Generation,
        number: u32,
        found: Option<&Examination>,
    ) -> Result<Option<ExaminationStep>, DispatchError> {
        let board = self.project.newest().await.map_err(unheard)?;
        let waits =
            |session: &&board::Session| session.status == SessionStatus::Verifying && session.generation == generation;
        let Some(session) = board.session(id).ok().filter(waits) else { return Ok(None) };
        let now = self.project.clock().now();
        let step = examination_step(&board, session, found, now);
        // What is only on its way is not told. A verdict is, what the work waits for, once, and that it is being merged.
        let tell = match &step {
            ExaminationStep::Conclude(_) | ExaminationStep::Merge => true,
            ExaminationStep::Wait(_) => found.is_some_and(|found| examination(session).as_ref() != Some(found)),
            ExaminationStep::Look | ExaminationStep::RunChecks(_) | ExaminationStep::CheckTarget(_) => false,
        };
        if !tell {
            return Ok(Some(step));
        }
        let fact = board::Fact::Examined(found.cloned().unwrap_or(Examination::NotNeeded));
        let report = Command::Report { session: id, generation, number, fact };
        let after = match self.project.submit(self.actor(), report).await {
            Ok(receipt) => receipt.after,
            Err(ControlError::Refused(_)) => return Ok(None),
            Err(error) => return Err(unheard(error)),
        };
        // Somebody may have taken the task away meanwhile. Only what the board has recorded may be merged.
        match (step, after.session(id).ok().filter(waits)) {
            (ExaminationStep::Merge, None) => Ok(None),
            (ExaminationStep::Merge, Some(session)) if session.merging.is_none() => {
                Ok(Some(examination_step(&after, session, found, now)).filter(|step| *step != ExaminationStep::Merge))
            }
            (step, _) => Ok(Some(step)),
        }
    }
}
