//! What does the web UI see of this machine? The logs of sessions, and the repository through git.

use std::path::{Path, PathBuf};

use board::{Board, OutputName, ProjectId, RunnerStatus, RunnerView, Task, TaskId, WorkspaceFacts};
use git::merged;
use git::{Git, RefNamespace, TaskRefs, branch_ref};
use runner::shim::SessionLog;
use runner::{RunnerPaths, Workspace};
use server::{Diff, LocalFiles, LogFrom, LogPage};

#[derive(Debug)]
pub(crate) struct LocalFilesOnDisk {
    pub(crate) home: PathBuf,
}

impl LocalFiles for LocalFilesOnDisk {
    fn log(&self, project: &ProjectId, output: OutputName, from: LogFrom, most: usize) -> Option<LogPage> {
        let run = RunnerPaths::new(&self.home, project).session(output.session);
        if !run.exists() {
            return None;
        }
        let log = SessionLog::of(&run, output.kind);
        let page = match from {
            LogFrom::Position(from) => log.read_on(from, most),
            LogFrom::Tail => log.tail(most),
        };
        Some(LogPage { start: page.start, bytes: page.bytes, oldest: log.oldest(), newest: log.end() })
    }

    fn runner(&self, project: &ProjectId) -> RunnerView {
        runner_view(&RunnerPaths::new(&self.home, project))
    }

    fn is_merged(&self, repository: &Path, board: &Board, task: &Task) -> bool {
        is_merged(repository, board, task)
    }

    fn diff(&self, repository: &Path, board: &Board, task: &Task, most: usize) -> Option<Diff> {
        let range = work_range(repository, board, task)?;
        let text = Git::for_command_line(repository).diff(&range.from, &range.to, most + 1).ok()?;
        let cut = text.len() > most;
        let kept = &text[..text.len().min(most)];
        Some(Diff { text: String::from_utf8_lossy(kept).into_owned(), cut })
    }
}

/// The commits between which a task's work lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkRange {
    pub(crate) from: String,
    pub(crate) to: String,
}

/// What a task has changed: its merge commit if it was merged, else its branch from where it left the target. `None` if
/// there is no change that git knows of.
pub(crate) fn work_range(repository: &Path, board: &Board, task: &Task) -> Option<WorkRange> {
    let git = Git::for_command_line(repository);
    let changes = |range: &WorkRange| git.diff(&range.from, &range.to, 1).is_ok_and(|text| !text.is_empty());
    let merged = work_facts(board, task).and_then(WorkspaceFacts::merged_as);
    if let Some(commit) = merged {
        return Some(WorkRange { from: format!("{commit}^1"), to: commit.to_owned() }).filter(changes);
    }
    let target = branch_ref(&board.settings.target_branch);
    let work = [refs_of(board, task).work(), branch_ref(&task.branch_name())];
    work.into_iter().find_map(|to| Some(WorkRange { from: git.fork(&target, &to)?, to }).filter(changes))
}

/// What was found in the workspace of its last session.
pub(crate) fn work_facts<'a>(board: &'a Board, task: &Task) -> Option<&'a WorkspaceFacts> {
    task.last_session.and_then(|id| board.sessions.get(&id)).and_then(|session| session.workspace.as_ref())
}

/// The files of a task's workspace, if it is on this machine.
pub(crate) fn workspace_of(home: &Path, repository: &Path, board: &Board, task: TaskId) -> Option<PathBuf> {
    let root = RunnerPaths::new(home, &board.settings.id).workspace(task);
    let tree = Workspace::at(&root, repository, board.settings.isolation).tree;
    tree.is_dir().then_some(tree)
}

/// The runner of a project on this machine. It holds a lock as long as it runs, and leaves a note of how it stands. One that
/// works for servers, here by chance, is known by what it tells them.
pub(crate) fn runner_view(paths: &RunnerPaths) -> RunnerView {
    let Ok(lock) = std::fs::File::open(paths.lock()) else { return RunnerView::Missing };
    if rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockShared).is_ok() {
        return RunnerView::Missing;
    }
    let status = std::fs::read(paths.status()).ok().and_then(|text| serde_json::from_slice::<RunnerStatus>(&text).ok());
    match status {
        None => RunnerView::Unknown,
        Some(status) if status.for_servers => RunnerView::Missing,
        Some(status) => RunnerView::Present(vec![status]),
    }
}

fn refs_of(board: &Board, task: &Task) -> TaskRefs {
    RefNamespace::new(board.began.0, &board.settings.id).task(task.id)
}

/// Is the work of the task's branch in the target branch?
pub(crate) fn is_merged(repository: &Path, board: &Board, task: &Task) -> bool {
    let (git, target) = (Git::for_command_line(repository), &board.settings.target_branch);
    let placement =
        merged::of_branch(&git, &task.branch_name(), task.base_commit.as_deref(), target, refs_of(board, task));
    placement.is_ok_and(|placement| placement.is_in_target())
}
