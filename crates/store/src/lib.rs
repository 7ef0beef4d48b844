//! The event log: append-only, hash-chained streams behind one contract.
//!
//! A *stream* is a dense sequence of events (1, 2, 3, …). A writer says which event it
//! believes to be the last; if another writer was first the append fails with
//! [`StoreError::Conflict`] and changes nothing. That is the whole concurrency model: any number
//! of processes may write to one stream, with no leader and no lock held between calls.
//!
//! The store knows nothing of boards. An event is a kind, a version and a body of JSON text;
//! a snapshot is bytes. Three implementations pass the same `contract` suite:
//! [`SqliteStore`], [`PostgresStore`] and [`MemoryStore`].

mod chain;
#[cfg(feature = "contract")]
#[expect(clippy::unwrap_used, reason = "whatever breaks the contract ends the test")]
pub mod contract;
mod decision_log;
mod error;
mod event;
mod event_log;
mod hash;
mod location;
mod memory;
mod postgres;
mod presence;
mod proof;
mod secrets;
mod session_output;
mod snapshots;
mod sqlite;

pub use chain::link;
pub use decision_log::{DECISIONS_KEPT, Decision, DecisionLog, RecordedDecision};
pub use error::{Cause, StoreError};
pub use event::{Head, NewEvent, Seq, StoredEvent, StreamName};
pub use event_log::{Damage, EventLog, Subscription, Verified};
pub use hash::Hash;
pub use location::{OpenedStore, StoreLocation};
pub use memory::MemoryStore;
pub use postgres::{BadAddress, PostgresAddress, PostgresStore};
pub use presence::{Presence, Present};
pub use secrets::{SecretValues, Secrets};
pub use session_output::{OUTPUT_PIECE_LIMIT, OutputPage, SessionOutput};
pub use snapshots::{Snapshot, Snapshots};
pub use sqlite::SqliteStore;

/// All that the writer of boards needs: the log itself, snapshots of what it folds, the trace, what must not be in any of
/// them, and what other hosts say of themselves and their agents.
pub trait Store: EventLog + Snapshots + DecisionLog + Secrets + Presence + SessionOutput {}

impl<T: EventLog + Snapshots + DecisionLog + Secrets + Presence + SessionOutput> Store for T {}
