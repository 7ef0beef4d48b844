//! How does a command become events? One task per open stream, and only that task writes.

use std::sync::Arc;
use std::time::Duration;

use board::{Actor, Refusal, Seq, Span, Timestamp};
use store::{Decision, Head, NewEvent, Snapshot, Store, StoreError, StreamName};
use tokio::sync::{mpsc, oneshot, watch};

use crate::decider::Admitted;
use crate::history::{fold, load};
use crate::{Clock, ControlError, Decider};

/// The most commands that are judged and committed together.
const BATCH: usize = 256;

/// How long reading what others wrote may take; usually it is a fraction of a second.
const CATCH_UP_LIMIT: Duration = Duration::from_secs(10);

/// How long after its start whoever stays lets leases lapse: time in which no server could be
/// reached does not count against a runner (S2).
const LEASE_GRACE: Span = Span::seconds(60);

/// Whoever only passes by cannot know whether a server is about to come back.
pub(crate) const ABANDONED_AFTER: Span = Span::minutes(10);

/// Does the process stay and listen for what others append, or is it gone after a command?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessLifetime {
    LongLived,
    ShortLived,
}

/// What happened with a command that was admitted and is durable.
#[derive(Clone, Debug)]
pub struct Receipt<D: Decider> {
    pub events: Vec<D::Event>,
    /// The state on which it was judged, and the state after it.
    pub before: Arc<D>,
    pub after: Arc<D>,
    pub at: Timestamp,
}

struct Request<D: Decider> {
    actor: Actor,
    command: D::Command,
    answer: oneshot::Sender<Result<Receipt<D>, ControlError>>,
}

/// A handle to the task that writes a stream. Cheap to clone.
#[derive(Clone)]
pub struct Writer<D: Decider> {
    requests: mpsc::Sender<Request<D>>,
    state: watch::Receiver<Arc<D>>,
    store: Arc<dyn Store>,
    stream: StreamName,
}

impl<D: Decider> std::fmt::Debug for Writer<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl<D: Decider> std::fmt::Debug for Request<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Request by {:?}", self.actor)
    }
}

impl<D: Decider> Writer<D> {
    /// Opens a stream and starts its task on the current runtime.
    pub async fn open(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        stream: StreamName,
        fresh: D,
        lifetime: ProcessLifetime,
    ) -> Result<Self, ControlError> {
        // Subscribed before loading, so that nothing falls between the two.
        let foreign = (lifetime == ProcessLifetime::LongLived).then(|| store.subscribe(&stream));
        let (state, snapshot_seq) = load(store.as_ref(), &stream, fresh).await?;
        let state = Arc::new(state);
        let (publish, watching) = watch::channel(Arc::clone(&state));
        let (requests, queue) = mpsc::channel(4 * BATCH);
        let opened = clock.now();
        let handle = Self { requests, state: watching, store: Arc::clone(&store), stream: stream.clone() };
        let task = WriterTask { store, clock, stream, committed: state, publish, snapshot_seq, foreign, opened };
        tokio::spawn(task.run(queue));
        Ok(handle)
    }

    /// Submits a command and waits until it is refused, or durable.
    pub async fn submit(&self, actor: Actor, command: D::Command) -> Result<Receipt<D>, ControlError> {
        let (answer, answered) = oneshot::channel();
        self.requests.send(Request { actor, command, answer }).await.map_err(|_| ControlError::Closed)?;
        answered.await.map_err(|_| ControlError::Closed)?
    }

    /// The state as of the last commit that this process has seen.
    pub fn state(&self) -> Arc<D> {
        Arc::clone(&self.state.borrow())
    }

