//! What an agent does through its session: may it, and what follows?

use super::{Decision, Desk};
use crate::event::What;
use crate::fuel::{self, Fuel};
use crate::interrupt::interrupt;
use crate::next_action::{Choice, Step, next_action};
use crate::readiness;
use crate::refusal::{Because, Refusal};
use crate::session::{Claim, Driver, ModelReport, Outcome, ProcessEnd, Session};
use crate::task::{Context, Status};
use crate::text_limits::{self, Field};

impl Desk<'_> {
    pub(super) fn report_model(&self, provider: &str, model_id: &str) -> Decision {
        let session = self.session()?;
        text_limits::check(Field::Model, provider)?;
        text_limits::check(Field::Model, model_id)?;
        let wanted = self.board.agent(&session.agent)?.spec.model.as_deref();
        let matches = wanted.is_none_or(|wanted| same_model(wanted, model_id));
        let report = ModelReport { provider: provider.to_owned(), model_id: model_id.to_owned(), matches };
        Ok(vec![What::ModelReported { session: session.id, report }])
    }

    pub(super) fn fetch_task(&self) -> Decision {
        let (session, ..) = self.task_session()?;
        Ok(if session.fetched { Vec::new() } else { vec![What::TaskFetched { session: session.id }] })
    }

    /// Gives the next step. A step that was given too often without a new fact parks the work
    /// instead (G2). Steps that only repeat themselves until the agent leaves are not recorded.
    pub(super) fn next_action(&self) -> Decision {
        let session = self.session()?;
        let (step, _) = next_action(self.board, session.id, self.now)?;
        match step {
            Step::WaitForMessages | Step::LeaveChat if self.owes_acknowledgement(session)? => {
                Ok(vec![What::StepGiven { session: session.id, step }])
            }
            Step::Stop(_) | Step::LogOut | Step::LeaveChat | Step::WaitForMessages => Ok(Vec::new()),
            Step::ReportModel
            | Step::GetPendingMessages
            | Step::GetTask
            | Step::CreateSubtasks
            | Step::Work
            | Step::Rework
            | Step::Start
            | Step::Adjust
            | Step::Wait
            | Step::ReportCompletion
            | Step::ExecuteSubtask(_)
            | Step::StartSubtask(_)
            | Step::ReviewBlocks
            | Step::SituationalAwareness => {
                let times = fuel::times_given(self.board, session, &step) + 1;
                if times >= self.board.settings.limits.max_repeats {
                    return Ok(self.park(session, Fuel::Repeats));
                }
                Ok(vec![What::StepGiven { session: session.id, step }])
            }
        }
    }

    /// It was shown messages, and this call is the first since.
    fn owes_acknowledgement(&self, session: &Session) -> Result<bool, Refusal> {
        let read = self.board.agent(&session.agent)?.read_upto;
        Ok(session.shown_upto.is_some_and(|shown| shown > read))
    }

    /// A choice that cannot help is refused (N4, F5).
    pub(super) fn select_action(&self, choice: Choice, reason: Option<&str>) -> Decision {
        let (session, task, agent) = self.task_session()?;
        if !agent.is_manager() {
            return Err(Because::ManagersOnly.into());
        }
        if let Some(reason) = reason {
            text_limits::check(Field::Reason, reason)?;
        }
        match choice {
            Choice::Wait if !readiness::waiting_helps(self.board, task) => Err(Because::WaitCannotHelp.into()),
            Choice::Start if !readiness::starting_helps(self.board, task) => Err(Because::StartCannotHelp.into()),
            Choice::Wait | Choice::Start | Choice::Adjust => {
                Ok(vec![What::ActionChosen { session: session.id, choice, reason: reason.map(str::to_owned) }])
            }
        }
    }

    /// Success needs every child settled and, for a manager, one done (L1, V2). Being blocked or
    /// failed can always be reported (F8).
    pub(super) fn report_completed(&self, result: Outcome, summary: &str, next_steps: Option<&str>) -> Decision {
        let (session, task, agent) = self.task_session()?;
        text_limits::check(Field::Summary, summary)?;
        text_limits::check(Field::NextSteps, next_steps.unwrap_or_default())?;
        if task.status != Status::InProgress {
            return Err(Because::NotInProgress { task: task.id, status: task.status }.into());
        }
        if result == Outcome::Success {
            let open: Vec<_> = self.board.unsettled_children(task).map(|child| child.id).collect();
            if !open.is_empty() {
                return Err(Because::ChildrenOpen { task: task.id, open }.into());
            }
            if agent.is_manager() && !self.board.children(task).any(|child| child.status == Status::Done) {
                return Err(Because::NothingDone { task: task.id }.into());
            }
        }
        let claim =
            Claim { result, summary: summary.to_owned(), next_steps: next_steps.map(str::to_owned), at: self.now };
        Ok(vec![What::CompletionReported { session: session.id, claim }])
    }

    pub(super) fn save_context(&self, context: &Context) -> Decision {
        let (session, ..) = self.task_session()?;
        let Context { progress, findings, blockers, next_steps } = context;
        let texts = [progress, findings, blockers, next_steps];
        texts.into_iter().flatten().try_for_each(|text| text_limits::check(Field::Context, text))?;
        Ok(vec![What::ContextSaved { session: session.id, context: context.clone() }])
    }

    /// An agent that was attached by hand has no process to observe: its logout is the end (V7).
    pub(super) fn log_out(&self) -> Decision {
        let session = self.session()?;
        let mut happened = vec![What::LoggedOut { session: session.id }];
        if session.driver == Driver::Attached {
            happened.extend(self.ended(session, &ProcessEnd::exited(0), &[], None)?);
        }
        Ok(happened)
    }

    pub(super) fn count_calls(&self, calls: u32, repeated: Option<(Step, u32)>) -> Decision {
        let session = self.session()?;
        // Repeated before the last new fact: a call like any other by now.
        let (repeated, stale) = match repeated {
            Some((step, times)) if fuel::times_given(self.board, session, &step) == 0 => (None, times),
            _ => (repeated, 0),
        };
        let calls = calls.saturating_add(stale);
        let counted = What::CallsCounted { session: session.id, calls };
        let mut happened: Vec<_> = Some(counted).filter(|_| calls > 0).into_iter().collect();
        if let Some((step, times)) = repeated {
            happened.push(What::StepRepeated { session: session.id, step, times });
            let given = fuel::times_given(self.board, session, &step).saturating_add(times);
            if given >= self.board.settings.limits.max_repeats && interrupt(self.board, session).is_none() {
                happened.extend(self.park(session, Fuel::Repeats));
            }
        }
        Ok(happened)
    }
}

