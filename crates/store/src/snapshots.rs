//! The contract of snapshots: folded states, so that opening a stream need not read all of it.

use async_trait::async_trait;

use crate::{Head, StoreError, StreamName};

/// A folded state. It is a cache: losing it costs time and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The last event folded into it, with its hash, so that the tail can be chained to it.
    pub head: Head,
    /// The version of the bytes' shape; a reader ignores snapshots of another format.
    pub format: u32,
    pub bytes: Vec<u8>,
}

#[async_trait]
pub trait Snapshots: Send + Sync + 'static {
    /// Keeps `snapshot` and forgets the one before: a stream has one, in whatever format. A
    /// snapshot older than the one that is there is ignored.
    async fn put_snapshot(&self, stream: &StreamName, snapshot: Snapshot) -> Result<(), StoreError>;

    /// The snapshot, if it is in this format and intact; a damaged one is as good as none.
    async fn snapshot(&self, stream: &StreamName, format: u32) -> Result<Option<Snapshot>, StoreError>;
}

/// A snapshot and the checksum that was stored with it.
pub(crate) struct StoredSnapshot {
    pub(crate) snapshot: Snapshot,
    pub(crate) checksum: Vec<u8>,
}

impl StoredSnapshot {
    pub(crate) fn is_intact(&self) -> bool {
        checksum(&self.snapshot) == *self.checksum
    }

    pub(crate) fn intact(self) -> Option<Snapshot> {
        self.is_intact().then_some(self.snapshot)
    }
}

pub(crate) fn checksum(snapshot: &Snapshot) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&snapshot.head.seq.to_le_bytes());
    hasher.update(snapshot.head.hash.as_bytes());
    hasher.update(&snapshot.format.to_le_bytes());
    hasher.update(&snapshot.bytes);
    *hasher.finalize().as_bytes()
}
