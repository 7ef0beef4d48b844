//! May this be said, and what has been heard?

use super::{AdmitContext, AdmitResult};
use crate::event::EventKind;
use crate::field::Field;
use crate::refusal::RefusalReason;
use crate::session::Purpose;
use crate::settings::Fuel;
use crate::text_limits;
use crate::{Actor, Party, TaskId};

impl AdmitContext<'_> {
    pub(super) fn send_message(&self, to: &Party, content: &str, related_task: Option<TaskId>) -> AdmitResult {
        text_limits::check(Field::Message, content)?;
        let from = self.party()?;
        match to {
            Party::Agent(agent) if self.board.active_agent(agent).is_none() => {
                self.board.agent(agent)?;
                return Err(RefusalReason::AgentInactive(agent.clone()).into());
            }
            Party::System => return Err(RefusalReason::NobodyThere.into()),
            Party::Owner | Party::Agent(_) => {}
        }
        if from == *to {
            return Err(RefusalReason::NobodyThere.into());
        }
        related_task.map(|task| self.board.task(task)).transpose()?;
        let mut happened = vec![EventKind::MessageSent {
            message: self.board.next_message(),
            from,
            to: to.clone(),
            content: content.to_owned(),
            related_task,
        }];
        if let Actor::Session(_) = self.actor {
            let session = self.session()?;
            if session.messages + 1 >= self.board.settings.limits.max_messages {
                happened.extend(self.stop_for_fuel(session, Fuel::Messages));
            }
        }
        Ok(happened)
    }

    /// Shows the unread messages; the session's next call acknowledges them (F86, F87).
    pub(super) fn show_messages(&self) -> AdmitResult {
        let session = self.session()?;
        if session.purpose != Purpose::Chat {
            return Err(RefusalReason::ChatOnly.into());
        }
        let agent = self.board.agent(&session.agent)?;
        let newest = self.board.unread(agent).last().map(|message| message.id);
        let upto = newest.filter(|newest| session.shown_upto.is_none_or(|shown| shown < *newest));
        Ok(upto.map(|upto| EventKind::MessagesShown { session: session.id, upto }).into_iter().collect())
    }
}
