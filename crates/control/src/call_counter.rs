//! Which calls of a session are not on the board yet? Calls that changed nothing (reads, refusals, repeated
//! answers) are counted here and written to the board together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use board::{Board, NextAction, Seq, SessionId, Span, Timestamp, calls_left};

use crate::cached_answer::{CachedAnswer, Call};

/// Calls of one session are written when there are this many, or this part of what a session has left: several servers
/// that count apart must not grant it much more than its limit together,
const MOST: u32 = 1_024;
const PART_OF_LEFT: u32 = 8;
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

/// What the board does not know of a session.
#[derive(Debug, Default)]
struct SessionCalls {
    pending: Option<PendingCalls>,
    /// What it was told last.
    answer: Option<Arc<CachedAnswer>>,
    /// How many of its last calls were refused, one after the other.
    refused: u32,
}

#[derive(Debug, Default)]
pub(crate) struct CallCounter {
    sessions: Mutex<HashMap<SessionId, SessionCalls>>,
}

impl CallCounter {
    pub(crate) fn note(&self, board: &Board, session: SessionId, call: Call, now: Timestamp) -> Flush {
        let mut sessions = self.lock();
        if sessions.len() > SESSIONS {
            sessions.retain(|id, _| board.session(*id).is_ok_and(board::Session::is_live));
        }
        let known = sessions.entry(session).or_default();
        let pending = known.pending.get_or_insert(PendingCalls { calls: 0, repeated: None, since: now });
        pending.add(call);
        let left = board.session(session).map_or(u32::MAX, |session| calls_left(board, session));
        let spent = left <= pending.total();
        let due = pending.total() >= MOST.min((left / PART_OF_LEFT).max(1)) || now - pending.since >= AT_LEAST_EVERY;
        match known.pending.take_if(|_| spent || due) {
            Some(pending) if spent => Flush::Now(pending),
            Some(pending) => Flush::Soon(pending),
            None => Flush::Later,
        }
    }

    /// Notes whether a call was refused. How many were in a row, if that is one more than before.
    pub(crate) fn note_outcome(&self, session: SessionId, refused: bool) -> Option<u32> {
        let mut sessions = self.lock();
        if !refused {
            sessions.get_mut(&session)?.refused = 0;
            return None;
        }
        let known = sessions.entry(session).or_default();
        known.refused += 1;
        Some(known.refused)
    }

    /// What the session was told on this very board, if that still holds.
    pub(crate) fn cached(&self, session: SessionId, seq: Seq) -> Option<Arc<CachedAnswer>> {
        let sessions = self.lock();
        let answer = sessions.get(&session)?.answer.as_ref()?;
        (answer.given.seq == seq && answer.timeless).then(|| Arc::clone(answer))
    }

    pub(crate) fn remember(&self, session: SessionId, answer: &Arc<CachedAnswer>) {
        self.lock().entry(session).or_default().answer = Some(Arc::clone(answer));
    }

    /// How often a step was given again that the board does not know of.
    pub(crate) fn repeats(&self, session: SessionId, action: NextAction) -> u32 {
        let repeated = self.lock().get(&session).and_then(|known| known.pending?.repeated);
        repeated.filter(|(known, _)| *known == action).map_or(0, |(_, times)| times)
    }

    pub(crate) fn take(&self, session: SessionId) -> Option<PendingCalls> {
        self.lock().get_mut(&session)?.pending.take()
    }

    pub(crate) fn take_all(&self) -> Vec<(SessionId, PendingCalls)> {
        let sessions = std::mem::take(&mut *self.lock());
        sessions.into_iter().filter_map(|(id, known)| Some((id, known.pending?))).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, SessionCalls>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use board::{NextAction, Timestamp};

    use super::{Call, PendingCalls};

    /// G1, G2: equal answers in a row are counted as repeats, everything else as calls.
    #[test]
    fn equal_answers_in_a_row_are_repeats() {
        let mut pending = PendingCalls { calls: 0, repeated: None, since: Timestamp(0) };
        let (work, wait) = (Call::Repeated(NextAction::Work), Call::Repeated(NextAction::Wait));
        for (call, calls, repeated) in [
            (work, 0, Some((NextAction::Work, 1))),
            (work, 0, Some((NextAction::Work, 2))),
            (Call::Other, 1, Some((NextAction::Work, 2))),
            (wait, 3, Some((NextAction::Wait, 1))),
        ] {
            pending.add(call);
            assert_eq!((pending.calls, pending.repeated), (calls, repeated));
        }
        assert_eq!(pending.total(), 4);
    }
}
