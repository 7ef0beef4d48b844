//! Is the work good? It is fetched, merged into a candidate, checked, and only then moved into the target (V4 to V6).
//!
//! Nothing is decided here: each part finds out one thing. What follows from it is asked of the board.

mod candidate;
mod checks;
mod fetch;
mod following;
mod incoming;
mod merge;
mod quarantine;

use std::path::PathBuf;
use std::time::Duration;

use board::{CheckRun, JudgeChanges, Merge, WorkspaceFacts, judging_files};
use dispatch::ExamineOrder;
use git::merged::{FoundBy, Placement, placement_by_commits};
use git::{AsyncGit, GitError, TaskRefs, branch_ref};
use tokio_util::sync::CancellationToken;

use self::candidate::MergeCandidate;
use crate::client_files::client_files;
use crate::host::RunnerHost;
use crate::scope::Patterns;
use crate::workspace::{Workspace, WorkspaceError};

pub(crate) use self::checks::{CheckRunner, Tested, outcome};
pub(crate) use self::fetch::{Fetched, WorkspaceSandbox};
pub use self::incoming::IncomingWork;

/// How long git may take for one request in a workspace.
const GIT_TIME_LIMIT: Duration = Duration::from_secs(300);

#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("the work in {} cannot be read: {reason}", workspace.display())]
    Unreadable { workspace: PathBuf, reason: String },
    #[error("there is no branch {0} to merge into")]
    NoTarget(String),
}

impl VerifyError {
    /// Trouble of our own: it is tried again, and charged to nobody.
    fn trouble(message: impl Into<String>) -> Self {
        Self::Io(std::io::Error::other(message.into()))
    }
}

/// Finds out about the work of one session.
#[derive(Debug)]
pub(crate) struct Examiner<'a> {
    pub(crate) host: &'a RunnerHost,
    pub(crate) order: &'a ExamineOrder,
    pub(crate) cancellation: &'a CancellationToken,
}

