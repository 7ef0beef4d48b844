//! What does the user's repository say? No ref or file is changed; by argument list, never through a shell.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The output of a git command that succeeded.
fn git(repository: &Path, arguments: &[&str]) -> Option<String> {
    let output = command(repository, arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn command(repository: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    // In a hook git sets these, and they would win over -C.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    command
        .arg("-C")
        .arg(repository)
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null());
    command
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

/// Is the work of `branch`, begun at `base`, in `target`? Ancestry decides, not a comparison of tips
/// (F67, F72); after a squash, that merging the branch once more would change nothing (F61).
pub(crate) fn is_merged(repository: &Path, branch: &str, base: Option<&str>, target: &str) -> bool {
    let (Some(tip), Some(target)) = (branch_commit(repository, branch), branch_commit(repository, target)) else {
        return false;
    };
    let work = Work { repository, branch, tip: &tip, base, target: &target };
    if work.is_ancestor(&tip, &target) { work.is_there() } else { work.is_squashed() }
}

/// A branch beside the target that it should be in.
struct Work<'a> {
    repository: &'a Path,
    branch: &'a str,
    tip: &'a str,
    base: Option<&'a str>,
    target: &'a str,
}

impl Work<'_> {
    fn is_ancestor(&self, older: &str, newer: &str) -> bool {
        git(self.repository, &["merge-base", "--is-ancestor", older, newer]).is_some()
    }

    /// Is there any? A branch without a commit of its own has no work to be anywhere (F61), not even
    /// when it was made after the target had moved on with the work of others.
    fn is_there(&self) -> bool {
        if self.base.is_some_and(|base| self.is_ancestor(self.tip, base)) {
            return false;
        }
        let range = self.base.map_or_else(|| self.target.to_owned(), |base| format!("{base}..{}", self.target));
        let line = git(self.repository, &["rev-list", "--first-parent", &range, "--"]).unwrap_or_default();
        // Beside the target's own line only a merge can have brought it there.
        !line.lines().any(|commit| commit == self.tip) || self.was_committed_to()
    }

    /// Did the branch ever move by work, or was it only created and set? Where git keeps no record,
    /// a recorded base is the proof.
    fn was_committed_to(&self) -> bool {
        let reference = format!("refs/heads/{}", self.branch);
        let record = git(self.repository, &["reflog", "show", "--format=%gs", &reference, "--"]).unwrap_or_default();
        let set = |entry: &str| {
            entry.starts_with("branch: ") || entry.starts_with("reset: ") || entry.ends_with(": Fast-forward")
        };
        if record.is_empty() { self.base.is_some() } else { !record.lines().all(set) }
    }

    fn is_squashed(&self) -> bool {
        let tree = |commit: &str| git(self.repository, &["rev-parse", "--verify", &format!("{commit}^{{tree}}")]);
        let Some(fork) = git(self.repository, &["merge-base", self.tip, self.target]) else { return false };
        let merged = git(self.repository, &["merge-tree", "--write-tree", self.target, self.tip]);
        tree(&fork) != tree(self.tip) && merged.is_some() && merged == tree(self.target)
    }
}

/// Where a branch left the target.
pub(crate) fn fork(repository: &Path, target: &str, branch: &str) -> Option<String> {
    git(repository, &["merge-base", "--end-of-options", target, branch])
}

/// What changed between two commits, at most so many bytes; no program of the user's is run for it.
pub(crate) fn diff(repository: &Path, from: &str, to: &str, most: usize) -> Option<Vec<u8>> {
    let range =
        ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--end-of-options", from, to];
    let mut child = command(repository, &range).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut text = Vec::new();
    let read = child.stdout.take()?.take(most as u64).read_to_end(&mut text);
    // It may have much more to say.
    let _ = child.kill();
    let _ = child.wait();
    read.ok().filter(|length| *length > 0).map(|_| text)
}

pub(crate) fn version() -> Option<String> {
    git(Path::new("."), &["--version"])
}
