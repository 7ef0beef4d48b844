//! What would the target be with this work in it? Made without touching anybody's files.

use board::{GoalType, MergeStrategy};
use dispatch::ExamineOrder;
use git::{AsyncGit, GitError};

use super::VerifyError;
use crate::scope::Patterns;

/// How long git may take to merge.
const MERGE_TIME: std::time::Duration = std::time::Duration::from_secs(60);

#[derive(Clone, Debug)]
pub(super) struct MergeCandidate {
    /// The commit to be checked; `None` if it does not merge.
    pub(super) commit: Option<String>,
    pub(super) conflicts: Option<Vec<String>>,
    /// Files that differ from the target.
    pub(super) changed: Vec<String>,
    /// Those of them that it does not remove.
    present: Vec<String>,
}

impl MergeCandidate {
    pub(super) async fn make(
        main: &AsyncGit,
        work: &ExamineOrder,
        target: &str,
        head: &str,
    ) -> Result<Self, VerifyError> {
        // Commits that the user has taken out of the target since are not this task's work, and do not come back with it.
        let base = work.task.base.as_deref();
        let taken_out = match base {
            Some(base) => !main.is_ancestor(base, target).await?,
            None => false,
        };
        let begin = base.filter(|_| taken_out).map(|base| format!("--merge-base={base}"));
        let mut merge = vec!["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z"];
        merge.extend(begin.as_deref());
        merge.extend([target, head]);
        // The history is the agent's: it may be made to take for ever.
        let output = AsyncGit::from(main.sync().clone().with_time_limit(MERGE_TIME)).output(&merge).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut parts = text.split('\0').filter(|part| !part.is_empty());
        let tree = parts.next().unwrap_or_default().to_owned();
        match output.status.code() {
            Some(0) => {}
            Some(1) => {
                let mut files: Vec<_> = parts.map(str::to_owned).collect();
                files.dedup();
                // What it would change, as far as that can be said.
                let range = match base.filter(|_| taken_out) {
                    Some(base) => format!("{base}..{head}"),
                    None => format!("{target}...{head}"),
                };
                let changed = diff(main, &range).await?;
                let present = changed.present();
                return Ok(Self { commit: None, conflicts: Some(files), changed: changed.all(), present });
            }
            _ => {
                let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                return Err(GitError::Failed { command: "merge-tree".into(), message }.into());
            }
        }
        let message = format!(
            "{}\n\nTask: {}\nSession: {}\nAgent: {}",
            work.task.title, work.task.id, work.session, work.agent.id
        );
        let mut commit = vec!["commit-tree", &tree, "-m", &message, "-p", target];
        if work.settings.merge == MergeStrategy::Merge && !taken_out {
            commit.extend(["-p", head]);
        }
        let commit = main.run(&commit).await?;
        let changed = diff(main, &format!("{target}..{commit}")).await?;
        let present = changed.present();
        Ok(Self { commit: Some(commit), conflicts: None, changed: changed.all(), present })
    }

    /// The goals of the task's type that it does not meet (V5).
    pub(super) fn goals_unmet(&self, work: &ExamineOrder) -> Vec<String> {
        let goals =
            work.settings.goals.iter().filter(|(of, _)| *of == work.task.task_type).flat_map(|(_, goals)| goals);
        let unmet = goals.filter(|goal| {
            let pattern = Patterns::new([&goal.pattern]);
            let files = match goal.kind {
                GoalType::TestAdded => &self.present,
                GoalType::FilesChanged => &self.changed,
            };
            !files.iter().any(|file| pattern.matches(file))
        });
        unmet.map(|goal| format!("{} {}", goal.kind, goal.pattern)).collect()
    }
}

struct Changes(Vec<(char, String)>);

impl Changes {
    fn all(&self) -> Vec<String> {
        self.0.iter().map(|(_, path)| path.clone()).collect()
    }

    fn present(&self) -> Vec<String> {
        self.0.iter().filter(|(status, _)| *status != 'D').map(|(_, path)| path.clone()).collect()
    }
}

async fn diff(main: &AsyncGit, range: &str) -> Result<Changes, GitError> {
    let parts =
        main.paths(&["diff", "--raw", "--name-status", "-z", "--no-renames", "--no-ext-diff", range, "--"]).await?;
    let pairs = parts.chunks_exact(2).map(|pair| (pair[0].chars().next().unwrap_or('M'), pair[1].clone()));
    Ok(Changes(pairs.collect()))
}
