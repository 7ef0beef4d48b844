//! An event log that lives as long as its last handle, for tests and simulation.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use tokio::sync::watch;

use crate::proof::Proof;
use crate::session_output::{Wanted, end_of_piece};
use crate::{
    DECISIONS_KEPT, Decision, DecisionLog, EventLog, Head, NewEvent, OutputPage, Presence, Present, RecordedDecision,
    SecretValues, Secrets, Seq, SessionOutput, Snapshot, Snapshots, StoreError, StoredEvent, StreamName, Subscription,
    Verified, link,
};

/// A store in memory. Clones share their data, as processes share a file. Nothing in it depends
/// on threads, time or chance.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Shared>);

#[derive(Default)]
struct Shared {
    streams: Mutex<Streams>,
    presence: Mutex<BTreeMap<String, Present>>,
}

type Streams = BTreeMap<StreamName, Stream>;

/// What is kept of a session's output, by the positions at which pieces begin.
type Pieces = BTreeMap<u64, Vec<u8>>;

#[derive(Default)]
struct Stream {
    events: Vec<StoredEvent>,
    snapshot: Option<Snapshot>,
    decisions: VecDeque<RecordedDecision>,
    secrets: BTreeMap<String, SecretValues>,
    /// By session; none is empty.
    outputs: BTreeMap<String, Pieces>,
    /// The number of the last decision ever recorded.
    last_decision: u64,
    end: watch::Sender<Seq>,
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.0.streams.lock().expect("nobody panics with the lock")
    }

    fn lock_presence(&self) -> MutexGuard<'_, BTreeMap<String, Present>> {
        self.0.presence.lock().expect("nobody panics with the lock")
    }

    fn look<T: Default>(&self, stream: &StreamName, look: impl FnOnce(&Stream) -> T) -> T {
        self.lock().get(stream).map(look).unwrap_or_default()
    }
}

impl Stream {
    fn head(&self) -> Head {
        self.events.last().map_or(Head::EMPTY, |event| Head { seq: event.seq, hash: event.hash })
    }

    fn push(&mut self, event: NewEvent) {
        let Head { seq, hash } = self.head();
        let hash = link(&hash, seq + 1, &event);
        let NewEvent { at, kind, version, body } = event;
        self.events.push(StoredEvent { seq: seq + 1, at, kind, version, body, hash });
    }
}

#[async_trait]
impl EventLog for MemoryStore {
    async fn append(&self, stream: &StreamName, expected: Seq, events: Vec<NewEvent>) -> Result<Head, StoreError> {
        let mut streams = self.lock();
        let stream = streams.entry(stream.clone()).or_default();
        let actual = stream.head().seq;
        if actual != expected {
            return Err(StoreError::Conflict { expected, actual });
        }
        for event in events {
            stream.push(event);
        }
        let head = stream.head();
        if head.seq != actual {
            stream.end.send_replace(head.seq);
        }
        Ok(head)
    }

    async fn read(&self, stream: &StreamName, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        Ok(self.look(stream, |stream| stream.events.iter().skip(after).take(limit).cloned().collect()))
    }

    async fn head(&self, stream: &StreamName) -> Result<Head, StoreError> {
        Ok(self.lock().get(stream).map_or(Head::EMPTY, Stream::head))
    }

    async fn streams(&self) -> Result<Vec<StreamName>, StoreError> {
        let streams = self.lock();
        let written = streams.iter().filter(|(_, stream)| !stream.events.is_empty());
        Ok(written.map(|(name, _)| name.clone()).collect())
    }

    async fn subscribe(&self, stream: &StreamName) -> Result<Subscription, StoreError> {
        Ok(Subscription::new(self.lock().entry(stream.clone()).or_default().end.subscribe()))
    }

    async fn verify(&self, stream: &StreamName) -> Result<Verified, StoreError> {
        let mut proof = Proof::after(Head::EMPTY);
        if let Some(stream) = self.lock().get(stream) {
            stream.events.iter().for_each(|event| proof.event(event));
        }
        Ok(proof.verified())
    }
}

#[async_trait]
impl Secrets for MemoryStore {
    async fn put_secrets(&self, stream: &StreamName, owner: &str, values: SecretValues) -> Result<(), StoreError> {
        self.lock().entry(stream.clone()).or_default().secrets.insert(owner.to_owned(), values);
        Ok(())
    }

    async fn secrets(&self, stream: &StreamName, owner: &str) -> Result<SecretValues, StoreError> {
        Ok(self.look(stream, |stream| stream.secrets.get(owner).cloned().unwrap_or_default()))
    }

    async fn all_secrets(&self, stream: &StreamName) -> Result<BTreeMap<String, SecretValues>, StoreError> {
        let some =
            |(owner, values): (&String, &SecretValues)| (!values.is_empty()).then(|| (owner.clone(), values.clone()));
        Ok(self.look(stream, |stream| stream.secrets.iter().filter_map(some).collect()))
    }
}

