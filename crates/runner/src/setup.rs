//! What is done in a new workspace before its agent starts (R15)?

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use board::{CheckOutcome, Isolation, Settings, WorkspaceSetup};
use tokio_util::sync::CancellationToken;

use crate::caches;
use crate::host::{RunnerHost, SandboxJob};
use crate::prepared::PreparedFiles;
use crate::sandbox::Policy;
use crate::workspace::{Workspace, WorkspaceError, remove_all};

/// How much of its output is told.
const OUTPUT: usize = 2000;

#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("workspace.setup ({command}) {outcome} in the new workspace: {output}")]
    Failed { command: String, outcome: &'static str, output: String },
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Git(#[from] git::GitError),
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// One run of `workspace.setup`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetupRun<'a> {
    pub(crate) host: &'a RunnerHost,
    pub(crate) settings: &'a Settings,
    pub(crate) workspace: &'a Workspace,
    /// Where its log goes, and its HOME if that is not kept.
    pub(crate) directory: &'a Path,
    /// The marker of the processes that it starts.
    pub(crate) spawn: &'a str,
    /// No agent has been here.
    pub(crate) untouched: bool,
    /// The commit that is checked out, if it is the target's: what is fetched and made for it is kept for others.
    pub(crate) merged: Option<&'a str>,
    pub(crate) cancellation: &'a CancellationToken,
}

impl SetupRun<'_> {
    /// Runs the command, unless it has succeeded here before.
    pub(crate) async fn run(&self) -> Result<(), SetupError> {
        let Some(setup) = &self.settings.workspace_setup else { return Ok(()) };
        let WorkspaceSetup { command, timeout, .. } = setup;
        if self.workspace.was_set_up_by(command) {
            return Ok(());
        }
        let prepared = match (self.merged, self.settings.isolation) {
            (Some(commit), Isolation::Clone) => PreparedFiles::of(self.host, setup, commit).await?,
            (None, _) | (_, Isolation::Worktree) => None,
        };
        if let Some(made) = self.copy_prepared(prepared.as_ref()).await? {
            return Ok(self.workspace.record_setup(command, made)?);
        }
        let own_home = self.directory.join("setup-home");
        let home = if self.merged.is_some() { caches::setup_home(self.host) } else { own_home.clone() };
        let temporary = self.directory.join("setup-tmp");
        for directory in [&home, &temporary] {
            fs::create_dir_all(directory)?;
        }
        let toolchains = self.host.toolchains(None, None);
        for file in &toolchains.home_files {
            let _ = fs::copy(file, home.join(file.file_name().unwrap_or_default()));
        }
        let mut policy = self.workspace.policy_for_setup(&self.host.repository).await?;
        self.host.grant_common_access(&mut policy, self.settings, &toolchains, &[&home, &temporary]);
        if self.merged.is_none() {
            policy.overlays = caches::overlays(self.host, &home)?;
        }
        let wall = Duration::from_secs((*timeout).into());
        let env = self.host.environment(&home, &temporary, &toolchains);
        let ended = self.run_command(command, policy, env, wall).await;
        for scratch in [own_home, temporary] {
            remove_all(&scratch)?;
        }
        ended?;
        // Where an agent has been, we run no git; what it has changed is its work.
        let made = if self.untouched { self.workspace.files_of_setup().await? } else { Vec::new() };
        if let Some(prepared) = prepared {
            let (tree, paths) = (self.workspace.tree.clone(), self.workspace.untracked().await?);
            let kept = made.clone();
            // Without them the next setup only takes longer.
            let keep = move || prepared.keep(&tree, paths, &kept);
            if let Err(error) = tokio::task::spawn_blocking(keep).await.map_err(io::Error::other).flatten() {
                tracing::warn!(%error, "the files of a setup are not kept");
            }
        }
        Ok(self.workspace.record_setup(command, made)?)
    }

    /// Puts in place what an earlier setup has made; `None` if there is nothing, or it cannot be read any more.
    async fn copy_prepared(&self, prepared: Option<&PreparedFiles>) -> Result<Option<Vec<String>>, SetupError> {
        let Some(prepared) = prepared.cloned() else { return Ok(None) };
        let tree = self.workspace.tree.clone();
        let copied = tokio::task::spawn_blocking(move || prepared.copy_to(&tree)).await;
        Ok(copied.map_err(io::Error::other).flatten().unwrap_or_else(|error| {
            tracing::warn!(%error, "the files of an earlier setup are not used");
            None
        }))
    }

    async fn run_command(
        &self,
        command: &str,
        policy: Policy,
        env: std::collections::BTreeMap<String, String>,
        wall: Duration,
    ) -> Result<(), SetupError> {
        let job = SandboxJob {
            spawn: self.spawn,
            directory: &self.directory.join("setup"),
            program: Path::new("/bin/sh"),
            arguments: vec!["-c".into(), command.to_owned()],
            env,
            cwd: &self.workspace.tree,
            stdin: None,
            policy,
            wall,
        };
        let (exit, log) = self.host.run(job, self.settings, self.cancellation).await?;
        let outcome = match crate::verify::outcome(&exit.end) {
            CheckOutcome::Pass => return Ok(()),
            CheckOutcome::Fail => "failed",
            CheckOutcome::TimedOut => "did not end in time",
            CheckOutcome::DidNotRun => "did not run",
        };
        let mut output = String::from_utf8_lossy(&log.tail(OUTPUT).bytes).trim().to_owned();
        output.push_str(exit.end.error.as_deref().unwrap_or_default());
        Err(SetupError::Failed { command: command.to_owned(), outcome, output })
    }
}
