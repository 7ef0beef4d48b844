//! P3: how long does a cold process take to list 10,000 tasks, beside `sqlite3` printing the same rows?

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::bench_project::{add_tasks, configure, open, project_id};
use crate::{Measurement, median, milliseconds};

const TASKS: usize = 10_000;
const ROUNDS: usize = 25;

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let home = tempfile::tempdir_in(".")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(prepare(home.path(), TASKS))?;
    let saihai = std::env::current_exe()?.with_file_name("saihai");
    let list = || {
        let mut command = Command::new(&saihai);
        command.args(["task", "list", "--json", "--project", project_id().as_str()]).env("SAIHAI_HOME", home.path());
        command
    };
    let output = list().output().context("build it first: cargo build --release -p saihai")?;
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout)?;
    anyhow::ensure!(rows.len() == TASKS, "{} tasks were listed", rows.len());
    let plain = home.path().join("plain.db");
    same_rows(&plain, &rows)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(timed(&mut list())?);
        let mut command = Command::new("sqlite3");
        command.arg("-json").arg(&plain).arg("SELECT * FROM tasks ORDER BY priority DESC, id");
        theirs.push(timed(&mut command).context("sqlite3 is needed beside it")?);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    Ok(vec![Measurement {
        id: "P3",
        what: format!("`task list --json`, {TASKS} tasks, cold process, beside `sqlite3 -json` with the same rows"),
        measured: format!("**{ratio:.2} ×** ({} beside {})", milliseconds(ours), milliseconds(theirs)),
        budget: "≤ 2 ×",
        within_budget: ratio <= 2.0,
    }])
}

/// A home with a project of so many tasks.
pub(crate) async fn prepare(home: &Path, tasks: usize) -> anyhow::Result<()> {
    let project = open(&home.join("saihai.db")).await?;
    configure(&project).await?;
    add_tasks(&project, tasks).await?;
    // The project is found by its id, in the installation.
    let store = std::sync::Arc::new(store::SqliteStore::open(home.join("saihai.db"))?);
    let control =
        control::Control::new(store, std::sync::Arc::new(control::SystemClock), control::ProcessLifetime::ShortLived);
    let add = board::InstallationCommand::AddProject { id: project_id(), path: home.display().to_string() };
    control.installation().await?.submit(crate::bench_project::owner(), add).await?;
    Ok(())
}

/// The same rows in a plain table, one column for each field.
fn same_rows(path: &Path, rows: &[serde_json::Value]) -> anyhow::Result<()> {
    let mut connection = rusqlite::Connection::open(path)?;
    let fields: Vec<_> = rows[0].as_object().context("a task is an object")?.keys().cloned().collect();
    let columns = fields.iter().map(|field| format!("\"{field}\"")).collect::<Vec<_>>().join(", ");
    connection.execute_batch(&format!("CREATE TABLE tasks ({columns})"))?;
    let places = vec!["?"; fields.len()].join(", ");
    let transaction = connection.transaction()?;
    for row in rows {
        let values = fields.iter().map(|field| match &row[field] {
            serde_json::Value::Null => None,
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        });
        transaction.execute(&format!("INSERT INTO tasks VALUES ({places})"), rusqlite::params_from_iter(values))?;
    }
    transaction.commit()?;
    Ok(())
}

fn timed(command: &mut Command) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).status()?;
    anyhow::ensure!(status.success(), "{command:?} failed");
    Ok(start.elapsed())
}
