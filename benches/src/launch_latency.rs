//! P4: how long from `in_progress` to the client's `exec`, less the time that git itself takes?

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use board::{
    Actor, AgentSpec, Client, Command, Destination, EventKind, Mode, NewTask, ProjectId, Settings, Status, TaskId,
};
use control::{Control, LocalDispatch, ProcessLifetime, SystemClock};
use git::{AsyncGit, Git};
use runner::{AtShutdown, Options, Runner, RunnerHost, RunnerPaths};
use store::SqliteStore;
use tokio_util::sync::CancellationToken;

use crate::Measurement;

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
    let directory = tempfile::tempdir()?;
    let root = directory.path().canonicalize()?;
    let repository = root.join("repository");
    std::fs::create_dir_all(repository.join("src"))?;
    for number in 0..200 {
        std::fs::write(repository.join(format!("src/{number}.txt")), "text\n")?;
    }
    let git = AsyncGit::in_repository(&repository);
    for arguments in
        [&["init", "--quiet", "--initial-branch=main"][..], &["add", "--all"], &["commit", "--quiet", "-mbegin"]]
    {
        git.run(arguments).await?;
    }
    let store = Arc::new(SqliteStore::open(root.join("saihai.db"))?);
    let control = Control::new(store, Arc::new(SystemClock), ProcessLifetime::LongLived);
    let id: ProjectId = "bench".parse()?;
    let project = control.project(&id).await?;
    let owner = || Actor::Owner("bench".into());
    let program = std::env::current_exe()?;
    let settings = Settings { sandbox_read: vec![program.display().to_string()], ..Settings::new(id.clone()) };
    let worker = AgentSpec {
        mode: Mode::OneShot,
        client: Client::Command,
        command: vec![program.display().to_string(), "stamp".into(), "target/stamped".into()],
        // Where it writes is never committed, or the next workspace would begin with it.
        scope: board::Scope { write: vec!["**".into()], scratch: vec!["target/".into()], ..board::Scope::default() },
        ..AgentSpec::worker("worker".parse()?)
    };
    project.submit(owner(), Command::Define { settings: Box::new(settings), agents: vec![worker] }).await?;
    let host = RunnerHost {
        project: id.clone(),
        repository,
        paths: RunnerPaths::new(&root, &id),
        user: runner::clients::User::default(),
    };
    let options = Options {
        max_parallel: Some(1),
        disk_floor: 0,
        only: None,
        most_sessions: None,
        mcp_url: "http://127.0.0.1:1/mcp".into(),
        at_shutdown: AtShutdown::StopAgents,
    };
    let dispatch = Arc::new(LocalDispatch::new(project.clone(), "bench".parse()?));
    let (running, _notices) = Runner::new(dispatch, host.clone(), options);
    let shutdown = CancellationToken::new();
    let ran = tokio::spawn(running.run(shutdown.clone()));
    let (mut own, mut with_git) = (Vec::new(), Vec::new());
    for number in 0..LAUNCHES {
        let task = NewTask { assignee: Some("worker".parse()?), ..NewTask::titled(format!("Launch {number}")) };
        let receipt =
            project.submit(owner(), Command::CreateTasks { parent: None, tasks: vec![task], key: None }).await?;
        let created = receipt.events.iter().find_map(|event| match &event.what {
            EventKind::TasksCreated { tasks, .. } => tasks.first().map(|task| task.id),
            _ => None,
        });
        let task: TaskId = created.ok_or_else(|| anyhow::anyhow!("no task"))?;
        let git_before = Git::time_spent();
        let to = Destination::Status(Status::InProgress);
        project.submit(owner(), Command::MoveTask { task, to, reason: None, forced: false, merged: false }).await?;
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let stamped = host.paths.workspace(task).join("work/target/stamped");
        let (at, git) = wait(&stamped).await?;
        let took = Duration::from_micros(at).saturating_sub(began);
        with_git.push(took);
        own.push(took.saturating_sub(git.saturating_sub(git_before)));
        cancel_when_over(&project, task).await?;
    }
    shutdown.cancel();
    ran.await??;
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
