//! What happens from some event on? Each event once, in order, from memory where possible.

use std::collections::VecDeque;
use std::sync::Arc;

use board::Seq;
use store::StreamName;
use tokio::sync::{broadcast, watch};

use crate::{ControlError, Decider, Log};

/// A state with the events that made it out of the one before.
#[derive(Debug)]
pub struct Update<D: Decider> {
    pub state: Arc<D>,
    /// The last of them is the event `state.seq()`.
    pub events: Arc<[D::Event]>,
}

impl<D: Decider> Clone for Update<D> {
    fn clone(&self) -> Self {
        Self { state: Arc::clone(&self.state), events: Arc::clone(&self.events) }
    }
}

/// Follows a stream. A follower that is slow, or begins in the past, reads from the log what it
/// missed; it costs the writer nothing.
pub struct Follower<D: Decider> {
    log: Log,
    stream: StreamName,
    /// The last event that was handed out.
    at: Seq,
    states: watch::Receiver<Arc<D>>,
    updates: broadcast::Receiver<Update<D>>,
    /// Events of one update that were not handed out yet.
    ready: VecDeque<(Seq, D::Event)>,
}

impl<D: Decider> std::fmt::Debug for Follower<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").field("stream", &self.stream).field("at", &self.at).finish_non_exhaustive()
    }
}

impl<D: Decider> Follower<D> {
    pub(crate) fn new(
        log: Log,
        stream: StreamName,
        after: Seq,
        states: watch::Receiver<Arc<D>>,
        updates: broadcast::Receiver<Update<D>>,
    ) -> Self {
        Self { log, stream, at: after, states, updates, ready: VecDeque::new() }
    }

    /// The last event that was handed out.
    pub fn at(&self) -> Seq {
        self.at
    }

    /// The newest state that was published.
    pub fn state(&self) -> Arc<D> {
        Arc::clone(&self.states.borrow())
    }

    /// Waits until there is an event after [`Self::at`]; `None` when the writer is gone. May be dropped
    /// and called again.
    pub async fn changed(&mut self) -> Option<()> {
        let at = self.at;
        self.states.wait_for(|state| state.seq() > at).await.ok().map(drop)
    }

    /// The next events that were published, at most `limit`; none if there are none yet.
    pub async fn events(&mut self, limit: usize) -> Result<Vec<(Seq, D::Event)>, ControlError> {
        let end = self.states.borrow().seq();
        if end <= self.at {
            return Ok(Vec::new());
        }
        if self.fill() {
            let count = limit.min(self.ready.len());
            let taken: Vec<_> = self.ready.drain(..count).collect();
            self.at = taken.last().map_or(self.at, |(seq, _)| *seq);
            return Ok(taken);
        }
        // Too slow for what is kept in memory, or begun in the past: the log has it.
        let room = usize::try_from(end - self.at).unwrap_or(limit).min(limit);
        let read = self.log.events_after::<D>(&self.stream, self.at, room).await?;
        self.at = read.last().map_or(self.at, |(seq, _)| *seq);
        Ok(read)
    }

    /// Takes updates until the next event is ready. False if it was not among them.
    fn fill(&mut self) -> bool {
        loop {
            while self.ready.front().is_some_and(|(seq, _)| *seq <= self.at) {
                self.ready.pop_front();
            }
            if let Some((seq, _)) = self.ready.front() {
                return *seq == self.at + 1;
            }
            match self.updates.try_recv() {
                Ok(update) => {
                    let before = update.state.seq() - update.events.len() as Seq;
                    self.ready.extend((before + 1..).zip(update.events.iter().cloned()));
                }
                // Some updates were overwritten; the ones that are left follow.
                Err(broadcast::error::TryRecvError::Lagged(_)) => {}
                Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed) => return false,
            }
        }
    }
}
