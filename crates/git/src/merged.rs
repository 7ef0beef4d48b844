//! Is the work of a task in the target branch (V6, F61, F67, F72)? The one definition of it.
//!
//! Commits are compared by ancestry, never tip with tip. In this order:
//!
//! 1. **Recorded**: Saihai wrote down, before it moved the target, which work became which commit. If that
//!    commit is in the target, so is the work, also as a squash. The record is written before the
//!    target moves, so alone it proves nothing.
//! 2. **Ancestry**: the tip is an ancestor of the target. That alone proves nothing either: a branch that
//!    was only created, or only followed the target, has no commit of its own. There is work if the tip
//!    came after the base *and* lies beside the target's first-parent line, where only a merge can have
//!    brought it, or the branch's reflog shows that the branch itself was committed to (a fast-forward).
//! 3. **Squash**: the work changes files, and merging it into the target would change nothing any more.

use crate::command::Git;
use crate::error::GitError;
use crate::refs::{TaskRefs, branch_ref};

/// What is looked for, and where.
#[derive(Clone, Debug)]
pub struct TaskWork {
    /// The last commit of the work.
    pub tip: String,
    /// The commit where it began, if that was recorded.
    pub base: Option<String>,
    /// The target's commit.
    pub target: String,
    /// The branch whose reflog may tell its own commits from those of the target. `None`: a tip on the
    /// target's own line is not this task's work.
    pub branch: Option<String>,
    pub refs: TaskRefs,
    /// The merges of this task that the board knows of. With these, a recorded merge that nobody has
    /// reported counts although its work is gone: it happened just before a crash. `None`: it does not.
    pub reported_merges: Option<Vec<String>>,
}

/// Where the work is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The target has it since `commit`; after a squash by hand that is the target as it is now.
    InTarget {
        commit: String,
        found_by: FoundBy,
    },
    /// Every commit is in the target, but none of them is this work's own.
    NoOwnCommits,
    NotInTarget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    Record,
    Ancestry,
    Squash,
}

impl Placement {
    pub fn is_in_target(&self) -> bool {
        matches!(self, Self::InTarget { .. })
    }
}

/// Where is the work that a branch of the user's repository holds? Without the branch there is none.
pub fn of_branch(
    git: &Git,
    branch: &str,
    base: Option<&str>,
    target_branch: &str,
    refs: TaskRefs,
) -> Result<Placement, GitError> {
    let (Some(tip), Some(target)) = (git.branch_commit(branch), git.branch_commit(target_branch)) else {
        return Ok(Placement::NotInTarget);
    };
    let (base, branch) = (base.map(str::to_owned), Some(branch.to_owned()));
    placement(git, &TaskWork { tip, base, target, branch, refs, reported_merges: None })
}

/// Where is this work?
pub fn placement(git: &Git, work: &TaskWork) -> Result<Placement, GitError> {
    let placement = placement_by_commits(git, work)?;
    if placement == Placement::NotInTarget && is_squashed(git, work)? {
        return Ok(Placement::InTarget { commit: work.target.clone(), found_by: FoundBy::Squash });
    }
    Ok(placement)
}

/// The same, without comparing contents: a squash that somebody else made is not found.
pub fn placement_by_commits(git: &Git, work: &TaskWork) -> Result<Placement, GitError> {
    let nothing_new = git.is_ancestor(&work.tip, &work.target)?;
    let found = |commit: &str, found_by| Placement::InTarget { commit: commit.to_owned(), found_by };
    if let Some(merged) = recorded(git, work, nothing_new)? {
        Ok(found(&merged, FoundBy::Record))
    } else if !nothing_new {
        Ok(Placement::NotInTarget)
    } else if has_own_commits(git, work)? {
        Ok(found(&work.tip, FoundBy::Ancestry))
    } else {
        Ok(Placement::NoOwnCommits)
    }
}

/// The commit that Saihai itself made of this work, if the target has it.
fn recorded(git: &Git, work: &TaskWork, nothing_new: bool) -> Result<Option<String>, GitError> {
    let (merged, merged_work) = (work.refs.merged(), work.refs.merged_work());
    let mut refs = git.refs(&[&merged, &merged_work])?;
    let Some(merged) = refs.remove(&merged) else { return Ok(None) };
    let same_work = || refs.get(&merged_work) == Some(&work.tip);
    let unreported = |reported: &Vec<String>| nothing_new && !reported.contains(&merged);
    let meant = same_work() || work.reported_merges.as_ref().is_some_and(unreported);
    Ok(if meant && git.is_ancestor(&merged, &work.target)? { Some(merged) } else { None })
}

/// Does work whose tip is in the target have commits of its own?
fn has_own_commits(git: &Git, work: &TaskWork) -> Result<bool, GitError> {
    // A base that is not there any more says as little as none.
    let base = work.base.as_ref().filter(|base| git.commit(base).is_some());
    if let Some(base) = base
        && git.is_ancestor(&work.tip, base)?
    {
        return Ok(false);
    }
    let range = base.map_or_else(|| work.target.clone(), |base| format!("{base}..{}", work.target));
    let line = git.run(&["rev-list", "--first-parent", &range, "--"])?;
    if !line.lines().any(|commit| commit == work.tip) {
        return Ok(true);
    }
    Ok(work.branch.as_ref().is_some_and(|branch| was_committed_to(git, branch, base.is_some())))
}

/// Did the branch ever move by work, or was it only created and set? Where git keeps no reflog, a
/// recorded base that the tip has left behind is the proof.
fn was_committed_to(git: &Git, branch: &str, base_known: bool) -> bool {
    let reflog = git.run(&["reflog", "show", "--format=%gs", &branch_ref(branch), "--"]).unwrap_or_default();
    let only_set = |entry: &str| {
        entry.starts_with("branch: ") || entry.starts_with("reset: ") || entry.ends_with(": Fast-forward")
    };
    if reflog.is_empty() { base_known } else { !reflog.lines().all(only_set) }
}

fn is_squashed(git: &Git, work: &TaskWork) -> Result<bool, GitError> {
    let tree = |commit: &str| git.run(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")]);
    let Some(fork) = git.fork(&work.tip, &work.target) else { return Ok(false) };
    if tree(&fork)? == tree(&work.tip)? {
        return Ok(false);
    }
    // It exits with 1 where there are conflicts: then the target does not have all of the work.
    let merged = git.output(&["merge-tree", "--write-tree", &work.target, &work.tip])?;
    Ok(merged.status.success() && String::from_utf8_lossy(&merged.stdout).trim() == tree(&work.target)?)
}
