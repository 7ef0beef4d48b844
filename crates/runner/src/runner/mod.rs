//! Who is running, and who should be? Level-triggered: whatever happened, the board is looked at again.

mod adopt;
mod launch;
mod logins;
mod queue;
mod session;
mod workspaces;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use board::{
    Action, Actor, AgentId, Board, Command, Driver, Generation, Purpose, RunnerId, Session, SessionId, SessionStatus,
    Staffing, StartableWork, TaskId, Timestamp, must_stop, startable_work,
};
use control::{ControlError, Project, Subject, Traced};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use self::launch::prompt_for;

use self::session::StopHandle;
use crate::host::RunnerHost;
use crate::shim::last_call_file;

/// How often leases are renewed (S2): a third of the least that they last.
const LEASE_RENEWAL: Duration = Duration::from_secs(20);

/// How long a client may live on after its report or logout (V2).
const END_AFTER_REPORT: Duration = Duration::from_secs(60);

/// When something that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// How often a full disk is looked at again.
const DISK_RECHECK: Duration = Duration::from_secs(15);

/// What a runner may do.
#[derive(Clone, Debug)]
pub struct Options {
    pub id: RunnerId,
    /// Clients at once; `None`: what the project says, else as many as there are cores.
    pub max_parallel: Option<usize>,
    /// Bytes that must be free before anything is started.
    pub disk_floor: u64,
    /// Start sessions of this task only.
    pub only: Option<TaskId>,
    /// Where agents reach the MCP server.
    pub mcp_url: String,
}

impl Options {
    pub const DISK_FLOOR: u64 = 1 << 30;
}

/// What a runner tells its user beyond the events in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Nothing is started: the disk is too full.
    DiskFull { free: u64, floor: u64 },
    /// Sessions of an earlier runner that were found at the start.
    Adopted { running: usize, ended: usize },
    /// Something that will be tried again.
    Problem(String),
}

/// A project's runner.
#[derive(Clone, Debug)]
pub struct Runner {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    project: Project,
    host: RunnerHost,
    options: Options,
    notices: mpsc::UnboundedSender<Notice>,
}

/// A session that this runner is responsible for.
#[derive(Debug)]
struct SupervisedSession {
    generation: Generation,
    stop_handle: StopHandle,
    /// Its process runs, or is about to.
    running: bool,
    /// A chat takes no slot (A6).
    takes_slot: bool,
    /// When a client that has reported or logged out is ended.
    must_end_by: Option<Instant>,
    last_call: Timestamp,
}

/// What the runner's background tasks send to its loop.
#[derive(Debug)]
enum SupervisorMessage {
    /// The process is over, and the board knows.
    ProcessEnded(SessionId),
    /// Its work was examined, or does not have to be any more.
    Examined(SessionId),
}

impl Runner {
    pub fn new(project: Project, host: RunnerHost, options: Options) -> (Self, mpsc::UnboundedReceiver<Notice>) {
        let (notices, told) = mpsc::unbounded_channel();
        (Self { inner: Arc::new(Inner { project, host, options, notices }) }, told)
    }

    /// Runs until it is told to end. Agents are left to their shims, or ended with it.
    pub async fn run(self, shutdown: CancellationToken, stop_agents: bool) -> Result<(), ControlError> {
        let (messages, inbox) = mpsc::unbounded_channel();
        let queue = queue::MergeQueue::open(Arc::clone(&self.inner), messages.clone());
        let supervisor = Supervisor { inner: self.inner, live: BTreeMap::new(), messages, queue, disk_full: false };
        supervisor.run(inbox, shutdown, stop_agents).await
    }
}

impl Inner {
    fn actor(&self) -> Actor {
        Actor::Runner(self.options.id.clone())
    }

    fn now(&self) -> Timestamp {
        self.project.clock().now()
    }

