//! The event log: append-only, hash-chained streams behind one contract.
//!
//! A *stream* is a dense sequence of events (1, 2, 3, …). Whoever appends says which event it
//! believes to be the last; if another writer was first the append fails with
//! [`StoreError::Conflict`] and changes nothing. That is the whole concurrency model: any number
//! of processes may write to one stream, with no leader and no lock held between calls.
//!
//! The store knows nothing of boards. An event is a kind, a version and a body of JSON text;
//! a snapshot is bytes. Two implementations pass the same `contract` suite:
//! [`SqliteStore`] and [`MemoryStore`].

mod chain;
#[cfg(feature = "contract")]
#[expect(clippy::unwrap_used, reason = "whatever breaks the contract ends the test")]
pub mod contract;
mod error;
mod event;
mod memory;
mod proof;
mod sqlite;
mod traits;

pub use chain::{Hash, link};
pub use error::StoreError;
pub use event::{Decision, Head, NewEvent, Seq, Snapshot, StoredEvent, StreamName};
pub use memory::MemoryStore;
pub use sqlite::SqliteStore;
pub use traits::{DECISIONS_KEPT, Damage, Store, Verified};