impl Examiner<'_> {
    fn main(&self) -> AsyncGit {
        AsyncGit::in_repository(&self.host.repository)
    }

    fn refs(&self) -> TaskRefs {
        self.host.refs(self.order.task.id)
    }

    fn target_ref(&self) -> String {
        branch_ref(&self.order.settings.target_branch)
    }

    /// Was no agent started, because git could do it alone?
    fn undone_by_git(&self) -> bool {
        self.host.paths.undone_by_git(self.order.session).exists()
    }

    /// The commit that the target is at.
    pub(crate) async fn target(&self) -> Result<String, VerifyError> {
        self.host.follow(&self.order.settings.target_branch).await?;
        let missing = || VerifyError::NoTarget(self.order.settings.target_branch.clone());
        self.main().commit(&self.target_ref()).await.ok_or_else(missing)
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let root = self.host.paths.workspace(self.order.task.id);
        let mut workspace = Workspace::at(&root, &self.host.repository, self.order.settings.isolation);
        workspace.client_files = client_files(&self.host.repository, &self.order.agent);
        workspace
    }

    /// Runs checks for this work.
    pub(crate) fn checks(&self) -> CheckRunner<'_> {
        CheckRunner {
            host: self.host,
            settings: &self.order.settings,
            directory: self.host.paths.session(self.order.session).join("check"),
            marker: format!("{}-check", self.host.spawn_marker(self.order.task.id)),
            cancellation: self.cancellation,
        }
    }

    /// The facts about work that the target was being moved to, if it has it: whoever moved it could not tell any more.
    pub(crate) async fn merged_unheard(&self, target: &str) -> Result<Option<WorkspaceFacts>, VerifyError> {
        let (Some(candidate), Some(known)) = (&self.order.merging, &self.order.known) else { return Ok(None) };
        let main = self.main();
        let there = main.commit(candidate).await.is_some() && main.is_ancestor(candidate, target).await?;
        Ok(there.then(|| WorkspaceFacts { merge: Merge::Merged { commit: candidate.clone() }, ..known.clone() }))
    }

    /// What was tested before, if it was tested on this target: then it is not tested again (V11).
    pub(crate) async fn tested_on(&self, target: &str) -> Option<WorkspaceFacts> {
        let known = self.order.known.clone()?;
        if known.is_merged() {
            // And only not concluded yet.
            return Some(known);
        }
        let candidate = known.candidate.clone().filter(|_| known.target.as_deref() == Some(target))?;
        self.main().commit(&candidate).await?;
        let merge = match &known.merge {
            // Looked at before it is tried again: to try is to tell the board, which need not know of every look.
            Merge::Waiting { files, .. } => {
                self.still_waiting(target, &candidate, files).await.unwrap_or(Merge::NotTried)
            }
            Merge::NotTried => Merge::NotTried,
            Merge::Conflict { .. } | Merge::Merged { .. } => return None,
        };
        Some(WorkspaceFacts { merge, ..known })
    }

    /// What the target would be with this work, as far as that is known without running anything.
    pub(crate) async fn look(&self, fetched: &Fetched, target: &str) -> Result<WorkspaceFacts, VerifyError> {
        let candidate = MergeCandidate::make(&self.main(), self.order, target, &fetched.head).await;
        let candidate = candidate.map_err(|error| match error {
            VerifyError::Git(GitError::TimedOut { .. }) => {
                self.unreadable(format!("it takes too long to merge: {error}"))
            }
            error => error,
        })?;
        // Work that is in the target changes nothing there any more, or collides with what came after it.
        if (candidate.changed.is_empty() || candidate.conflicts.is_some())
            && let Some(facts) = self.merged_before(fetched, target).await?
        {
            return Ok(facts);
        }
        let writable = crate::scope::Writable::new(&self.order.agent.scope, &self.workspace().client_files);
        let outside_scope = candidate.changed.iter().filter(|path| !writable.allows(path)).cloned().collect();
        Ok(WorkspaceFacts {
            commits: fetched.commits,
            goals_unmet: candidate.goals_unmet(self.order),
            changed: candidate.changed.clone(),
            outside_scope,
            checks: Vec::new(),
            merge: candidate.conflicts.clone().map_or(Merge::NotTried, |files| Merge::Conflict { files }),
            judge_changes: JudgeChanges::default(),
            target: Some(target.to_owned()),
            candidate: candidate.commit,
            tree: Some(fetched.tree.clone()),
            undone_by_git: self.undone_by_git(),
        })
    }

    /// The facts about work that is in the target already: it was merged by hand, or just before a crash that
    /// kept it from being reported (F72). Without this it would be merged twice, or be rejected because
    /// it changes nothing any more. Work that only looks like what the target has is judged as any other. No check ran
    /// here, and none is said to have run.
    async fn merged_before(&self, fetched: &Fetched, target: &str) -> Result<Option<WorkspaceFacts>, VerifyError> {
        let main = self.main();
        let work = git::merged::TaskWork {
            tip: fetched.head.clone(),
            base: Some(fetched.base.clone()),
            target: target.to_owned(),
            // The branch in the user's repository is moved by us, so its reflog proves nothing here.
            branch: None,
            refs: self.refs(),
            reported_merges: Some(self.order.reported_merges.clone()),
        };
        let commit = match main.call(move |git| placement_by_commits(git, &work)).await? {
            Placement::InTarget { commit, found_by: FoundBy::Record } => commit,
            // Somebody merged it by hand. That is believed only of what was known as this task's work before: an agent
            // may stand on whatever commit it finds (V16, F108).
            Placement::InTarget { commit, found_by: FoundBy::Ancestry | FoundBy::Squash } if fetched.known_work => {
                commit
            }
            Placement::InTarget { .. } | Placement::NoOwnCommits | Placement::NotInTarget => return Ok(None),
        };
        // The task was reopened, and nothing was added to what was merged then.
        if self.order.reported_merges.contains(&commit) {
            return Ok(None);
        }
        let changed = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &fetched.base, &fetched.head];
        Ok(Some(WorkspaceFacts {
            commits: 0,
            changed: main.paths(&changed).await?,
            outside_scope: Vec::new(),
            checks: Vec::new(),
            goals_unmet: Vec::new(),
            merge: Merge::Merged { commit },
            judge_changes: JudgeChanges::default(),
            target: Some(target.to_owned()),
            candidate: None,
            tree: Some(fetched.tree.clone()),
            undone_by_git: self.undone_by_git(),
        }))
    }
}

/// What work changes of the files that decide what the checks say (V16).
pub(crate) fn judge_changes(run: &CheckRun, changed: &[String]) -> JudgeChanges {
    let (protect, named) = (Patterns::new(&run.protect), Patterns::new(&judging_files(run.commands())));
    let (protected, others): (Vec<_>, Vec<_>) = changed.iter().cloned().partition(|path| protect.matches(path));
    let trusted = others.into_iter().filter(|path| named.matches(path)).collect();
    JudgeChanges { protect: run.protect.clone(), protected, trusted }
}
