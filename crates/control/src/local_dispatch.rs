//! How does a runner reach the board in the same process? Also what is said over the network goes through here.

use std::collections::BTreeMap;

use async_trait::async_trait;
use board::{
    Actor, Board, CheckResult, Command, Driver, Examination, ExaminationStep, Generation, Installation, RunnerId,
    RunnerOffer, Seq, Session, SessionId, SessionStatus, Timestamp, begins_turn, examination, examination_step,
    is_given_up, merge_queue, staff_chat, staff_task,
};
use dispatch::{AtWork, Claim, Dispatch, DispatchError, ExamineOrder, FactReport, TargetOrder, Wanted, WorkOrder};

use crate::trace::{Subject, Traced};
use crate::{ControlError, Project, Writer};

/// The port of one runner to one project.
#[derive(Clone, Debug)]
pub struct LocalDispatch {
    project: Project,
    runner: RunnerId,
    /// What the runner has for agents.
    has: RunnerOffer,
    /// Knows which runners were removed.
    installation: Option<Writer<Installation>>,
}

impl LocalDispatch {
    pub fn new(project: Project, runner: RunnerId) -> Self {
        Self { project, runner, has: RunnerOffer::default(), installation: None }
    }

    /// It has this for agents.
    #[must_use]
    pub fn offering(self, has: RunnerOffer) -> Self {
        Self { has, ..self }
    }

    /// It takes over what runners have left that were removed from the installation.
    #[must_use]
    pub fn knowing(self, installation: Writer<Installation>) -> Self {
        Self { installation: Some(installation), ..self }
    }

    /// May this runner say something about the session?
    fn is_mine(&self, session: &Session) -> bool {
        match &session.driver {
            Driver::Runner { runner, .. } => *runner == self.runner,
            Driver::Attached => !self.runner.is_on_another_host(),
            Driver::Hand => false,
        }
    }

    /// Ended work of runners that are gone is this one's from now on: nobody else would examine it (V12). Gone is who was
    /// removed, or was not heard of for so long that what it ran is lost.
    async fn take_over(&self, board: &Board) -> Result<(), DispatchError> {
        let Some(installation) = self.installation.as_ref().filter(|_| !self.has.draining) else { return Ok(()) };
        let elsewhere = |session: &Session| match &session.driver {
            Driver::Runner { runner, .. } if *runner != self.runner && runner.is_on_another_host() => {
                Some((runner.clone(), session.process_ended.map(|(_, at)| at)?))
            }
            Driver::Runner { .. } | Driver::Attached | Driver::Hand => None,
        };
        let waiting: BTreeMap<RunnerId, Timestamp> = merge_queue(board).filter_map(elsewhere).collect();
        if waiting.is_empty() {
            return Ok(());
        }
        let (installation, now) = (installation.state(), self.project.clock().now());
        let heard = self.project.last_heard().await.map_err(unheard)?;
        for (from, last_ended) in waiting {
            let known = installation.runner_token(from.as_str()).is_some();
            let heard_at = heard.get(&from).copied().unwrap_or(last_ended).max(last_ended);
            if known && !is_given_up(heard_at, &board.settings.limits, now) {
                continue;
            }
            let command = Command::TakeOver { from, to: self.runner.clone() };
            match self.project.submit(Actor::System, command).await {
                Ok(_) | Err(ControlError::Refused(_)) => {}
                Err(error) => return Err(unheard(error)),
            }
        }
        Ok(())
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
        self.take_over(&board).await?;
        let board = self.project.board();
        Ok(dispatch::wanted(&board, &self.runner, &self.has, self.project.clock().now()))
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<WorkOrder>, DispatchError> {
        let suits = |agent: &board::Agent| self.has.suits(&agent.spec);
        if !self.project.board().agent(&claim.offer.agent).is_ok_and(suits) {
            return Ok(None);
        }
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
            // The answer to the same claim was lost: it stands.
            Err(ControlError::Refused(_)) => {
                let board = self.project.board();
                let claimed =
                    board.session_with(&claim.credential).filter(|session| session.is_live() && self.is_mine(session));
                Ok(claimed.and_then(|session| dispatch::work_order(&board, session, env)))
            }
            Err(error) => Err(unheard(error)),
        }
    }

    async fn renew(&self, at_work: &AtWork) -> Result<(), DispatchError> {
        let AtWork { sessions, quiet } = at_work.clone();
        self.submit(Command::RenewLeases { sessions, quiet }).await.map(drop)
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
        let mine = board.session(session).is_ok_and(|session| self.is_mine(session));
        Ok(dispatch::examine_order(&board, session, generation).filter(|_| mine))
    }

    async fn examination_step(
        &self,
        id: SessionId,
        generation: Generation,
        number: u32,
        found: Option<&Examination>,
    ) -> Result<Option<ExaminationStep>, DispatchError> {
        let board = self.project.newest().await.map_err(unheard)?;
        let waits = |session: &&Session| {
            session.status == SessionStatus::Verifying && session.generation == generation && self.is_mine(session)
        };
        let Some(session) = board.session(id).ok().filter(waits) else { return Ok(None) };
        let now = self.project.clock().now();
        let step = examination_step(&board, session, found, now);
        // What is only on its way is not told. A verdict is, what the work waits for, once, and that it is being merged.
        let tell = match &step {
            ExaminationStep::Conclude(_) | ExaminationStep::Merge => true,
            ExaminationStep::Wait(_) => found.is_some_and(|found| examination(session).as_ref() != Some(found)),
            ExaminationStep::RunChecks(_) | ExaminationStep::CheckTarget(_) => begins_turn(&board, session, &step),
            ExaminationStep::Look => false,
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
        // Somebody may have taken the task, or the turn, meanwhile. Only what the board has recorded may be merged.
        let asked_again = |session: &Session| {
            let step = examination_step(&after, session, found, now);
            Some(step).filter(|step| *step != ExaminationStep::Merge || session.merging.is_some())
        };
        match (step, after.session(id).ok().filter(waits)) {
            (ExaminationStep::Merge, None) => Ok(None),
            (ExaminationStep::Merge, Some(session)) if session.merging.is_none() => Ok(asked_again(session)),
            (ExaminationStep::RunChecks(_) | ExaminationStep::CheckTarget(_), Some(session)) => {
                Ok(asked_again(session))
            }
            (step, _) => Ok(Some(step)),
        }
    }
}
