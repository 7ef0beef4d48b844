//! A repository with a runner in this process, for what is measured with real agents.

use std::path::PathBuf;
use std::sync::Arc;

use board::{
    Actor, AgentSpec, Client, Command, Destination, EventKind, Mode, NewTask, ProjectId, Settings, Status, TaskId,
};
use control::{Control, LocalDispatch, ProcessLifetime, Project, SystemClock};
use git::AsyncGit;
use runner::{AtShutdown, Options, Runner, RunnerError, RunnerHost, RunnerPaths};
use store::SqliteStore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) struct RunningProject {
    pub(crate) project: Project,
    pub(crate) repository: PathBuf,
    host: RunnerHost,
    shutdown: CancellationToken,
    ran: JoinHandle<Result<(), RunnerError>>,
    /// Removed with it.
    _directory: tempfile::TempDir,
}

impl RunningProject {
    /// A repository of `files` files in which a one-shot agent runs `command`, `parallel` of them at once.
    pub(crate) async fn start(
        files: usize,
        command: Vec<String>,
        configure: impl FnOnce(&mut Settings),
        parallel: u32,
    ) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let root = directory.path().canonicalize()?;
        let repository = root.join("repository");
        make_repository(&repository, files).await?;
        let store = Arc::new(SqliteStore::open(root.join("saihai.db"))?);
        let control = Control::new(store, Arc::new(SystemClock), ProcessLifetime::LongLived);
        let id: ProjectId = "bench".parse()?;
        let project = control.project(&id).await?;
        let mut settings = Settings::new(id.clone());
        configure(&mut settings);
        let worker = AgentSpec {
            mode: Mode::OneShot,
            client: Client::Command,
            command,
            max_sessions: parallel.max(100),
            // Where it writes to `target` is never committed, or the next workspace would begin with it.
            scope: board::Scope {
                write: vec!["**".into()],
                scratch: vec!["target/".into()],
                ..board::Scope::default()
            },
            ..AgentSpec::worker("worker".parse()?)
        };
        let define = Command::Define { settings: Box::new(settings), agents: vec![worker] };
        project.submit(owner(), define).await?;
        let paths = RunnerPaths::new(&root, &id);
        let user = runner::clients::User::default();
        let host = RunnerHost {
            project: id,
            began: project.board().began,
            repository: repository.clone(),
            paths,
            user,
            upstream: None,
        };
        let options = Options {
            max_parallel: Some(parallel as usize),
            has: board::RunnerOffer::default(),
            shared_slots: None,
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
        Ok(Self { project, repository, host, shutdown, ran, _directory: directory })
    }

    pub(crate) async fn add_task(&self, title: &str) -> anyhow::Result<TaskId> {
        let task = NewTask { assignee: Some("worker".parse()?), ..NewTask::titled(title) };
        let create = Command::CreateTasks { parent: None, tasks: vec![task], key: None };
        let receipt = self.project.submit(owner(), create).await?;
        let created = receipt.events.iter().find_map(|event| match &event.what {
            EventKind::TasksCreated { tasks, .. } => tasks.first().map(|task| task.id),
            _ => None,
        });
        created.ok_or_else(|| anyhow::anyhow!("no task"))
    }

    pub(crate) async fn start_task(&self, task: TaskId) -> anyhow::Result<()> {
        let to = Destination::Status(Status::InProgress);
        let start = Command::MoveTask { task, to, reason: None, forced: false, merged: false };
        self.project.submit(owner(), start).await?;
        Ok(())
    }

    /// Waits until every one of these tasks is done.
    pub(crate) async fn until_done(&self, tasks: &[TaskId]) -> anyhow::Result<()> {
        let mut boards = self.project.writer().watch();
        loop {
            let board = boards.borrow_and_update().clone();
            let mut open = 0;
            for task in tasks {
                match board.task(*task)?.status {
                    Status::Done => {}
                    Status::Failed | Status::Blocked | Status::Cancelled => {
                        let task = board.task(*task)?;
                        let ends: Vec<_> = board.sessions_of(task).map(|session| &session.end).collect();
                        anyhow::bail!("{} is {}: {ends:?}", task.id, task.status)
                    }
                    Status::Backlog | Status::Todo | Status::InProgress => open += 1,
                }
            }
            if open == 0 {
                return Ok(());
            }
            boards.changed().await?;
        }
    }

    /// The files of a task's workspace.
    pub(crate) fn workspace(&self, task: TaskId) -> PathBuf {
        self.host.paths.workspace(task).join("work")
    }

    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        Ok(self.ran.await??)
    }
}

fn owner() -> Actor {
    Actor::Owner("bench".into())
}

/// A repository with so many files and one commit.
pub(crate) async fn make_repository(repository: &std::path::Path, files: usize) -> anyhow::Result<()> {
    std::fs::create_dir_all(repository.join("src"))?;
    for number in 0..files {
        std::fs::write(repository.join(format!("src/{number}.txt")), "text\n")?;
    }
    let git = AsyncGit::in_repository(repository);
    for arguments in
        [&["init", "--quiet", "--initial-branch=main"][..], &["add", "--all"], &["commit", "--quiet", "-mbegin"]]
    {
        git.run(arguments).await?;
    }
    Ok(())
}
