//! What happens in a schedule: to a project, its team, and two servers on one store.

use std::sync::Arc;

use board::{
    Actor, AgentId, AgentSpec, Board, Check, Command, Completion, Decompose, Destination, DodResult, Driver, EndReason,
    EventKind, Hierarchy, Limits, Mode, NewTask, Party, ProcessEnd, ProjectId, Purpose, Repairs, SecretHash, SessionId,
    Settings, Span, SpawnId, Status, TaskId, Timestamp, next_due,
};
use control::{Clock as _, Control, ControlError, ProcessLifetime, Project, Receipt};
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use store::{MemoryStore, Store};

use super::Stats;
use super::agents::{self, Behaviour};
use super::clock::SimClock;
use super::flaky::{Faults, FlakyStore};
use super::network::Network;
use super::repository::Repository;
use super::runner::{Process, SimRunner};

pub(super) struct World {
    rng: ChaCha8Rng,
    clock: SimClock,
    memory: MemoryStore,
    store: Arc<FlakyStore>,
    id: ProjectId,
    /// Several processes with the project open.
    servers: Vec<Project>,
    pub(super) runner: SimRunner,
    pub(super) network: Network,
    pub(super) processes: Vec<Process>,
    pub(super) repository: Repository,
    spawned: u32,
    faults_over: bool,
    /// All work changes the same file.
    colliding: bool,
    stats: Stats,
}

