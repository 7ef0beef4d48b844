//! A project to measure on.

use std::path::Path;
use std::sync::Arc;

use board::{
    Actor, AgentId, AgentSpec, Command, Decompose, Destination, Limits, NewTask, ProjectId, Settings, Status, TaskId,
};
use control::{Control, ProcessLifetime, Project, SystemClock};
use store::SqliteStore;

pub(crate) fn project_id() -> ProjectId {
    "bench".parse().expect("a good name")
}

pub(crate) fn owner() -> Actor {
    Actor::Owner("bench".into())
}

pub(crate) fn worker() -> AgentId {
    "w".parse().expect("a good name")
}

pub(crate) async fn open(path: &Path) -> anyhow::Result<Project> {
    let store = SqliteStore::open(path)?;
    Ok(Control::new(Arc::new(store), Arc::new(SystemClock), ProcessLifetime::ShortLived).project(&project_id()).await?)
}

/// Settings and a worker whose limits are no obstacle.
pub(crate) async fn configure(project: &Project) -> anyhow::Result<()> {
    let mut settings = Settings::new(project_id());
    settings.limits = Limits { max_calls: 1_000_000, max_repeats: 1_000_000, max_sessions: 1_000, ..Limits::default() };
    let worker = AgentSpec { max_sessions: 1_000, decompose: Decompose::Auto, ..AgentSpec::worker(worker()) };
    project.submit(owner(), Command::Configure { settings: Box::new(settings) }).await?;
    project.submit(owner(), Command::ApplyRoster { agents: vec![worker] }).await?;
    Ok(())
}

/// Tasks with a description of a usual length.
pub(crate) async fn add_tasks(project: &Project, count: usize) -> anyhow::Result<()> {
    let description = "As a user I want to sign in with my account, so that my work is kept. See the memory bank for \
                       the rules on sessions, and keep the existing tests green.";
    let mut left = count;
    while left > 0 {
        let now = left.min(100);
        let task = |n| NewTask {
            description: description.into(),
            labels: vec!["backend".into()],
            ..NewTask::titled(format!("Add the sign-in form, part {}", left - n))
        };
        let tasks = (0..now).map(task).collect();
        project.submit(owner(), Command::CreateTasks { parent: None, tasks, key: None }).await?;
        left -= now;
    }
    Ok(())
}

pub(crate) fn move_to(task: TaskId, status: Status) -> Command {
    Command::MoveTask { task, to: Destination::Status(status), reason: None, forced: false, merged: false }
}
