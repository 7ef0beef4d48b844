//! How does the target branch move? By compare-and-swap, and never over a user's own changes (V6).

use std::path::{Path, PathBuf};

use board::Merge;
use git::{AsyncGit, GitError};

use super::{Examiner, VerifyError};
use crate::upstream::{MoveOutcome, TargetMove};

impl Examiner<'_> {
    /// Moves the target to a commit that has the work in it. `head` is the work's last commit, if that is known.
    pub(crate) async fn move_target(
        &self,
        target: &str,
        commit: &str,
        head: Option<&str>,
    ) -> Result<MoveOutcome, VerifyError> {
        let main = self.main();
        // Recorded before the target moves: after a crash it tells what was being merged.
        let refs = self.refs();
        let head = match head {
            Some(head) => Some(head.to_owned()),
            None => main.commit(&refs.work()).await,
        };
        let Some(head) = head else { return Ok(MoveOutcome::TargetChanged) };
        let intent = format!("update {} {commit}\nupdate {} {head}\n", refs.merged(), refs.merged_work());
        main.run_with(&["update-ref", "--stdin"], &intent).await?;
        if let Some(upstream) = &self.host.upstream {
            let moved = upstream.move_target(&self.target_move(target, commit)).await;
            return moved.map_err(VerifyError::trouble);
        }
        let moved = match self.checked_out().await? {
            Some(tree) => self.fast_forward(&tree, target, commit).await?,
            None => self.swap(target, commit).await?,
        };
        if !matches!(moved, MoveOutcome::Moved) {
            return Ok(moved);
        }
        let now = self.target().await?;
        let there = now == commit || main.is_ancestor(commit, &now).await?;
        Ok(if there { MoveOutcome::Moved } else { MoveOutcome::TargetChanged })
    }

    /// What keeps the target from being moved to a commit, after that was tried and `files` were in the way; `None` if it is
    /// worth trying again. Nothing is changed.
    pub(crate) async fn still_waiting(&self, target: &str, commit: &str, files: &[String]) -> Option<Merge> {
        if let Some(upstream) = &self.host.upstream {
            // As long as nobody answers, what was in the way still is.
            let told = upstream.still_waiting(&self.target_move(target, commit), files).await;
            return told.unwrap_or_else(|reason| Some(Merge::Waiting { reason, files: files.to_vec() }));
        }
        let tree = self.checked_out().await.ok().flatten()?;
        let user = AsyncGit::from(git::Git::as_user(&tree));
        let now = local_changes(&user, target, commit).await.ok()?;
        if !now.is_empty() {
            return Some(Merge::Waiting { reason: in_the_way(&tree, &now, ""), files: now });
        }
        if !files.is_empty() {
            return None;
        }
        // It was something else, such as a merge of the user's own that is not finished.
        let _ = user.run(&["update-index", "-q", "--refresh"]).await;
        let refused = user.run(&["read-tree", "--dry-run", "-m", "-u", target, commit]).await.err()?;
        let GitError::Failed { message, .. } = refused else { return None };
        Some(Merge::Waiting { reason: in_the_way(&tree, &now, &message), files: now })
    }

    fn target_move(&self, from: &str, to: &str) -> TargetMove {
        let branch = self.order.settings.target_branch.clone();
        let (session, generation) = (self.order.session, self.order.generation);
        TargetMove { session, generation, branch, from: from.to_owned(), to: to.to_owned() }
    }

    /// The user's working tree that has the target checked out.
    async fn checked_out(&self) -> Result<Option<PathBuf>, GitError> {
        let target = self.target_ref();
        let list = self.main().paths(&["worktree", "list", "--porcelain", "-z"]).await?;
        let mut tree = None;
        for line in &list {
            match line.split_once(' ') {
                Some(("worktree", path)) => tree = Some(PathBuf::from(path)),
                Some(("branch", branch)) if branch == target => return Ok(tree),
                _ => {}
            }
        }
        Ok(None)
    }

    async fn swap(&self, target: &str, commit: &str) -> Result<MoveOutcome, GitError> {
        let message = format!("saihai: {}", self.order.task.id);
        let swap = ["update-ref", "-m", &message, &self.target_ref(), commit, target];
        match self.main().run(&swap).await {
            Ok(_) => Ok(MoveOutcome::Moved),
            Err(error) => match self.main().commit(&self.target_ref()).await {
                Some(now) if now == target => Err(error),
                _ => Ok(MoveOutcome::TargetChanged),
            },
        }
    }

    /// Only ever forward, and only where no local change is touched: git itself refuses otherwise.
    async fn fast_forward(&self, tree: &Path, target: &str, commit: &str) -> Result<MoveOutcome, GitError> {
        let user = AsyncGit::from(git::Git::as_user(tree));
        // Git would go forward from any ancestor of the commit, also from one that the user has just gone back to, and
        // on whatever branch is checked out by now (F109).
        let now = user.run(&["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]).await?;
        if now.lines().collect::<Vec<_>>() != [target, self.target_ref().as_str()] {
            return Ok(MoveOutcome::TargetChanged);
        }
        // Ignored files are the user's too, and git overwrites them unless it is told not to.
        // Options that the user has for merges of their own must not make another merge of this one.
        let options = format!("branch.{}.mergeOptions=", self.order.settings.target_branch);
        let merge = [
            "-c",
            &options,
            "merge",
            "--ff-only",
            "--no-squash",
            "--no-verify-signatures",
            "--no-overwrite-ignore",
            "--quiet",
            "--no-stat",
            "--no-autostash",
            "--end-of-options",
            commit,
        ];
        let Err(error) = user.run(&merge).await else { return Ok(MoveOutcome::Moved) };
        if self.main().commit(&self.target_ref()).await.as_deref() != Some(target) {
            return Ok(MoveOutcome::TargetChanged);
        }
        let files = local_changes(&user, target, commit).await?;
        let GitError::Failed { message, .. } = error else { return Err(error) };
        Ok(MoveOutcome::LocalChanges { reason: in_the_way(tree, &files, &message), files })
    }
}

/// Why the user's tree stays where it is: because of these files, or else for what git has said.
fn in_the_way(tree: &Path, files: &[String], message: &str) -> String {
    match files.first() {
        Some(first) => format!("{first} in {} has changes that are not committed", tree.display()),
        None => format!("{} cannot be moved on: {message}", tree.display()),
    }
}

/// The files of the user that the merge would change and that differ from what is committed.
async fn local_changes(user: &AsyncGit, target: &str, commit: &str) -> Result<Vec<String>, GitError> {
    let changed = user.paths(&["diff", "--name-only", "-z", "--no-renames", target, commit, "--"]).await?;
    let status = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored", "--no-renames"];
    let local = user.paths(&status).await?;
    let local: Vec<_> = local.iter().filter_map(|entry| entry.get(3..)).collect();
    let touches =
        |path: &&String| local.iter().any(|own| own == path || (own.ends_with('/') && path.starts_with(*own)));
    Ok(changed.iter().filter(touches).cloned().collect())
}
