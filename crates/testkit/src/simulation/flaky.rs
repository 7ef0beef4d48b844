//! A store that fails now and then: before it has written, or after, when only the answer is lost.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use async_trait::async_trait;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use store::{
    Decision, DecisionLog, EventLog, Head, MemoryStore, NewEvent, OutputPage, Presence, Present, RecordedDecision,
    SecretValues, Secrets, Seq, SessionOutput, Snapshot, Snapshots, StoreError, StoredEvent, StreamName, Subscription,
    Verified,
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
impl Presence for FlakyStore {
    async fn put_presence(&self, present: Present) -> Result<(), StoreError> {
        self.inner.put_presence(present).await
    }

    async fn presence(&self) -> Result<Vec<Present>, StoreError> {
        self.inner.presence().await
    }

    async fn remove_presence(&self, key: &str) -> Result<(), StoreError> {
        self.inner.remove_presence(key).await
    }
}

#[async_trait]
impl SessionOutput for FlakyStore {
    async fn append_output(
        &self,
        stream: &StreamName,
        session: &str,
        at: u64,
        bytes: Vec<u8>,
    ) -> Result<u64, StoreError> {
        self.inner.append_output(stream, session, at, bytes).await
    }

    async fn output(
        &self,
        stream: &StreamName,
        session: &str,
        from: u64,
        most: usize,
    ) -> Result<OutputPage, StoreError> {
        self.inner.output(stream, session, from, most).await
    }

    async fn drop_output_before(&self, stream: &StreamName, session: &str, position: u64) -> Result<(), StoreError> {
        self.inner.drop_output_before(stream, session, position).await
    }

    async fn sessions_with_output(&self, stream: &StreamName) -> Result<Vec<String>, StoreError> {
        self.inner.sessions_with_output(stream).await
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
