//! Which calls of a session are not on the board yet? Those that changed nothing are told to it
//! together, now and then: reads and refusals, and answers that were only given again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use board::{Board, Seq, SessionId, Span, Step, Timestamp};

use crate::again::Again;

/// So many calls of one session are told at once,
const MOST: u32 = 256;
/// or after so long, with the next call: so "last call" is never older than this.
const AT_LEAST_EVERY: Span = Span::seconds(1);
/// Beyond so many sessions those that are over are forgotten.
const SESSIONS: usize = 1_024;

/// Calls that the board does not know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Untold {
    pub(crate) calls: u32,
    pub(crate) repeated: Option<(Step, u32)>,
    since: Timestamp,
}

impl Untold {
    fn total(&self) -> u32 {
        self.calls + self.repeated.map_or(0, |(_, times)| times)
    }

    fn add(&mut self, call: Call) {
        match (call, &mut self.repeated) {
            (Call::Other, _) => self.calls += 1,
            (Call::Repeated(step), Some((known, times))) if *known == step => *times += 1,
            (Call::Repeated(step), repeated) => {
                self.calls += repeated.map_or(0, |(_, times)| times);
                *repeated = Some((step, 1));
            }
        }
    }
}

/// A call that left no event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Other,
    Repeated(Step),
}

/// What to do after a call was noted.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Tell {
    Later,
    /// Worth telling, but nobody has to wait for it.
    Soon(Untold),
    /// A limit is reached: the call waits for it.
    Now(Untold),
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    sessions: Mutex<HashMap<SessionId, Untold>>,
    /// What each session was told last.
    told: Mutex<HashMap<SessionId, Again>>,
}

impl Tally {
    pub(crate) fn note(&self, board: &Board, session: SessionId, call: Call, now: Timestamp) -> Tell {
        let mut sessions = self.lock();
        if sessions.len() > SESSIONS {
            sessions.retain(|id, _| board.session(*id).is_ok_and(board::Session::is_live));
        }
        let untold = sessions.entry(session).or_insert(Untold { calls: 0, repeated: None, since: now });
        untold.add(call);
        let known = board.session(session).map_or(0, |session| session.calls);
        let spent = known.saturating_add(untold.total()) >= board.settings.limits.max_calls;
        let due = untold.total() >= MOST || now - untold.since >= AT_LEAST_EVERY;
        if !spent && !due {
            return Tell::Later;
        }
        match sessions.remove(&session) {
            Some(untold) if spent => Tell::Now(untold),
            Some(untold) => Tell::Soon(untold),
            None => Tell::Later,
        }
    }

    /// What the session was told on this very board, if that still holds.
    pub(crate) fn again(&self, session: SessionId, seq: Seq) -> Option<Again> {
        self.told().get(&session).filter(|again| again.given.seq == seq && again.timeless).cloned()
    }

    pub(crate) fn remember(&self, session: SessionId, again: Again) -> Again {
        let mut told = self.told();
        if told.len() > SESSIONS {
            told.clear();
        }
        told.insert(session, again.clone());
        again
    }

    fn told(&self) -> MutexGuard<'_, HashMap<SessionId, Again>> {
        self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How often a step was given again that the board does not know of.
    pub(crate) fn repeats(&self, session: SessionId, step: Step) -> u32 {
        let repeated = self.lock().get(&session).and_then(|untold| untold.repeated);
        repeated.filter(|(known, _)| *known == step).map_or(0, |(_, times)| times)
    }

    pub(crate) fn take(&self, session: SessionId) -> Option<Untold> {
        self.lock().remove(&session)
    }

    pub(crate) fn take_all(&self) -> HashMap<SessionId, Untold> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Untold>> {
        self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
