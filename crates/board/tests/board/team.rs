//! What do owner, manager and workers do in the tests, in one word each?

use board::{
    Actor, CheckOutcome, CheckResult, Choice, Code, Command, Context, Destination, Driver, EndReason, Event,
    Examination, Fact, Interrupt, Merge, NewTask, Outcome, Party, ProcessEnd, Purpose, Reason, SessionId, Status,
    StopCause, TaskId, WorkspaceFacts,
};

use crate::world::{World, agent, owner, runner};

/// A task of `lead`, in progress in a session, with two children that nobody has yet.
#[derive(Clone)]
pub(crate) struct Team {
    pub(crate) world: World,
    pub(crate) top: TaskId,
    pub(crate) lead: SessionId,
    pub(crate) a: TaskId,
    pub(crate) b: TaskId,
}

impl Team {
    pub(crate) fn new() -> Self {
        Self::of(World::new())
    }

    pub(crate) fn of(mut world: World) -> Self {
        let top = world.started("lead");
        let lead = world.enter("lead", top);
        let children = world.create(&Actor::Session(lead), &["a", "b"]);
        Self { world, top, lead, a: children[0], b: children[1] }
    }

    pub(crate) fn lead(&self) -> Actor {
        Actor::Session(self.lead)
    }

    /// `a` is given to `w1` and started.
    pub(crate) fn with_a_started() -> Self {
        let mut team = Self::new();
        team.give("w1", team.a);
        team
    }

    /// The manager gives a child to somebody and starts it.
    pub(crate) fn give(&mut self, to: &str, child: TaskId) {
        let lead = self.lead();
        self.world.assign(&lead, child, to);
        self.world.go(&lead, child, Status::InProgress);
    }

    /// The manager chooses `wait`, is told to, and leaves.
    pub(crate) fn leave_waiting(&mut self) {
        self.world.leave_waiting(self.lead);
    }

    /// `lead` comes back in a new session.
    pub(crate) fn back(&mut self) -> SessionId {
        self.lead = self.world.enter("lead", self.top);
        self.lead
    }
}

pub(crate) type Happening = fn(&mut Team);

/// What interrupts the session of `a`: how it is told to the agent, and how to its runner.
pub(crate) const INTERRUPTIONS: [(Happening, Interrupt, Reason); 7] = [
    (|team| drop(team.world.go(&team.lead(), team.a, Status::Cancelled)), Interrupt::Cancelled, Reason::Cancelled),
    (|team| drop(team.world.go(&team.lead(), team.a, Status::Blocked)), Interrupt::Blocked, Reason::Blocked),
    (|team| drop(team.world.go(&owner(), team.top, Status::Blocked)), Interrupt::Held { by: TaskId(1) }, Reason::Held),
    (
        |team| drop(team.world.must(&owner(), Command::Pause { now: true })),
        Interrupt::Stopped(StopCause::Paused),
        Reason::ProjectPaused,
    ),
    (
        |team| drop(team.world.go(&team.lead(), team.a, Status::Todo)),
        Interrupt::Stopped(StopCause::Unstarted),
        Reason::Unstarted,
    ),
    (
        |team| {
            let session = team.world.task(team.a).live.unwrap();
            team.world.must(&owner(), Command::StopSession { session, restart: true });
        },
        Interrupt::Stopped(StopCause::Owner),
        Reason::StoppedByOwner,
    ),
    (
        |team| {
            let lead = team.lead();
            team.world.go(&lead, team.a, Status::Blocked);
            team.world.assign(&lead, team.a, "w2");
            team.world.go(&lead, team.a, Status::InProgress);
        },
        Interrupt::Reassigned,
        Reason::Reassigned,
    ),
];

pub(crate) fn moving(task: TaskId, to: Status) -> Command {
    let (to, reason) = (Destination::Status(to), Some("because".into()));
    Command::MoveTask { task, to, reason, forced: false, merged: false }
}

pub(crate) fn forced(task: TaskId, to: Status) -> Command {
    let (to, reason) = (Destination::Status(to), Some("because".into()));
    Command::MoveTask { task, to, reason, forced: true, merged: false }
}

