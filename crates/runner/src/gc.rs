//! What is kept that nobody needs any more (R9, V8)?

use std::path::{Path, PathBuf};
use std::time::Duration;

use board::{Isolation, SessionId, Settings, Span, Status, TaskId, Timestamp};
use dispatch::{Inventory, TaskRecord};
use git::merged::{Placement, TaskWork, placement};
use git::{AsyncGit, branch_ref};

use crate::host::RunnerHost;
use crate::shim::{Shim, ShimState, StopReason};
use crate::verify::WorkspaceSandbox;
use crate::workspace::{Workspace, WorkspaceError, remove_all};

/// How long the log of a session is kept after its end.
const KEEP_LOGS: Span = Span::minutes(30 * 24 * 60);

/// Something that takes up disk space or runs, and may not be needed any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftover {
    Workspace {
        task: TaskId,
        path: PathBuf,
    },
    /// A branch of a task in the user's repository, with the commit it must still be at.
    Branch {
        task: TaskId,
        name: String,
        commit: String,
    },
    /// The private directory of a session: its log and its record.
    Session {
        session: SessionId,
        path: PathBuf,
    },
    /// The process of a session that is over on the board.
    Process {
        session: SessionId,
        path: PathBuf,
        pid: u32,
    },
}

/// A leftover, and why it is removed or kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GcFinding {
    pub leftover: Leftover,
    pub remove: bool,
    pub reason: GcReason,
}

impl GcFinding {
    fn removable(leftover: Leftover, reason: GcReason) -> Self {
        Self { leftover, remove: true, reason }
    }

    fn kept(leftover: Leftover, reason: GcReason) -> Self {
        Self { leftover, remove: false, reason }
    }
}

/// Why something is removed or kept, in English as programs get it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GcReason {
    #[error("its session is over, and it still runs")]
    OutlivesSession,
    #[error("the session ended {ago} ago")]
    SessionEnded { ago: Span },
    #[error("the board knows no such session")]
    UnknownSession,
    #[error("git cannot read it; look at it and remove it yourself")]
    Unreadable,
    #[error("{0} has a session")]
    HasSession(TaskId),
    #[error("{task} is {status} since {age}; kept for {keep}")]
    KeptFor { task: TaskId, status: Status, age: Span, keep: Span },
    #[error("{task} is {status}")]
    NotDone { task: TaskId, status: Status },
    #[error("its work is in the repository")]
    InRepository,
    #[error("it holds work that is nowhere else: {file} is not committed")]
    NotCommitted { file: String },
    #[error("it holds work that is nowhere else: commit {0}")]
    OnlyCommit(String),
    #[error("it cannot be examined: {0}")]
    NotExamined(String),
    #[error("it is not where Saihai left it")]
    BranchMoved,
    #[error("it is merged")]
    Merged,
    #[error("it is not in the target")]
    NotInTarget,
}

/// All leftovers of a project, and which of them may be removed.
pub async fn find(host: &RunnerHost, inventory: &Inventory, now: Timestamp) -> Vec<GcFinding> {
    let mut found = sessions(host, inventory, now);
    for entry in entries(&host.paths.workspaces()) {
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(task) = name.strip_prefix("task-").and_then(|id| id.split('.').next()?.parse().ok()) else { continue };
        found.push(workspace(host, inventory, now, task, entry.clone(), name.contains('.')).await);
    }
    for (id, task) in inventory.tasks.iter().filter(|(_, task)| task.status == Status::Done) {
        found.extend(branch(host, &inventory.settings, *id, task).await);
    }
    found
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn sessions(host: &RunnerHost, inventory: &Inventory, now: Timestamp) -> Vec<GcFinding> {
    let mut found = Vec::new();
    for path in entries(&host.paths.sessions()) {
        let id = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse::<SessionId>().ok());
        let Some(id) = id else { continue };
        let session = inventory.sessions.get(&id);
        if session.is_some_and(|session| session.live) {
            continue;
        }
        if let Ok(ShimState::Running(shim)) = Shim::find(&path, "") {
            let leftover = Leftover::Process { session: id, path, pid: shim.identity().pid };
            found.push(GcFinding::removable(leftover, GcReason::OutlivesSession));
            continue;
        }
        let ended = session.and_then(|session| session.ended_at);
        let leftover = Leftover::Session { session: id, path };
        match ended {
            Some(ended) if now - ended > KEEP_LOGS => {
                found.push(GcFinding::removable(leftover, GcReason::SessionEnded { ago: now - ended }));
            }
            Some(_) => {}
            None => found.push(GcFinding::removable(leftover, GcReason::UnknownSession)),
        }
    }
    found
}

