//! How is the work of one session examined and merged? Looks, asks the board what follows, does it, and asks again.

use board::{Examination, ExaminationStep, Generation, Merge, SessionId, Verdict, Waiting, WorkspaceFacts};
use dispatch::{DispatchError, ExamineOrder};
use git::{AsyncGit, branch_ref};
use tokio_util::sync::CancellationToken;

use super::Inner;
use super::launch::set_aside;
use super::messages::Outcome;
use super::reporter::FactNumbers;
use crate::upstream::MoveOutcome;
use crate::verify::{CheckRunner, Examiner, Tested, VerifyError, judge_changes};

/// Why an examination ends before there is an outcome.
#[derive(Debug, thiserror::Error)]
enum Interrupted {
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
    #[error("broken off")]
    BrokenOff,
}

/// Examines the work of a session as far as it goes now.
pub(super) async fn examine(
    inner: &Inner,
    session: SessionId,
    generation: Generation,
    cancellation: &CancellationToken,
) -> Outcome {
    let order = match inner.dispatch().examine_order(session, generation).await {
        Ok(Some(order)) => order,
        Ok(None) => return Outcome::Over,
        Err(error) => {
            inner.warn(format!("cannot examine {session}: {error}"));
            return Outcome::Aside { waiting: None };
        }
    };
    let numbers = FactNumbers::after(session, generation, order.facts);
    WorkExamination { inner, order: &order, numbers, cancellation, done: false }.run().await
}

/// Runs the checks that failed on the target again, now that it is another commit (V9).
pub(super) async fn check_target(inner: &Inner, cancellation: &CancellationToken) {
    if let Err(error) = try_check_target(inner, cancellation).await {
        inner.warn(format!("the target cannot be checked: {error}"));
    }
}

async fn try_check_target(inner: &Inner, cancellation: &CancellationToken) -> Result<(), Interrupted> {
    let _turn = inner.merge_turn.lock().await;
    let Some(order) = inner.dispatch().target_order().await? else { return Ok(()) };
    let main = AsyncGit::in_repository(&inner.host.repository);
    let branch = &order.settings.target_branch;
    inner.host.follow(branch).await?;
    let Some(target) = main.commit(&branch_ref(branch)).await else {
        return Err(VerifyError::NoTarget(branch.clone()).into());
    };
    let checks = CheckRunner {
        host: &inner.host,
        settings: &order.settings,
        directory: inner.host.paths.root().join("target-check"),
        marker: format!("{}:target-check", inner.host.paths.root().display()),
        cancellation,
    };
    let results = checks.run(Tested::target(&target), &order.run).await?;
    if cancellation.is_cancelled() {
        return Err(Interrupted::BrokenOff);
    }
    Ok(inner.dispatch().report_target(&target, &results).await?)
}

/// One examination.
struct WorkExamination<'a> {
    inner: &'a Inner,
    order: &'a ExamineOrder,
    numbers: FactNumbers,
    cancellation: &'a CancellationToken,
    done: bool,
}

