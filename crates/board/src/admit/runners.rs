//! Which of several runners tests and merges now, and what becomes of the sessions of one that is gone (R10)?

use super::{AdmitContext, AdmitResult};
use crate::event::EventKind;
use crate::evidence::{EndReason, ProcessEnd};
use crate::examination::{self, ExaminationStep};
use crate::refusal::RefusalReason;
use crate::session::{Driver, Session, SessionStatus};
use crate::{Actor, RunnerId, SessionId};

impl AdmitContext<'_> {
    /// Nobody else tests or merges for as long as a lease lasts.
    pub(super) fn merge_turn(&self, session: SessionId) -> EventKind {
        EventKind::MergeTurnTaken { session, until: self.now + self.board.settings.limits.lease }
    }

    /// What the step that follows an examination does to the turn.
    pub(super) fn turn_after(&self, session: &Session, step: &ExaminationStep) -> Option<EventKind> {
        let has_it = self.board.merge_turn.is_some_and(|turn| turn.session == session.id);
        if let (ExaminationStep::Wait(_), true) = (step, has_it) {
            return Some(EventKind::MergeTurnEnded { session: session.id });
        }
        examination::begins_turn(self.board, session, step).then(|| self.merge_turn(session.id))
    }

    fn sessions_of<'a>(&'a self, of: &'a RunnerId) -> impl Iterator<Item = &'a Session> {
        let own = move |session: &&Session| matches!(&session.driver, Driver::Runner { runner, .. } if runner == of);
        self.board.all_live_sessions().filter(own)
    }

    /// Nobody will hear of these processes again. What has ended stays, for another runner (V12).
    pub(super) fn drop_runner(&self, runner: &RunnerId) -> AdmitResult {
        if let Actor::Session(_) | Actor::Runner(_) = self.actor {
            return Err(RefusalReason::OwnersOnly.into());
        }
        let mut happened = Vec::new();
        for session in self.sessions_of(runner).filter(|session| session.status != SessionStatus::Verifying) {
            happened.extend(self.ended(session, &ProcessEnd::because(EndReason::Lost), None)?);
        }
        let turn = self.board.merge_turn.filter(|turn| self.sessions_of(runner).any(|own| own.id == turn.session));
        happened.extend(turn.map(|turn| EventKind::MergeTurnEnded { session: turn.session }));
        Ok(happened)
    }

    /// Whoever asks knows that the one runner is gone, and that the other is there.
    pub(super) fn take_over(&self, from: &RunnerId, to: &RunnerId) -> AdmitResult {
        if *self.actor != Actor::System {
            return Err(RefusalReason::RunnersOnly.into());
        }
        let ended = |session: &&Session| session.status == SessionStatus::Verifying;
        let sessions: Vec<_> = self.sessions_of(from).filter(ended).map(|session| session.id).collect();
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![EventKind::SessionsTakenOver { sessions, runner: to.clone() }])
    }
}
