//! A store that fails now and then: before it has written, or after, when only the answer is lost.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use async_trait::async_trait;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use store::{
    Decision, Head, MemoryStore, NewEvent, Seq, Snapshot, Store, StoreError, StoredEvent, StreamName, Verified,
};
use tokio::sync::watch;

pub(super) struct FlakyStore {
    inner: MemoryStore,
    dice: Mutex<ChaCha8Rng>,
    faults: AtomicBool,
    conflicts: AtomicU32,
}

impl FlakyStore {
    pub(super) fn new(inner: MemoryStore, seed: u64) -> Self {
        Self {
            inner,
            dice: Mutex::new(ChaCha8Rng::seed_from_u64(seed)),
            faults: AtomicBool::new(false),
            conflicts: AtomicU32::new(0),
        }
    }

    pub(super) fn set_faults(&self, faults: Faults) {
        self.faults.store(faults == Faults::Some, Ordering::Relaxed);
    }

    pub(super) fn conflicts(&self) -> u32 {
        self.conflicts.load(Ordering::Relaxed)
    }

    fn fails(&self) -> bool {
        self.faults.load(Ordering::Relaxed) && self.dice.lock().expect("nobody panics with the dice").random_bool(0.03)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Faults {
    None,
    Some,
}

#[async_trait]
impl Store for FlakyStore {
    async fn append(&self, stream: &StreamName, expected: Seq, events: Vec<NewEvent>) -> Result<Head, StoreError> {
        if self.fails() {
            return Err(StoreError::Failed("simulated: nothing was written".into()));
        }
        let appended = self.inner.append(stream, expected, events).await;
        if let Err(StoreError::Conflict { .. }) = appended {
            self.conflicts.fetch_add(1, Ordering::Relaxed);
        }
        if appended.is_ok() && self.fails() {
            return Err(StoreError::Failed("simulated: written, but the answer was lost".into()));
        }
        appended
    }

    async fn read(&self, stream: &StreamName, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.inner.read(stream, after, limit).await
    }

    async fn head(&self, stream: &StreamName) -> Result<Head, StoreError> {
        self.inner.head(stream).await
    }

    async fn streams(&self) -> Result<Vec<StreamName>, StoreError> {
        self.inner.streams().await
    }

    async fn put_snapshot(&self, stream: &StreamName, snapshot: Snapshot) -> Result<(), StoreError> {
        self.inner.put_snapshot(stream, snapshot).await
    }

    async fn snapshot(&self, stream: &StreamName, format: u32) -> Result<Option<Snapshot>, StoreError> {
        self.inner.snapshot(stream, format).await
    }

    fn subscribe(&self, stream: &StreamName) -> watch::Receiver<Seq> {
        self.inner.subscribe(stream)
    }

    async fn record(&self, stream: &StreamName, decisions: Vec<Decision>) -> Result<(), StoreError> {
        self.inner.record(stream, decisions).await
    }

    async fn decisions(&self, stream: &StreamName, subject: &str, limit: usize) -> Result<Vec<Decision>, StoreError> {
        self.inner.decisions(stream, subject, limit).await
    }

    async fn verify(&self, stream: &StreamName) -> Result<Verified, StoreError> {
        self.inner.verify(stream).await
    }
}
