//! Is the work done? Fetched, merged aside, checked, and only then moved into the target (V4 to V6).

mod candidate;
mod checks;
mod fetch;
mod merge;

use std::path::PathBuf;
use std::time::Duration;

use board::{AgentSpec, CheckOutcome, Merge, SessionId, Settings, Status, Task, WorkspaceFacts, interrupt};
use control::Project;
use tokio_util::sync::CancellationToken;

use self::candidate::MergeCandidate;
use self::merge::MoveOutcome;
use crate::git::{Git, GitError};
use crate::host::RunnerHost;
use crate::workspace::{Workspace, WorkspaceError, client_files};

pub(crate) use self::fetch::WorkspaceSandbox;

/// The most time git has for one errand in a workspace.
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
pub(crate) struct Work {
    pub(crate) session: SessionId,
    pub(crate) task: Task,
    pub(crate) spec: AgentSpec,
    pub(crate) settings: std::sync::Arc<Settings>,
    pub(crate) branch: String,
    pub(crate) base: String,
    /// Merges of this task that the board knows of.
    pub(crate) reported_merges: Vec<String>,
}

impl Work {
    /// In the user's repository: the commits as they were fetched, and what they became in the target.
    fn reference(&self, kind: &str) -> String {
        format!("refs/saihai/{kind}/{}", self.task.id)
    }

    fn target(&self) -> String {
        format!("refs/heads/{}", self.settings.target_branch)
    }
}

/// Examines work, one after the other for each target.
#[derive(Debug)]
pub(crate) struct Examiner<'a> {
    pub(crate) project: &'a Project,
    pub(crate) host: &'a RunnerHost,
    pub(crate) work: &'a Work,
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
    fn main(&self) -> Git {
        Git::around(&self.host.repository)
    }

    /// What was blocked, cancelled or paused a moment ago is not merged (ADR 4).
    async fn may_merge(&self) -> bool {
        let Ok(board) = self.project.newest().await else { return false };
        board.session(self.work.session).is_ok_and(|session| {
            let working = session.task().and_then(|id| board.task(id).ok()).map(|task| task.status);
            working == Some(Status::InProgress) && interrupt(&board, session).is_none()
        })
    }

    /// Looks at the work, and merges it if everything is well.
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
                // Somebody else was first: what was tested is not what would be there.
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

    /// Work that is in the target already is done: before a crash, or by hand (F72).
    async fn merged_before(&self, head: &str, target: &str) -> Result<Option<WorkspaceFacts>, VerifyError> {
        let main = self.main();
        let recorded = main.commit(&self.work.reference("merged-work")).await.as_deref() == Some(head);
        let nothing_new = main.is_ancestor(head, target).await?;
        let merged = main.commit(&self.work.reference("merged")).await;
        // What was merged before a crash, and never told, also where its workspace is gone since.
        let unreported = merged.as_ref().is_some_and(|merged| !self.work.reported_merges.contains(merged));
        let commit = match merged.filter(|_| recorded || (nothing_new && unreported)) {
            Some(merged) if main.is_ancestor(&merged, target).await? => merged,
            Some(_) | None => {
                let there = nothing_new && !main.is_ancestor(head, &self.work.base).await?;
                // Only a merge can have brought it there: a head on the target's own line may be anybody's work.
                let line = format!("{}..{target}", self.work.base);
                let line = main.run(&["rev-list", "--first-parent", &line, "--"]).await?;
                if !there || line.lines().any(|commit| commit == head) {
                    return Ok(None);
                }
                head.to_owned()
            }
        };
        let changed =
            main.paths(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", &self.work.base, head]).await?;
        // Its checks ran before it was merged; whoever merges by hand answers for them.
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