impl World {
    pub(super) async fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let memory = MemoryStore::new();
        let store = Arc::new(FlakyStore::new(memory.clone(), seed ^ 0x5eed));
        let mut world = Self {
            clock: SimClock::new(),
            memory,
            store,
            id: "sim".parse().expect("a good name"),
            servers: Vec::new(),
            runner: SimRunner::default(),
            network: Network::new(seed ^ 0x_fa_5e),
            processes: Vec::new(),
            repository: Repository::default(),
            spawned: 0,
            faults_over: false,
            colliding: false,
            stats: Stats::default(),
            rng: ChaCha8Rng::seed_from_u64(rng.random()),
        };
        world.servers =
            vec![world.server(ProcessLifetime::LongLived).await, world.server(ProcessLifetime::ShortLived).await];
        world.set_up(&mut rng).await;
        world.store.set_faults(Faults::On);
        world
    }

    /// Tasks of one-shot agents that all change the same file, and no faults.
    pub(super) async fn colliding(seed: u64, tasks: u32) -> Self {
        let mut world = Self::new(seed).await;
        world.store.set_faults(Faults::Off);
        world.faults_over = true;
        let board = world.board();
        for task in board.tasks.keys() {
            world.submit_as_owner(agents::move_to(*task, Status::Cancelled)).await;
        }
        let mut settings = (*board.settings).clone();
        settings.completion = Completion::Merged;
        settings.limits = Limits::default();
        world.submit_as_owner(Command::Configure { settings: Box::new(settings) }).await;
        for n in 0..tasks {
            let task = NewTask { assignee: Some(name("once")), ..NewTask::titled(format!("collide {n}")) };
            world.submit_as_owner(Command::CreateTasks { parent: None, tasks: vec![task], key: None }).await;
            let id = world.board().tasks.keys().next_back().copied().expect("it was just created");
            world.submit_as_owner(agents::move_to(id, Status::InProgress)).await;
        }
        world.colliding = true;
        world
    }

    /// Somebody does one thing.
    pub(super) async fn one_acts(&mut self) {
        match self.rng.random_range(0..4) {
            0 => drop(self.runner_acts().await),
            1 => self.agent_acts().await,
            2 => drop(self.collect_exits().await),
            _ => self.examination_goes_on().await,
        }
    }

    async fn server(&self, lifetime: ProcessLifetime) -> Project {
        let store: Arc<dyn Store> = Arc::clone(&self.store) as _;
        let control = Control::new(store, Arc::new(self.clock.clone()), lifetime);
        control.project(&self.id).await.expect("the simulated store can always be read")
    }

    async fn set_up(&mut self, rng: &mut ChaCha8Rng) {
        let mut settings = Settings::new(self.id.clone());
        settings.completion = if rng.random_bool(0.7) { Completion::Merged } else { Completion::Reported };
        settings.dod.checks = vec![Check { name: "tests_pass".into(), command: "make test".into() }];
        settings.limits = Limits {
            max_calls: rng.random_range(20..80),
            max_task_sessions: rng.random_range(4..12),
            max_children_ever: rng.random_range(5..12),
            max_messages: 5,
            max_depth: rng.random_range(1..=3),
            ..Limits::default()
        };
        self.submit_as_owner(Command::Configure { settings: Box::new(settings) }).await;
        self.submit_as_owner(Command::ApplyRoster { agents: roster(true) }).await;
        for n in 0..rng.random_range(1..=4) {
            let assignee = ["lead", "lead", "w1", "w2", "once", "once"].choose(rng).map(|id| name(id));
            let repairs = rng.random_bool(0.1).then_some(Repairs::Target);
            let task = NewTask { assignee, repairs, ..NewTask::titled(format!("goal {n}")) };
            self.submit_as_owner(Command::CreateTasks { parent: None, tasks: vec![task], key: None }).await;
        }
        for id in 1..=self.board().tasks.len() as u32 {
            self.submit_as_owner(agents::move_to(TaskId(id), Status::InProgress)).await;
        }
    }

    async fn submit_as_owner(&mut self, command: Command) {
        self.submit(owner(), command).await.expect("setting up is always allowed");
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn memory(&self) -> &MemoryStore {
        &self.memory
    }

    pub(super) fn project_id(&self) -> &ProjectId {
        &self.id
    }

    pub(super) fn clock(&self) -> &SimClock {
        &self.clock
    }

    pub(super) fn rng(&mut self) -> &mut ChaCha8Rng {
        &mut self.rng
    }

    pub(super) fn faults_over(&self) -> bool {
        self.faults_over
    }

    pub(super) fn any_server(&mut self) -> Project {
        let server = self.rng.random_range(0..self.servers.len());
        self.servers[server].clone()
    }

    pub(super) fn next_spawn(&mut self) -> SpawnId {
        self.spawned += 1;
        format!("spawn-{}", self.spawned).parse().expect("a good name")
    }

    /// The newest board that any server has.
    pub(super) fn board(&self) -> Arc<Board> {
        self.boards().max_by_key(|board| board.seq).expect("there are servers")
    }

    pub(super) fn boards(&self) -> impl Iterator<Item = Arc<Board>> {
        self.servers.iter().map(Project::board)
    }

    pub(super) fn stats(&self) -> Stats {
        let board = self.board();
        let done = board.tasks.values().filter(|task| task.status == Status::Done).count() as u32;
        Stats {
            events: board.seq,
            sessions: board.sessions.len() as u32,
            done,
            conflicts: self.store.conflicts(),
            ..self.stats
        }
    }

    /// Submits a command through some server.
    async fn submit(&mut self, actor: Actor, command: Command) -> Result<Receipt<Board>, ControlError> {
        let server = self.rng.random_range(0..self.servers.len());
        let answer = self.servers[server].submit(actor, command).await;
        if let Err(ControlError::Refused(_)) = answer {
            self.stats.refused += 1;
        }
        answer
    }

    /// One random event.
    pub(super) async fn step(&mut self) {
        match self.rng.random_range(0..100) {
            0..42 => self.agent_acts().await,
            42..62 => drop(self.runner_acts().await),
            62..76 => self.examination_goes_on().await,
            76..82 => self.time_passes().await,
            82..90 => self.owner_acts().await,
            90..92 => self.server_restarts().await,
            92..93 => self.runner = SimRunner::default(), // the runner is killed
            93..94 => self.host_restarts(),
            94..96 => self.repository.user_acts(&mut self.rng),
            96..98 => drop(self.collect_exits().await),
            _ => self.renew().await,
        }
    }

    /// Ends the faults: agents obey, the project is resumed, the owner does not interfere.
    pub(super) async fn end_faults(&mut self) {
        self.faults_over = true;
        self.store.set_faults(Faults::Off);
        for process in &mut self.processes {
            process.behaviour = Behaviour::Obedient;
        }
        self.repository.mend();
        let _ = self.submit(owner(), Command::Resume).await;
        let _ = self.submit(owner(), Command::ApplyRoster { agents: roster(true) }).await;
        let board = self.board();
        for session in board.all_live_sessions().filter(|session| session.driver == Driver::Hand) {
            let _ = self.submit(owner(), end_by_hand(session.id, ProcessEnd::exited(1))).await;
        }
        for task in self.board().tasks.values().filter(|task| task.by_hand) {
            let _ = self.submit(owner(), agents::move_to(task.id, Status::Todo)).await;
        }
    }

    /// One step of everybody. False when nothing changed, and nothing will change with time.
    pub(super) async fn step_without_faults(&mut self) -> bool {
        self.renew().await;
        let before = self.board().seq;
        let acted = self.runner_acts().await | self.collect_exits().await;
        let examining = self.examinations();
        for _ in 0..examining {
            self.examination_goes_on().await;
        }
        for _ in 0..self.processes.len() {
            self.agent_acts().await;
        }
        if acted || examining > 0 || self.board().seq != before {
            return true;
        }
        let board = self.board();
        if next_due(&board).is_some_and(|due| due <= self.now()) {
            let _ = self.submit(Actor::System, Command::Sweep).await;
            return true;
        }
        let waits = board.tasks.values().filter_map(|task| task.not_before);
        let chats = board.agents.values().filter_map(|agent| agent.chat.not_before);
        let later = waits.chain(chats).chain(next_due(&board)).filter(|at| *at > self.now()).min();
        if let Some(at) = later {
            self.clock.reach(at + Span(1));
            let _ = self.submit(Actor::System, Command::Sweep).await;
            return true;
        }
        if let Some(at) = self.runner.wake_at.filter(|at| *at > self.clock.monotonic()) {
            let span = at - self.clock.monotonic();
            self.clock.pass(Span(i64::try_from(span.as_millis()).unwrap_or(1) + 1));
            return true;
        }
        // What is left of a process whose session is over is looked at by nobody.
        self.processes.retain(|process| process.runs());
        if self.processes.is_empty() {
            return false;
        }
        // Agents in a chat leave when they have been idle for long enough.
        self.clock.pass(Span::minutes(11));
        let sessions: Vec<_> = self.processes.iter().map(|process| process.session).collect();
        let chats =
            sessions.iter().filter_map(|id| board.sessions.get(id)).any(|session| session.purpose == Purpose::Chat);
        if !chats {
            self.host_restarts();
        }
        true
    }

    /// The runner's machine is gone, with every process on it.
    fn host_restarts(&mut self) {
        self.processes.clear();
        self.runner = SimRunner::default();
    }

    async fn agent_acts(&mut self) {
        let running: Vec<_> = self.processes.iter().filter(|process| process.runs()).cloned().collect();
        let Some(process) = running.choose(&mut self.rng).cloned() else { return };
        if process.mode == Mode::OneShot && process.task.is_some() {
            return self.one_shot_acts(&process).await;
        }
        let session = process.session;
        match process.behaviour {
            Behaviour::Silent => {
                if self.rng.random_bool(0.2) {
                    self.end(session, ProcessEnd::because(EndReason::Stalled)).await;
                }
            }
            Behaviour::Crashing if self.rng.random_bool(0.2) => {
                let code = self.rng.random_range(0..3);
                self.end(session, ProcessEnd::exited(code)).await;
            }
            Behaviour::Looping => drop(self.submit(Actor::Session(session), Command::NextAction).await),
            Behaviour::Lying if self.rng.random_bool(0.3) => {
                let lie = agents::report(board::Outcome::Success);
                drop(self.submit(Actor::Session(session), lie).await);
            }
            Behaviour::Hostile if self.rng.random_bool(0.9) => {
                let command = agents::random_command(&self.board(), &mut self.rng);
                drop(self.submit(Actor::Session(session), command).await);
            }
            Behaviour::Obedient
            | Behaviour::Lying
            | Behaviour::Crashing
            | Behaviour::DoubleSubmitting
            | Behaviour::Hostile => {
                self.follow(&process).await;
            }
        }
    }

    /// It never calls: it works, and ends well or badly.
    async fn one_shot_acts(&mut self, process: &Process) {
        if !self.faults_over && !self.rng.random_bool(0.3) {
            return;
        }
        self.work(process);
        let end = match process.behaviour {
            Behaviour::Silent => ProcessEnd::because(EndReason::Stalled),
            Behaviour::Crashing => ProcessEnd::exited(1),
            Behaviour::Obedient
            | Behaviour::Looping
            | Behaviour::Lying
            | Behaviour::DoubleSubmitting
            | Behaviour::Hostile => ProcessEnd::exited(0),
        };
        self.end(process.session, end).await;
    }

    /// The agent changes something in its workspace.
    fn work(&mut self, process: &Process) {
        let Some(task) = process.task else { return };
        if self.faults_over {
            let file = if self.colliding { 0 } else { self.rng.random_range(0..2) };
            self.repository.work_well(task, &[file]);
        } else {
            self.repository.work_somehow(task, &mut self.rng);
        }
    }

    /// Asks for the next step and does it.
    async fn follow(&mut self, process: &Process) {
        let actor = Actor::Session(process.session);
        let answer = match self.any_server().next_action(process.session).await {
            Ok(answer) => answer,
            Err(ControlError::Refused(_)) => return self.leave(process).await,
            Err(
                ControlError::Store(_)
                | ControlError::Unreadable { .. }
                | ControlError::Random(_)
                | ControlError::Closed,
            ) => return,
        };
        let board = self.board();
        let Ok(session) = board.session(process.session) else { return };
        let calls = agents::follow(&answer, &board, session, &mut self.rng);
        let leaves = calls.contains(&Command::Logout);
        if calls.iter().any(|call| matches!(call, Command::ReportCompleted { .. })) {
            self.work(process);
        }
        for call in calls {
            let done = self.submit(actor.clone(), call.clone()).await.is_ok();
            if process.behaviour == Behaviour::DoubleSubmitting {
                drop(self.submit(actor.clone(), call).await);
            }
            if done && agents::tries_in_turn(answer.action) {
                break;
            }
        }
        if leaves {
            self.leave(process).await;
        }
    }

    /// The agent ends. One that was attached has no process that anybody watches.
    async fn leave(&mut self, process: &Process) {
        if process.is_attached() {
            self.processes.retain(|other| other.session != process.session);
        } else {
            self.end(process.session, ProcessEnd::exited(0)).await;
        }
    }

    async fn time_passes(&mut self) {
        let span = match self.rng.random_range(0..10) {
            0 => Span::minutes(self.rng.random_range(1..120)),
            1 => Span::seconds(-self.rng.random_range(1..60)),
            _ => Span::seconds(self.rng.random_range(1..20)),
        };
        if span.0 > 0 && self.rng.random_bool(0.8) {
            self.clock.pass(span);
        } else {
            self.clock.jump(span);
        }
    }

    async fn owner_acts(&mut self) {
        let board = self.board();
        let task = TaskId(self.rng.random_range(1..=board.tasks.len() as u32));
        let forced = self.rng.random_bool(0.3);
        let to = |to| Command::MoveTask { task, to, reason: Some("owner".into()), forced, merged: false };
        let agents: Vec<_> = board.agents.keys().cloned().collect();
        let command = match self.rng.random_range(0..17) {
            0 => to(Destination::Status(Status::Blocked)),
            1 | 2 => to(Destination::By(board::lifecycle::Move::Unblock)),
            3 => to(Destination::Status(Status::Cancelled)),
            4 | 5 => to(Destination::Status(Status::Todo)),
            6 | 7 => to(Destination::Status(Status::InProgress)),
            8 => Command::Pause { now: self.rng.random_bool(0.5) },
            9 => Command::Resume,
            10 => {
                let to = Party::Agent(agents.choose(&mut self.rng).expect("there are agents").clone());
                Command::SendMessage { to, content: "how is it going?".into(), related_task: Some(task) }
            }
            11 => Command::RetryTask { task, reason: None, forced, later: self.rng.random_bool(0.5) },
            12 => Command::ApplyRoster { agents: roster(self.rng.random_bool(0.5)) },
            13 => return self.attach(&agents).await,
            14 => {
                let agent = agents.choose(&mut self.rng).expect("there are agents").clone();
                let purpose = Purpose::Task(task);
                Command::Claim { agent, purpose, driver: Driver::Hand, credential: None, forced }
            }
            15 => match board.all_live_sessions().find(|session| session.driver == Driver::Hand) {
                Some(session) => end_by_hand(session.id, ProcessEnd::exited(self.rng.random_range(0..2))),
                None => Command::Resume,
            },
            _ => match board.all_live_sessions().next() {
                Some(session) => Command::StopSession { session: session.id, restart: self.rng.random_bool(0.5) },
                None => Command::Resume,
            },
        };
        drop(self.submit(owner(), command).await);
    }

    /// A person attaches an agent by hand.
    async fn attach(&mut self, agents: &[AgentId]) {
        let agent = agents.choose(&mut self.rng).expect("there are agents").clone();
        let credential = SecretHash(format!("hash of {}", self.next_spawn()));
        let command = Command::Attach { agent, credential, can_make_workspace: true };
        let Ok(receipt) = self.submit(Actor::System, command).await else { return };
        let opened = receipt.events.iter().find_map(|event| match event.what {
            EventKind::SessionClaimed { session, purpose, .. } => Some((session, purpose.task())),
            _ => None,
        });
        if let Some((session, task)) = opened {
            if let Some(task) = task {
                self.repository.begin(task, false, false);
            }
            self.processes.push(Process::attached(session, task));
        }
    }

    async fn server_restarts(&mut self) {
        self.stats.restarts += 1;
        let index = self.rng.random_range(0..self.servers.len());
        let lifetime = if index == 0 { ProcessLifetime::LongLived } else { ProcessLifetime::ShortLived };
        self.servers[index] = self.server(lifetime).await;
    }
}

