//! Do the project's checks pass on the candidate (V5)?

use std::path::{Path, PathBuf};
use std::time::Duration;

use board::{CheckOutcome, CheckResult, EndReason, ProcessEnd};
use git::AsyncGit;

use super::{Examiner, VerifyError};
use crate::host::SandboxJob;
use crate::sandbox::Policy;
use crate::shim::kill_marked;
use crate::workspace::{init_sharing_objects, make_directory, remove_all, write};

/// How much of a check's output is kept: its end says what failed.
const OUTPUT: usize = 4000;

/// The project's verification copy. No agent can write to its git directory; only checks run in it.
struct VerificationCopy {
    tree: PathBuf,
    git: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
}

impl Examiner<'_> {
    /// Runs the setup and every check on a commit. What follows a setup that failed does not run.
    pub(super) async fn check(&self, commit: &str) -> Result<Vec<CheckResult>, VerifyError> {
        let dod = &self.work.settings.dod;
        if dod.checks.is_empty() && dod.setup.is_none() {
            return Ok(Vec::new());
        }
        // A process left over from an earlier run must not change the files under this one.
        kill_marked(&self.spawn_marker()).await;
        let copy = self.verification_copy(commit).await?;
        let mut results = Vec::new();
        if let Some(setup) = &dod.setup {
            let result = self.run_check(&copy, "setup", setup).await?;
            if result.outcome != CheckOutcome::Pass {
                return Ok(vec![result]);
            }
        }
        for check in &dod.checks {
            results.push(self.run_check(&copy, &check.name, &check.command).await?);
        }
        Ok(results)
    }

    fn spawn_marker(&self) -> String {
        format!("{}-check", self.host.spawn_marker(self.work.task.id))
    }

    async fn run_check(&self, copy: &VerificationCopy, name: &str, command: &str) -> Result<CheckResult, VerifyError> {
        let settings = &self.work.settings;
        let mut policy = Policy::system();
        let main = self.main();
        policy.execute.push(copy.tree.clone());
        policy.read.extend(main.object_directories().await?);
        policy.read.push(copy.git.clone());
        self.host.grant_common_access(&mut policy, settings, &[&copy.tree, &copy.home, &copy.temporary]);
        let directory = self.host.paths.session(self.work.session).join("check");
        let job = SandboxJob {
            spawn: &self.spawn_marker(),
            directory: &directory,
            program: Path::new("/bin/sh"),
            arguments: vec!["-c".into(), command.to_owned()],
            env: self.host.environment(&copy.home, &copy.temporary),
            cwd: &copy.tree,
            stdin: None,
            policy,
            wall: Duration::from_secs(settings.dod.timeout.into()),
        };
        let (exit, log) = self.host.run(job, settings, self.cancellation).await?;
        let mut output = String::from_utf8_lossy(&log.tail(OUTPUT).bytes).into_owned();
        if let Some(error) = &exit.end.error {
            output.push_str(error);
        }
        Ok(CheckResult { name: name.to_owned(), outcome: outcome(&exit.end), output })
    }

    /// The copy with this commit checked out. What is ignored there, such as caches, is kept.
    async fn verification_copy(&self, commit: &str) -> Result<VerificationCopy, VerifyError> {
        let root = self.host.paths.verification();
        let (tree, git) = (root.join("tree"), root.join("git"));
        let copy = VerificationCopy { tree, git, home: root.join("home"), temporary: root.join("tmp") };
        if copy.check_out(commit).await.is_err() {
            // A check may have broken the copy. A new one costs only time.
            remove_all(&root)?;
            init_sharing_objects(&self.host.repository, &copy.git, &copy.tree).await?;
            copy.check_out(commit).await?;
        }
        let _ = std::fs::remove_dir_all(&copy.temporary);
        make_directory(&copy.home)?;
        make_directory(&copy.temporary)?;
        Ok(copy)
    }
}

impl VerificationCopy {
    async fn check_out(&self, commit: &str) -> Result<(), VerifyError> {
        let git = AsyncGit::from(git::Git::with_work_tree(&self.git, &self.tree));
        git.run(&["checkout", "--quiet", "--force", "--detach", commit]).await?;
        git.run(&["clean", "-ffdq"]).await?;
        // Checks may use git, so `.git` must lead to our git directory. An earlier check may have replaced it.
        let link = self.tree.join(".git");
        let points = format!("gitdir: {}\n", self.git.display());
        if std::fs::read_to_string(&link).ok().as_deref() != Some(&points) {
            if link.is_dir() && !link.is_symlink() {
                remove_all(&link)?;
            } else {
                let _ = std::fs::remove_file(&link);
            }
            write(&link, points.as_bytes())?;
        }
        Ok(())
    }
}

/// A check that did not run, or not to its end, has not passed (F66).
fn outcome(end: &ProcessEnd) -> CheckOutcome {
    match (end.reason, end.exit_code) {
        (EndReason::Exited, Some(0)) => CheckOutcome::Pass,
        // The shell's exit codes for "cannot be executed" and "not found".
        (EndReason::Exited, Some(126 | 127)) => CheckOutcome::DidNotRun,
        (EndReason::Exited | EndReason::Signaled, _) => CheckOutcome::Fail,
        (EndReason::TimedOut | EndReason::Stalled, _) => CheckOutcome::TimedOut,
        (EndReason::LaunchFailed | EndReason::Stopped | EndReason::Lost, _) => CheckOutcome::DidNotRun,
    }
}
