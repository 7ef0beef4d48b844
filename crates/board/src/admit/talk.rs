//! May this be said, and what has been heard?

use super::{AdmitContext, AdmitResult};
use crate::event::EventKind;
use crate::field::Field;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::Purpose;
use crate::settings::Fuel;
use crate::task::{ProposalAnswer, Task};
use crate::{Actor, Agent, Mode, Party, Seq, TaskId, comments, text_limits};

/// So many proposals of one task wait for the owner at once.
const MAX_PROPOSALS: usize = 5;

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
        let about = related_task.map(|task| self.board.task(task)).transpose()?;
        // What is written to a task's agent about that task belongs to the task (L10).
        if let (Some(task), Party::Agent(agent)) = (about, to)
            && task.assignee.as_ref() == Some(agent)
        {
            return self.comment_task(task.id, content);
        }
        self.can_hear(&from, to)?;
        let mut happened = vec![EventKind::MessageSent {
            message: self.board.next_message(),
            from,
            to: to.clone(),
            content: content.to_owned(),
            related_task,
        }];
        self.stop_if_messages_spent(&mut happened)?;
        Ok(happened)
    }

    /// A session may write only so often, to whomever (G1).
    fn stop_if_messages_spent(&self, happened: &mut Vec<EventKind>) -> Result<(), Refusal> {
        if let Actor::Session(_) = self.actor {
            let session = self.session()?;
            if session.messages + 1 >= self.board.settings.limits.max_messages {
                happened.extend(self.stop_for_fuel(session, Fuel::Messages));
            }
        }
        Ok(())
    }

    /// Only a guided agent has a chat, and only the owner's messages start it (N11).
    fn can_hear(&self, from: &Party, to: &Party) -> Result<(), Refusal> {
        let Party::Agent(id) = to else { return Ok(()) };
        if self.board.agent(id)?.spec.mode == Mode::OneShot {
            return Err(RefusalReason::CannotHear(id.clone()).into());
        }
        match from {
            Party::Agent(_) => Err(RefusalReason::AgentsDoNotChat(id.clone()).into()),
            Party::Owner | Party::System => Ok(()),
        }
    }

    /// The owner, and who moves the task, may write about it while that can change anything (L10).
    pub(super) fn comment_task(&self, id: TaskId, text: &str) -> AdmitResult {
        text_limits::check(Field::Comment, text)?;
        let task = self.board.task(id)?;
        if !self.is_owner() && !self.is_mover(task)? {
            return Err(RefusalReason::NotTheMover { task: id, mover: self.board.mover(task) }.into());
        }
        if task.is_settled() {
            return Err(RefusalReason::Settled { task: id, status: task.status }.into());
        }
        let mut happened = vec![EventKind::CommentAdded { task: id, by: self.party()?, text: text.trim().to_owned() }];
        self.stop_if_messages_spent(&mut happened)?;
        Ok(happened)
    }

    /// What an agent has found out that others should know becomes part of the project's memory if the owner says so.
    pub(super) fn proposed(&self, task: &Task, agent: &Agent, text: &str) -> Result<EventKind, Refusal> {
        text_limits::check(Field::Decision, text)?;
        if task.proposals.iter().filter(|proposal| proposal.answer.is_none()).count() >= MAX_PROPOSALS {
            return Err(RefusalReason::TooManyProposals { task: task.id, most: MAX_PROPOSALS }.into());
        }
        let text = text.trim();
        if let Some(same) = task.proposals.iter().find(|proposal| proposal.text == text) {
            return Err(RefusalReason::ProposedBefore { proposal: same.seq }.into());
        }
        Ok(EventKind::MemoryProposed { task: task.id, by: agent.id().clone(), text: text.to_owned() })
    }

    pub(super) fn answer_proposal(&self, proposal: Seq, answer: ProposalAnswer) -> AdmitResult {
        self.owner_only()?;
        let (task, _) = comments::open_proposal(self.board, proposal)?;
        Ok(vec![EventKind::ProposalAnswered { task: task.id, proposal, answer }])
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
