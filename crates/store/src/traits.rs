//! The contract every event log keeps.

use std::fmt;

use async_trait::async_trait;
use tokio::sync::watch;

use crate::{Decision, Head, NewEvent, Seq, Snapshot, StoreError, StoredEvent, StreamName};

/// How many decisions of a stream are kept at least; older ones are forgotten now and then.
pub const DECISIONS_KEPT: u64 = 100_000;

/// An append-only log of streams. See the crate's documentation for what it promises, and
/// `contract` for the suite that proves it of an implementation.
#[async_trait]
pub trait Store: Send + Sync + 'static {
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

    /// Keeps `snapshot` and forgets the one before: a stream has one, in whatever format. A
    /// snapshot older than the one that is there is ignored.
    async fn put_snapshot(&self, stream: &StreamName, snapshot: Snapshot) -> Result<(), StoreError>;

    /// The snapshot, if it is in this format and intact; a damaged one is as good as none.
    async fn snapshot(&self, stream: &StreamName, format: u32) -> Result<Option<Snapshot>, StoreError>;

    /// The sequence number of the last event, updated after every append to the stream, by this
    /// process or another.
    fn subscribe(&self, stream: &StreamName) -> watch::Receiver<Seq>;

    /// Records decisions (E6), and forgets now and then those older than the newest
    /// [`DECISIONS_KEPT`] of the stream.
    async fn record(&self, stream: &StreamName, decisions: Vec<Decision>) -> Result<(), StoreError>;

    /// The newest `limit` decisions about `subject`, oldest first.
    async fn decisions(&self, stream: &StreamName, subject: &str, limit: usize) -> Result<Vec<Decision>, StoreError>;

    /// Reads every event of the stream and proves the chain; also asks the medium about itself.
    /// Damage is an answer, not an error.
    async fn verify(&self, stream: &StreamName) -> Result<Verified, StoreError>;
}

/// What [`Store::verify`] found.
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
    /// after it: a gap is told once.
    Missing { seq: Seq },
    /// This event's content does not match its hash.
    Altered { seq: Seq },
    /// The snapshot taken at this event does not match its checksum.
    Snapshot { seq: Seq },
    /// What the medium says of itself.
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