fn owner() -> Actor {
    Actor::Owner("owner".into())
}

fn name(text: &str) -> AgentId {
    text.parse().expect("a good name")
}

/// `lead` and `sub` manage workers that are led; `once` works alone and never calls.
fn roster(whole: bool) -> Vec<AgentSpec> {
    let manager = |id: &str, parent: Option<&str>| AgentSpec {
        hierarchy: Hierarchy::Manager,
        parent: parent.map(name),
        ..AgentSpec::worker(name(id))
    };
    let worker = |id: &str, parent: &str, decompose| AgentSpec {
        parent: Some(name(parent)),
        decompose,
        max_sessions: 2,
        ..AgentSpec::worker(name(id))
    };
    let once = AgentSpec { mode: Mode::OneShot, max_sessions: 3, ..worker("once", "lead", Decompose::Never) };
    let mut agents = vec![
        manager("lead", None),
        manager("sub", Some("lead")),
        worker("w1", "lead", Decompose::Auto),
        worker("w3", "sub", Decompose::Auto),
        once,
    ];
    if whole {
        agents.push(worker("w2", "lead", Decompose::Never));
    }
    agents
}

fn end_by_hand(session: SessionId, end: ProcessEnd) -> Command {
    Command::EndByHand { session, end, dod_result: DodResult::Pending, merged: false, artifacts: Vec::new() }
}
