//! Which calls of a session are not on the board yet? Calls that changed nothing (reads, refusals, repeated
//! answers) are counted here and written to the board together.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use board::{Board, NextAction, Seq, SessionId, Span, Timestamp, calls_left};

use crate::cached_answer::{CachedAnswer, Call};

/// Calls of one session are written when there are this many,
const MOST: u32 = 256;
/// or with the first call after this time, so that the "last call" on the board is not older.
const AT_LEAST_EVERY: Span = Span::seconds(1);
/// Above this many sessions, entries of sessions that are over are dropped.
const SESSIONS: usize = 1_024;

/// Calls that the board does not know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingCalls {
    pub(crate) calls: u32,
    pub(crate) repeated: Option<(NextAction, u32)>,
    since: Timestamp,
}

impl PendingCalls {
    fn total(&self) -> u32 {
        self.calls + self.repeated.map_or(0, |(_, times)| times)
    }

    fn add(&mut self, call: Call) {
        match (call, &mut self.repeated) {
            (Call::Other, _) => self.calls += 1,
            (Call::Repeated(action), Some((known, times))) if *known == action => *times += 1,
            (Call::Repeated(action), repeated) => {
                self.calls += repeated.map_or(0, |(_, times)| times);
                *repeated = Some((action, 1));
            }
        }
    }
}

/// What to do after a call was noted.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Flush {
    Later,
    /// Worth writing, but the caller need not wait for it.
    Soon(PendingCalls),
    /// A limit is reached: the call waits for it.
    Now(PendingCalls),
}

#[derive(Debug, Default)]
pub(crate) struct CallCounter {
    sessions: Mutex<HashMap<SessionId, PendingCalls>>,
    /// What each session was told last.
    answers: Mutex<HashMap<SessionId, CachedAnswer>>,
}

impl CallCounter {
    pub(crate) fn note(&self, board: &Board, session: SessionId, call: Call, now: Timestamp) -> Flush {
        let mut sessions = self.lock();
        if sessions.len() > SESSIONS {
            sessions.retain(|id, _| board.session(*id).is_ok_and(board::Session::is_live));
        }
        let pending = sessions.entry(session).or_insert(PendingCalls { calls: 0, repeated: None, since: now });
        pending.add(call);
        let spent = board.session(session).is_ok_and(|session| calls_left(board, session) <= pending.total());
        let due = pending.total() >= MOST || now - pending.since >= AT_LEAST_EVERY;
        if !spent && !due {
            return Flush::Later;
        }
        match sessions.remove(&session) {
            Some(pending) if spent => Flush::Now(pending),
            Some(pending) => Flush::Soon(pending),
            None => Flush::Later,
        }
    }

    /// What the session was told on this very board, if that still holds.
    pub(crate) fn cached(&self, session: SessionId, seq: Seq) -> Option<CachedAnswer> {
        self.answers().get(&session).filter(|cached| cached.given.seq == seq && cached.timeless).cloned()
    }

    pub(crate) fn remember(&self, session: SessionId, cached: CachedAnswer) -> CachedAnswer {
        let mut answers = self.answers();
        if answers.len() > SESSIONS {
            answers.clear();
        }
        answers.insert(session, cached.clone());
        cached
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<SessionId, CachedAnswer>> {
        self.answers.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How often a step was given again that the board does not know of.
    pub(crate) fn repeats(&self, session: SessionId, action: NextAction) -> u32 {
        let repeated = self.lock().get(&session).and_then(|pending| pending.repeated);
        repeated.filter(|(known, _)| *known == action).map_or(0, |(_, times)| times)
    }

    pub(crate) fn take(&self, session: SessionId) -> Option<PendingCalls> {
        self.lock().remove(&session)
    }

    pub(crate) fn take_all(&self) -> HashMap<SessionId, PendingCalls> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, PendingCalls>> {
        self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
