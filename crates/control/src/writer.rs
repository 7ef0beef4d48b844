//! How does a command become events? One task per open stream, and only that task writes.

use std::sync::Arc;
use std::time::Duration;

use board::{Actor, Refusal, Seq, Span, Timestamp};
use store::{Decision, Head, NewEvent, Snapshot, Store, StoreError, StreamName, Subscription};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::decider::Admitted;
use crate::lease_grace::{LOOK_EVERY, LeaseGrace, Moment};
use crate::log::Loaded;
use crate::{Clock, ControlError, Decider, Follower, Log, Update};

/// The most commands that are judged and committed together.
const BATCH: usize = 256;

/// Updates that followers find in memory. A slower follower reads the log.
const UPDATES: usize = 128;

/// What others appended is handed to followers if it is at most this much; more is left in the log.
const CATCH_UP_EVENTS: usize = 4096;

/// A short-lived process cannot know whether a server is about to come back, so it treats as over
/// only what has been overdue for this long.
pub(crate) const ABANDONED_AFTER: Span = Span::minutes(10);

/// Does the process stay and listen for what others append, or does it end after a command?
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

struct Submitted<D: Decider> {
    actor: Actor,
    command: D::Command,
    answer: oneshot::Sender<Result<Receipt<D>, ControlError>>,
}

enum Request<D: Decider> {
    Command(Submitted<D>),
    /// Read what others wrote.
    CatchUp(oneshot::Sender<Result<Arc<D>, ControlError>>),
}

/// A handle to the task that writes a stream. Cheap to clone.
#[derive(Clone)]
pub struct Writer<D: Decider> {
    requests: mpsc::Sender<Request<D>>,
    state: watch::Receiver<Arc<D>>,
    /// Weak, so that followers see the end when the task is gone.
    updates: broadcast::WeakSender<Update<D>>,
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
        match self {
            Self::Command(submitted) => write!(f, "Command by {:?}", submitted.actor),
            Self::CatchUp(_) => f.write_str("CatchUp"),
        }
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
        let foreign = match lifetime {
            ProcessLifetime::LongLived => Some(store.subscribe(&stream).await?),
            ProcessLifetime::ShortLived => None,
        };
        let Loaded { state, snapshot_seq, head } = Log::new(Arc::clone(&store)).load(&stream, fresh).await?;
        let state = Arc::new(state);
        let (publish, watching) = watch::channel(Arc::clone(&state));
        let updates = broadcast::Sender::new(UPDATES);
        let (requests, queue) = mpsc::channel(4 * BATCH);
        let grace = LeaseGrace::beginning(moment(&*clock));
        let (for_handle, named) = (Arc::clone(&store), stream.clone());
        let handle = Self { requests, state: watching, updates: updates.downgrade(), store: for_handle, stream: named };
        let task =
            WriterTask { store, clock, stream, committed: state, head, publish, updates, snapshot_seq, foreign, grace };
        tokio::spawn(task.run(queue));
        Ok(handle)
    }

    /// Submits a command and waits until it is refused, or durable.
    pub async fn submit(&self, actor: Actor, command: D::Command) -> Result<Receipt<D>, ControlError> {
        let (answer, answered) = oneshot::channel();
        let submitted = Submitted { actor, command, answer };
        self.requests.send(Request::Command(submitted)).await.map_err(|_| ControlError::Closed)?;
        answered.await.map_err(|_| ControlError::Closed)?
    }

    /// The state as of the last commit that this process has seen.
    pub fn state(&self) -> Arc<D> {
        Arc::clone(&self.state.borrow())
    }

    /// The state with everything that anybody has written by now.
    pub async fn newest(&self) -> Result<Arc<D>, ControlError> {
        let state = self.state();
        if state.seq() >= self.store.head(&self.stream).await?.seq {
            return Ok(state);
        }
        let (answer, caught_up) = oneshot::channel();
        self.requests.send(Request::CatchUp(answer)).await.map_err(|_| ControlError::Closed)?;
        caught_up.await.map_err(|_| ControlError::Closed)?
    }

    /// Follows the events after `after`, whichever process writes them.
    pub fn follow(&self, after: Seq) -> Follower<D> {
        // Without a sender the task is gone, and so are updates.
        let updates = self.updates.upgrade().unwrap_or_else(|| broadcast::Sender::new(1)).subscribe();
        Follower::new(Log::new(Arc::clone(&self.store)), self.stream.clone(), after, self.state.clone(), updates)
    }

    /// A receiver of every new state, whichever process caused it.
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
    /// The head of the log as of `committed`.
    head: Head,
    publish: watch::Sender<Arc<D>>,
    updates: broadcast::Sender<Update<D>>,
    snapshot_seq: Seq,
    /// What others append; a short-lived process does not listen.
    foreign: Option<Subscription>,
    grace: LeaseGrace,
}

