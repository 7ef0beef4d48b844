//! Do the project's checks pass on the candidate (V5)?

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use board::{CheckOutcome, CheckResult, CheckRun, EndReason, ProcessEnd, Settings};
use git::{AsyncGit, branch_ref};
use tokio_util::sync::CancellationToken;

use super::VerifyError;
use crate::caches;
use crate::host::{RunnerHost, SandboxJob};
use crate::remove::{discard, remove_special_files};
use crate::sandbox::Policy;
use crate::scope::Patterns;
use crate::shim::kill_marked;
use crate::toolchains::Toolchains;
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

/// Runs checks in the project's verification copy. Only one at a time may.
#[derive(Debug)]
pub(crate) struct CheckRunner<'a> {
    pub(crate) host: &'a RunnerHost,
    pub(crate) settings: &'a Settings,
    /// Where the log of a check goes.
    pub(crate) directory: PathBuf,
    /// In the environment of everything that a check starts.
    pub(crate) marker: String,
    pub(crate) cancellation: &'a CancellationToken,
}

/// What checks run on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tested<'a> {
    pub(crate) commit: &'a str,
    /// Where files that `dod.protect` names are taken from.
    pub(crate) target: &'a str,
}

impl<'a> Tested<'a> {
    pub(crate) fn target(target: &'a str) -> Self {
        Self { commit: target, target }
    }
}

impl CheckRunner<'_> {
    /// Runs the setup and every check. What follows a setup that failed does not run.
    pub(crate) async fn run(&self, tested: Tested<'_>, run: &CheckRun) -> Result<Vec<CheckResult>, VerifyError> {
        // A process left over from an earlier run must not change the files under this one.
        kill_marked(&self.marker).await;
        let copy = self.verification_copy(tested, &run.protect).await?;
        let mut results = Vec::new();
        if let Some(setup) = &run.setup {
            let result = self.run_one(&copy, board::SETUP, setup).await?;
            let passed = result.outcome == CheckOutcome::Pass;
            results.push(result);
            if !passed {
                return Ok(results);
            }
        }
        for check in &run.checks {
            // Each command runs what the work brought, and the next one must not be judged by what that left.
            if !results.is_empty() {
                copy.restore_protected(tested, &run.protect).await?;
                // What the setup has put there is for the checks.
                if run.setup.is_none() {
                    copy.fresh_home()?;
                }
            }
            results.push(self.run_one(&copy, &check.name, &check.command).await?);
        }
        Ok(results)
    }

    async fn run_one(&self, copy: &VerificationCopy, name: &str, command: &str) -> Result<CheckResult, VerifyError> {
        let toolchains = self.host.toolchains(None, None);
        let mut policy = self.policy(&toolchains).await?;
        policy.overlays = caches::overlays(self.host, &copy.home)?;
        let job = SandboxJob {
            spawn: &self.marker,
            directory: &self.directory,
            program: Path::new("/bin/sh"),
            arguments: vec!["-c".into(), command.to_owned()],
            env: self.host.environment(&copy.home, &copy.temporary, &toolchains),
            cwd: &copy.tree,
            stdin: None,
            policy,
            wall: Duration::from_secs(self.settings.dod.timeout.into()),
        };
        let (exit, log) = self.host.run(job, self.settings, self.cancellation).await?;
        let mut output = String::from_utf8_lossy(&log.tail(OUTPUT).bytes).into_owned();
        if let Some(error) = &exit.end.error {
            output.push_str(error);
        }
        Ok(CheckResult { name: name.to_owned(), command: command.to_owned(), outcome: outcome(&exit.end), output })
    }

    /// What a check may touch.
    pub(crate) async fn policy(&self, toolchains: &Toolchains) -> Result<Policy, VerifyError> {
        let copy = self.copy();
        let mut policy = Policy::system();
        let main = AsyncGit::in_repository(&self.host.repository);
        policy.execute.push(copy.tree.clone());
        policy.read.extend(main.object_directories().await?);
        policy.read.push(copy.git.clone());
        let own: [&Path; 3] = [&copy.tree, &copy.home, &copy.temporary];
        self.host.grant_common_access(&mut policy, self.settings, toolchains, &own);
        Ok(policy)
    }

    fn copy(&self) -> VerificationCopy {
        let root = self.host.paths.verification();
        VerificationCopy {
            tree: root.join("tree"),
            git: root.join("git"),
            home: root.join("home"),
            temporary: root.join("tmp"),
        }
    }

    /// A new copy with this commit checked out: what code under test could write to is never used again (V16, F110). Only
    /// what git ignores, such as caches, is taken along, and only from work that was merged.
    async fn verification_copy(&self, tested: Tested<'_>, protect: &[String]) -> Result<VerificationCopy, VerifyError> {
        let copy = self.copy();
        let old = copy.tree.with_extension("old");
        discard(&old, &copy.tree.with_extension("discarded"))?;
        let caches = match self.last_was_merged(&copy).await {
            true => copy.ignored().await.unwrap_or_default(),
            false => Vec::new(),
        };
        if copy.tree.exists() {
            std::fs::rename(&copy.tree, &old)?;
        }
        if copy.fresh_tree(tested, protect).await.is_err() {
            // The git directory is out of order as well. A new one costs only time.
            remove_all(&copy.tree)?;
            remove_all(&copy.git)?;
            init_sharing_objects(&self.host.repository, &copy.git, &copy.tree).await?;
            copy.fresh_tree(tested, protect).await?;
        }
        for path in caches {
            take_along(&old, &copy.tree, &path);
        }
        copy.remove_others(protect).await?;
        // Thousands of files, perhaps: nobody waits for that.
        discard(&old, &copy.tree.with_extension("discarded"))?;
        write(&copy.last_tested(), tested.commit.as_bytes())?;
        copy.fresh_home()?;
        Ok(copy)
    }

    /// Is what was tested in the copy last in the target by now?
    async fn last_was_merged(&self, copy: &VerificationCopy) -> bool {
        let Ok(last) = std::fs::read_to_string(copy.last_tested()) else { return false };
        let main = AsyncGit::in_repository(&self.host.repository);
        main.is_ancestor(&last, &branch_ref(&self.settings.target_branch)).await.unwrap_or(false)
    }
}

