//! How do an agent's commits come into the user's repository?

use std::collections::BTreeSet;
use std::path::Path;

use board::{EndReason, Settings, TaskId};
use git::{AsyncGit, branch_ref};
use tokio_util::sync::CancellationToken;

use dispatch::ExamineOrder;

use super::quarantine::{Quarantine, Refused};
use super::{Examiner, GIT_TIME_LIMIT, VerifyError};
use crate::host::{RunnerHost, SandboxJob};
use crate::upstream::HandedOver;
use crate::workspace::{Workspace, make_directory, write};
use crate::workspace_git::{self, Author, WorkspaceAction, WorkspaceReply, WorkspaceRequest};

/// The work of a session, in the user's repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// Where it began.
    pub(crate) base: String,
    /// Its last commit, and that commit's tree.
    pub(crate) head: String,
    pub(crate) tree: String,
    /// How many commits it adds to the target.
    pub(crate) commits: u32,
    /// It was fetched as this task's work before, when the target did not have it.
    pub(crate) known_work: bool,
}

impl Examiner<'_> {
    /// Fetches the work; `None` if there is none any more, neither in a workspace nor fetched before.
    pub(crate) async fn fetch(&self) -> Result<Option<Fetched>, VerifyError> {
        let Some(base) = self.order.task.base.clone() else { return Ok(None) };
        let here = self.workspace().exists();
        if !here {
            self.host.fetch_work(self.order.task.id).await?;
        }
        let before = self.main().commit(&self.refs().work()).await;
        let head = if here { Some(self.fetch_from_workspace(&base, before.as_deref()).await?) } else { before.clone() };
        let Some(head) = head else { return Ok(None) };
        let known_work = before.as_ref() == Some(&head);
        let tree = self.main().run(&["rev-parse", "--verify", &format!("{head}^{{tree}}")]).await?;
        let range = format!("{}..{head}", self.target_ref());
        let commits = self.main().run(&["rev-list", "--count", &range, "--"]).await?.parse().unwrap_or(0);
        if commits == 0 && !known_work {
            // All of it was in the target before anybody saw it here, so it is not this task's work (F108).
            self.main().run(&["update-ref", &self.refs().work(), before.as_deref().unwrap_or(&base)]).await?;
        }
        Ok(Some(Fetched { base, head, tree, commits, known_work }))
    }

    /// Commits what the agent left uncommitted (V4), inside the sandbox, and fetches the commits. They come
    /// as a bundle: a file that can hold nothing but objects, which git checks.
    async fn fetch_from_workspace(&self, base: &str, before: Option<&str>) -> Result<String, VerifyError> {
        let (main, workspace) = (self.main(), self.workspace());
        // An examination that was broken off may have left a lock; that is not the agent's fault.
        workspace.unlock();
        let (reference, branch) = (self.refs().work(), branch_ref(&self.order.task.branch));
        let mut known = main.refs(&[&self.target_ref(), &branch]).await?;
        let missing = || VerifyError::NoTarget(self.order.settings.target_branch.clone());
        let target = known.remove(&self.target_ref()).ok_or_else(missing)?;
        let action = WorkspaceAction::BundleCommits {
            message: self.order.task.title.clone(),
            scope: self.order.agent.scope.clone(),
            client_files: workspace.client_files.clone(),
            known: vec![base.to_owned(), target.clone()],
        };
        let directory = self.host.paths.session(self.order.session).join("hand-over");
        let sandbox = WorkspaceSandbox {
            host: self.host,
            settings: &self.order.settings,
            task: self.order.task.id,
            workspace: &workspace,
        };
        let request = WorkspaceRequest { action, author: Author::of(&self.order.agent), out: directory.join("out") };
        let reply = sandbox.run(&directory, &request, self.cancellation).await?;
        let taken = if reply.bundled {
            self.take_in(&workspace_git::bundle_file(&request.out), base, &target, &directory.join("quarantine")).await
        } else {
            let known = [Some(base), Some(target.as_str()), before];
            match self.known_head(&reply.head, base, known.into_iter().flatten()).await {
                Ok(head) => self.refuse_foreign_work(&main, &head, base, &target).await.map(|()| head),
                refused => refused,
            }
        };
        let _ = crate::remove::remove_tree(&directory);
        let head = taken?;
        main.run(&["update-ref", &reference, &head]).await?;
        self.update_branch(&main, base, known.remove(&branch), before, &head).await;
        let ExamineOrder { session, generation, .. } = *self.order;
        let known = vec![base.to_owned(), target];
        let work = || HandedOver { session, generation, reference, head: head.clone(), known };
        self.host.publish_work(work).await?;
        Ok(head)
    }

    /// Takes in the commits of a bundle if they are whole and not too large; whatever is refused leaves nothing behind.
    async fn take_in(&self, bundle: &Path, base: &str, target: &str, quarantine: &Path) -> Result<String, VerifyError> {
        let refused = |refused| match refused {
            Refused::Bad(reason) => self.unreadable(reason),
            Refused::Trouble(error) => error.into(),
        };
        let taken = Quarantine::take_in(&self.host.repository, bundle, quarantine).await.map_err(refused)?;
        taken.check_size(&self.order.settings.sandbox_limits).await.map_err(refused)?;
        if !taken.has_history_of(base).await.map_err(refused)? {
            return Err(self.unreadable(format!("its commits have no history in common with {base}")));
        }
        let head = taken.head.clone();
        self.refuse_foreign_work(&taken.git, &head, base, target).await?;
        taken.release()?;
        Ok(head)
    }

    /// Nothing new: its HEAD must be in what is known to be whole. That the repository has such a commit is not
    /// enough: it may have been left there by something else (F107).
    async fn known_head<'a>(
        &self,
        head: &str,
        base: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Result<String, VerifyError> {
        let head = self.main().commit(head).await.unwrap_or_else(|| base.to_owned());
        for known in known {
            if self.main().is_ancestor(&head, known).await? {
                return Ok(head);
            }
        }
        Err(self.unreadable(format!("its commits were not handed over: {head} is not in {base} or the target")))
    }

    /// Another task's work that the target does not have must not be in its history: merged along, perhaps without its
    /// content, it would pass for merged. `git` sees the commits, wherever they are.
    async fn refuse_foreign_work(
        &self,
        git: &AsyncGit,
        head: &str,
        base: &str,
        target: &str,
    ) -> Result<(), VerifyError> {
        let (own, all) = (self.refs().work(), self.host.all_work_refs());
        let others = git.run(&["for-each-ref", "--format=%(refname)", &format!("--no-merged={target}"), &all]).await?;
        let others: Vec<_> = others.lines().filter(|name| *name != own).collect();
        if others.is_empty() {
            return Ok(());
        }
        let new = git.run(&["rev-list", head, "--not", target, base]).await?;
        let new: BTreeSet<_> = new.lines().collect();
        let theirs = git.run(&[&["rev-list"], &others[..], &["--not", target, base]].concat()).await?;
        let Some(shared) = theirs.lines().find(|commit| new.contains(commit)) else { return Ok(()) };
        let having = ["for-each-ref", "--format=%(refname)", &format!("--contains={shared}"), &all];
        let having = git.run(&having).await?;
        let other =
            having.lines().find(|name| *name != own).and_then(|name| name.rsplit('/').next()).unwrap_or_default();
        Err(self.unreadable(format!("its history has work of {other}, which is not merged")))
    }

    /// The work that another host's runner has fetched from its workspace (R10).
    pub(crate) async fn take_in_published(&self, bundle: &Path, head: &str) -> Result<(), VerifyError> {
        let (main, reference) = (self.main(), self.refs().work());
        let branch = branch_ref(&self.order.task.branch);
        let mut known = main.refs(&[&self.target_ref(), &branch, &reference]).await?;
        let missing = || VerifyError::NoTarget(self.order.settings.target_branch.clone());
        let target = known.remove(&self.target_ref()).ok_or_else(missing)?;
        let before = known.remove(&reference);
        let base = self.order.task.base.clone().unwrap_or_else(|| target.clone());
        if self.take_in(bundle, &base, &target, &bundle.with_extension("quarantine")).await? != head {
            return Err(self.unreadable("its commits are not those that were announced".into()));
        }
        main.run(&["update-ref", &reference, head]).await?;
        self.update_branch(&main, &base, known.remove(&branch), before.as_deref(), head).await;
        Ok(())
    }

    /// The last commit of that work.
    pub(crate) async fn published_work(&self) -> Option<String> {
        self.main().commit(&self.refs().work()).await
    }

    /// What another host's runner has made of the target and a task's work, and has tested.
    pub(crate) async fn take_in_candidate(&self, bundle: &Path, from: &str, to: &str) -> Result<(), VerifyError> {
        let head = self.take_in(bundle, from, from, &bundle.with_extension("quarantine")).await?;
        if head != to || !self.main().is_ancestor(from, to).await? {
            return Err(self.unreadable("its commits are not those that were announced".into()));
        }
        Ok(())
    }

    /// Does the target have the commit?
    pub(crate) async fn is_in_target(&self, commit: &str) -> Result<bool, VerifyError> {
        let target = self.target().await?;
        Ok(self.main().commit(commit).await.is_some() && self.main().is_ancestor(commit, &target).await?)
    }

    pub(super) fn unreadable(&self, reason: String) -> VerifyError {
        VerifyError::Unreadable { workspace: self.workspace().tree, reason }
    }

    /// The branch in the user's repository follows, unless somebody else has moved it.
    async fn update_branch(&self, main: &AsyncGit, base: &str, now: Option<String>, before: Option<&str>, head: &str) {
        let branch = branch_ref(&self.order.task.branch);
        if now.as_deref().is_some_and(|now| Some(now) != before && now != base) {
            tracing::info!(branch = %self.order.task.branch, "the branch was moved by somebody else, and is left alone");
            return;
        }
        // In worktree mode the branch is there already, and this changes nothing.
        let old = now.unwrap_or_else(|| "0".repeat(head.len()));
        let _ = main.run(&["update-ref", "-m", "saihai: work of the task", &branch, head, &old]).await;
    }
}