    /// Reports a fact, and tries until it is stored. A refusal is final: the board knows it already, or
    /// the session is over.
    async fn report(&self, command: Command) {
        loop {
            match self.project.submit(self.actor(), command.clone()).await {
                Ok(_) | Err(ControlError::Refused(_)) => return,
                Err(error) => {
                    // A fact must not be lost because the disk is full for a moment (F42).
                    self.warn(format!("cannot report to the board: {error}"));
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    fn warn(&self, text: String) {
        tracing::warn!("{text}");
        let _ = self.notices.send(Notice::Problem(text));
    }

    fn is_ours(&self, session: &Session) -> bool {
        match &session.driver {
            Driver::Runner { runner, .. } => *runner == self.options.id,
            Driver::Attached | Driver::Hand => false,
        }
    }
}

/// The loop's own state: what it has started.
struct Supervisor {
    inner: Arc<Inner>,
    live: BTreeMap<SessionId, SupervisedSession>,
    messages: mpsc::UnboundedSender<SupervisorMessage>,
    queue: queue::MergeQueue,
    disk_full: bool,
}

/// An agent that should be started, and what for.
struct StartCandidate {
    order: (board::Priority, std::cmp::Reverse<Timestamp>),
    agent: AgentId,
    purpose: Purpose,
    answer: Staffing,
}

impl Supervisor {
    async fn run(
        mut self,
        mut inbox: mpsc::UnboundedReceiver<SupervisorMessage>,
        shutdown: CancellationToken,
        stop_agents: bool,
    ) -> Result<(), ControlError> {
        let mut boards = self.inner.project.writer().watch();
        // Before anything is claimed (S2).
        self.adopt().await?;
        let mut renewal = tokio::time::interval(LEASE_RENEWAL);
        renewal.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let board = boards.borrow_and_update().clone();
            // Agents that run are still watched while the store cannot be written to.
            let wake = self.reconcile(&board).await.unwrap_or_else(|error| {
                self.inner.warn(format!("cannot start sessions: {error}"));
                Some(Instant::now() + RETRY)
            });
            tokio::select! {
                changed = boards.changed() => if changed.is_err() { return Ok(()) },
                () = sleep_until(wake) => {}
                _ = renewal.tick() => self.renew().await,
                Some(message) = inbox.recv() => self.handle_message(message),
                () = shutdown.cancelled() => break,
            }
        }
        if stop_agents {
            self.live.values().for_each(|live| live.stop_handle.stop());
            while self.live.values().any(|live| live.running) {
                match inbox.recv().await {
                    Some(message) => self.handle_message(message),
                    None => break,
                }
            }
        }
        self.queue.close().await;
        Ok(())
    }

    fn handle_message(&mut self, message: SupervisorMessage) {
        match message {
            SupervisorMessage::ProcessEnded(session) => {
                if let Some(live) = self.live.get_mut(&session) {
                    live.running = false;
                }
            }
            SupervisorMessage::Examined(session) => {
                self.live.remove(&session);
            }
        }
    }

    async fn renew(&self) {
        let sessions: Vec<_> = self.live.iter().map(|(id, live)| (*id, live.generation)).collect();
        if !sessions.is_empty() {
            self.inner.report(Command::RenewLeases { sessions }).await;
        }
    }

    /// Makes what runs match what should run. Returns when to look again even if nothing happens.
    async fn reconcile(&mut self, board: &Arc<Board>) -> Result<Option<Instant>, ControlError> {
        self.stop_unwanted(board);
        self.examine_ended(board);
        let wake = self.start_missing(board).await?;
        let must_end_by = self.live.values().filter(|live| live.running).filter_map(|live| live.must_end_by);
        Ok(must_end_by.chain(wake).min())
    }

    /// Stops processes whose session is over or may not go on.
    fn stop_unwanted(&mut self, board: &Board) {
        let now = Instant::now();
        for (id, live) in &mut self.live {
            let Ok(session) = board.session(*id) else { continue };
            if !session.is_live() || session.generation != live.generation {
                // The board has given the session up, so this process works for nobody.
                live.stop_handle.stop();
                continue;
            }
            let agent = board.agents.get(&session.agent);
            if agent.is_some_and(|agent| must_stop(board, agent, session).is_some()) {
                live.stop_handle.stop();
            }
            if session.report.is_some() || session.logged_out {
                let must_end_by = live.must_end_by.get_or_insert(now + END_AFTER_REPORT);
                if *must_end_by <= now {
                    live.stop_handle.finish();
                }
            }
            if session.last_call_at > live.last_call {
                live.last_call = session.last_call_at;
                let _ = std::fs::write(last_call_file(&self.inner.host.paths.session(*id)), b"");
            }
        }
        self.live.retain(|id, live| live.running || board.session(*id).is_ok_and(Session::is_live));
    }

    /// Queues the work of sessions whose process is over. Attached agents have none of their own.
    fn examine_ended(&mut self, board: &Board) {
        for session in board.all_live_sessions() {
            let attached = session.driver == Driver::Attached;
            if session.status != SessionStatus::Verifying || !(attached || self.inner.is_ours(session)) {
                continue;
            }
            let live = self.live.entry(session.id).or_insert_with(|| SupervisedSession::of(session));
            live.running = false;
            self.queue.push(session.id, session.generation, live.stop_handle.clone());
        }
    }

    async fn start_missing(&mut self, board: &Arc<Board>) -> Result<Option<Instant>, ControlError> {
        let (mut candidates, until) = self.candidates(board);
        let mut wake = until.map(|until| self.instant_of(until));
        if candidates.is_empty() {
            return Ok(wake);
        }
        if !self.has_room() {
            return Ok(Some(Instant::now() + DISK_RECHECK));
        }
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.order));
        for candidate in candidates {
            let busy = self.live.values().filter(|live| live.running && live.takes_slot).count();
            if candidate.purpose != Purpose::Chat && busy >= self.slots(board) {
                // A session that ends makes room, and wakes the loop.
                continue;
            }
            if !self.start(board, candidate).await? {
                wake = Some(Instant::now() + RETRY);
            }
        }
        Ok(wake)
    }

    fn slots(&self, board: &Board) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let configured = board.settings.max_parallel.map(|most| most as usize);
        self.inner.options.max_parallel.or(configured).unwrap_or_else(cores)
    }

