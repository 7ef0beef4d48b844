//! What an agent does through its session: may it, and what follows?

use super::{AdmitContext, AdmitResult};
use crate::action::{Choice, NextAction};
use crate::comments;
use crate::event::EventKind;
use crate::evidence::ProcessEnd;
use crate::field::Field;
use crate::fuel;
use crate::interrupt::interrupt;
use crate::next_action::next_action;
use crate::readiness;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::{CompletionReport, Driver, ModelReport, Outcome, Session};
use crate::settings::Fuel;
use crate::task::{Context, Status};
use crate::text_limits;
use crate::waiting;

impl AdmitContext<'_> {
    pub(super) fn report_model(&self, provider: &str, model_id: &str) -> AdmitResult {
        let session = self.session()?;
        text_limits::check(Field::Model, provider)?;
        text_limits::check(Field::Model, model_id)?;
        let wanted = self.board.agent(&session.agent)?.spec.model.as_deref();
        let matches = wanted.is_none_or(|wanted| same_model(wanted, model_id));
        let report = ModelReport { provider: provider.to_owned(), model_id: model_id.to_owned(), matches };
        Ok(vec![EventKind::ModelReported { session: session.id, report }])
    }

    pub(super) fn fetch_task(&self) -> AdmitResult {
        let (session, task, _) = self.task_session()?;
        let known = session.fetched && comments::unread(self.board, session, task).next().is_none();
        Ok(if known { Vec::new() } else { vec![EventKind::TaskFetched { session: session.id }] })
    }

    /// Gives the next action. An action that was given too often without a new fact blocks the work
    /// instead (G2). Actions that only repeat themselves until the agent leaves are not recorded.
    pub(super) fn next_action(&self) -> AdmitResult {
        let session = self.session()?;
        let (action, _) = next_action(self.board, session.id, self.now)?;
        match action {
            NextAction::WaitForMessages | NextAction::LeaveChat if self.owes_acknowledgement(session)? => {
                Ok(vec![EventKind::ActionGiven { session: session.id, action }])
            }
            NextAction::Stop(_) | NextAction::LogOut | NextAction::LeaveChat | NextAction::WaitForMessages => {
                Ok(Vec::new())
            }
            NextAction::ReportModel
            | NextAction::GetPendingMessages
            | NextAction::GetTask
            | NextAction::CreateSubtasks
            | NextAction::Work
            | NextAction::Rework
            | NextAction::Start
            | NextAction::Adjust
            | NextAction::Wait
            | NextAction::ReportCompletion
            | NextAction::ExecuteSubtask(_)
            | NextAction::StartSubtask(_)
            | NextAction::ReviewBlocks
            | NextAction::SituationalAwareness => {
                let times = fuel::times_given(self.board, session, &action) + 1;
                if times >= self.board.settings.limits.max_repeats {
                    return Ok(self.stop_for_fuel(session, Fuel::Repeats));
                }
                Ok(vec![EventKind::ActionGiven { session: session.id, action }])
            }
        }
    }

    /// It was shown messages, and this call is the first since.
    fn owes_acknowledgement(&self, session: &Session) -> Result<bool, Refusal> {
        let read = self.board.agent(&session.agent)?.read_upto;
        Ok(session.shown_upto.is_some_and(|shown| shown > read))
    }

    /// A choice that cannot help is refused (N4, F5).
    pub(super) fn select_action(&self, choice: Choice, reason: Option<&str>) -> AdmitResult {
        let (session, task, agent) = self.task_session()?;
        if !agent.is_manager() {
            return Err(RefusalReason::ManagersOnly.into());
        }
        if let Some(reason) = reason {
            text_limits::check(Field::Reason, reason)?;
        }
        match choice {
            Choice::Wait if !waiting::waiting_helps(self.board, task) => Err(RefusalReason::WaitCannotHelp.into()),
            Choice::Start if !readiness::starting_helps(self.board, task) => Err(RefusalReason::StartCannotHelp.into()),
            Choice::Wait | Choice::Start | Choice::Adjust => {
                Ok(vec![EventKind::ActionChosen { session: session.id, choice, reason: reason.map(str::to_owned) }])
            }
        }
    }

    /// Nothing can be reported of a task that was not read (N9). Success needs every comment read (L10), every child
    /// settled and, for a manager, one done (L1, V2). Being blocked or failed can always be reported (F8).
    pub(super) fn report_completed(&self, result: Outcome, summary: &str, next_steps: Option<&str>) -> AdmitResult {
        let (session, task, agent) = self.task_session()?;
        text_limits::check(Field::Summary, summary)?;
        text_limits::check(Field::NextSteps, next_steps.unwrap_or_default())?;
        if task.status != Status::InProgress {
            return Err(RefusalReason::NotInProgress { task: task.id, status: task.status }.into());
        }
        if !session.fetched {
            return Err(RefusalReason::NotFetched { task: task.id }.into());
        }
        if result == Outcome::Success {
            if comments::unread(self.board, session, task).next().is_some() {
                return Err(RefusalReason::UnreadComments { task: task.id }.into());
            }
            let open: Vec<_> = self.board.unsettled_children(task).map(|child| child.id).collect();
            if !open.is_empty() {
                return Err(RefusalReason::ChildrenOpen { task: task.id, open }.into());
            }
            if agent.is_manager() && !self.board.children(task).any(|child| child.status == Status::Done) {
                return Err(RefusalReason::NothingDone { task: task.id }.into());
            }
        }
        let report = CompletionReport {
            result,
            summary: summary.to_owned(),
            next_steps: next_steps.map(str::to_owned),
            at: self.now,
        };
        Ok(vec![EventKind::CompletionReported { session: session.id, report }])
    }

    pub(super) fn save_context(&self, context: &Context, decision: Option<&str>) -> AdmitResult {
        let (session, task, agent) = self.task_session()?;
        let Context { progress, findings, blockers, next_steps } = context;
        let texts = [progress, findings, blockers, next_steps];
        texts.into_iter().flatten().try_for_each(|text| text_limits::check(Field::Context, text))?;
        let mut happened = Vec::new();
        if *context != Context::default() || decision.is_none() {
            happened.push(EventKind::ContextSaved { session: session.id, context: context.clone() });
        }
        if let Some(text) = decision {
            happened.push(self.proposed(task, agent, text)?);
        }
        Ok(happened)
    }

    /// An agent that was attached by hand has no process to observe: its logout is the end (V7).
    pub(super) fn log_out(&self) -> AdmitResult {
        let session = self.session()?;
        let mut happened = vec![EventKind::LoggedOut { session: session.id }];
        if session.driver == Driver::Attached {
            happened.extend(self.ended(session, &ProcessEnd::exited(0), None)?);
        }
        Ok(happened)
    }

    /// An agent whose calls are all refused gets nowhere (N9).
    pub(super) fn count_refusals(&self, in_a_row: u32) -> AdmitResult {
        let session = self.session()?;
        let going = interrupt(self.board, session).is_none() && session.report.is_none();
        Ok(match in_a_row >= fuel::MOST_REFUSALS && going {
            true => self.stop_for_fuel(session, Fuel::Repeats),
            false => Vec::new(),
        })
    }

    pub(super) fn count_calls(&self, calls: u32, repeated: Option<(NextAction, u32)>) -> AdmitResult {
        let session = self.session()?;
        // Repeated before the last new fact: a call like any other by now.
        let (repeated, stale) = match repeated {
            Some((action, times)) if fuel::times_given(self.board, session, &action) == 0 => (None, times),
            _ => (repeated, 0),
        };
        let calls = calls.saturating_add(stale);
        let counted = EventKind::CallsCounted { session: session.id, calls };
        let mut happened: Vec<_> = Some(counted).filter(|_| calls > 0).into_iter().collect();
        if let Some((action, times)) = repeated {
            happened.push(EventKind::ActionRepeated { session: session.id, action, times });
            let given = fuel::times_given(self.board, session, &action).saturating_add(times);
            if given >= self.board.settings.limits.max_repeats && interrupt(self.board, session).is_none() {
                happened.extend(self.stop_for_fuel(session, Fuel::Repeats));
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
