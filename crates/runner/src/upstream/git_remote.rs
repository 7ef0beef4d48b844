//! A remote that every host can reach: any git server, with the user's own access to it.

use std::sync::Arc;

use async_trait::async_trait;
use board::{Merge, TaskId};
use git::{AsyncGit, Git, GitError, branch_ref};

use super::{HandedOver, Mirror, MoveOutcome, TargetMove, Upstream};

/// How the user lets git reach a remote.
const ACCESS: [&str; 5] = ["GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "SSH_AUTH_SOCK"];

/// A project's remote.
#[derive(Debug)]
pub struct GitRemote {
    mirror: Arc<Mirror>,
    /// As git names it: an address or a path.
    url: String,
}

impl GitRemote {
    pub fn new(mirror: Arc<Mirror>, url: String) -> Self {
        Self { mirror, url }
    }

    /// Git in the mirror, with the user's access.
    fn git(&self) -> Git {
        Git::as_user(self.mirror.directory()).inheriting(&ACCESS)
    }

    /// Where a ref of the remote is.
    async fn remote_commit(&self, reference: &str) -> Result<Option<String>, GitError> {
        let listed = AsyncGit::from(self.git()).run(&["ls-remote", "--end-of-options", &self.url, reference]).await?;
        let found = listed.lines().filter_map(|line| line.split_once('\t')).find(|(_, name)| *name == reference);
        Ok(found.map(|(commit, _)| commit.to_owned()))
    }

    async fn fetch(&self, reference: &str) -> Result<(), GitError> {
        self.mirror.fetch(self.git(), &self.url, &[reference]).await
    }

    fn said(&self, error: &GitError) -> String {
        format!("{}: {error}", self.url)
    }
}

#[async_trait]
impl Upstream for GitRemote {
    async fn fetch_branch(&self, branch: &str) -> Result<(), String> {
        let reference = branch_ref(branch);
        let fetched = async {
            let before = self.mirror.commit(&reference).await;
            let now = self.remote_commit(&reference).await?;
            if now.is_some() && now == before {
                return Ok(());
            }
            if let Some(commit) = &now {
                self.mirror.expect(commit).await?;
            }
            self.fetch(&reference).await?;
            self.mirror.check_out_definitions(branch).await
        };
        fetched.await.map_err(|error| self.said(&error))
    }

    async fn fetch_work(&self, _: TaskId, reference: &str) -> Result<(), String> {
        let fetched = async {
            match self.remote_commit(reference).await? {
                Some(_) => self.fetch(reference).await,
                None => Ok(()),
            }
        };
        fetched.await.map_err(|error| self.said(&error))
    }

    async fn publish_work(&self, work: &HandedOver) -> Result<(), String> {
        let spec = format!("+{}:{}", work.head, work.reference);
        let push = ["push", "--quiet", "--no-verify", "--end-of-options", &self.url, &spec];
        AsyncGit::from(self.git()).run(&push).await.map(drop).map_err(|error| self.said(&error))
    }

    async fn withdraw_work(&self, reference: &str) -> Result<(), String> {
        if self.remote_commit(reference).await.map_err(|error| self.said(&error))?.is_none() {
            return Ok(());
        }
        let push = ["push", "--quiet", "--no-verify", "--delete", "--end-of-options", &self.url, reference];
        AsyncGit::from(self.git()).run(&push).await.map(drop).map_err(|error| self.said(&error))
    }

    async fn move_target(&self, target: &TargetMove) -> Result<MoveOutcome, String> {
        let TargetMove { branch, from, to, .. } = target;
        let reference = branch_ref(branch);
        let lease = format!("--force-with-lease={reference}:{from}");
        let spec = format!("{to}:{reference}");
        let push = ["push", "--quiet", "--no-verify", "--atomic", &lease, "--end-of-options", &self.url, &spec];
        let pushed = AsyncGit::from(self.git()).run(&push).await;
        let moved = async {
            // Whatever was answered: only where it is now counts.
            let now = self.remote_commit(&reference).await?;
            if now.as_deref() == Some(to) {
                return Ok(MoveOutcome::Moved);
            }
            if now.as_deref() == Some(from) {
                return Err(pushed.err().unwrap_or_else(|| std::io::Error::other("nothing has moved").into()));
            }
            self.fetch(&reference).await?;
            let there = self.mirror.git().is_ancestor(to, &reference).await?;
            Ok(if there { MoveOutcome::Moved } else { MoveOutcome::TargetChanged })
        };
        moved.await.map_err(|error| self.said(&error))
    }

    async fn still_waiting(&self, _: &TargetMove, _: &[String]) -> Result<Option<Merge>, String> {
        // Nobody edits files there.
        Ok(None)
    }
}
