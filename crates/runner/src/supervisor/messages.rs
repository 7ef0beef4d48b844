//! What do the supervisor and those who act for it say to each other? All of it is here.
//!
//! ```text
//! Wanted ─► reconcile ─ Step ─► executor ─ tasks ─ Message ─► supervisor ─► reconcile …
//! ```

use std::time::Duration;

use board::{Generation, Seq, SessionId, Timestamp};
use dispatch::{Offer, SessionState};

/// What the supervisor has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Claim an offer, and run its session to the end of its process.
    Claim { offer: Offer },
    /// Find out what became of a session that the board waits for and nobody here knows.
    Adopt { state: SessionState },
    /// End its process: it may not go on.
    Stop { session: SessionId },
    /// From now on it has this long to end by itself.
    EndBy { session: SessionId, by: Duration },
    /// End its process: it has reported, and lives on. That counts as a good end (V2).
    Finish { session: SessionId },
    /// Its agent has called the server, so it is not silent.
    NoteCall { session: SessionId, at: Timestamp },
    /// Examine its work, and merge it if everything is well.
    Examine { session: SessionId, generation: Generation },
    /// Nobody waits for the result of its examination any more.
    BreakOff { session: SessionId },
    /// The target was red, and is another commit now: run its checks again.
    CheckTarget,
    /// The board waits for nothing of it any more.
    Forget { session: SessionId },
}

/// What a task tells the supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// The offer was taken, and its client is being started.
    Claimed {
        offer: Offer,
        session: SessionId,
        generation: Generation,
        revision: Seq,
    },
    /// Another was first, or nobody could be asked.
    NotClaimed {
        offer: Offer,
    },
    /// What was found of a session of an earlier runner.
    Adopted {
        session: SessionId,
        running: bool,
    },
    /// Its process is over, and the board knows.
    Ended {
        session: SessionId,
    },
    Examined {
        session: SessionId,
        outcome: Outcome,
    },
    TargetChecked,
}

/// How an examination ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The board has a verdict, or waits for none.
    Over,
    /// The work stepped aside. The board knows what it waits for, unless nobody could be told.
    Aside { waiting: Option<board::Waiting> },
    /// It was broken off before anything was known.
    BrokenOff,
}