/// Runs git in a workspace, inside the agent's sandbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkspaceSandbox<'a> {
    pub(crate) host: &'a RunnerHost,
    pub(crate) settings: &'a Settings,
    pub(crate) task: TaskId,
    pub(crate) workspace: &'a Workspace,
}

impl WorkspaceSandbox<'_> {
    async fn run(
        &self,
        directory: &Path,
        request: &WorkspaceRequest,
        cancellation: &CancellationToken,
    ) -> Result<WorkspaceReply, VerifyError> {
        let Self { host, settings, workspace, .. } = *self;
        let _ = crate::remove::remove_tree(directory);
        let (home, out) = (directory.join("home"), &request.out);
        make_directory(&home)?;
        make_directory(out)?;
        let stdin = directory.join("request.json");
        write(&stdin, &serde_json::to_vec(request).unwrap_or_default())?;
        let mut policy = workspace.policy_for_git(&host.repository).await?;
        let toolchains = host.toolchains(None, None);
        host.grant_common_access(&mut policy, settings, &toolchains, &[&home, out]);
        let program = std::env::current_exe()?;
        policy.execute.push(program.clone());
        let job = SandboxJob {
            spawn: &format!("{}-git", host.spawn_marker(self.task)),
            directory: &directory.join("shim"),
            program: &program,
            arguments: vec!["workspace-git".into()],
            env: host.environment(&home, out, &toolchains),
            cwd: &workspace.tree,
            stdin: Some(stdin),
            policy,
            wall: GIT_TIME_LIMIT,
        };
        let (exit, log) = host.run(job, settings, cancellation).await?;
        let unreadable = |reason| VerifyError::Unreadable { workspace: workspace.tree.clone(), reason };
        if exit.end.reason == EndReason::Exited && exit.end.exit_code == Some(0) {
            let reply = workspace_git::read_reply(out).map_err(|error| unreadable(error.to_string()))?;
            git::Git::add_time_spent(std::time::Duration::from_micros(reply.git_micros));
            return Ok(reply);
        }
        let said = String::from_utf8_lossy(&log.tail(2000).bytes).trim().to_owned();
        let reason = exit.end.error.unwrap_or(said);
        match exit.end.reason {
            // Git failed or never ended: the cause is in the workspace.
            EndReason::Exited | EndReason::TimedOut | EndReason::Stalled | EndReason::LimitReached => {
                Err(unreadable(reason))
            }
            // Killed from outside: nothing is wrong with the workspace, so it is tried again.
            EndReason::Signaled | EndReason::LaunchFailed | EndReason::Stopped | EndReason::Lost => {
                Err(std::io::Error::other(format!("git was ended in the workspace: {reason}")).into())
            }
        }
    }

    /// Merges the target into the workspace and leaves the conflicts there for the agent (V3).
    pub(crate) async fn merge_target(&self, run: &Path, author: Author, target: &str) -> Result<(), VerifyError> {
        let directory = run.join("merge-target");
        let action = WorkspaceAction::MergeTarget { target: target.to_owned() };
        let request = WorkspaceRequest { action, author, out: directory.join("out") };
        self.run(&directory, &request, &CancellationToken::new()).await?;
        let _ = crate::remove::remove_tree(&directory);
        Ok(())
    }

    /// Undoes commits in the workspace. The files in conflict are left there for the agent (V14).
    pub(crate) async fn revert(
        &self,
        run: &Path,
        author: Author,
        commits: Vec<String>,
    ) -> Result<Vec<String>, VerifyError> {
        let directory = run.join("revert");
        let action = WorkspaceAction::Revert { commits };
        let request = WorkspaceRequest { action, author, out: directory.join("out") };
        let reply = self.run(&directory, &request, &CancellationToken::new()).await?;
        let _ = crate::remove::remove_tree(&directory);
        Ok(reply.left)
    }

    /// What is in the workspace: its last commit, and what is not committed.
    pub(crate) async fn inspect(&self, directory: &Path) -> Result<(String, Vec<String>), VerifyError> {
        // Nothing is committed.
        let author = Author { name: String::new(), email: String::new() };
        let request = WorkspaceRequest { action: WorkspaceAction::Inspect, author, out: directory.join("out") };
        let reply = self.run(directory, &request, &CancellationToken::new()).await?;
        Ok((reply.head, reply.left))
    }
}
