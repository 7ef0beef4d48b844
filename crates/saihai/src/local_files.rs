//! What does the web UI see of this machine? The logs of sessions, and the repository through git.

use std::path::{Path, PathBuf};

use board::{Board, Merge, ProjectId, RunnerView, SessionId, Task};
use git::merged;
use git::{Git, RefNamespace, TaskRefs, branch_ref};
use runner::RunnerPaths;
use runner::shim::SessionLog;
use server::{Diff, LocalFiles, LogFrom, LogPage};

#[derive(Debug)]
pub(crate) struct LocalFilesOnDisk {
    pub(crate) home: PathBuf,
}

impl LocalFiles for LocalFilesOnDisk {
    fn log(&self, project: &ProjectId, session: SessionId, from: LogFrom, most: usize) -> Option<LogPage> {
        let run = RunnerPaths::new(&self.home, project).session(session);
        if !run.exists() {
            return None;
        }
        let log = SessionLog::of(&run);
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
        let git = Git::for_command_line(repository);
        let facts =
            task.last_session.and_then(|id| board.sessions.get(&id)).and_then(|session| session.workspace.as_ref());
        let text = match facts.map(|facts| &facts.merge) {
            Some(Merge::Merged { commit }) => git.diff(&format!("{commit}^1"), commit, most + 1).ok(),
            Some(Merge::NotTried | Merge::Conflict { .. } | Merge::Waiting { .. }) | None => {
                let target = branch_ref(&board.settings.target_branch);
                let work = [refs_of(board, task).work(), branch_ref(&task.branch_name())];
                let changes = |work: &String| git.diff(&git.fork(&target, work)?, work, most + 1).ok();
                work.iter().find_map(|work| changes(work).filter(|text| !text.is_empty()))
            }
        };
        let text = text.filter(|text| !text.is_empty())?;
        let cut = text.len() > most;
        let kept = &text[..text.len().min(most)];
        Some(Diff { text: String::from_utf8_lossy(kept).into_owned(), cut })
    }
}

/// The runner of a project on this machine. It holds a lock as long as it runs, and leaves a note of how it stands.
pub(crate) fn runner_view(paths: &RunnerPaths) -> RunnerView {
    let Ok(lock) = std::fs::File::open(paths.lock()) else { return RunnerView::Missing };
    if rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockShared).is_ok() {
        return RunnerView::Missing;
    }
    let status = std::fs::read(paths.status()).ok().and_then(|text| serde_json::from_slice(&text).ok());
    status.map_or(RunnerView::Unknown, RunnerView::Present)
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
