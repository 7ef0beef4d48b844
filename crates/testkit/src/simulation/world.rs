//! What happens in a schedule: to a project, its team, and two servers on one store.

use std::sync::Arc;

use board::{
    Actor, AgentId, AgentSpec, Board, CheckOutcome, CheckResult, Command, Completion, Decompose, Destination, Driver,
    EndReason, EventKind, Generation, Hierarchy, Limits, Merge, NewTask, Party, ProcessEnd, ProjectId, Purpose,
    RunnerId, SessionId, SessionStatus, Settings, Span, SpawnId, Status, TaskId, Timestamp, WorkspaceFacts, next_due,
    staffing,
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

/// A client process that the runner knows.
#[derive(Clone, Copy, Debug)]
struct Process {
    session: SessionId,
    generation: Generation,
    behaviour: Behaviour,
}

pub(super) struct World {
    rng: ChaCha8Rng,
    clock: SimClock,
    memory: MemoryStore,
    store: Arc<FlakyStore>,
    id: ProjectId,
    /// Several processes with the project open.
    servers: Vec<Project>,
    runner: RunnerId,
    processes: Vec<Process>,
    spawned: u32,
    faults_over: bool,
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
            runner: "runner".parse().expect("a good name"),
            processes: Vec::new(),
            spawned: 0,
            faults_over: false,
            stats: Stats::default(),
            rng: ChaCha8Rng::seed_from_u64(rng.random()),
        };
        world.servers =
            vec![world.server(ProcessLifetime::LongLived).await, world.server(ProcessLifetime::ShortLived).await];
        world.set_up(&mut rng).await;
        world.store.set_faults(Faults::On);
        world
    }

    async fn server(&self, lifetime: ProcessLifetime) -> Project {
        let store: Arc<dyn Store> = Arc::clone(&self.store) as _;
        let control = Control::new(store, Arc::new(self.clock.clone()), lifetime);
        control.project(&self.id).await.expect("the simulated store can always be read")
    }

    async fn set_up(&mut self, rng: &mut ChaCha8Rng) {
        let mut settings = Settings::new(self.id.clone());
        settings.completion = if rng.random_bool(0.5) { Completion::Merged } else { Completion::Reported };
        settings.limits = Limits {
            max_calls: rng.random_range(20..80),
            max_task_sessions: rng.random_range(4..12),
            max_children_ever: rng.random_range(5..12),
            max_messages: 5,
            max_depth: rng.random_range(1..=3),
            ..Limits::default()
        };
        self.submit_as_owner(Command::Configure { settings: Box::new(settings) }).await;
        let name = |text: &str| text.parse::<AgentId>().expect("a good name");
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
        let agents = vec![
            manager("lead", None),
            manager("sub", Some("lead")),
            worker("w1", "lead", Decompose::Auto),
            worker("w2", "lead", Decompose::Never),
            worker("w3", "sub", Decompose::Auto),
        ];
        self.submit_as_owner(Command::ApplyRoster { agents }).await;
        for n in 0..rng.random_range(1..=3) {
            let assignee = ["lead", "lead", "w1", "w2"].choose(rng).map(|id| name(id));
            let task = NewTask { assignee, ..NewTask::titled(format!("goal {n}")) };
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
            0..50 => self.agent_acts().await,
            50..68 => self.staff().await,
            68..78 => self.verify().await,
            78..84 => self.time_passes().await,
            84..93 => self.owner_acts().await,
            93..96 => self.server_restarts().await,
            96..98 => self.processes.clear(), // the runner's host is gone
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
        let _ = self.submit(owner(), Command::Resume).await;
    }

    /// One step of everybody. False when nothing changed, and nothing will change with time.
    pub(super) async fn step_without_faults(&mut self) -> bool {
        self.renew().await;
        let before = self.board().seq;
        self.staff().await;
        self.verify().await;
        for _ in 0..self.processes.len() {
            self.agent_acts().await;
        }
        if self.board().seq != before {
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
        if self.processes.is_empty() {
            return false;
        }
        // Agents in a chat leave when they have been idle for long enough.
        self.clock.pass(Span::minutes(11));
        let sessions: Vec<_> = self.processes.iter().map(|process| process.session).collect();
        let chats =
            sessions.iter().filter_map(|id| board.sessions.get(id)).any(|session| session.purpose == Purpose::Chat);
        if !chats {
            self.processes.clear();
        }
        true
    }

    /// A runner does what staffing says, agent by agent. Sometimes two ask at once.
    async fn staff(&mut self) {
        let board = self.board();
        for agent in board.agents.keys() {
            let Ok(answer) = staffing(&self.board(), agent, self.now()) else { continue };
            match (answer.action, answer.purpose) {
                (board::Action::Start, Some(purpose)) => {
                    let claims = if self.rng.random_bool(0.1) { 2 } else { 1 };
                    for _ in 0..claims {
                        self.claim(agent, purpose).await;
                    }
                }
                (board::Action::Stop, _) => {
                    if let Some(session) = answer.session {
                        self.stop(session).await;
                    }
                }
                (board::Action::Start | board::Action::NoChange, _) => {}
            }
        }
    }

    async fn claim(&mut self, agent: &AgentId, purpose: Purpose) {
        self.spawned += 1;
        let spawn: SpawnId = format!("spawn-{}", self.spawned).parse().expect("a good name");
        let driver = Driver::Runner { runner: self.runner.clone(), spawn };
        let claim = Command::Claim { agent: agent.clone(), purpose, driver, credential: None, forced: false };
        let Ok(receipt) = self.submit(Actor::Runner(self.runner.clone()), claim).await else { return };
        let claimed = receipt.events.iter().find_map(|event| match event.what {
            EventKind::SessionClaimed { session, generation, .. } => Some((session, generation)),
            _ => None,
        });
        let Some((session, generation)) = claimed else { return };
        let behaviour = match self.faults_over || self.rng.random_bool(0.5) {
            true => Behaviour::Obedient,
            false => *Behaviour::ALL.choose(&mut self.rng).expect("the list is not empty"),
        };
        self.processes.push(Process { session, generation, behaviour });
        let _ = self.submit(Actor::Runner(self.runner.clone()), Command::ReportRunning { session, generation }).await;
    }

    async fn stop(&mut self, session: SessionId) {
        if let Some(index) = self.processes.iter().position(|process| process.session == session) {
            let process = self.processes.swap_remove(index);
            self.end(process, ProcessEnd::because(EndReason::Stopped)).await;
        }
    }

    async fn end(&mut self, process: Process, end: ProcessEnd) {
        let Process { session, generation, .. } = process;
        let command = Command::EndProcess { session, generation, end, artifacts: Vec::new(), usage: None };
        if let Err(ControlError::Store(_)) = self.submit(Actor::Runner(self.runner.clone()), command).await {
            // The runner has its exit on disk and reports it again later.
            self.processes.push(process);
        }
    }

    async fn agent_acts(&mut self) {
        if self.processes.is_empty() {
            return;
        }
        let index = self.rng.random_range(0..self.processes.len());
        let process = self.processes[index];
        match process.behaviour {
            Behaviour::Silent => {
                if self.rng.random_bool(0.2) {
                    self.processes.swap_remove(index);
                    self.end(process, ProcessEnd::because(EndReason::Stalled)).await;
                }
            }
            Behaviour::Crashing if self.rng.random_bool(0.2) => {
                self.processes.swap_remove(index);
                let code = self.rng.random_range(0..3);
                self.end(process, ProcessEnd::exited(code)).await;
            }
            Behaviour::Looping => drop(self.submit(Actor::Session(process.session), Command::NextAction).await),
            Behaviour::Lying if self.rng.random_bool(0.3) => {
                let lie = agents::report(board::Outcome::Success);
                drop(self.submit(Actor::Session(process.session), lie).await);
            }
            Behaviour::Hostile if self.rng.random_bool(0.9) => {
                let command = agents::random_command(&self.board(), &mut self.rng);
                drop(self.submit(Actor::Session(process.session), command).await);
            }
            Behaviour::Obedient
            | Behaviour::Lying
            | Behaviour::Crashing
            | Behaviour::DoubleSubmitting
            | Behaviour::Hostile => {
                self.follow(index, process).await;
            }
        }
    }

    /// Asks for the next step and does it.
    async fn follow(&mut self, index: usize, process: Process) {
        let actor = Actor::Session(process.session);
        let server = self.rng.random_range(0..self.servers.len());
        let answer = match self.servers[server].next_action(process.session).await {
            Ok(answer) => answer,
            Err(ControlError::Refused(_)) => {
                self.processes.swap_remove(index);
                self.end(process, ProcessEnd::exited(0)).await;
                return;
            }
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
            self.processes.retain(|other| other.session != process.session);
            self.end(process, ProcessEnd::exited(0)).await;
        }
    }

    /// The runner examines what is waiting to be judged.
    async fn verify(&mut self) {
        let board = self.board();
        let waiting: Vec<_> = board
            .all_live_sessions()
            .filter(|session| session.status == SessionStatus::Verifying)
            .map(|session| (session.id, session.generation))
            .collect();
        for (session, generation) in waiting {
            let facts = Box::new(self.facts());
            let command = Command::ExamineWorkspace { session, generation, facts };
            drop(self.submit(Actor::Runner(self.runner.clone()), command).await);
        }
    }

    fn facts(&mut self) -> WorkspaceFacts {
        let case = if self.faults_over { 9 } else { self.rng.random_range(0..10) };
        let file = || vec!["src/a.rs".to_owned()];
        let check = |outcome| vec![CheckResult { name: "tests_pass".into(), outcome, output: String::new() }];
        WorkspaceFacts {
            commits: u32::from(case != 0),
            changed: if case == 0 { Vec::new() } else { file() },
            outside_scope: if case == 1 { file() } else { Vec::new() },
            checks: check(match case {
                2 => CheckOutcome::Fail,
                3 => CheckOutcome::DidNotRun,
                _ => CheckOutcome::Pass,
            }),
            goals_unmet: Vec::new(),
            merge: match case {
                0..=3 => Merge::NotTried,
                4 => Merge::Conflict { files: file() },
                _ => Merge::Merged { commit: "c0ffee".into() },
            },
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

    async fn renew(&mut self) {
        let sessions: Vec<_> = self.processes.iter().map(|process| (process.session, process.generation)).collect();
        let verifying = self.board();
        let verifying = verifying
            .all_live_sessions()
            .filter(|session| session.status == SessionStatus::Verifying)
            .map(|session| (session.id, session.generation));
        let sessions = sessions.into_iter().chain(verifying).collect();
        drop(self.submit(Actor::Runner(self.runner.clone()), Command::RenewLeases { sessions }).await);
    }

    async fn owner_acts(&mut self) {
        let board = self.board();
        let task = TaskId(self.rng.random_range(1..=board.tasks.len() as u32));
        let forced = self.rng.random_bool(0.3);
        let to = |to| Command::MoveTask { task, to, reason: Some("owner".into()), forced, merged: false };
        let agents: Vec<_> = board.agents.keys().cloned().collect();
        let command = match self.rng.random_range(0..12) {
            0 => to(Destination::Status(Status::Blocked)),
            1 | 2 => to(Destination::By(board::lifecycle::Move::Unblock)),
            3 => to(Destination::Status(Status::Cancelled)),
            4 | 5 => to(Destination::Status(Status::Todo)),
            6 | 7 => to(Destination::Status(Status::InProgress)),
            8 => Command::Pause,
            9 => Command::Resume,
            10 => {
                let to = Party::Agent(agents.choose(&mut self.rng).expect("there are agents").clone());
                Command::SendMessage { to, content: "how is it going?".into(), related_task: Some(task) }
            }
            _ => match board.all_live_sessions().next() {
                Some(session) => Command::StopSession { session: session.id },
                None => Command::Resume,
            },
        };
        drop(self.submit(owner(), command).await);
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