pub(crate) fn assigning(task: TaskId, to: &str) -> Command {
    Command::AssignTask { task, assignee: Some(agent(to)), forced: false }
}

pub(crate) fn depending(task: TaskId, on: TaskId) -> Command {
    Command::ChangeDependencies { task, add: vec![on], remove: Vec::new(), forced: false }
}

pub(crate) fn creating(titles: &[&str]) -> Command {
    let tasks = titles.iter().map(|title| NewTask::titled(*title)).collect();
    Command::CreateTasks { parent: None, tasks, key: None }
}

pub(crate) fn claiming(id: &str, task: TaskId) -> Command {
    let driver = Driver::Runner { runner: "r".parse().unwrap(), spawn: "s".parse().unwrap() };
    Command::Claim { agent: agent(id), purpose: Purpose::Task(task), driver, credential: None, forced: false }
}

pub(crate) fn claiming_chat(id: &str) -> Command {
    let driver = Driver::Runner { runner: "r".parse().unwrap(), spawn: "s".parse().unwrap() };
    Command::Claim { agent: agent(id), purpose: Purpose::Chat, driver, credential: None, forced: false }
}

pub(crate) fn reporting(result: Outcome) -> Command {
    Command::ReportCompleted { result, summary: "it is so".into(), next_steps: None }
}

pub(crate) fn saving() -> Command {
    let context = Context { progress: Some("half".into()), ..Context::default() };
    Command::SaveContext { context, decision: None }
}

pub(crate) fn commenting(task: TaskId) -> Command {
    Command::CommentTask { task, text: "please".into() }
}

pub(crate) fn writing(to: &str) -> Command {
    Command::SendMessage { to: Party::Agent(agent(to)), content: "hello".into(), related_task: None }
}

/// A clean candidate that was merged.
pub(crate) fn merged() -> WorkspaceFacts {
    WorkspaceFacts {
        commits: 1,
        changed: vec!["src/a.rs".into()],
        outside_scope: Vec::new(),
        checks: vec![check(CheckOutcome::Pass)],
        judge_changes: board::JudgeChanges::default(),
        goals_unmet: Vec::new(),
        merge: Merge::Merged { commit: "c0ffee".into() },
        target: Some(TARGET.into()),
        candidate: Some("c0ffee".into()),
        tree: None,
        undone_by_git: false,
    }
}

/// The target's commit while nobody has moved it.
pub(crate) const TARGET: &str = "7a49e7";

/// A result of the project's one check.
pub(crate) fn check(outcome: CheckOutcome) -> CheckResult {
    let output = if outcome == CheckOutcome::Pass { String::new() } else { "2 failed".into() };
    CheckResult { name: "tests_pass".into(), command: "make test".into(), outcome, output }
}

/// The same with a check that failed.
pub(crate) fn failing_check() -> WorkspaceFacts {
    WorkspaceFacts { checks: vec![check(CheckOutcome::Fail)], merge: Merge::NotTried, ..merged() }
}

impl World {
    /// A task without parent, assigned, in `todo`.
    pub(crate) fn top(&mut self, assignee: &str) -> TaskId {
        let title = format!("top {}", self.board.tasks.len());
        let task = NewTask { assignee: Some(agent(assignee)), ..NewTask::titled(title) };
        self.new_task(&owner(), None, task)
    }

    pub(crate) fn new_task(&mut self, actor: &Actor, parent: Option<TaskId>, task: NewTask) -> TaskId {
        self.must(actor, Command::CreateTasks { parent, tasks: vec![task], key: None });
        self.board.tasks.get_max().unwrap().0
    }

    /// The same, started by the owner.
    pub(crate) fn started(&mut self, assignee: &str) -> TaskId {
        let task = self.top(assignee);
        self.go(&owner(), task, Status::InProgress);
        task
    }

    /// Children of the session's own task.
    pub(crate) fn create(&mut self, session: &Actor, titles: &[&str]) -> Vec<TaskId> {
        let first = self.board.tasks.len() as u32 + 1;
        self.must(session, creating(titles));
        (first..first + titles.len() as u32).map(TaskId).collect()
    }

