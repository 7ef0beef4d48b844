//! May an answer be given without waiting for anything? Only if it changes nothing but a counter.

use std::sync::Arc;

use board::{
    Actor, Answer, Board, Command, Event, EventKind, NextAction, Purpose, Seq, SessionId, Timestamp, admit,
    next_action, repeats_left,
};
use serde_json::{Value, json};

use crate::ControlError;

/// A call that left no event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Other,
    Repeated(NextAction),
}

/// An answer, with what the trace says of it.
#[derive(Clone, Debug)]
pub(crate) struct TracedAnswer {
    pub(crate) answer: Arc<Answer>,
    pub(crate) traced: Arc<Value>,
    /// The board on which it was given.
    pub(crate) seq: Seq,
}

impl TracedAnswer {
    /// An answer that the row `row` of N2 gave.
    pub(crate) fn new(answer: Answer, row: &'static str, seq: Seq) -> Self {
        let action = answer.action;
        let traced =
            json!({ "action": action.action(), "state": action.state(), "row": row, "reason": action.reason() });
        Self { answer: Arc::new(answer), traced: Arc::new(traced), seq }
    }
}

/// An answer that can be given again while the board stays as it is.
#[derive(Clone, Debug)]
pub(crate) struct CachedAnswer {
    pub(crate) given: TracedAnswer,
    pub(crate) call: Call,
    /// How often it may be repeated before the work is blocked.
    pub(crate) left: u32,
    /// A chat's next action depends on the time too.
    pub(crate) timeless: bool,
}

impl CachedAnswer {
    /// The answer on this board, if giving it leaves no event or only counts it once more.
    pub(crate) fn on(board: &Board, id: SessionId, now: Timestamp) -> Result<Option<Self>, ControlError> {
        let (action, row) = next_action(board, id, now)?;
        let session = board.session(id)?;
        let events = admit(board, &Actor::Session(id), &Command::NextAction, now)?;
        let (call, left) = match events.as_slice() {
            [] => (Call::Other, 0),
            [Event { what: EventKind::ActionGiven { action, .. }, .. }] => {
                match repeats_left(board, session, *action) {
                    Some(left) => (Call::Repeated(*action), left),
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let given = TracedAnswer::new(Answer::of(board, id, action, now)?, row, board.seq);
        Ok(Some(Self { given, call, left, timeless: session.purpose != Purpose::Chat }))
    }
}
