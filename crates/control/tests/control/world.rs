//! A project that several processes have open.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use board::{Actor, AgentSpec, Command, Destination, NewTask, ProjectId, Settings, Status, TaskId, Timestamp};
use control::{Clock, Control, ProcessLifetime, Project};
use store::{MemoryStore, Store};

#[derive(Clone, Default)]
pub(crate) struct TestClock {
    wall: Arc<AtomicI64>,
    monotonic: Arc<AtomicI64>,
}

impl TestClock {
    pub(crate) fn pass(&self, milliseconds: i64) {
        self.set(milliseconds);
        self.monotonic.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// Sets the wall clock, as a person, the network or the end of a suspend does.
    pub(crate) fn set(&self, milliseconds: i64) {
        self.wall.fetch_add(milliseconds, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_800_000_000_000 + self.wall.load(Ordering::Relaxed))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.monotonic.load(Ordering::Relaxed).unsigned_abs())
    }
}

#[derive(Clone, Default)]
pub(crate) struct World {
    pub(crate) store: MemoryStore,
    pub(crate) clock: TestClock,
}

pub(crate) fn id() -> ProjectId {
    "p".parse().unwrap()
}

pub(crate) fn owner() -> Actor {
    Actor::Owner("o".into())
}

pub(crate) fn add(title: &str) -> Command {
    Command::CreateTasks { parent: None, tasks: vec![NewTask::titled(title)], key: None }
}

pub(crate) fn to(task: u32, status: Status) -> Command {
    let to = Destination::Status(status);
    Command::MoveTask { task: TaskId(task), to, reason: Some("r".into()), forced: false, merged: false }
}

/// Another process that opens the same project.
pub(crate) async fn process(store: Arc<dyn Store>, clock: &TestClock, lifetime: ProcessLifetime) -> Project {
    Control::new(store, Arc::new(clock.clone()), lifetime).project(&id()).await.unwrap()
}

impl World {
    pub(crate) async fn process(&self, lifetime: ProcessLifetime) -> Project {
        process(Arc::new(self.store.clone()), &self.clock, lifetime).await
    }

    /// A process in whose project the worker `w` has the task 1 in progress.
    pub(crate) async fn with_work(&self) -> Project {
        let project = self.process(ProcessLifetime::ShortLived).await;
        let worker = AgentSpec::worker("w".parse().unwrap());
        for command in [
            Command::Configure { settings: Box::new(Settings::new(id())) },
            Command::ApplyRoster { agents: vec![worker] },
            add("work"),
            Command::AssignTask { task: TaskId(1), assignee: Some("w".parse().unwrap()), forced: false },
            to(1, Status::InProgress),
        ] {
            project.submit(owner(), command).await.unwrap();
        }
        project
    }
}

/// A claim of task 1 by a runner.
pub(crate) fn claim(runner: &str) -> (Actor, Command) {
    let runner: board::RunnerId = runner.parse().unwrap();
    let driver = board::Driver::Runner { runner: runner.clone(), spawn: "s1".parse().unwrap() };
    let purpose = board::Purpose::Task(TaskId(1));
    let claim = Command::Claim { agent: "w".parse().unwrap(), purpose, driver, credential: None, forced: false };
    (Actor::Runner(runner), claim)
}