impl VerificationCopy {
    fn git(&self) -> AsyncGit {
        AsyncGit::from(git::Git::with_work_tree(&self.git, &self.tree))
    }

    /// Names the commit that was tested last. What is checked out may have other files where some are protected.
    fn last_tested(&self) -> PathBuf {
        self.git.join("saihai-last-tested")
    }

    /// HOME and TMPDIR with nothing in them.
    fn fresh_home(&self) -> Result<(), VerifyError> {
        for directory in [&self.home, &self.temporary] {
            remove_all(directory)?;
            make_directory(directory)?;
        }
        Ok(())
    }

    /// Makes the tree, in which everything is written anew.
    async fn fresh_tree(&self, tested: Tested<'_>, protect: &[String]) -> Result<(), VerifyError> {
        make_directory(&self.tree)?;
        let _ = std::fs::remove_file(self.git.join("index"));
        self.check_out_protected(tested, protect).await
    }

    /// A check may leave a pipe by the name of a file that git reads.
    async fn remove_special_files(&self) -> Result<(), VerifyError> {
        let tree = self.tree.clone();
        tokio::task::spawn_blocking(move || remove_special_files(&tree)).await.map_err(std::io::Error::other)??;
        Ok(())
    }

    /// What git ignores in the tree: files, and directories as wholes.
    async fn ignored(&self) -> Result<Vec<PathBuf>, VerifyError> {
        self.remove_special_files().await?;
        let list = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let listed = self.git().output(&list).await?.stdout;
        let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect())
    }

    /// Removes what is protected and is not in the commit, ignored or not.
    async fn remove_others(&self, protect: &[String]) -> Result<(), VerifyError> {
        if protect.is_empty() {
            return Ok(());
        }
        let patterns = Patterns::new(protect);
        let listed = self.git().output(&["ls-files", "--others", "-z"]).await?.stdout;
        for path in listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            if patterns.matches(&String::from_utf8_lossy(path)) {
                remove_all(&self.tree.join(OsStr::from_bytes(path)))?;
            }
        }
        Ok(())
    }

    /// Writes what is protected anew, after code under test has run. The git directory is out of its reach.
    async fn restore_protected(&self, tested: Tested<'_>, protect: &[String]) -> Result<(), VerifyError> {
        if protect.is_empty() {
            return Ok(());
        }
        self.remove_special_files().await?;
        self.remove_others(protect).await?;
        let (git, patterns) = (self.protected_git(tested), Patterns::new(protect));
        let mut paths = Vec::new();
        for path in git.output(&["ls-files", "-z"]).await?.stdout.split_inclusive(|byte| *byte == 0) {
            let name = path.strip_suffix(b"\0").unwrap_or(path);
            if patterns.matches(&String::from_utf8_lossy(name)) {
                paths.extend_from_slice(path);
            }
        }
        git.call(move |git| git.run_with(&["checkout-index", "--force", "--quiet", "-z", "--stdin"], &paths)).await?;
        Ok(())
    }

    /// Attributes say how files are written, so those of the work must not count for what is protected from it.
    fn protected_git(&self, tested: Tested<'_>) -> AsyncGit {
        AsyncGit::from(git::Git::with_work_tree(&self.git, &self.tree).with_attributes_of(tested.target))
    }

    /// Checks out a candidate, with the target's version of what is protected.
    async fn check_out_protected(&self, tested: Tested<'_>, protect: &[String]) -> Result<(), VerifyError> {
        if protect.is_empty() || tested.commit == tested.target {
            return self.check_out(&self.git(), tested.commit).await;
        }
        let (git, patterns) = (self.protected_git(tested), Patterns::new(protect));
        // From the candidate to the target: what is to be undone. Names of files are bytes.
        let difference =
            ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", tested.commit, tested.target];
        let undone = entries_to_undo(&git.output(&difference).await?.stdout, &patterns);
        if undone.is_empty() {
            return self.check_out(&git, tested.commit).await;
        }
        git.run(&["read-tree", tested.commit]).await?;
        git.call(move |git| git.run_with(&["update-index", "-z", "--index-info"], &undone)).await?;
        let tree = git.run(&["write-tree"]).await?;
        let judged = git.run(&["commit-tree", &tree, "-p", tested.commit, "-m", "with what is protected"]).await?;
        self.check_out(&git, &judged).await
    }

    async fn check_out(&self, git: &AsyncGit, commit: &str) -> Result<(), VerifyError> {
        git.run(&["checkout", "--quiet", "--force", "--detach", commit]).await?;
        // Checks may use git, so `.git` must lead to our git directory.
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

/// Moves what is ignored from the old tree to the new one, if its place there is free and no link is on the way.
fn take_along(old: &Path, new: &Path, path: &Path) {
    let inside = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let real = |tree: &Path| {
        let above = path.ancestors().skip(1);
        above.into_iter().all(|above| tree.join(above).symlink_metadata().is_ok_and(|found| found.is_dir()))
    };
    let to = new.join(path);
    if inside && real(old) && real(new) && to.symlink_metadata().is_err() {
        let _ = std::fs::rename(old.join(path), to);
    }
}

/// The lines for git's index that bring protected files back, from the raw difference between candidate and target.
fn entries_to_undo(difference: &[u8], protected: &Patterns) -> Vec<u8> {
    let mut lines = Vec::new();
    let mut fields = difference.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
        // ":OLD_MODE NEW_MODE OLD_OBJECT NEW_OBJECT STATUS"; what the target does not have has mode and object 0.
        let about = String::from_utf8_lossy(about);
        let parts: Vec<_> = about.split(' ').collect();
        let &[_, mode, _, object, _] = parts.as_slice() else { continue };
        if protected.matches(&String::from_utf8_lossy(path)) {
            let mode = if mode.bytes().all(|digit| digit == b'0') { "0" } else { mode };
            lines.extend_from_slice(format!("{mode} {object}\t").as_bytes());
            lines.extend_from_slice(path);
            lines.push(0);
        }
    }
    lines
}

/// A check that did not run, or not to its end, has not passed (F66).
pub(crate) fn outcome(end: &ProcessEnd) -> CheckOutcome {
    match (end.reason, end.exit_code) {
        (EndReason::Exited, Some(0)) => CheckOutcome::Pass,
        // The shell's exit codes for "cannot be executed" and "not found".
        (EndReason::Exited, Some(126 | 127)) => CheckOutcome::DidNotRun,
        (EndReason::Exited | EndReason::Signaled | EndReason::LimitReached, _) => CheckOutcome::Fail,
        (EndReason::TimedOut | EndReason::Stalled, _) => CheckOutcome::TimedOut,
        (EndReason::LaunchFailed | EndReason::Stopped | EndReason::Lost, _) => CheckOutcome::DidNotRun,
    }
}
