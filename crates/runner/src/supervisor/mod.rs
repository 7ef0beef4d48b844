//! Who is running, and who should be? Asks what is wanted, compares, and has the difference made.

mod examine;
mod executor;
mod launch;
mod logins;
mod messages;
mod reconcile;
mod reporter;
mod session;
mod shared_slots;
mod workspaces;

use std::sync::Arc;
use std::time::Duration;

use board::{DiskSpace, RunnerOffer, RunnerStatus, TaskId};
use dispatch::{Dispatch, DispatchError, Wanted};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use self::launch::prompt_for;
pub use self::messages::{Message, Outcome, Step};
pub use self::reconcile::{Mine, Phase, Plan, Room, Supervised, reconcile};
pub use self::shared_slots::SharedSlots;
pub use self::workspaces::PreparedWorkspace;

use self::executor::Executor;
use self::reporter::Reporter;
use crate::host::RunnerHost;
use crate::shim::Durability;

/// How often leases are renewed (S2): a third of the least that they last.
const LEASE_RENEWAL: Duration = Duration::from_secs(20);

/// When the board is asked again after nobody could be reached.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// How often it is looked for a slot that another project has given back.
const LOOK_FOR_ROOM: Duration = Duration::from_secs(1);

/// How long a shutdown may take: agents that are stopped, an examination that is broken off, what is left to tell.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(20);

/// What a runner may do.
#[derive(Clone, Debug)]
pub struct Options {
    /// Clients at once; `None`: what the project says, else as many as there are cores.
    pub max_parallel: Option<usize>,
    /// Slots that it shares with the runners of other projects; `None`: it has its own.
    pub shared_slots: Option<Arc<SharedSlots>>,
    /// What it has for agents, for those who explain why one does not start.
    pub has: RunnerOffer,
    /// Bytes that must be free before anything is started.
    pub disk_floor: u64,
    /// Start sessions of this task only.
    pub only: Option<TaskId>,
    /// Start so many sessions in all; `None`: as many as there are to start.
    pub most_sessions: Option<usize>,
    /// Where agents reach the MCP server.
    pub mcp_url: String,
    /// What becomes of the agents when the runner ends.
    pub at_shutdown: AtShutdown,
}

impl Options {
    pub const DISK_FLOOR: u64 = 1 << 30;
}

/// What becomes of the agents when the runner ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtShutdown {
    /// They go on under their shims, and the next runner takes them over.
    LeaveAgents,
    StopAgents,
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

/// Why a runner ended although nobody told it to.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A fault of ours. Agents go on under their shims; the next runner takes over what was begun.
    #[error("a part of the runner failed: {0}")]
    Panicked(#[from] tokio::task::JoinError),
    /// Whoever keeps the board has gone. Agents go on under their shims.
    #[error("the board is closed: the task that writes it has ended")]
    BoardClosed,
}

/// A project's runner.
#[derive(Clone, Debug)]
pub struct Runner {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    reporter: Reporter,
    host: RunnerHost,
    options: Options,
    notices: mpsc::UnboundedSender<Notice>,
    /// Tests and merges one candidate at a time (V6).
    merge_turn: tokio::sync::Mutex<()>,
    /// Makes workspaces for attached agents one at a time.
    attaching: tokio::sync::Mutex<()>,
}

impl Runner {
    pub fn new(
        dispatch: Arc<dyn Dispatch>,
        host: RunnerHost,
        options: Options,
    ) -> (Self, mpsc::UnboundedReceiver<Notice>) {
        let (notices, told) = mpsc::unbounded_channel();
        let reporter = Reporter::new(dispatch, notices.clone());
        let inner = Inner {
            reporter,
            host,
            options,
            notices,
            merge_turn: tokio::sync::Mutex::default(),
            attaching: tokio::sync::Mutex::default(),
        };
        (Self { inner: Arc::new(inner) }, told)
    }

    /// Runs until it is told to end.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), RunnerError> {
        Supervisor::new(self.inner).run(shutdown).await
    }
}

impl Inner {
    fn dispatch(&self) -> &dyn Dispatch {
        self.reporter.dispatch()
    }

    fn warn(&self, text: String) {
        self.reporter.warn(text);
    }

    /// Bytes that are free where the runner keeps its files.
    fn free_disk(&self) -> u64 {
        rustix::fs::statvfs(self.host.paths.root()).map_or(u64::MAX, |disk| disk.f_bavail * disk.f_frsize)
    }
}