async fn workspace(
    host: &RunnerHost,
    inventory: &Inventory,
    now: Timestamp,
    id: TaskId,
    path: PathBuf,
    aside: bool,
) -> GcFinding {
    let leftover = Leftover::Workspace { task: id, path: path.clone() };
    let keep = Span::seconds(i64::try_from(inventory.settings.keep_failed).unwrap_or(i64::MAX / 1000));
    let task = inventory.tasks.get(&id);
    if aside {
        return GcFinding::kept(leftover, GcReason::Unreadable);
    }
    if let Some(task) = task {
        let age = now - task.status_at;
        match task.status {
            _ if task.live => return GcFinding::kept(leftover, GcReason::HasSession(id)),
            Status::Done => {}
            Status::Failed | Status::Cancelled if age > keep => {}
            Status::Failed | Status::Cancelled => {
                let reason = GcReason::KeptFor { task: id, status: task.status, age, keep };
                return GcFinding::kept(leftover, reason);
            }
            Status::Backlog | Status::Todo | Status::InProgress | Status::Blocked => {
                return GcFinding::kept(leftover, GcReason::NotDone { task: id, status: task.status });
            }
        }
    }
    match unsaved(host, &inventory.settings, id, &path).await {
        Ok(None) => GcFinding::removable(leftover, GcReason::InRepository),
        Ok(Some(only_here)) => GcFinding::kept(leftover, only_here),
        Err(error) => GcFinding::kept(leftover, GcReason::NotExamined(error)),
    }
}

/// Work in a workspace that is reachable from nowhere else (F69).
async fn unsaved(
    host: &RunnerHost,
    settings: &Settings,
    task: TaskId,
    root: &Path,
) -> Result<Option<GcReason>, String> {
    let workspace = Workspace::at(root, &host.repository, settings.isolation);
    if !workspace.exists() {
        return Ok(None);
    }
    let scratch = host.paths.root().join("gc");
    let sandbox = WorkspaceSandbox { host, settings, task, workspace: &workspace };
    let (head, left) = sandbox.inspect(&scratch).await.map_err(|error| error.to_string())?;
    let _ = remove_all(&scratch);
    if let Some(first) = left.first() {
        return Ok(Some(GcReason::NotCommitted { file: first.to_string() }));
    }
    let main = AsyncGit::in_repository(&host.repository);
    let kept = main.run(&["for-each-ref", "--count=1", "--format=%(refname)", "--contains", &head]).await;
    Ok(match kept {
        Ok(reference) if !reference.is_empty() => None,
        Ok(_) | Err(_) => Some(GcReason::OnlyCommit(head[..head.len().min(10)].to_owned())),
    })
}

/// The branch of a task whose work is in the target.
async fn branch(host: &RunnerHost, settings: &Settings, id: TaskId, task: &TaskRecord) -> Option<GcFinding> {
    let main = AsyncGit::in_repository(&host.repository);
    let name = task.branch.clone()?;
    let commit = main.commit(&branch_ref(&name)).await?;
    let target = main.commit(&branch_ref(&settings.target_branch)).await?;
    let refs = host.refs(id);
    let left_there = main.commit(&refs.work()).await.as_ref() == Some(&commit);
    let base = task.base.clone();
    let (tip, branch) = (commit.clone(), Some(name.clone()));
    let work = TaskWork { tip, base, target, branch, refs, reported_merges: None };
    let placement = main.call(move |git| placement(git, &work)).await.unwrap_or(Placement::NotInTarget);
    let leftover = Leftover::Branch { task: id, name, commit: commit.clone() };
    if !left_there {
        return Some(GcFinding::kept(leftover, GcReason::BranchMoved));
    }
    Some(match placement {
        // Without commits of its own nothing is lost with it.
        Placement::InTarget { .. } | Placement::NoOwnCommits => GcFinding::removable(leftover, GcReason::Merged),
        Placement::NotInTarget => GcFinding::kept(leftover, GcReason::NotInTarget),
    })
}

/// Removes what was found to be removable.
pub async fn remove(host: &RunnerHost, isolation: Isolation, found: &GcFinding) -> Result<(), String> {
    match &found.leftover {
        Leftover::Workspace { path, .. } => {
            remove_workspace(host, path, isolation).await.map_err(|error| error.to_string())
        }
        Leftover::Branch { task, name, commit } => {
            let main = AsyncGit::in_repository(&host.repository);
            main.run(&["update-ref", "-d", &branch_ref(name), commit]).await.map_err(|error| error.to_string())?;
            host.withdraw_work(*task).await?;
            let refs = host.refs(*task);
            for reference in [refs.work(), refs.base()] {
                let _ = main.run(&["update-ref", "-d", &reference]).await;
            }
            Ok(())
        }
        Leftover::Session { path, .. } => remove_all(path).map_err(|error| error.to_string()),
        Leftover::Process { path, .. } => {
            if let Ok(ShimState::Running(shim)) = Shim::find(path, "") {
                shim.stop(StopReason::Stopped);
                let ended = tokio::time::timeout(Duration::from_secs(30), shim.ended()).await;
                ended.map_err(|_| "it does not end".to_owned())?;
            }
            Ok(())
        }
    }
}

/// Removes a workspace whose work is elsewhere.
pub(crate) async fn remove_workspace(
    host: &RunnerHost,
    root: &Path,
    isolation: Isolation,
) -> Result<(), WorkspaceError> {
    if isolation == Isolation::Worktree {
        let tree = Workspace::at(root, &host.repository, isolation).tree;
        if tree.exists() {
            let tree = tree.to_string_lossy();
            AsyncGit::in_repository(&host.repository)
                .run(&["worktree", "remove", "--force", "--force", "--", &tree])
                .await?;
        }
    }
    remove_all(root)
}