    pub(crate) fn go(&mut self, actor: &Actor, task: TaskId, to: Status) -> Vec<Event> {
        self.must(actor, moving(task, to))
    }

    pub(crate) fn assign(&mut self, actor: &Actor, task: TaskId, to: &str) -> Vec<Event> {
        self.must(actor, assigning(task, to))
    }

    pub(crate) fn claim(&mut self, id: &str, task: TaskId) -> SessionId {
        self.must(&runner(), claiming(id, task));
        self.task(task).live.unwrap()
    }

    /// The owner writes, and the agent comes to chat.
    pub(crate) fn chat(&mut self, id: &str) -> SessionId {
        self.must(&owner(), writing(id));
        self.must(&runner(), claiming_chat(id));
        self.board.agent(&agent(id)).unwrap().chat.live.unwrap()
    }

    pub(crate) fn report_model(&mut self, session: SessionId) {
        let command = Command::ReportModel { provider: "anthropic".into(), model_id: "m".into() };
        self.must(&Actor::Session(session), command);
    }

    /// Claims a task and does what every session begins with.
    pub(crate) fn enter(&mut self, id: &str, task: TaskId) -> SessionId {
        let session = self.claim(id, task);
        self.fact(session, Fact::Running);
        self.report_model(session);
        self.must(&Actor::Session(session), Command::FetchTask);
        session
    }

    /// A manager chooses `wait`, is told to, and leaves.
    pub(crate) fn leave_waiting(&mut self, session: SessionId) {
        self.select(session, Choice::Wait);
        self.ask(session);
        self.leave(session);
    }

    pub(crate) fn select(&mut self, session: SessionId, choice: Choice) -> Vec<Event> {
        self.must(&Actor::Session(session), Command::SelectAction { choice, reason: None })
    }

    pub(crate) fn report(&mut self, session: SessionId, result: Outcome) -> Vec<Event> {
        self.must(&Actor::Session(session), reporting(result))
    }

    /// Logs out, and its process exits well.
    pub(crate) fn leave(&mut self, session: SessionId) -> Vec<Event> {
        self.must(&Actor::Session(session), Command::Logout);
        self.end(session, ProcessEnd::exited(0))
    }

    pub(crate) fn examine(&mut self, session: SessionId, facts: WorkspaceFacts) -> Vec<Event> {
        if facts.checks.iter().any(|check| check.outcome != CheckOutcome::Pass) {
            self.target_is(CheckOutcome::Pass);
        }
        self.fact(session, Fact::Examined(Examination::Found(Box::new(facts))))
    }

    /// The check ran on the target alone.
    pub(crate) fn target_is(&mut self, outcome: CheckOutcome) {
        let results = vec![check(outcome)];
        self.must(&runner(), Command::ReportTarget { commit: TARGET.into(), results });
    }

    /// Reports success, leaves, and its work has these facts.
    pub(crate) fn deliver(&mut self, session: SessionId, facts: WorkspaceFacts) {
        self.report(session, Outcome::Success);
        self.leave(session);
        if self.session(session).is_live() {
            self.examine(session, facts);
        }
    }

    /// A worker does a whole task that is in progress.
    pub(crate) fn complete(&mut self, id: &str, task: TaskId) -> SessionId {
        let session = self.enter(id, task);
        self.deliver(session, merged());
        assert_eq!(self.task(task).status, Status::Done);
        session
    }

    /// A session on a task in progress that ends badly.
    pub(crate) fn crash(&mut self, id: &str, task: TaskId) -> SessionId {
        let session = self.enter(id, task);
        self.end(session, ProcessEnd::because(EndReason::TimedOut));
        session
    }

    pub(crate) fn no_progress(&mut self, session: SessionId) {
        let repeats = self.board.settings.limits.max_repeats;
        for _ in 0..repeats {
            self.ask(session);
        }
    }

    pub(crate) fn cannot(&self, session: SessionId, command: Command) -> Code {
        self.refused(&Actor::Session(session), command)
    }
}