/// Commands judged together on one state, and what follows from them.
struct Batch<D: Decider> {
    state: Arc<D>,
    events: Vec<D::Event>,
    encoded: Vec<NewEvent>,
    /// In the order of the commands; all are there when the batch is whole.
    verdicts: Vec<Option<Result<Receipt<D>, Refusal>>>,
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
                    self.grace.look(moment(&*self.clock));
                    if self.is_due(&self.committed) {
                        self.serve(Vec::new()).await;
                    }
                }
            }
        }
    }

    /// Reads what others wrote for those who asked for it, then judges the commands.
    async fn serve(&mut self, requests: Vec<Request<D>>) {
        let (mut commands, mut waiting) = (Vec::with_capacity(requests.len()), Vec::new());
        for request in requests {
            match request {
                Request::Command(submitted) => commands.push(submitted),
                Request::CatchUp(answer) => waiting.push(answer),
            }
        }
        if !waiting.is_empty() {
            let caught_up = self.catch_up().await;
            for answer in waiting {
                let _ = answer.send(caught_up.clone().map(|()| Arc::clone(&self.committed)));
            }
            if commands.is_empty() {
                return;
            }
        }
        self.decide(commands).await;
    }

    /// Judges commands, commits, then answers all of them.
    async fn decide(&mut self, requests: Vec<Submitted<D>>) {
        self.grace.look(moment(&*self.clock));
        let outcome = loop {
            let mut batch = self.judge(&requests);
            let encoded = std::mem::take(&mut batch.encoded);
            match self.commit(encoded).await {
                Ok(head) => break Ok((batch, head)),
                Err(StoreError::Conflict { .. }) => {
                    if let Err(error) = self.catch_up().await {
                        break Err(error);
                    }
                }
                Err(error) => break Err(ControlError::from(error)),
            }
        };
        match outcome {
            Ok((batch, head)) => {
                let decisions = batch.decisions;
                self.advance(batch.state, head, batch.events.into());
                for (request, verdict) in requests.into_iter().zip(batch.verdicts) {
                    // The caller may have stopped waiting; the events are written all the same.
                    if let Some(verdict) = verdict {
                        let _ = request.answer.send(verdict.map_err(ControlError::from));
                    }
                }
                self.remember(decisions).await;
                self.snapshot_if_due().await;
            }
            Err(error) => {
                self.grace.begin_again(self.clock.now());
                if requests.is_empty() {
                    // No caller waits for this; it is tried again after a pause.
                    tracing::warn!(stream = %self.stream, %error, "time could not be accounted for");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                for request in requests {
                    let _ = request.answer.send(Err(error.clone()));
                }
            }
        }
    }

    fn judge(&self, requests: &[Submitted<D>]) -> Batch<D> {
        let now = self.clock.now();
        let mut batch = Batch {
            state: Arc::clone(&self.committed),
            events: Vec::new(),
            encoded: Vec::new(),
            verdicts: requests.iter().map(|_| None).collect(),
            decisions: Vec::new(),
        };
        let (renewals, others): (Vec<_>, Vec<_>) =
            requests.iter().enumerate().partition(|(_, request)| D::renews(&request.command));
        renewals.into_iter().for_each(|(index, request)| batch.answer(index, request, now));
        if let Some((_, sweep)) = self.due(&batch.state).filter(|(due, _)| *due <= now)
            && let Err(refusal) = batch.judge(&Actor::System, &sweep, now)
        {
            tracing::error!(stream = %self.stream, %refusal, "time could not be accounted for");
        }
        others.into_iter().for_each(|(index, request)| batch.answer(index, request, now));
        batch
    }

    /// Appends the events of a batch. A batch without events was judged too: it counts only if no other
    /// process has written meanwhile.
    async fn commit(&self, events: Vec<NewEvent>) -> Result<Head, StoreError> {
        let expected = self.committed.seq();
        if !events.is_empty() {
            return self.store.append(&self.stream, expected, events).await;
        }
        let head = self.store.head(&self.stream).await?;
        if head.seq == expected { Ok(head) } else { Err(StoreError::Conflict { expected, actual: head.seq }) }
    }

    /// Folds what others have appended.
    async fn catch_up(&mut self) -> Result<(), ControlError> {
        let mut state = (*self.committed).clone();
        let mut events = Vec::new();
        let seen = |event| {
            if events.len() <= CATCH_UP_EVENTS {
                events.push(event);
            }
        };
        let log = Log::new(Arc::clone(&self.store));
        let head = log.fold_each(&self.stream, &mut state, Seq::MAX, seen).await?;
        if events.len() > CATCH_UP_EVENTS {
            events.clear();
        }
        self.advance(Arc::new(state), head.unwrap_or(self.head), events.into());
        Ok(())
    }

    /// Hands out a new state together with the events that made it.
    fn advance(&mut self, state: Arc<D>, head: Head, events: Arc<[D::Event]>) {
        if state.seq() == self.committed.seq() {
            return;
        }
        self.committed = Arc::clone(&state);
        self.head = head;
        if !events.is_empty() {
            // It fails if there is no follower, which is fine.
            let _ = self.updates.send(Update { state: Arc::clone(&state), events });
        }
        // After the update, so that a follower that is woken by the state finds its events.
        self.publish.send_replace(state);
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
        let (store, stream, state) = (Arc::clone(&self.store), self.stream.clone(), Arc::clone(&self.committed));
        let head = self.head;
        debug_assert_eq!(head.seq, seq);
        self.snapshot_seq = seq;
        let take = async move {
            // Encoding a large board takes a while: not on a thread that serves others.
            let Ok(bytes) = tokio::task::spawn_blocking(move || state.to_snapshot()).await else { return };
            if let Err(error) = store.put_snapshot(&stream, Snapshot { head, format, bytes }).await {
                tracing::warn!(%stream, %error, "no snapshot was taken");
            }
        };
        if self.foreign.is_some() {
            tokio::spawn(take);
        } else {
            take.await;
        }
    }

    fn is_due(&self, state: &D) -> bool {
        self.due(state).is_some_and(|(due, _)| due <= self.clock.now())
    }

    /// The command that time alone brings, and from when on this process may act on it.
    fn due(&self, state: &D) -> Option<(Timestamp, D::Command)> {
        let (due, command) = state.due()?;
        match self.foreign {
            Some(_) => Some((due.max(self.grace.ends()), command)),
            None => Some((due + ABANDONED_AFTER, command)),
        }
    }

    /// How long until time alone brings a command, or the clocks are to be looked at.
    fn until_due(&self) -> Option<Duration> {
        // A short-lived process leaves this to servers; it sweeps with its command.
        self.foreign.as_ref()?;
        let (due, _) = self.due(&self.committed)?;
        let wait = (due - self.clock.now()).0.max(10);
        Some(Duration::from_millis(u64::try_from(wait).unwrap_or(0)).min(LOOK_EVERY))
    }
}

