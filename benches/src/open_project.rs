//! P5: how long does opening a project take, and does it grow with the events before its snapshot?

use std::path::Path;
use std::time::{Duration, Instant};

use board::snapshot::SNAPSHOT_FORMAT;
use board::{Command, Status, TaskEdit, TaskId};
use control::Project;
use store::{EventLog as _, Snapshot, Snapshots as _};

use crate::bench_project::{add_tasks, configure, move_to, open, owner, project_id};
use crate::{Measurement, median, milliseconds};

const TASKS: usize = 10_000;
/// Every log is measured with as many events after its snapshot.
const TAIL: u64 = 500;

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let home = tempfile::tempdir_in(".")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let path = |name: &str| home.path().join(name);
    let (few, many, large) = (path("few.db"), path("many.db"), path("large.db"));
    runtime.block_on(write_log(&few, TASKS, 100_000))?;
    runtime.block_on(write_log(&many, TASKS, 1_000_000))?;
    runtime.block_on(write_log(&large, 10 * TASKS, 1_000_000))?;
    let (mut of_few, mut of_many, mut of_large) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..15 {
        of_few.push(runtime.block_on(time_to_open(&few))?);
        of_many.push(runtime.block_on(time_to_open(&many))?);
        of_large.push(runtime.block_on(time_to_open(&large))?);
    }
    let (of_few, of_many, of_large) = (median(of_few), median(of_many), median(of_large));
    let ratio = of_many.as_secs_f64() / of_few.as_secs_f64();
    Ok(vec![
        Measurement {
            id: "P5",
            what: "open a project of 1,000,000 events and 100,000 tasks".into(),
            measured: format!("**{}**", milliseconds(of_large)),
            budget: "≤ 1.5 s",
            within_budget: of_large <= Duration::from_millis(1_500),
        },
        Measurement {
            id: "P5",
            what: "1,000,000 events beside 100,000 events, both with 10,000 tasks".into(),
            measured: format!("**{ratio:.2} ×** ({} beside {})", milliseconds(of_many), milliseconds(of_few)),
            budget: "flat (≤ 1.5 ×)",
            within_budget: ratio <= 1.5,
        },
    ])
}

/// Moves tasks to and fro, through the real writer, until the log has that many events.
pub(crate) async fn write_log(path: &Path, tasks: usize, events: u64) -> anyhow::Result<()> {
    let project = open(path).await?;
    configure(&project).await?;
    add_tasks(&project, tasks).await?;
    let clients = 500;
    let each = (events - project.board().seq) / clients;
    let mut running = tokio::task::JoinSet::new();
    for client in 0..clients {
        running.spawn(toggle_tasks(project.clone(), client, each));
    }
    running.join_all().await;
    anyhow::ensure!(project.board().seq > events - clients, "the log did not grow as planned");
    let bytes = board::snapshot::encode(&project.board());
    drop(project);
    // Every log gets a snapshot and the same tail after it.
    let store = store::SqliteStore::open(path)?;
    let stream = Project::stream(&project_id());
    let snapshot = Snapshot { head: store.head(&stream).await?, format: SNAPSHOT_FORMAT, bytes };
    store.put_snapshot(&stream, snapshot).await?;
    let project = open(path).await?;
    for n in 0..TAIL {
        let edit = TaskEdit { description: Some(n.to_string()), ..TaskEdit::default() };
        project.submit(owner(), Command::EditTask { task: TaskId(1), edit, forced: false }).await?;
    }
    Ok(())
}

async fn toggle_tasks(project: Project, client: u64, times: u64) {
    let own = TASKS as u64 / 500;
    for n in 0..times {
        let task = TaskId(u32::try_from(client * own + (n / 2) % own + 1).expect("there are not that many tasks"));
        let status = if n.is_multiple_of(2) { Status::Todo } else { Status::Backlog };
        project.submit(owner(), move_to(task, status)).await.expect("the owner may move a task without parent");
    }
}

async fn time_to_open(path: &Path) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let project = open(path).await?;
    let took = start.elapsed();
    anyhow::ensure!(project.board().tasks.len() >= TASKS, "not all tasks are there");
    Ok(took)
}
