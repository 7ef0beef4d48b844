//! What was written, and is it still as it was? Reading, replaying and proving streams. Nothing here can write.

use std::sync::Arc;

use board::Seq;
use store::{Damage, Head, Store, StreamName, Subscription};

use crate::{ControlError, Decider};

const PAGE: usize = 4096;

/// The log, for those who only read. Cheap to clone.
#[derive(Clone)]
pub struct Log {
    store: Arc<dyn Store>,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

impl Log {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Every stream that has an event.
    pub async fn streams(&self) -> Result<Vec<StreamName>, ControlError> {
        Ok(self.store.streams().await?)
    }

    /// The number of the stream's last event.
    pub async fn end(&self, stream: &StreamName) -> Result<Seq, ControlError> {
        Ok(self.store.head(stream).await?.seq)
    }

    /// Follows the end of a stream, whichever process writes to it.
    pub async fn subscribe(&self, stream: &StreamName) -> Result<Subscription, ControlError> {
        Ok(self.store.subscribe(stream).await?)
    }

    /// The events after `after`, at most `limit`, with their sequence numbers.
    pub async fn events_after<D: Decider>(
        &self,
        stream: &StreamName,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<(Seq, D::Event)>, ControlError> {
        let page = self.store.read(stream, after, limit).await?;
        page.iter()
            .map(|stored| match D::decode(stored) {
                Ok(event) => Ok((stored.seq, event)),
                Err(error) => Err(ControlError::unreadable(stream, stored.seq, &error)),
            })
            .collect()
    }

    /// Folds a stream from its first event, up to and including `until`.
    pub async fn replay<D: Decider>(&self, stream: &StreamName, fresh: D, until: Seq) -> Result<D, ControlError> {
        let mut state = fresh;
        self.fold(stream, &mut state, until).await?;
        Ok(state)
    }

    /// Folds what comes after `state`, up to and including `until`.
    pub async fn fold<D: Decider>(&self, stream: &StreamName, state: &mut D, until: Seq) -> Result<(), ControlError> {
        self.fold_each(stream, state, until, |_| {}).await.map(drop)
    }

    /// The same; each event is also given to `seen`. Tells the head that was reached, if anything was read.
    pub(crate) async fn fold_each<D: Decider>(
        &self,
        stream: &StreamName,
        state: &mut D,
        until: Seq,
        mut seen: impl FnMut(D::Event) + Send,
    ) -> Result<Option<Head>, ControlError> {
        let mut head = None;
        while state.seq() < until {
            let room = usize::try_from(until - state.seq()).unwrap_or(PAGE).min(PAGE);
            let page = self.store.read(stream, state.seq(), room).await?;
            for stored in &page {
                let event = D::decode(stored).map_err(|error| ControlError::unreadable(stream, stored.seq, &error))?;
                state.apply(&event);
                seen(event);
                head = Some(Head { seq: stored.seq, hash: stored.hash });
            }
            if page.len() < room {
                break;
            }
        }
        Ok(head)
    }

    /// Opens a stream: its newest snapshot and the tail after it (E4). Also tells where the snapshot was
    /// and the head that was reached.
    pub(crate) async fn load<D: Decider>(&self, stream: &StreamName, fresh: D) -> Result<Loaded<D>, ControlError> {
        let mut loaded = Loaded { state: fresh, snapshot_seq: 0, head: Head::EMPTY };
        if let Some(format) = D::SNAPSHOT_FORMAT
            && let Some(snapshot) = self.store.snapshot(stream, format).await?
            && let Some(found) = D::from_snapshot(&snapshot.bytes).filter(|found| found.seq() == snapshot.head.seq)
        {
            loaded = Loaded { state: found, snapshot_seq: snapshot.head.seq, head: snapshot.head };
        }
        let reached = self.fold_each(stream, &mut loaded.state, Seq::MAX, |_| {}).await?;
        loaded.head = reached.unwrap_or(loaded.head);
        Ok(loaded)
    }

    /// Proves the chain, rebuilds the state from all events and compares it with the live one (E5).
    pub async fn verify<D: Decider + PartialEq>(
        &self,
        stream: &StreamName,
        fresh: D,
    ) -> Result<VerifyReport, ControlError> {
        let verified = self.store.verify(stream).await?;
        let (events, damage) = (verified.intact, verified.damage);
        let mut report = VerifyReport { events, damage, unreadable: None, live_equals_replay: true };
        if !report.damage.is_empty() {
            report.live_equals_replay = false;
            return Ok(report);
        }
        let mut rebuilt = match self.replay(stream, fresh.clone(), verified.intact).await {
            Ok(rebuilt) => rebuilt,
            Err(error) => {
                report.unreadable = Some(error.to_string());
                report.live_equals_replay = false;
                return Ok(report);
            }
        };
        let mut live = self.load(stream, fresh).await?.state;
        // Events may have come since; compare both as of the later one.
        let until = live.seq().max(rebuilt.seq());
        self.fold(stream, &mut live, until).await?;
        self.fold(stream, &mut rebuilt, until).await?;
        report.live_equals_replay = live == rebuilt;
        Ok(report)
    }
}

/// A stream as it was opened.
pub(crate) struct Loaded<D> {
    pub(crate) state: D,
    pub(crate) snapshot_seq: Seq,
    pub(crate) head: Head,
}

/// What `log verify` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyReport {
    pub events: Seq,
    pub damage: Vec<Damage>,
    /// An event that this binary cannot read, though its hash is right.
    pub unreadable: Option<String>,
    /// Does the board that is opened (from its snapshot) equal the one folded from all events?
    pub live_equals_replay: bool,
}

impl VerifyReport {
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty() && self.unreadable.is_none() && self.live_equals_replay
    }
}