    /// The state with everything that anybody has written by now. For those who stay: whoever only
    /// passes by learns what others wrote with its next command.
    pub async fn newest(&self) -> Result<Arc<D>, ControlError> {
        let state = self.state();
        let seq = self.store.head(&self.stream).await?.seq;
        if state.seq() >= seq {
            return Ok(state);
        }
        let mut states = self.watch();
        let caught_up = tokio::time::timeout(CATCH_UP_LIMIT, states.wait_for(|state| state.seq() >= seq)).await;
        let late = || ControlError::Store(StoreError::Failed("what others wrote could not be read".into()));
        let state = caught_up.map_err(|_| late())?.map_err(|_| ControlError::Closed)?;
        Ok(Arc::clone(&state))
    }

    /// A receiver that is told of every new state, whoever caused it.
    pub fn watch(&self) -> watch::Receiver<Arc<D>> {
        self.state.clone()
    }
}

/// The one that writes.
struct WriterTask<D: Decider> {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    stream: StreamName,
    committed: Arc<D>,
    publish: watch::Sender<Arc<D>>,
    snapshot_seq: Seq,
    /// What others append; somebody who only passes by does not listen.
    foreign: Option<watch::Receiver<Seq>>,
    opened: Timestamp,
}

/// Commands judged together on one state, and what follows from them.
struct Batch<D: Decider> {
    state: Arc<D>,
    events: Vec<NewEvent>,
    verdicts: Vec<Result<Receipt<D>, Refusal>>,
    decisions: Vec<Decision>,
}

impl<D: Decider> WriterTask<D> {
    async fn run(mut self, mut queue: mpsc::Receiver<Request<D>>) {
        let mut waiting = Vec::with_capacity(BATCH);
        loop {
            let wait = self.until_due();
            tokio::select! {
                biased;
                taken = queue.recv_many(&mut waiting, BATCH) => {
                    if taken == 0 {
                        break;
                    }
                    self.serve(std::mem::take(&mut waiting)).await;
                }
                () = changed(&mut self.foreign) => {
                    if let Err(error) = self.catch_up().await {
                        tracing::warn!(stream = %self.stream, %error, "cannot read what others appended");
                    }
                }
                () = sleep(wait) => {
                    self.serve(Vec::new()).await;
                }
            }
        }
    }

