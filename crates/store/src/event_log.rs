//! The contract of an event log: append, read, be told of new events, prove the chain.

use std::fmt;

use async_trait::async_trait;
use tokio::sync::watch;

use crate::{Head, NewEvent, Seq, StoreError, StoredEvent, StreamName};

/// An append-only log of streams. See the crate's documentation for what it promises, and
/// `contract` for the suite that proves it of an implementation.
#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// Appends `events` after the event `expected`, all or none, durably: when this returns `Ok`,
    /// they survive the loss of power. Fails with [`StoreError::Conflict`] if the stream does not
    /// end at `expected`. Appending nothing only checks the expectation. A call that is dropped
    /// before it returns may or may not have written.
    async fn append(&self, stream: &StreamName, expected: Seq, events: Vec<NewEvent>) -> Result<Head, StoreError>;

    /// The events after `after`, in order, at most `limit`. Fewer than `limit` means the end.
    /// The chain between them is checked, and from `after` if that is a known event: an event
    /// that is missing or altered is [`StoreError::Damaged`], never returned.
    async fn read(&self, stream: &StreamName, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError>;

    /// The last event of the stream.
    async fn head(&self, stream: &StreamName) -> Result<Head, StoreError>;

    /// Every stream that has an event, by name.
    async fn streams(&self) -> Result<Vec<StreamName>, StoreError>;

    /// Follows the end of a stream, whichever process appends to it. Fails if the store cannot be
    /// reached now. Once subscribed, a lost connection is the store's to mend: the subscription
    /// stays, and tells the newest end when the store is back.
    async fn subscribe(&self, stream: &StreamName) -> Result<Subscription, StoreError>;

    /// Reads every event of the stream and proves the chain; also asks the medium about itself.
    /// Damage is an answer, not an error.
    async fn verify(&self, stream: &StreamName) -> Result<Verified, StoreError>;
}

/// The end of a stream, as it moves. It tells a level, not each change: after several appends the
/// subscriber may be told only of the last.
#[derive(Clone, Debug)]
pub struct Subscription {
    end: watch::Receiver<Seq>,
}

impl Subscription {
    pub fn new(end: watch::Receiver<Seq>) -> Self {
        Self { end }
    }

    /// The last event that is known; what comes after it is a change from now on.
    pub fn seen(&mut self) -> Seq {
        *self.end.borrow_and_update()
    }

    /// Waits for an event that was not yet seen. `None` when the store was closed.
    pub async fn changed(&mut self) -> Option<Seq> {
        self.end.changed().await.ok()?;
        Some(self.seen())
    }
}

/// What [`EventLog::verify`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many events form an unbroken chain from the first.
    pub intact: Seq,
    pub damage: Vec<Damage>,
}

/// One thing that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// This event is not there, though a later one or the stream's head is. More may be missing
    /// after it: a gap is reported once.
    Missing { seq: Seq },
    /// This event's content does not match its hash.
    Altered { seq: Seq },
    /// The snapshot taken at this event does not match its checksum.
    Snapshot { seq: Seq },
    /// What the database reports about itself.
    Medium { detail: String },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { seq } => write!(f, "event {seq} is missing"),
            Self::Altered { seq } => write!(f, "event {seq} is not what was written"),
            Self::Snapshot { seq } => {
                write!(f, "the snapshot at event {seq} is not what was written")
            }
            Self::Medium { detail } => f.write_str(detail),
        }
    }
}
