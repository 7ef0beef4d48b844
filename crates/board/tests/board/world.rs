//! How does a test reach a state? Only by commands that are admitted, never by seeding (F92).

use std::collections::BTreeMap;

use board::{
    Actor, AgentId, AgentSpec, Board, Code, Command, Event, Fact, Hierarchy, NextAction, ProcessEnd, ProjectId,
    Refusal, Session, SessionId, Settings, Span, Staffing, Task, TaskId, Timestamp, admit, apply, next_action,
    staffing,
};

/// A board with its log, and the instant at which the next command comes.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) board: Board,
    pub(crate) now: Timestamp,
    pub(crate) log: Vec<Event>,
}

pub(crate) fn owner() -> Actor {
    Actor::Owner("o".into())
}

pub(crate) fn runner() -> Actor {
    Actor::Runner("r".parse().unwrap())
}

pub(crate) fn agent(id: &str) -> AgentId {
    id.parse().unwrap()
}

pub(crate) fn project() -> ProjectId {
    "web".parse().unwrap()
}

/// `lead` manages `w1`, `w2` and the manager `sub`, who manages `w3`.
pub(crate) fn roster() -> Vec<AgentSpec> {
    let spec = |id: &str, hierarchy, parent: Option<&str>| AgentSpec {
        hierarchy,
        parent: parent.map(agent),
        ..AgentSpec::worker(agent(id))
    };
    vec![
        spec("lead", Hierarchy::Manager, None),
        spec("w1", Hierarchy::Worker, Some("lead")),
        spec("w2", Hierarchy::Worker, Some("lead")),
        spec("sub", Hierarchy::Manager, Some("lead")),
        spec("w3", Hierarchy::Worker, Some("sub")),
    ]
}

/// The definition of an agent in a roster that a test changes.
pub(crate) fn spec<'a>(roster: &'a mut [AgentSpec], id: &str) -> &'a mut AgentSpec {
    roster.iter_mut().find(|spec| spec.id == agent(id)).unwrap()
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|_, _| {})
    }

    /// A project whose owner has configured it and hired the roster.
    pub(crate) fn with(change: impl FnOnce(&mut Settings, &mut Vec<AgentSpec>)) -> Self {
        let (mut settings, mut agents) = (Settings::new(project()), roster());
        settings.dod.checks = vec![board::Check { name: "tests_pass".into(), command: "make test".into() }];
        change(&mut settings, &mut agents);
        let board = Board::new(Settings::new(project()));
        let mut world = Self { board, now: Timestamp(1_767_225_600_000), log: Vec::new() };
        world.must(&owner(), Command::Configure { settings: Box::new(settings) });
        world.must(&owner(), Command::ApplyRoster { agents });
        world
    }

    pub(crate) fn attempt(&mut self, actor: &Actor, command: &Command) -> Result<Vec<Event>, Refusal> {
        let events = admit(&self.board, actor, command, self.now)?;
        for event in &events {
            apply(&mut self.board, event);
            self.log.push(event.clone());
        }
        Ok(events)
    }

    pub(crate) fn must(&mut self, actor: &Actor, command: Command) -> Vec<Event> {
        self.attempt(actor, &command).unwrap_or_else(|refusal| panic!("{actor:?} {command:?}: {refusal}"))
    }

    /// The command is refused, and asking has changed nothing.
    pub(crate) fn refused(&self, actor: &Actor, command: Command) -> Code {
        self.refusal(actor, &command).code()
    }

    pub(crate) fn refusal(&self, actor: &Actor, command: &Command) -> Refusal {
        match admit(&self.board, actor, command, self.now) {
            Ok(events) => panic!("{actor:?} {command:?} was accepted: {events:?}"),
            Err(refusal) => refusal,
        }
    }

    pub(crate) fn allows(&self, actor: &Actor, command: &Command) -> bool {
        admit(&self.board, actor, command, self.now).is_ok()
    }

    pub(crate) fn task(&self, id: TaskId) -> &Task {
        self.board.task(id).unwrap()
    }

    pub(crate) fn session(&self, id: SessionId) -> &Session {
        self.board.session(id).unwrap()
    }

    pub(crate) fn staff(&self, id: &str) -> Staffing {
        staffing(&self.board, &agent(id), self.now).unwrap()
    }

    /// The next step and its row, without delivering it.
    pub(crate) fn peek(&self, session: SessionId) -> (NextAction, &'static str) {
        next_action(&self.board, session, self.now).unwrap()
    }

    /// `get_next_action`: checks what the agent reads, and delivers it.
    pub(crate) fn ask(&mut self, session: SessionId) -> (NextAction, &'static str) {
        let given = self.peek(session);
        crate::answers::check(self, session);
        self.must(&Actor::Session(session), Command::NextAction);
        given
    }

    /// Nothing happens for a while: leases are not renewed.
    pub(crate) fn pass(&mut self, span: Span) {
        self.now = self.now + span;
    }

    /// Time goes by while the runner renews every lease.
    pub(crate) fn tend(&mut self, span: Span) {
        let until = self.now + span;
        while self.now < until {
            self.now = until.min(self.now + Span::seconds(20));
            let sessions: Vec<_> = self.board.all_live_sessions().map(|s| (s.id, s.generation)).collect();
            if !sessions.is_empty() {
                self.must(&runner(), Command::RenewLeases { sessions, quiet: BTreeMap::new() });
            }
        }
    }

    /// The runner reports how the process ended.
    pub(crate) fn end(&mut self, session: SessionId, end: ProcessEnd) -> Vec<Event> {
        self.fact(session, Fact::Exit { end, usage: None })
    }

    /// The runner reports a fact, with the number that follows its last one.
    pub(crate) fn fact(&mut self, session: SessionId, fact: Fact) -> Vec<Event> {
        let command = self.reporting(session, fact);
        self.must(&runner(), command)
    }

    pub(crate) fn reporting(&self, session: SessionId, fact: Fact) -> Command {
        let (generation, number) = (self.session(session).generation, self.session(session).facts + 1);
        Command::Report { session, generation, number, fact }
    }
}