/// Aliases and dated suffixes count as equal (S6): `sonnet` is `claude-sonnet-4-5-20250929`.
fn same_model(wanted: &str, reported: &str) -> bool {
    let parts = |name: &str| -> Vec<String> {
        let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
        let words = name.split(['-', '@', ':', '_', '.']).map(str::to_owned);
        words.filter(|word| !is_date(word) && word != "latest").collect()
    };
    let (wanted, reported) = (parts(wanted), parts(reported));
    let alias = |word: &String| word.chars().all(|c| c.is_ascii_alphabetic());
    match wanted.as_slice() {
        [] => false,
        [word] if alias(word) => reported.contains(word),
        words => reported.ends_with(words),
    }
}

fn is_date(word: &str) -> bool {
    word.len() == 8 && word.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::same_model;

    /// S6
    #[test]
    fn aliases_and_dated_suffixes_are_the_same_model() {
        for (wanted, reported) in [
            ("sonnet", "claude-sonnet-4-5-20250929"),
            ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
            ("gpt-5.5", "openai/gpt-5.5"),
            ("gemini-2.5-flash", "gemini-2.5-flash-latest"),
        ] {
            assert!(same_model(wanted, reported), "{wanted} {reported}");
        }
        for (wanted, reported) in [
            ("sonnet", "claude-opus-4"),
            ("gpt-5.5", "gpt-5"),
            ("gpt-5", "gpt-5-mini"),
            ("gpt-5", "gpt-5.5"),
            ("sonnet-4-5", "claude-sonnet-4"),
        ] {
            assert!(!same_model(wanted, reported), "{wanted} {reported}");
        }
    }
}
