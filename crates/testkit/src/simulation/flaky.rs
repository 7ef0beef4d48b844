//! A store that fails now and then: before it has written, or after, when only the answer is lost.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use async_trait::async_trait;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use store::{
    Decision, DecisionLog, EventLog, Head, MemoryStore, NewEvent, RecordedDecision, SecretValues, Secrets, Seq,
    Snapshot, Snapshots, StoreError, StoredEvent, StreamName, Subscription, Verified,
};

pub(super) struct FlakyStore {
    inner: MemoryStore,
    rng: Mutex<ChaCha8Rng>,
    faults: AtomicBool,
    conflicts: AtomicU32,
}

impl FlakyStore {
    pub(super) fn new(inner: MemoryStore, seed: u64) -> Self {
        Self {
            inner,
            rng: Mutex::new(ChaCha8Rng::seed_from_u64(seed)),
            faults: AtomicBool::new(false),
            conflicts: AtomicU32::new(0),
        }
    }

    pub(super) fn set_faults(&self, faults: Faults) {
        self.faults.store(faults == Faults::On, Ordering::Relaxed);
    }

    pub(super) fn conflicts(&self) -> u32 {
        self.conflicts.load(Ordering::Relaxed)
    }

    fn fails(&self) -> bool {
        self.faults.load(Ordering::Relaxed) && self.rng.lock().expect("no holder of the lock panics").random_bool(0.03)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Faults {
    Off,
    On,
}

#[async_trait]
impl EventLog for FlakyStore {
    async fn append(&self, stream: &StreamName, expected: Seq, events: Vec<NewEvent>) -> Result<Head, StoreError> {
        if self.fails() {
            return Err(StoreError::failed("simulated: nothing was written"));
        }
        let appended = self.inner.append(stream, expected, events).await;
        if let Err(StoreError::Conflict { .. }) = appended {
            self.conflicts.fetch_add(1, Ordering::Relaxed);
        }
        if appended.is_ok() && self.fails() {
            return Err(StoreError::failed("simulated: written, but the answer was lost"));
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

    async fn subscribe(&self, stream: &StreamName) -> Result<Subscription, StoreError> {
        self.inner.subscribe(stream).await
    }

    async fn verify(&self, stream: &StreamName) -> Result<Verified, StoreError> {
        self.inner.verify(stream).await
    }
}

#[async_trait]
impl Snapshots for FlakyStore {
    async fn put_snapshot(&self, stream: &StreamName, snapshot: Snapshot) -> Result<(), StoreError> {
        self.inner.put_snapshot(stream, snapshot).await
    }

    async fn snapshot(&self, stream: &StreamName, format: u32) -> Result<Option<Snapshot>, StoreError> {
        self.inner.snapshot(stream, format).await
    }
}

#[async_trait]
impl Secrets for FlakyStore {
    async fn put_secrets(&self, stream: &StreamName, owner: &str, values: SecretValues) -> Result<(), StoreError> {
        self.inner.put_secrets(stream, owner, values).await
    }

    async fn secrets(&self, stream: &StreamName, owner: &str) -> Result<SecretValues, StoreError> {
        self.inner.secrets(stream, owner).await
    }

    async fn all_secrets(&self, stream: &StreamName) -> Result<BTreeMap<String, SecretValues>, StoreError> {
        self.inner.all_secrets(stream).await
    }
}

#[async_trait]
impl DecisionLog for FlakyStore {
    async fn record(&self, stream: &StreamName, decisions: Vec<Decision>) -> Result<(), StoreError> {
        self.inner.record(stream, decisions).await
    }

    async fn decisions(
        &self,
        stream: &StreamName,
        subject: &str,
        before: u64,
        limit: usize,
    ) -> Result<Vec<RecordedDecision>, StoreError> {
        self.inner.decisions(stream, subject, before, limit).await
    }
}
