//! What does the user's repository say? Read only, by argument list, never through a shell.

use std::path::Path;
use std::process::Command;

/// The output of a git command that succeeded.
fn git(repository: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The root of the working tree around a directory.
pub(crate) fn root(directory: &Path) -> Option<std::path::PathBuf> {
    git(directory, &["rev-parse", "--show-toplevel"]).map(Into::into)
}

/// The branch that is checked out, also in a repository without commits.
pub(crate) fn current_branch(repository: &Path) -> Option<String> {
    git(repository, &["symbolic-ref", "--quiet", "--short", "HEAD"])
}

/// The commit that a branch points to.
pub(crate) fn branch_commit(repository: &Path, branch: &str) -> Option<String> {
    git(
        repository,
        &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("refs/heads/{branch}^{{commit}}")],
    )
}

/// Is the work of `branch`, begun at `base`, in `target`? A branch without a commit of its own has
/// no work to be anywhere (F61); ancestry decides, not a comparison of tips (F67, F72).
pub(crate) fn is_merged(repository: &Path, branch: &str, base: Option<&str>, target: &str) -> bool {
    let (Some(tip), Some(target)) = (branch_commit(repository, branch), branch_commit(repository, target)) else {
        return false;
    };
    let ancestor = |older: &str, newer: &str| git(repository, &["merge-base", "--is-ancestor", older, newer]).is_some();
    let has_work = base.is_some_and(|base| tip != base && !ancestor(&tip, base));
    has_work && ancestor(&tip, &target)
}

pub(crate) fn version() -> Option<String> {
    git(Path::new("."), &["--version"])
}