/// The loop's own state: what it has, and what it was last told.
struct Supervisor {
    inner: Arc<Inner>,
    begun: Instant,
    mine: Mine,
    wanted: Option<Wanted>,
    executor: Executor,
    messages: mpsc::UnboundedReceiver<Message>,
    disk_full: bool,
    /// What was found of earlier sessions, until that was told.
    adopted: Option<(usize, usize)>,
    status: Option<RunnerStatus>,
}

impl Supervisor {
    fn new(inner: Arc<Inner>) -> Self {
        let (sender, messages) = mpsc::unbounded_channel();
        Self {
            executor: Executor::new(Arc::clone(&inner), sender),
            inner,
            begun: Instant::now(),
            mine: Mine::default(),
            wanted: None,
            messages,
            disk_full: false,
            adopted: Some((0, 0)),
            status: None,
        }
    }

    /// The runner's own time: it only goes forward, and stands still with the machine.
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    async fn run(mut self, shutdown: CancellationToken) -> Result<(), RunnerError> {
        let mut renewal = tokio::time::interval(LEASE_RENEWAL);
        renewal.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let inner = Arc::clone(&self.inner);
        // Asked again in full when the time has come for something, else when the board has changed.
        let mut after = None;
        let mut ask_at = Instant::now();
        let mut ended = Ok(());
        loop {
            let wake_at = self.reconcile().await;
            let asked = async {
                tokio::time::sleep_until(ask_at).await;
                inner.dispatch().wanted(after).await
            };
            tokio::select! {
                wanted = asked => match wanted {
                    Ok(wanted) => {
                        after = Some(wanted.revision);
                        self.hear(wanted).await;
                    }
                    Err(DispatchError::Closed) => {
                        ended = Err(RunnerError::BoardClosed);
                        break;
                    }
                    Err(DispatchError::Unavailable(error)) => {
                        // Agents that run are still watched.
                        inner.warn(format!("cannot ask the board: {error}"));
                        ask_at = Instant::now() + ASK_AGAIN;
                    }
                },
                () = sleep_until(wake_at.map(|at| self.begun + at)) => after = None,
                _ = renewal.tick() => self.executor.renew(self.mine.at_work()),
                Some(message) = self.messages.recv() => self.handle(&message),
                Some(ended) = self.executor.ended() => ended?,
                () = shutdown.cancelled() => break,
            }
        }
        self.shut_down().await.and(ended)
    }

    async fn hear(&mut self, wanted: Wanted) {
        if self.wanted.is_none() {
            self.executor.stop_orphans(&wanted).await;
        }
        self.wanted = Some(wanted);
    }

    fn handle(&mut self, message: &Message) {
        if let (Message::Adopted { running, .. }, Some(adopted)) = (message, &mut self.adopted) {
            *if *running { &mut adopted.0 } else { &mut adopted.1 } += 1;
        }
        let now = self.now();
        if let Some(wanted) = &mut self.wanted {
            self.mine.happened(message, wanted, now);
        }
        self.executor.happened(message);
    }

    /// Has done what is to be done now. Returns when to look again even if nothing happens.
    async fn reconcile(&mut self) -> Option<Duration> {
        let Some(wanted) = &self.wanted else { return None };
        let mut room = self.room(wanted).await;
        let wanted = self.wanted.as_ref()?;
        let inner = Arc::clone(&self.inner);
        let mut share = inner.options.shared_slots.as_ref().map(|slots| slots.share(&inner.host.project));
        room.slots = share.as_ref().map_or(room.slots, |share| share.slots.min(room.slots));
        let Plan { steps, mut wake_at } = reconcile(wanted, &self.mine, &room, self.now());
        for step in steps {
            let spawn = self.executor.perform(&step);
            self.mine.begun(&step, spawn);
        }
        if let Some(share) = &mut share {
            share.take(&inner.host.project, self.mine.slots_taken());
            // Another project's session that ends makes room here, and nobody tells.
            let look = self.now() + LOOK_FOR_ROOM;
            wake_at = wake_at
                .filter(|at| *at < look || wanted.offers.is_empty())
                .or(Some(look).filter(|_| !wanted.offers.is_empty()));
        }
        drop(share);
        self.tell_adopted();
        self.write_status(room.slots);
        wake_at
    }

