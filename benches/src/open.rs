//! P5: how long does opening a project take, and does it grow with the events before its snapshot?

use std::path::Path;
use std::time::{Duration, Instant};

use board::{Status, TaskId};
use control::Project;

use crate::project::{add_tasks, open, owner, set_up, to};
use crate::{Row, median, milliseconds};

const TASKS: usize = 10_000;

pub(crate) fn measure() -> anyhow::Result<Vec<Row>> {
    let home = tempfile::tempdir_in(".")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let (few, many) = (home.path().join("few.db"), home.path().join("many.db"));
    runtime.block_on(grow(&few, 100_000))?;
    runtime.block_on(grow(&many, 1_000_000))?;
    let (mut of_few, mut of_many) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        of_few.push(runtime.block_on(opening(&few))?);
        of_many.push(runtime.block_on(opening(&many))?);
    }
    let (of_few, of_many) = (median(of_few), median(of_many));
    let ratio = of_many.as_secs_f64() / of_few.as_secs_f64();
    Ok(vec![
        Row {
            id: "P5",
            what: format!("open a project of 1,000,000 events and {TASKS} tasks"),
            measured: format!("**{}**", milliseconds(of_many)),
            budget: "≤ 1.5 s",
            kept: of_many <= Duration::from_millis(1_500),
        },
        Row {
            id: "P5",
            what: "the same beside one of 100,000 events and as many tasks".into(),
            measured: format!("**{ratio:.2} ×** ({} beside {})", milliseconds(of_many), milliseconds(of_few)),
            budget: "flat (≤ 1.5 ×)",
            kept: ratio <= 1.5,
        },
    ])
}

/// Moves tasks to and fro, through the real writer, until the log has that many events.
async fn grow(path: &Path, events: u64) -> anyhow::Result<()> {
    let project = open(path).await?;
    set_up(&project).await?;
    add_tasks(&project, TASKS).await?;
    let clients = 500;
    let each = (events - project.board().seq) / clients;
    let mut running = tokio::task::JoinSet::new();
    for client in 0..clients {
        running.spawn(move_about(project.clone(), client, each));
    }
    running.join_all().await;
    anyhow::ensure!(project.board().seq > events - clients, "the log did not grow as planned");
    Ok(())
}

async fn move_about(project: Project, client: u64, times: u64) {
    let own = TASKS as u64 / 500;
    for n in 0..times {
        let task = TaskId(u32::try_from(client * own + (n / 2) % own + 1).expect("there are not that many tasks"));
        let status = if n % 2 == 0 { Status::Todo } else { Status::Backlog };
        project.submit(owner(), to(task, status)).await.expect("the owner may move a task without parent");
    }
}

async fn opening(path: &Path) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let project = open(path).await?;
    let took = start.elapsed();
    anyhow::ensure!(project.board().tasks.len() == TASKS, "not all tasks are there");
    Ok(took)
}
