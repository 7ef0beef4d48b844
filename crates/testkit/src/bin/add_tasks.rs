//! The process that the crash test kills: adds tasks as fast as it can, and prints each id once it is durable.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use board::{Actor, Command, EventKind, NewTask, ProjectId};
use clap::Parser;
use control::{Control, ProcessLifetime, SystemClock};
use store::SqliteStore;

#[derive(Parser)]
struct Arguments {
    store: PathBuf,
    /// How many tasks
    #[arg(long, default_value_t = 1_000)]
    tasks: u32,
    /// How many at once
    #[arg(long, default_value_t = 8)]
    clients: u32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Arguments { store, tasks, clients } = Arguments::parse();
    let control = Control::new(Arc::new(SqliteStore::open(store)?), Arc::new(SystemClock), ProcessLifetime::ShortLived);
    let id: ProjectId = "crashtest".parse()?;
    let project = control.project(&id).await?;
    let mut running = tokio::task::JoinSet::new();
    for client in 0..clients {
        let project = project.clone();
        running.spawn(async move {
            for n in 0..tasks / clients {
                let tasks = vec![NewTask::titled(format!("{client}/{n}"))];
                let add = Command::CreateTasks { parent: None, tasks, key: None };
                let receipt =
                    project.submit(Actor::Owner("owner".into()), add).await.expect("adding is always allowed");
                for event in &receipt.events {
                    if let EventKind::TasksCreated { tasks, .. } = &event.what {
                        let mut out = std::io::stdout().lock();
                        writeln!(out, "{}", tasks[0].id).and_then(|()| out.flush()).expect("the test reads the output");
                    }
                }
            }
        });
    }
    while let Some(finished) = running.join_next().await {
        finished?;
    }
    Ok(())
}
