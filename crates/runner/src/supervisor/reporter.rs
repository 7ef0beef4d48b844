//! How does a fact reach the board, also if nobody hears it for a while (F42)?

use std::sync::Arc;
use std::time::Duration;

use board::{Fact, Generation, SessionId};
use dispatch::{Dispatch, DispatchError, FactReport};
use tokio::sync::mpsc;

use super::Notice;

/// When something that could not be told is told again.
const RETRY: Duration = Duration::from_secs(1);

/// Tells facts until they are heard.
#[derive(Debug)]
pub(super) struct Reporter {
    dispatch: Arc<dyn Dispatch>,
    notices: mpsc::UnboundedSender<Notice>,
}

/// The facts of one session, in the order in which they are told.
#[derive(Clone, Copy, Debug)]
pub(super) struct FactNumbers {
    pub(super) session: SessionId,
    pub(super) generation: Generation,
    last: u32,
}

impl FactNumbers {
    pub(super) fn after(session: SessionId, generation: Generation, last: u32) -> Self {
        Self { session, generation, last }
    }

    pub(super) fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }
}

impl Reporter {
    pub(super) fn new(dispatch: Arc<dyn Dispatch>, notices: mpsc::UnboundedSender<Notice>) -> Self {
        Self { dispatch, notices }
    }

    pub(super) fn dispatch(&self) -> &dyn Dispatch {
        self.dispatch.as_ref()
    }

    /// Tells a fact, and tries until it is heard. Whoever waits for that may be cancelled: the end of a process is on
    /// the disk until the board knows it.
    pub(super) async fn report(&self, numbers: &mut FactNumbers, fact: Fact) {
        let (session, generation, number) = (numbers.session, numbers.generation, numbers.next());
        let report = FactReport { session, generation, number, fact };
        loop {
            match self.dispatch.report(&report).await {
                Ok(()) | Err(DispatchError::Closed) => return,
                Err(DispatchError::Unavailable(error)) => {
                    // A fact must not be lost because the disk is full for a moment.
                    self.warn(format!("cannot report to the board: {error}"));
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    pub(super) fn warn(&self, text: String) {
        tracing::warn!("{text}");
        let _ = self.notices.send(Notice::Problem(text));
    }
}