#[async_trait]
impl Snapshots for MemoryStore {
    async fn put_snapshot(&self, stream: &StreamName, snapshot: Snapshot) -> Result<(), StoreError> {
        let mut streams = self.lock();
        let kept = &mut streams.entry(stream.clone()).or_default().snapshot;
        if kept.as_ref().is_none_or(|kept| kept.head.seq <= snapshot.head.seq) {
            *kept = Some(snapshot);
        }
        Ok(())
    }

    async fn snapshot(&self, stream: &StreamName, format: u32) -> Result<Option<Snapshot>, StoreError> {
        Ok(self.look(stream, |stream| stream.snapshot.clone().filter(|kept| kept.format == format)))
    }
}

#[async_trait]
impl DecisionLog for MemoryStore {
    async fn record(&self, stream: &StreamName, decisions: Vec<Decision>) -> Result<(), StoreError> {
        let mut streams = self.lock();
        let stream = streams.entry(stream.clone()).or_default();
        for decision in decisions {
            stream.last_decision += 1;
            stream.decisions.push_back(RecordedDecision { number: stream.last_decision, decision });
        }
        let surplus = stream.decisions.len().saturating_sub(DECISIONS_KEPT as usize);
        stream.decisions.drain(..surplus);
        Ok(())
    }

    async fn decisions(
        &self,
        stream: &StreamName,
        subject: &str,
        before: u64,
        limit: usize,
    ) -> Result<Vec<RecordedDecision>, StoreError> {
        Ok(self.look(stream, |stream| {
            let newest = stream.decisions.iter().rev();
            let about = newest.filter(|one| one.number < before && one.decision.subject == subject);
            about.take(limit).cloned().collect()
        }))
    }
}

#[async_trait]
impl Presence for MemoryStore {
    async fn put_presence(&self, present: Present) -> Result<(), StoreError> {
        let mut presence = self.lock_presence();
        if presence.get(&present.key).is_none_or(|kept| kept.at <= present.at) {
            presence.insert(present.key.clone(), present);
        }
        Ok(())
    }

    async fn presence(&self) -> Result<Vec<Present>, StoreError> {
        Ok(self.lock_presence().values().cloned().collect())
    }

    async fn remove_presence(&self, key: &str) -> Result<(), StoreError> {
        self.lock_presence().remove(key);
        Ok(())
    }
}

fn end_of((position, piece): (&u64, &Vec<u8>)) -> u64 {
    position + piece.len() as u64
}

#[async_trait]
impl SessionOutput for MemoryStore {
    async fn append_output(
        &self,
        stream: &StreamName,
        session: &str,
        at: u64,
        bytes: Vec<u8>,
    ) -> Result<u64, StoreError> {
        let end = end_of_piece(at, &bytes)?;
        let mut streams = self.lock();
        let outputs = &mut streams.entry(stream.clone()).or_default().outputs;
        let kept = outputs.get(session).and_then(|pieces| pieces.last_key_value()).map(end_of);
        if bytes.is_empty() || kept.is_some_and(|kept| kept != at) {
            return Ok(kept.unwrap_or(0));
        }
        outputs.entry(session.to_owned()).or_default().insert(at, bytes);
        Ok(end)
    }

    async fn output(
        &self,
        stream: &StreamName,
        session: &str,
        from: u64,
        most: usize,
    ) -> Result<OutputPage, StoreError> {
        let wanted = Wanted::new(from, most);
        Ok(self.look(stream, |stream| {
            let Some(pieces) = stream.outputs.get(session) else { return OutputPage::default() };
            let (Some((oldest, _)), Some(last)) = (pieces.first_key_value(), pieces.last_key_value()) else {
                return OutputPage::default();
            };
            let kept = *oldest..end_of(last);
            let among = wanted.among(&kept);
            let first = pieces.range(..=among.start).next_back().map_or(0, |(position, _)| *position);
            let page = pieces.range(first..among.end);
            wanted.page(kept, page.map(|(position, piece)| (*position, piece.clone())))
        }))
    }

    async fn drop_output_before(&self, stream: &StreamName, session: &str, position: u64) -> Result<(), StoreError> {
        let mut streams = self.lock();
        let Some(stream) = streams.get_mut(stream) else { return Ok(()) };
        if let Some(pieces) = stream.outputs.get_mut(session) {
            pieces.retain(|at, piece| end_of((at, piece)) > position);
        }
        stream.outputs.retain(|_, pieces| !pieces.is_empty());
        Ok(())
    }

    async fn sessions_with_output(&self, stream: &StreamName) -> Result<Vec<String>, StoreError> {
        Ok(self.look(stream, |stream| stream.outputs.keys().cloned().collect()))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("streams", &self.lock().len()).finish()
    }
}