impl<D: Decider> Batch<D> {
    fn answer(&mut self, index: usize, request: &Submitted<D>, now: Timestamp) {
        let before = Arc::clone(&self.state);
        let judged = self.judge(&request.actor, &request.command, now);
        let after = Arc::clone(&self.state);
        self.verdicts[index] = Some(judged.map(|events| Receipt { events, before, after, at: now }));
    }

    fn judge(&mut self, actor: &Actor, command: &D::Command, now: Timestamp) -> Admitted<D> {
        let judged = self.state.admit(actor, command, now);
        self.decisions.extend(self.state.decisions(&judged, now));
        let events = judged?;
        if !events.is_empty() {
            let mut state = (*self.state).clone();
            for event in &events {
                state.apply(event);
                self.encoded.push(D::encode(event));
            }
            self.events.extend(events.iter().cloned());
            self.state = Arc::new(state);
        }
        Ok(events)
    }
}

fn moment(clock: &dyn Clock) -> Moment {
    Moment { wall: clock.now(), monotonic: clock.monotonic() }
}

async fn changed(foreign: &mut Option<Subscription>) {
    let changed = match foreign {
        Some(subscription) => subscription.changed().await,
        None => None,
    };
    if changed.is_none() {
        std::future::pending().await
    }
}

async fn sleep(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}