    /// Judges the waiting commands, commits, then answers all of them.
    async fn serve(&mut self, requests: Vec<Request<D>>) {
        let outcome = loop {
            let batch = self.judge(&requests);
            match self.commit(&batch).await {
                Ok(()) => break Ok(batch),
                Err(StoreError::Conflict { .. }) => {
                    if let Err(error) = self.catch_up().await {
                        break Err(error);
                    }
                }
                Err(error) => break Err(ControlError::from(error)),
            }
        };
        match outcome {
            Ok(batch) => {
                let decisions = batch.decisions;
                self.advance(batch.state);
                for (request, verdict) in requests.into_iter().zip(batch.verdicts) {
                    // Whoever does not wait any more has gone away; what happened has happened.
                    let _ = request.answer.send(verdict.map_err(ControlError::from));
                }
                self.remember(decisions).await;
                self.snapshot_if_due().await;
            }
            Err(error) => {
                if requests.is_empty() {
                    // Nobody waits for this but time; it is tried again, without hurry.
                    tracing::warn!(stream = %self.stream, %error, "time could not be accounted for");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                for request in requests {
                    let _ = request.answer.send(Err(error.clone()));
                }
            }
        }
    }

    fn judge(&self, requests: &[Request<D>]) -> Batch<D> {
        let now = self.clock.now();
        let mut batch = Batch {
            state: Arc::clone(&self.committed),
            events: Vec::new(),
            verdicts: Vec::with_capacity(requests.len()),
            decisions: Vec::new(),
        };
        if let Some((_, sweep)) = self.due().filter(|(due, _)| *due <= now)
            && let Err(refusal) = batch.judge(&Actor::System, &sweep, now)
        {
            tracing::error!(stream = %self.stream, %refusal, "time could not be accounted for");
        }
        for request in requests {
            let before = Arc::clone(&batch.state);
            let judged = batch.judge(&request.actor, &request.command, now);
            let after = Arc::clone(&batch.state);
            batch.verdicts.push(judged.map(|events| Receipt { events, before, after, at: now }));
        }
        batch
    }

    /// Appends the batch. A batch without events was judged too: it counts only if nobody else
    /// has written meanwhile.
    async fn commit(&self, batch: &Batch<D>) -> Result<(), StoreError> {
        let expected = self.committed.seq();
        if !batch.events.is_empty() {
            return self.store.append(&self.stream, expected, batch.events.clone()).await.map(drop);
        }
        let Head { seq: actual, .. } = self.store.head(&self.stream).await?;
        if actual == expected { Ok(()) } else { Err(StoreError::Conflict { expected, actual }) }
    }

    /// Folds what others have appended.
    async fn catch_up(&mut self) -> Result<(), ControlError> {
        let mut state = (*self.committed).clone();
        fold(self.store.as_ref(), &self.stream, &mut state, Seq::MAX).await?;
        self.advance(Arc::new(state));
        Ok(())
    }

    fn advance(&mut self, state: Arc<D>) {
        if state.seq() != self.committed.seq() {
            self.committed = Arc::clone(&state);
            self.publish.send_replace(state);
        }
    }

    async fn remember(&self, decisions: Vec<Decision>) {
        if decisions.is_empty() {
            return;
        }
        if let Err(error) = self.store.record(&self.stream, decisions).await {
            tracing::warn!(stream = %self.stream, %error, "decisions were not recorded");
        }
    }

    async fn snapshot_if_due(&mut self) {
        let seq = self.committed.seq();
        let Some(format) = D::SNAPSHOT_FORMAT.filter(|_| seq - self.snapshot_seq >= self.committed.snapshot_every())
        else {
            return;
        };
        self.snapshot_seq = seq;
        let (store, stream, state) = (Arc::clone(&self.store), self.stream.clone(), Arc::clone(&self.committed));
        let take = async move {
            let Ok(head) = store.head(&stream).await else { return };
            if head.seq == seq {
                let snapshot = Snapshot { head, format, bytes: state.to_snapshot() };
                if let Err(error) = store.put_snapshot(&stream, snapshot).await {
                    tracing::warn!(%stream, %error, "no snapshot was taken");
                }
            }
        };
        if self.foreign.is_some() {
            tokio::spawn(take);
        } else {
            take.await;
        }
    }

    /// The command that time alone brings, and from when on this process may act on it.
    fn due(&self) -> Option<(Timestamp, D::Command)> {
        let (due, command) = self.committed.due()?;
        match self.foreign {
            Some(_) => Some((due.max(self.opened + LEASE_GRACE), command)),
            None => Some((due + ABANDONED_AFTER, command)),
        }
    }

    /// How long until time alone brings a command.
    fn until_due(&self) -> Option<Duration> {
        // A process that only passes by leaves this to those who stay; it sweeps with its command.
        self.foreign.as_ref()?;
        let (due, _) = self.due()?;
        let wait = (due - self.clock.now()).0.max(10);
        Some(Duration::from_millis(u64::try_from(wait).unwrap_or(0)))
    }
}

impl<D: Decider> Batch<D> {
    fn judge(&mut self, actor: &Actor, command: &D::Command, now: Timestamp) -> Admitted<D> {
        let judged = self.state.admit(actor, command, now);
        self.decisions.extend(self.state.decisions(&judged, now));
        let events = judged?;
        if !events.is_empty() {
            let mut state = (*self.state).clone();
            for event in &events {
                state.apply(event);
                self.events.push(D::encode(event));
            }
            self.state = Arc::new(state);
        }
        Ok(events)
    }
}

async fn changed(foreign: &mut Option<watch::Receiver<Seq>>) {
    let changed = match foreign {
        Some(receiver) => receiver.changed().await.is_ok(),
        None => false,
    };
    if !changed {
        std::future::pending().await
    }
}

async fn sleep(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}