    async fn room(&self, wanted: &Wanted) -> Room {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let configured = wanted.slots.map(|most| most as usize);
        Room {
            slots: self.inner.options.max_parallel.or(configured).unwrap_or_else(cores),
            disk_full: !wanted.offers.is_empty() && self.inner.free_disk() < self.inner.options.disk_floor,
            only: self.inner.options.only,
            most_claims: self.inner.options.most_sessions,
            target: match &wanted.target_red {
                Some(_) => self.executor.target(&wanted.target_branch).await,
                None => None,
            },
        }
    }

    /// Tells once what became of the sessions of an earlier runner.
    fn tell_adopted(&mut self) {
        if self.mine.sessions.values().any(|session| session.phase == Phase::Adopting) {
            return;
        }
        if let Some((running, ended)) = self.adopted.take().filter(|(running, ended)| running + ended > 0) {
            let _ = self.inner.notices.send(Notice::Adopted { running, ended });
        }
    }

    /// How the runner stands, for those who explain why nothing starts (L9).
    fn write_status(&mut self, slots: usize) {
        let floor = self.inner.options.disk_floor;
        let free = self.inner.free_disk();
        let full = free < floor;
        if full && !self.disk_full {
            let _ = self.inner.notices.send(Notice::DiskFull { free, floor });
        }
        self.disk_full = full;
        let disk = full.then_some(DiskSpace { free, floor });
        let (slots, busy) = (u32::try_from(slots).unwrap_or(u32::MAX), self.mine.busy());
        let status = RunnerStatus {
            slots,
            busy,
            disk,
            trouble: None,
            offer: self.inner.options.has.clone(),
            for_servers: self.inner.host.upstream.is_some(),
        };
        let same = |known: &RunnerStatus| {
            (known.slots, &known.busy, known.disk.is_some()) == (status.slots, &status.busy, status.disk.is_some())
        };
        if self.status.as_ref().is_none_or(|known| !same(known)) {
            // It only explains; a disk that is full must not stop the runner.
            let _ = crate::shim::write_whole(&self.inner.host.paths.status(), &status, Durability::UntilRestart);
            self.status = Some(status);
        }
    }

    /// Ends in bounded time, whatever the board does. What was not told is on the disk, and told by the next runner.
    async fn shut_down(mut self) -> Result<(), RunnerError> {
        let deadline = Instant::now() + SHUTDOWN_LIMIT;
        self.executor.break_off_examinations();
        let stop_agents = self.inner.options.at_shutdown == AtShutdown::StopAgents;
        if stop_agents {
            self.find_agents(deadline).await;
        }
        loop {
            if stop_agents {
                self.stop_agents();
            }
            let in_phase = |phase: Phase| self.mine.sessions.values().any(|session| session.phase == phase);
            let running = in_phase(Phase::Running) || in_phase(Phase::Adopting) || !self.mine.claiming.is_empty();
            let waits = in_phase(Phase::Examining) || (stop_agents && running);
            if !waits {
                break;
            }
            tokio::select! {
                Some(message) = self.messages.recv() => self.handle(&message),
                Some(ended) = self.executor.ended() => ended?,
                () = tokio::time::sleep_until(deadline) => {
                    self.inner.warn("not everything could be ended in time; the next runner takes over".into());
                    break;
                }
            }
        }
        self.executor.close().await;
        let _ = std::fs::remove_file(self.inner.host.paths.status());
        Ok(())
    }
}

impl Supervisor {
    /// Agents of an earlier runner are ended too, also if this one was ended before it had looked for them.
    async fn find_agents(&mut self, deadline: Instant) {
        let inner = Arc::clone(&self.inner);
        let Ok(Ok(wanted)) = tokio::time::timeout_at(deadline, inner.dispatch().wanted(None)).await else { return };
        self.hear(wanted).await;
        let Some(wanted) = &self.wanted else { return };
        let nothing_new = Room { slots: 0, disk_full: true, only: None, most_claims: Some(0), target: None };
        for step in reconcile(wanted, &self.mine, &nothing_new, self.now()).steps {
            if let Step::Adopt { .. } = step {
                let _ = self.executor.perform(&step);
                self.mine.begun(&step, None);
            }
        }
    }

    /// Stops what runs, also what was being claimed or taken over when the end came.
    fn stop_agents(&mut self) {
        for session in self.mine.to_be_stopped() {
            let stop = Step::Stop { session };
            let _ = self.executor.perform(&stop);
            self.mine.begun(&stop, None);
        }
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}
