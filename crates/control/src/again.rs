//! May an answer be given without waiting for anything? Only if it changes nothing but a counter.

use std::sync::Arc;

use board::{
    Actor, Answer, Board, Command, Event, Purpose, Seq, SessionId, Timestamp, What, admit, next_action, repeats_left,
};
use serde_json::{Value, json};

use crate::ControlError;
use crate::tally::Call;

/// An answer, with what the trace says of it.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) answer: Arc<Answer>,
    pub(crate) traced: Arc<Value>,
    /// The board on which it was given.
    pub(crate) seq: Seq,
}

impl Given {
    /// An answer that the row `row` of N2 gave.
    pub(crate) fn new(answer: Answer, row: &'static str, seq: Seq) -> Self {
        let step = answer.step;
        let traced = json!({ "action": step.action(), "state": step.state(), "row": row, "reason": step.reason() });
        Self { answer: Arc::new(answer), traced: Arc::new(traced), seq }
    }
}

/// An answer that can be given again while the board stays as it is.
#[derive(Clone, Debug)]
pub(crate) struct Again {
    pub(crate) given: Given,
    pub(crate) call: Call,
    /// How often it may be repeated before the work is parked.
    pub(crate) left: u32,
    /// A chat's next step depends on the time too.
    pub(crate) timeless: bool,
}

impl Again {
    /// The answer on this board, if giving it leaves no event or only counts it once more.
    pub(crate) fn on(board: &Board, id: SessionId, now: Timestamp) -> Result<Option<Self>, ControlError> {
        let (step, row) = next_action(board, id, now)?;
        let session = board.session(id)?;
        let events = admit(board, &Actor::Session(id), &Command::NextAction, now)?;
        let (call, left) = match events.as_slice() {
            [] => (Call::Other, 0),
            [Event { what: What::StepGiven { step, .. }, .. }] => match repeats_left(board, session, *step) {
                Some(left) => (Call::Repeated(*step), left),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let given = Given::new(Answer::of(board, id, step, now)?, row, board.seq);
        Ok(Some(Self { given, call, left, timeless: session.purpose != Purpose::Chat }))
    }
}
