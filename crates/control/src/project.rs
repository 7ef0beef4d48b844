//! What is open: the installation, its projects, and the decisions they are asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use board::{
    Actor, AgentId, Answer, Board, Command, Event, EventKind, Installation, ProjectId, Seq, SessionId, Settings,
    Staffing, Timestamp, next_action, next_due, staffing,
};
use metrics::SharedString;
use serde_json::json;
use store::{OpenedStore, PostgresStore, RecordedDecision, Store, StoreLocation, StreamName};
use tokio::sync::Mutex;

use crate::cached_answer::{CachedAnswer, Call, TracedAnswer};
use crate::call_counter::{CallCounter, Flush, PendingCalls};
use crate::trace::{Subject, Trace, Traced};
use crate::writer::ABANDONED_AFTER;
use crate::{Clock, ControlError, Follower, Log, OffsetClock, ProcessLifetime, Receipt, Writer};

/// How often this machine's clock is compared with the database's.
const CLOCK_CHECK: Duration = Duration::from_secs(10);

/// A store with the streams of it that are open.
pub struct Control {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    lifetime: ProcessLifetime,
    projects: Mutex<BTreeMap<ProjectId, Project>>,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

impl Control {
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, lifetime: ProcessLifetime) -> Self {
        Self { store, clock, lifetime, projects: Mutex::default() }
    }

    /// What was written, for those who only read.
    pub fn log(&self) -> Log {
        Log::new(Arc::clone(&self.store))
    }