    fn has_room(&mut self) -> bool {
        let floor = self.inner.options.disk_floor;
        let free =
            rustix::fs::statvfs(self.inner.host.paths.root()).map_or(u64::MAX, |disk| disk.f_bavail * disk.f_frsize);
        let full = free < floor;
        if full && !self.disk_full {
            let _ = self.inner.notices.send(Notice::DiskFull { free, floor });
        }
        self.disk_full = full;
        !full
    }

    /// Who should be started, and when the first of those that cool down may be.
    fn candidates(&self, board: &Board) -> (Vec<StartCandidate>, Option<Timestamp>) {
        let (mut found, mut until) = (Vec::new(), None::<Timestamp>);
        let now = self.inner.now();
        let only = self.inner.options.only;
        let mine = |work: &StartableWork<'_>| only.is_none_or(|only| work.task.is_some_and(|task| task.id == only));
        for StartableWork { agent, task, answer } in startable_work(board, now).into_iter().filter(mine) {
            match answer.action {
                Action::Start => {
                    // A person waits for the answer, so a chat goes first.
                    let order = task.map_or((board::Priority::Critical, std::cmp::Reverse(Timestamp(0))), |task| {
                        (task.priority, std::cmp::Reverse(task.created_at))
                    });
                    let purpose = task.map_or(Purpose::Chat, |task| Purpose::Task(task.id));
                    found.push(StartCandidate { order, agent: agent.id().clone(), purpose, answer });
                }
                Action::NoChange | Action::Stop => until = until.into_iter().chain(answer.until).min(),
            }
        }
        (found, until)
    }

    fn instant_of(&self, at: Timestamp) -> Instant {
        let left = (at - self.inner.now()).0.max(0).unsigned_abs() + 1;
        Instant::now() + Duration::from_millis(left)
    }

    /// Claims, and starts what was claimed; `false` if another was first.
    async fn start(&mut self, board: &Board, candidate: StartCandidate) -> Result<bool, ControlError> {
        let StartCandidate { agent, purpose, answer, .. } = candidate;
        let Some((claimed, session)) = session::claim(&self.inner, &agent, purpose).await? else { return Ok(false) };
        let body = Arc::new(serde_json::to_value(answer).unwrap_or_default());
        let (at, subject) = (self.inner.now(), Subject::Agent(agent));
        self.inner.project.record(Traced { at, seq: board.seq, kind: "staffing", subject, body }).await;
        let live = SupervisedSession { running: true, ..SupervisedSession::of(&session) };
        let stop_handle = live.stop_handle.clone();
        self.live.insert(session.id, live);
        session::supervise_claimed(Arc::clone(&self.inner), session, claimed, stop_handle, self.messages.clone());
        Ok(true)
    }
}

impl SupervisedSession {
    fn of(session: &Session) -> Self {
        Self {
            generation: session.generation,
            stop_handle: StopHandle::default(),
            running: false,
            takes_slot: session.purpose != Purpose::Chat,
            must_end_by: None,
            last_call: session.last_call_at,
        }
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}
