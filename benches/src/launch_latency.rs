//! P4: how long from `in_progress` to the client's `exec`, less the time that git itself takes?

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use board::{Actor, Command, Destination, Status, TaskId};
use git::Git;

use crate::Measurement;
use crate::running_project::RunningProject;

const LAUNCHES: usize = 40;

/// The client: notes when it began, and ends.
pub(crate) fn write_start_time(file: &str) -> std::process::ExitCode {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let aside = format!("{file}.tmp");
    let written = std::fs::write(&aside, now.as_micros().to_string()).and_then(|()| std::fs::rename(aside, file));
    if written.is_ok() { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
}

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run())
}

async fn run() -> anyhow::Result<Vec<Measurement>> {
    let program = std::env::current_exe()?;
    let command = vec![program.display().to_string(), "stamp".into(), "target/stamped".into()];
    let bench =
        RunningProject::start(200, command, |settings| settings.sandbox_read = vec![program.display().to_string()], 1)
            .await?;
    let project = &bench.project;
    let (mut own, mut with_git) = (Vec::new(), Vec::new());
    for number in 0..LAUNCHES {
        let task = bench.add_task(&format!("Launch {number}")).await?;
        let git_before = Git::time_spent();
        bench.start_task(task).await?;
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let stamped = bench.workspace(task).join("target/stamped");
        let (at, git) = wait(&stamped).await?;
        let took = Duration::from_micros(at).saturating_sub(began);
        with_git.push(took);
        own.push(took.saturating_sub(git.saturating_sub(git_before)));
        cancel_when_over(project, task).await?;
    }
    bench.stop().await?;
    let (own, whole) = (crate::median(own), crate::median(with_git));
    Ok(vec![Measurement {
        id: "P4",
        what: format!(
            "`in_progress` until the client's `exec`, less git's own time (whole: {})",
            crate::milliseconds(whole)
        ),
        measured: crate::milliseconds(own),
        budget: "≤ 20 ms",
        within_budget: own <= Duration::from_millis(20),
    }])
}

/// When the client began, and how much time git had taken by then.
async fn wait(stamped: &Path) -> anyhow::Result<(u64, Duration)> {
    let began = Instant::now();
    loop {
        let git = Git::time_spent();
        if let Ok(text) = std::fs::read_to_string(stamped) {
            return Ok((text.parse()?, git));
        }
        anyhow::ensure!(began.elapsed() < Duration::from_secs(60), "the client was not started");
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
}

/// Waits until the session is over, so that the next launch has the machine to itself.
async fn cancel_when_over(project: &control::Project, task: TaskId) -> anyhow::Result<()> {
    let mut boards = project.writer().watch();
    loop {
        let board = boards.borrow_and_update().clone();
        if board.task(task)?.live.is_none() {
            let to = Destination::Status(Status::Cancelled);
            let reason = Some("measured".into());
            let cancel = Command::MoveTask { task, to, reason, forced: false, merged: false };
            let _ = project.submit(Actor::Owner("bench".into()), cancel).await;
            return Ok(());
        }
        boards.changed().await?;
    }
}