    /// Opens the store that is meant; also makes or migrates it if need be. Where servers share it, its time is theirs.
    pub async fn open(location: &StoreLocation, lifetime: ProcessLifetime) -> Result<Self, ControlError> {
        let OpenedStore { store, shared, clock_offset } = location.open().await?;
        let clock = Arc::new(OffsetClock::new(clock_offset));
        if let Some(shared) = shared.filter(|_| lifetime == ProcessLifetime::LongLived) {
            tokio::spawn(follow_clock(Arc::downgrade(&shared), Arc::clone(&clock)));
        }
        Ok(Self::new(store, clock, lifetime))
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub async fn installation(&self) -> Result<Writer<Installation>, ControlError> {
        let stream = StreamName::installation();
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        Writer::open(store, clock, stream, Installation::default(), self.lifetime).await
    }

    /// Has the project any event? Opening one that has none would not create it.
    pub async fn project_exists(&self, id: &ProjectId) -> Result<bool, ControlError> {
        Ok(self.store.head(&Project::stream(id)).await?.seq > 0)
    }

    /// Opens a project, once: everybody who asks shares its writer.
    pub async fn project(&self, id: &ProjectId) -> Result<Project, ControlError> {
        let mut projects = self.projects.lock().await;
        if let Some(project) = projects.get(id) {
            return Ok(project.clone());
        }
        let stream = Project::stream(id);
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        let fresh = Board::new(Settings::new(id.clone()));
        let writer = Writer::open(Arc::clone(&store), Arc::clone(&clock), stream.clone(), fresh, self.lifetime).await?;
        let trace = Trace::open(Arc::clone(&store), stream.clone());
        let label = id.as_str().into();
        let project = Project { writer, store, clock, stream, trace, calls: Arc::default(), label };
        projects.insert(id.clone(), project.clone());
        Ok(project)
    }

    /// Waits until what is to be counted and remembered is written. To be called before the process ends.
    pub async fn close(&self) {
        for project in self.projects.lock().await.values() {
            project.flush_all_calls().await;
            project.trace.flush().await;
        }
    }
}

/// Keeps up with the database's time for as long as the store is open.
async fn follow_clock(store: Weak<PostgresStore>, clock: Arc<OffsetClock>) {
    loop {
        tokio::time::sleep(CLOCK_CHECK).await;
        let Some(store) = store.upgrade() else { return };
        match store.clock_offset().await {
            Ok(offset) => clock.set(offset),
            Err(error) => tracing::debug!(%error, "the database's time is not known now"),
        }
    }
}

/// An open project. Cheap to clone.
#[derive(Clone)]
pub struct Project {
    writer: Writer<Board>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    stream: StreamName,
    trace: Trace,
    calls: Arc<CallCounter>,
    /// Its name, as its meters carry it.
    label: Arc<str>,
}

impl std::fmt::Debug for Project {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Project").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl Project {
    pub fn stream(id: &ProjectId) -> StreamName {
        StreamName::project(id.as_str())
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn stream_name(&self) -> &StreamName {
        &self.stream
    }

    pub fn board(&self) -> Arc<Board> {
        self.writer.state()
    }

    /// The board with everything that anybody has written by now.
    pub async fn newest(&self) -> Result<Arc<Board>, ControlError> {
        self.writer.newest().await
    }

    /// What was written, for those who only read.
    pub fn log(&self) -> Log {
        Log::new(Arc::clone(&self.store))
    }

    /// The events after `after`, at most `limit`, with their sequence numbers.
    pub async fn events_after(&self, after: Seq, limit: usize) -> Result<Vec<(Seq, Event)>, ControlError> {
        self.log().events_after::<Board>(&self.stream, after, limit).await
    }

    /// Follows the events after `after`, whichever process writes them.
    pub fn follow(&self, after: Seq) -> Follower<Board> {
        self.writer.follow(after)
    }

    pub fn writer(&self) -> &Writer<Board> {
        &self.writer
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub async fn submit(&self, actor: Actor, command: Command) -> Result<Receipt<Board>, ControlError> {
        let (kind, begun) = (command.kind(), Instant::now());
        let done = self.writer.submit(actor, command).await;
        let outcome = done.as_ref().map_or_else(ControlError::label, |_| "accepted");
        let project = SharedString::from_shared(Arc::clone(&self.label));
        metrics::counter!("saihai_commands_total", "project" => project, "command" => kind, "outcome" => outcome)
            .increment(1);
        metrics::histogram!("saihai_command_seconds", "command" => kind).record(begun.elapsed().as_secs_f64());
        done
    }

    /// Ends what is long overdue, if no server is there to do it: otherwise a command would see, and be
    /// refused by, sessions that are over.
    pub async fn sweep_overdue(&self) -> Result<(), ControlError> {
        let overdue = next_due(&self.board()).is_some_and(|due| due + ABANDONED_AFTER <= self.clock.now());
        if overdue {
            self.submit(Actor::System, Command::Sweep).await?;
        }
        Ok(())
    }

    /// The next action of a session (N1). Giving it may be an event; the trace has it in any case.
    pub async fn next_action(&self, session: SessionId) -> Result<Arc<Answer>, ControlError> {
        self.next_action_from(None, session).await
    }

    /// The same for a caller who has just seen the newest board.
    pub async fn next_action_on(&self, board: Arc<Board>, session: SessionId) -> Result<Arc<Answer>, ControlError> {
        self.next_action_from(Some(board), session).await
    }

    async fn next_action_from(
        &self,
        newest: Option<Arc<Board>>,
        session: SessionId,
    ) -> Result<Arc<Answer>, ControlError> {
        let asked = self.clock.now();
        let given = match self.cached_answer(newest, session, asked).await {
            Ok(None) => self.new_answer(session).await,
            Ok(Some(given)) => Ok(given),
            Err(error) => Err(error),
        };
        let (seq, body) = match &given {
            Ok(given) => (given.seq, Arc::clone(&given.traced)),
            Err(ControlError::Refused(refusal)) => (self.board().seq, Arc::new(json!({ "refused": refusal.code() }))),
            Err(error) => (self.board().seq, Arc::new(json!({ "failed": error.to_string() }))),
        };
        self.trace
            .record(Traced { at: asked, seq, kind: "next_action", subject: Subject::Session(session), body })
            .await;
        given.map(|given| given.answer)
    }

    /// An answer that changes nothing but how often it was given is not waited for: it is given
    /// from the board in memory, if nothing was written since, and counted later.
    async fn cached_answer(
        &self,
        newest: Option<Arc<Board>>,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Option<TracedAnswer>, ControlError> {
        let board = match newest {
            Some(board) => board,
            None => {
                let board = self.board();
                if self.store.head(&self.stream).await?.seq != board.seq {
                    return Ok(None);
                }
                board
            }
        };
        let cached = match self.calls.cached(session, board.seq) {
            Some(cached) => cached,
            None => {
                let Some(answer) = CachedAnswer::on(&board, session, now)?.map(Arc::new) else { return Ok(None) };
                self.calls.remember(session, &answer);
                answer
            }
        };
        if let Call::Repeated(action) = cached.call
            && self.calls.repeats(session, action) >= cached.left
        {
            return Ok(None);
        }
        self.noted(&board, session, cached.call, now).await?;
        Ok(Some(cached.given.clone()))
    }

    async fn new_answer(&self, session: SessionId) -> Result<TracedAnswer, ControlError> {
        self.flush_calls(session).await?;
        let receipt = self.submit(Actor::Session(session), Command::NextAction).await?;
        let row = next_action(&receipt.before, session, receipt.at)?.1;
        let given = receipt.events.iter().find_map(|event| match event.what {
            EventKind::ActionGiven { action, .. } => Some(action),
            _ => None,
        });
        let (action, row) = match given {
            Some(action) => (action, row),
            None => next_action(&receipt.after, session, receipt.at)?,
        };
        let mut answer = Answer::of(&receipt.after, session, action, receipt.at)?;
        if given.is_some() {
            answer = answer.with_comments(&receipt.before, session);
        }
        Ok(TracedAnswer::new(answer, row, receipt.before.seq))
    }

    /// Counts a call of a session that left no event (G1).
    pub async fn called(&self, session: SessionId) -> Result<(), ControlError> {
        self.noted(&self.board(), session, Call::Other, self.clock.now()).await
    }

    /// Notes whether a call of a session was refused: too many in a row stop it (N9).
    pub async fn call_ended(&self, session: SessionId, refused: bool) -> Result<(), ControlError> {
        match self.calls.note_outcome(session, refused).filter(|in_a_row| *in_a_row >= board::MOST_REFUSALS) {
            Some(in_a_row) => {
                let counted = self.submit(Actor::Session(session), Command::CountRefusals { in_a_row }).await;
                counted.map(drop).or_else(|error| match error {
                    // The session is over: there is nothing left to stop.
                    ControlError::Refused(_) => Ok(()),
                    error => Err(error),
                })
            }
            None => Ok(()),
        }
    }

    async fn noted(&self, board: &Board, session: SessionId, call: Call, now: Timestamp) -> Result<(), ControlError> {
        match self.calls.note(board, session, call, now) {
            Flush::Later => Ok(()),
            Flush::Now(pending) => self.count(session, pending).await,
            Flush::Soon(pending) => {
                let project = self.clone();
                tokio::spawn(async move {
                    if let Err(error) = project.count(session, pending).await {
                        tracing::debug!(%session, %error, "calls were not counted");
                    }
                });
                Ok(())
            }
        }
    }

    /// Tells the board of the calls it does not know of.
    async fn flush_calls(&self, session: SessionId) -> Result<(), ControlError> {
        match self.calls.take(session) {
            Some(pending) => self.count(session, pending).await,
            None => Ok(()),
        }
    }

    /// The same for every session: after a restart the count must not begin at zero (G2).
    async fn flush_all_calls(&self) {
        for (session, pending) in self.calls.take_all() {
            if let Err(error) = self.count(session, pending).await {
                tracing::warn!(%session, %error, "calls were not counted");
            }
        }
    }

    async fn count(&self, session: SessionId, pending: PendingCalls) -> Result<(), ControlError> {
        let command = Command::CountCalls { calls: pending.calls, repeated: pending.repeated };
        match self.submit(Actor::Session(session), command).await {
            // The session is over, or its fuel spent: there is nothing left to count for.
            Ok(_) | Err(ControlError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Remembers something about a session or agent (E6).
    pub async fn record(&self, traced: Traced) {
        self.trace.record(traced).await;
    }

    /// Whom to start, hold or stop (A1), with a trace of the answer.
    pub async fn staffing(&self, agent: &AgentId) -> Result<Staffing, ControlError> {
        let (board, now) = (self.board(), self.clock.now());
        let answer = staffing(&board, agent, now)?;
        let body = Arc::new(serde_json::to_value(answer).expect("staffing has string keys only"));
        let subject = Subject::Agent(agent.clone());
        self.trace.record(Traced { at: now, seq: board.seq, kind: "staffing", subject, body }).await;
        Ok(answer)
    }

    /// The newest `limit` decisions about a session or agent with a number below `before`, newest first.
    pub async fn decisions(
        &self,
        subject: &str,
        before: u64,
        limit: usize,
    ) -> Result<Vec<RecordedDecision>, ControlError> {
        self.trace.flush().await;
        Ok(self.store.decisions(&self.stream, subject, before, limit).await?)
    }
}
