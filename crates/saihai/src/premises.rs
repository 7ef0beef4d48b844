//! What does the web UI see of this machine? The logs of sessions, and the repository through git.

use std::path::{Path, PathBuf};

use board::{Board, Merge, ProjectId, SessionId, Task};
use runner::RunnerPaths;
use runner::shim::SessionLog;
use server::{Diff, LocalFiles, LogFrom, LogPage};

use crate::git;

#[derive(Debug)]
pub(crate) struct OnThisMachine {
    pub(crate) home: PathBuf,
}

impl LocalFiles for OnThisMachine {
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

    fn is_merged(&self, repository: &Path, board: &Board, task: &Task) -> bool {
        let branch = task.branch.clone().unwrap_or_else(|| task.default_branch());
        git::is_merged(repository, &branch, task.base_commit.as_deref(), &board.settings.target_branch)
    }

    fn diff(&self, repository: &Path, board: &Board, task: &Task, most: usize) -> Option<Diff> {
        let facts =
            task.last_session.and_then(|id| board.sessions.get(&id)).and_then(|session| session.workspace.as_ref());
        let text = match facts.map(|facts| &facts.merge) {
            Some(Merge::Merged { commit }) => git::diff(repository, &format!("{commit}^1"), commit, most + 1),
            Some(Merge::NotTried | Merge::Conflict { .. } | Merge::Waiting { .. }) | None => {
                let target = format!("refs/heads/{}", board.settings.target_branch);
                let branch = task.branch.clone().unwrap_or_else(|| task.default_branch());
                let work = [format!("refs/saihai/work/{}", task.id), format!("refs/heads/{branch}")];
                work.iter()
                    .find_map(|work| git::diff(repository, &git::fork(repository, &target, work)?, work, most + 1))
            }
        }?;
        let cut = text.len() > most;
        let kept = &text[..text.len().min(most)];
        Some(Diff { text: String::from_utf8_lossy(kept).into_owned(), cut })
    }
}
