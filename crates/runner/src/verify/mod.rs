//! Is the work good? It is fetched, merged into a candidate, checked, and only then moved into the target (V4 to V6).

mod candidate;
mod checks;
mod fetch;
mod merge;

use std::path::PathBuf;
use std::time::Duration;

use board::{AgentSpec, CheckOutcome, Merge, SessionId, Settings, Status, Task, WorkspaceFacts, interrupt};
use control::Project;
use git::merged::{FoundBy, Placement, placement};
use git::{AsyncGit, GitError, TaskRefs, branch_ref};
use tokio_util::sync::CancellationToken;

use self::candidate::MergeCandidate;
use self::merge::MoveOutcome;
use crate::host::RunnerHost;
use crate::workspace::{Workspace, WorkspaceError, client_files};

pub(crate) use self::fetch::WorkspaceSandbox;

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

/// The work of a session, to be judged.
#[derive(Clone, Debug)]
pub(crate) struct SessionWork {
    pub(crate) session: SessionId,
    pub(crate) task: Task,
    pub(crate) spec: AgentSpec,
    pub(crate) settings: std::sync::Arc<Settings>,
    pub(crate) branch: String,
    pub(crate) base: String,
    /// Merges of this task that the board knows of.
    pub(crate) reported_merges: Vec<String>,
}

impl SessionWork {
    fn refs(&self) -> TaskRefs {
        TaskRefs::of(self.task.id)
    }

    fn target(&self) -> String {
        branch_ref(&self.settings.target_branch)
    }
}

/// Examines work, one after the other for each target.
#[derive(Debug)]
pub(crate) struct Examiner<'a> {
    pub(crate) project: &'a Project,
    pub(crate) host: &'a RunnerHost,
    pub(crate) work: &'a SessionWork,
    pub(crate) cancellation: &'a CancellationToken,
}

/// How far the examination came.
#[derive(Debug)]
pub(crate) enum Examined {
    /// All that there is to know.
    Facts(WorkspaceFacts),
    /// It may be merged, but cannot be yet; the facts say what is in the way.
    Waiting(WorkspaceFacts),
}

impl Examiner<'_> {
    fn main(&self) -> AsyncGit {
        AsyncGit::in_repository(&self.host.repository)
    }

    /// What was blocked, cancelled or paused a moment ago is not merged (ADR 4).
    async fn may_merge(&self) -> bool {
        let Ok(board) = self.project.newest().await else { return false };
        board.session(self.work.session).is_ok_and(|session| {
            let working = session.task().and_then(|id| board.task(id).ok()).map(|task| task.status);
            working == Some(Status::InProgress) && interrupt(&board, session).is_none()
        })
    }

    /// Examines the work, and merges it if everything is well.
    pub(crate) async fn examine(&self) -> Result<Examined, VerifyError> {
        let head = self.fetch().await?;
        loop {
            let target = self.target().await?;
            if let Some(facts) = self.merged_before(&head, &target).await? {
                return Ok(Examined::Facts(facts));
            }
            let candidate = MergeCandidate::make(&self.main(), self.work, &target, &head).await?;
            let mut facts = self.facts(&candidate).await?;
            let hopeless = facts.changed.is_empty() || !facts.outside_scope.is_empty();
            let Some(commit) = candidate.commit.filter(|_| !hopeless) else {
                return Ok(Examined::Facts(facts));
            };
            facts.checks = self.check(&commit).await?;
            let passed = facts.checks.iter().all(|check| check.outcome == CheckOutcome::Pass);
            if !passed || !facts.goals_unmet.is_empty() || !self.may_merge().await {
                return Ok(Examined::Facts(facts));
            }
            match self.move_target(&target, &commit, &head).await? {
                MoveOutcome::Moved => {
                    facts.merge = Merge::Merged { commit };
                    return Ok(Examined::Facts(facts));
                }
                // The target moved while the checks ran: what was tested is not what a merge would give now.
                MoveOutcome::TargetChanged => {}
                MoveOutcome::LocalChanges { reason, files } => {
                    facts.merge = Merge::Waiting { reason, files };
                    return Ok(Examined::Waiting(facts));
                }
            }
        }
    }

    async fn target(&self) -> Result<String, VerifyError> {
        let missing = || VerifyError::NoTarget(self.work.settings.target_branch.clone());
        self.main().commit(&self.work.target()).await.ok_or_else(missing)
    }

    async fn facts(&self, candidate: &MergeCandidate) -> Result<WorkspaceFacts, VerifyError> {
        let workspace = self.workspace();
        let writable = crate::scope::Writable::new(&self.work.spec.scope, &workspace.client_files);
        let outside_scope = candidate.changed.iter().filter(|path| !writable.allows(path)).cloned().collect();
        Ok(WorkspaceFacts {
            commits: candidate.commits,
            goals_unmet: candidate.goals_unmet(self.work),
            changed: candidate.changed.clone(),
            outside_scope,
            checks: Vec::new(),
            merge: candidate.conflicts.clone().map_or(Merge::NotTried, |files| Merge::Conflict { files }),
        })
    }

    fn workspace(&self) -> Workspace {
        let root = self.host.paths.workspace(self.work.task.id);
        let mut workspace = Workspace::at(&root, &self.host.repository, self.work.settings.isolation);
        workspace.client_files = client_files(&self.host.repository, self.work.spec.client);
        workspace
    }

    /// The facts about work that is in the target already: it was merged by hand, or just before a crash that
    /// kept it from being reported (F72). Without this it would be merged twice, or be rejected because
    /// it changes nothing any more. Work that only looks like what the target has is judged as any other.
    async fn merged_before(&self, head: &str, target: &str) -> Result<Option<WorkspaceFacts>, VerifyError> {
        let main = self.main();
        let work = git::merged::TaskWork {
            tip: head.to_owned(),
            base: Some(self.work.base.clone()),
            target: target.to_owned(),
            // The branch in the user's repository is moved by us, so its reflog proves nothing here.
            branch: None,
            refs: self.work.refs(),
            reported_merges: Some(self.work.reported_merges.clone()),
        };
        let commit = match main.call(move |git| placement(git, &work)).await? {
            Placement::InTarget { commit, found_by: FoundBy::Record | FoundBy::Ancestry } => commit,
            Placement::InTarget { found_by: FoundBy::Squash, .. }
            | Placement::NoOwnCommits
            | Placement::NotInTarget => return Ok(None),
        };
        let changed =
            main.paths(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", &self.work.base, head]).await?;
        // The checks ran before that merge; a person who merges by hand answers for them.
        let passed = |check: &board::Check| board::CheckResult {
            name: check.name.clone(),
            outcome: CheckOutcome::Pass,
            output: "it is in the target already".into(),
        };
        let checks = self.work.settings.dod.checks.iter().map(passed).collect();
        let merge = Merge::Merged { commit };
        Ok(Some(WorkspaceFacts {
            commits: 0,
            changed,
            outside_scope: Vec::new(),
            checks,
            goals_unmet: Vec::new(),
            merge,
        }))
    }
}
