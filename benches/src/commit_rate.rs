//! P2: how many durable commands a second, beside one commit at a time on the same disk?

use std::path::Path;
use std::time::{Duration, Instant};

use board::{Actor, Command, Driver, NewTask, Purpose, SessionId, Status, TaskId};
use control::Project;

use crate::Measurement;
use crate::bench_project::{configure, move_to, open, owner, project_id, worker};

pub(crate) const CLIENTS: u32 = 64;
const ROUND_TIME: Duration = Duration::from_secs(4);

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let home = tempfile::tempdir_in(".")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let project = runtime.block_on(open(&home.path().join("saihai.db")))?;
    runtime.block_on(prepare(&project))?;
    // Alternating, so that a change in the disk's speed affects both.
    let (mut one, mut many) = (0.0, 0.0);
    for turn in 0..3 {
        one += one_at_a_time(&home.path().join(format!("plain-{turn}.db")))?;
        many += runtime.block_on(many_clients(&[&project], ROUND_TIME))?;
    }
    let ratio = many / one;
    Ok(vec![Measurement {
        id: "P2",
        what: format!("durable `update_task_status`, {CLIENTS} clients, SQLite FULL, beside one commit at a time"),
        measured: format!("**{ratio:.1} ×** ({:.0}/s beside {:.0}/s)", many / 3.0, one / 3.0),
        budget: "≥ 5 ×",
        within_budget: ratio >= 5.0,
    }])
}

/// Plain SQLite with the same durability: an insert, committed, and again.
fn one_at_a_time(path: &Path) -> anyhow::Result<f64> {
    let connection = rusqlite::Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE events (seq INTEGER PRIMARY KEY, body TEXT)",
    )?;
    let body = "x".repeat(150);
    let (start, mut count) = (Instant::now(), 0u32);
    while start.elapsed() < ROUND_TIME / 2 {
        connection.execute("INSERT INTO events (body) VALUES (?1)", [&body])?;
        count += 1;
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

/// A project in which each client has a session of its own, with a step to move to and fro.
pub(crate) async fn prepare(project: &Project) -> anyhow::Result<()> {
    configure(project).await?;
    for n in 0..CLIENTS {
        let task = NewTask { assignee: Some(worker()), ..NewTask::titled(format!("task {n}")) };
        project.submit(owner(), Command::CreateTasks { parent: None, tasks: vec![task], key: None }).await?;
        project.submit(owner(), move_to(TaskId(n + 1), Status::InProgress)).await?;
        // Nobody renews a lease here, so they are sessions without one.
        let claim = Command::Claim {
            agent: worker(),
            purpose: Purpose::Task(TaskId(n + 1)),
            driver: Driver::Hand,
            credential: None,
            forced: false,
        };
        project.submit(owner(), claim).await?;
    }
    for n in 0..CLIENTS {
        let step = Command::CreateTasks { parent: None, tasks: vec![NewTask::titled("step")], key: None };
        project.submit(Actor::Session(SessionId(n + 1)), step).await?;
    }
    assert_eq!(project_id(), project.board().settings.id);
    Ok(())
}

/// How many commands a second the clients get through, each with the server that is its turn.
pub(crate) async fn many_clients(servers: &[&Project], time: Duration) -> anyhow::Result<f64> {
    let start = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for n in 0..CLIENTS {
        let project = servers[n as usize % servers.len()].clone();
        let (session, step) = (SessionId(n + 1), TaskId(CLIENTS + n + 1));
        clients.spawn(async move {
            let mut count = 0u32;
            while start.elapsed() < time || !count.is_multiple_of(2) {
                let status = if count.is_multiple_of(2) { Status::InProgress } else { Status::Todo };
                project.submit(Actor::Session(session), move_to(step, status)).await.expect("it may move its step");
                count += 1;
            }
            count
        });
    }
    let total: u32 = clients.join_all().await.into_iter().sum();
    Ok(f64::from(total) / start.elapsed().as_secs_f64())
}