impl WorkExamination<'_> {
    async fn run(mut self) -> Outcome {
        let found = match self.try_run().await {
            Ok(outcome) => {
                // Done means merged: what is left in it is in the target (V8). Others merge meanwhile.
                if self.done {
                    self.remove_workspace().await;
                }
                return outcome;
            }
            Err(Interrupted::BrokenOff) => return Outcome::BrokenOff,
            Err(Interrupted::Dispatch(error)) => {
                self.inner.warn(format!("{} cannot be examined: {error}", self.order.task.id));
                return Outcome::Aside { waiting: None };
            }
            Err(Interrupted::Verify(_)) if self.cancellation.is_cancelled() => return Outcome::BrokenOff,
            Err(Interrupted::Verify(VerifyError::Unreadable { workspace, reason })) => {
                self.inner.warn(format!("{}: {reason}", workspace.display()));
                let (task, isolation) = (self.order.task.id, self.order.settings.isolation);
                if let Err(error) = set_aside(&self.inner.host, task, isolation, "broken") {
                    self.inner.warn(format!("{}: {error}", workspace.display()));
                }
                Examination::Unreadable { reason }
            }
            Err(Interrupted::Verify(error)) => {
                self.inner.warn(format!("{} cannot be examined: {error}", self.order.task.id));
                Examination::Failed { reason: error.to_string() }
            }
        };
        match self.ask(Some(&found)).await {
            Ok(Some(ExaminationStep::Wait(waiting))) => Outcome::Aside { waiting: Some(waiting) },
            Ok(_) => Outcome::Over,
            Err(_) => Outcome::Aside { waiting: None },
        }
    }

    fn examiner(&self) -> Examiner<'_> {
        Examiner { host: &self.inner.host, order: self.order, cancellation: self.cancellation }
    }

    /// Tells what was found, and asks what comes next.
    async fn ask(&mut self, found: Option<&Examination>) -> Result<Option<ExaminationStep>, DispatchError> {
        let FactNumbers { session, generation, .. } = self.numbers;
        let number = self.numbers.next();
        self.inner.dispatch().examination_step(session, generation, number, found).await
    }

    async fn try_run(&mut self) -> Result<Outcome, Interrupted> {
        // It may be decided, or held up, without a look.
        match self.ask(None).await? {
            None | Some(ExaminationStep::Conclude(_)) => return Ok(Outcome::Over),
            Some(ExaminationStep::Wait(waiting)) => return Ok(Outcome::Aside { waiting: Some(waiting) }),
            Some(_) => {}
        }
        let mut tested = None;
        if self.order.known.is_some() {
            let target = self.examiner().target().await?;
            if let Some(facts) = self.examiner().merged_unheard(&target).await? {
                return Ok(self.carry_out(facts, &target, None).await?.unwrap_or(Outcome::BrokenOff));
            }
            tested = self.examiner().tested_on(&target).await;
        }
        let fetched = match &tested {
            // Fetched before, and nobody has worked on it since.
            Some(_) => None,
            None => match self.examiner().fetch().await? {
                Some(fetched) => Some(fetched),
                None => {
                    let outcome = self.ask(Some(&Examination::Gone)).await?;
                    self.inner.warn(format!("the work of {} is gone: {outcome:?}", self.order.task.id));
                    return Ok(Outcome::Over);
                }
            },
        };
        let inner = self.inner;
        let _turn = tokio::select! {
            turn = inner.merge_turn.lock() => turn,
            () = self.cancellation.cancelled() => return Err(Interrupted::BrokenOff),
        };
        loop {
            let target = self.examiner().target().await?;
            let facts = match (self.examiner().tested_on(&target).await, &fetched) {
                (Some(facts), _) => facts,
                (None, Some(fetched)) => self.examiner().look(fetched, &target).await?,
                (None, None) => match self.examiner().fetch().await? {
                    Some(fetched) => self.examiner().look(&fetched, &target).await?,
                    None => return Ok(Outcome::Aside { waiting: None }),
                },
            };
            let head = fetched.as_ref().map(|fetched| fetched.head.as_str());
            if let Some(outcome) = self.carry_out(facts, &target, head).await? {
                return Ok(outcome);
            }
        }
    }

    /// Does what the board says until there is an outcome; `None` if the target has moved meanwhile.
    async fn carry_out(
        &mut self,
        mut facts: WorkspaceFacts,
        target: &str,
        head: Option<&str>,
    ) -> Result<Option<Outcome>, Interrupted> {
        loop {
            let found = Examination::Found(Box::new(facts));
            let step = self.ask(Some(&found)).await?;
            let Examination::Found(known) = found else { return Ok(Some(Outcome::Over)) };
            facts = *known;
            match step {
                None => return Ok(Some(Outcome::Over)),
                Some(ExaminationStep::Conclude(verdict)) => {
                    self.done = verdict == Verdict::Done;
                    return Ok(Some(Outcome::Over));
                }
                Some(ExaminationStep::Wait(waiting)) => return Ok(Some(aside(waiting))),
                Some(ExaminationStep::Look) => return Ok(None),
                Some(ExaminationStep::RunChecks(run)) => {
                    let candidate = facts.candidate.clone().unwrap_or_default();
                    let tested = Tested { commit: &candidate, target };
                    facts.checks = self.examiner().checks().run(tested, &run).await?;
                    facts.judge_changes = judge_changes(&run, &facts.changed);
                    self.not_broken_off()?;
                }
                Some(ExaminationStep::CheckTarget(run)) => {
                    let results = self.examiner().checks().run(Tested::target(target), &run).await?;
                    self.not_broken_off()?;
                    self.inner.dispatch().report_target(target, &results).await?;
                }
                Some(ExaminationStep::Merge) => {
                    self.not_broken_off()?;
                    let candidate = facts.candidate.clone().unwrap_or_default();
                    match self.examiner().move_target(target, &candidate, head).await? {
                        MoveOutcome::Moved => facts.merge = Merge::Merged { commit: candidate },
                        // What was tested is not what a merge would give now.
                        MoveOutcome::TargetChanged => return Ok(None),
                        MoveOutcome::LocalChanges { reason, files } => facts.merge = Merge::Waiting { reason, files },
                    }
                }
            }
        }
    }

    /// A check that was ended with us says nothing about the work.
    fn not_broken_off(&self) -> Result<(), Interrupted> {
        if self.cancellation.is_cancelled() { Err(Interrupted::BrokenOff) } else { Ok(()) }
    }

    async fn remove_workspace(&self) {
        let root = self.inner.host.paths.workspace(self.order.task.id);
        let removed = crate::gc::remove_workspace(&self.inner.host, &root, self.order.settings.isolation).await;
        if let Err(error) = removed {
            self.inner.warn(error.to_string());
        }
        // If that fails it is done with the branch, later.
        let _ = self.inner.host.withdraw_work(self.order.task.id).await;
    }
}

fn aside(waiting: Waiting) -> Outcome {
    Outcome::Aside { waiting: Some(waiting) }
}
