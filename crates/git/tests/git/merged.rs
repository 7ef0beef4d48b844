//! F61, F67, F72, V6: each way in which work can be in the target, and each in which it only seems so.

use git::TaskRefs;
use git::merged::{FoundBy, Placement, TaskWork, of_branch, placement};

use crate::scratch::Scratch;

const BRANCH: &str = "task-1";

fn refs() -> TaskRefs {
    git::RefNamespace::new(1, "shop").task("tsk_1")
}

fn found(commit: impl Into<String>, found_by: FoundBy) -> Placement {
    Placement::InTarget { commit: commit.into(), found_by }
}

/// As the command line asks: by the branch.
#[track_caller]
fn of(scratch: &Scratch, base: &str) -> Placement {
    of_branch(&scratch.git, BRANCH, Some(base), "main", refs()).unwrap()
}

/// As the merge queue asks: by the commit that was fetched, without a branch to look at.
#[track_caller]
fn fetched(scratch: &Scratch, base: &str, tip: &str, reported: &[&str]) -> Placement {
    let work = TaskWork {
        tip: tip.to_owned(),
        base: Some(base.to_owned()),
        target: scratch.head(),
        branch: None,
        refs: refs(),
        reported_merges: Some(reported.iter().map(|&merge| merge.to_owned()).collect()),
    };
    placement(&scratch.git, &work).unwrap()
}

/// F72: also when the target has moved on since, or is asked by somebody without the branch.
#[test]
fn a_merge_commit_is_found_by_ancestry() {
    let scratch = Scratch::new();
    let base = scratch.head();
    let tip = scratch.commit_on(BRANCH, "a");
    assert_eq!(of(&scratch, &base), Placement::NotInTarget);
    scratch.run(&["merge", "--quiet", "--no-ff", "--no-edit", BRANCH]);
    scratch.commit("more");
    assert_eq!(of(&scratch, &base), found(&tip, FoundBy::Ancestry));
    assert_eq!(fetched(&scratch, &base, &tip, &[]), found(&tip, FoundBy::Ancestry));
}

/// F61: on the target's own line only the branch's reflog tells whose work it is.
#[test]
fn a_fast_forward_is_found_by_the_reflog() {
    let scratch = Scratch::new();
    let base = scratch.head();
    let tip = scratch.commit_on(BRANCH, "a");
    scratch.run(&["merge", "--quiet", "--ff-only", BRANCH]);
    assert_eq!(of(&scratch, &base), found(&tip, FoundBy::Ancestry));
    assert_eq!(fetched(&scratch, &base, &tip, &[]), Placement::NoOwnCommits);
    // Without a reflog the recorded base is the proof, and without that there is none.
    std::fs::remove_file(scratch.path().join(".git/logs/refs/heads").join(BRANCH)).unwrap();
    assert_eq!(of(&scratch, &base), found(&tip, FoundBy::Ancestry));
    let without_base = of_branch(&scratch.git, BRANCH, None, "main", refs()).unwrap();
    assert_eq!(without_base, Placement::NoOwnCommits);
}

/// F61: a branch that was only made, or only followed the target, has no work to be anywhere.
#[test]
fn a_branch_without_commits_of_its_own_is_no_merged_work() {
    let scratch = Scratch::new();
    let base = scratch.head();
    scratch.run(&["branch", BRANCH]);
    assert_eq!(of(&scratch, &base), Placement::NoOwnCommits);
    let others = scratch.commit("of-others");
    scratch.run(&["checkout", "--quiet", BRANCH]);
    scratch.run(&["merge", "--quiet", "--ff-only", "main"]);
    scratch.run(&["checkout", "--quiet", "main"]);
    assert_eq!(of(&scratch, &base), Placement::NoOwnCommits);
    assert_eq!(fetched(&scratch, &base, &others, &[]), Placement::NoOwnCommits);
}

/// F67: half of the work is not the work; and without a branch there is none.
#[test]
fn a_commit_after_the_merge_is_not_in_the_target() {
    let scratch = Scratch::new();
    let base = scratch.head();
    assert_eq!(of(&scratch, &base), Placement::NotInTarget);
    scratch.commit_on(BRANCH, "a");
    scratch.run(&["merge", "--quiet", "--no-ff", "--no-edit", BRANCH]);
    scratch.commit_on(BRANCH, "b");
    assert_eq!(of(&scratch, &base), Placement::NotInTarget);
}

/// F61: a squash leaves no ancestry, but merging once more would change nothing.
#[test]
fn a_squash_is_found_by_what_it_changed() {
    let scratch = Scratch::new();
    let base = scratch.head();
    scratch.commit_on(BRANCH, "a");
    let tip = scratch.commit_on(BRANCH, "b");
    scratch.run(&["merge", "--quiet", "--squash", BRANCH]);
    scratch.run(&["commit", "--quiet", "--message=squashed"]);
    let target = scratch.commit("more");
    assert_eq!(of(&scratch, &base), found(&target, FoundBy::Squash));
    assert_eq!(fetched(&scratch, &base, &tip, &[]), found(&target, FoundBy::Squash));
    scratch.run(&["revert", "--no-edit", "HEAD~1"]);
    assert_eq!(of(&scratch, &base), Placement::NotInTarget, "it was taken back");
}

/// F61, F65: commits that change nothing in the end are no work that a squash could have taken over.
#[test]
fn work_that_changes_nothing_is_no_squash() {
    let scratch = Scratch::new();
    let base = scratch.head();
    scratch.commit_on(BRANCH, "a");
    scratch.run(&["checkout", "--quiet", BRANCH]);
    scratch.run(&["revert", "--no-edit", "HEAD"]);
    scratch.run(&["checkout", "--quiet", "main"]);
    assert_eq!(of(&scratch, &base), Placement::NotInTarget);
}

/// V6: what Saihai wrote down before it merged is believed only if the target has it.
#[test]
fn a_recorded_merge_counts_once_the_target_has_it() {
    let scratch = Scratch::new();
    let base = scratch.head();
    let tip = scratch.commit_on(BRANCH, "a");
    let tree = scratch.run(&["rev-parse", &format!("{tip}^{{tree}}")]);
    let squashed = scratch.run(&["commit-tree", &tree, "-p", &base, "-m", "squashed"]);
    scratch.run(&["update-ref", &refs().merged(), &squashed]);
    scratch.run(&["update-ref", &refs().merged_work(), &tip]);
    assert_eq!(of(&scratch, &base), Placement::NotInTarget, "the target was never moved");
    scratch.run(&["merge", "--quiet", "--ff-only", &squashed]);
    std::fs::write(scratch.path().join("a"), "changed since\n").unwrap();
    scratch.run(&["commit", "--quiet", "--all", "--message=later"]);
    assert_eq!(of(&scratch, &base), found(&squashed, FoundBy::Record));
    assert_eq!(fetched(&scratch, &base, &tip, &[&squashed]), found(&squashed, FoundBy::Record));
}

/// V6, F72: a merge just before a crash counts though its workspace is gone, unless it was reported before.
#[test]
fn an_unreported_merge_is_found_without_its_work() {
    let scratch = Scratch::new();
    let base = scratch.head();
    let tip = scratch.commit_on(BRANCH, "a");
    scratch.run(&["merge", "--quiet", "--no-ff", "--no-edit", BRANCH]);
    let merge = scratch.head();
    scratch.run(&["update-ref", &refs().merged(), &merge]);
    scratch.run(&["update-ref", &refs().merged_work(), &tip]);
    assert_eq!(fetched(&scratch, &base, &base, &[]), found(&merge, FoundBy::Record));
    assert_eq!(fetched(&scratch, &base, &base, &[&merge]), Placement::NoOwnCommits);
}

/// R1: a base that was collected since is as good as none recorded, and no error.
#[test]
fn a_base_that_is_gone_is_ignored() {
    let scratch = Scratch::new();
    let tip = scratch.commit_on(BRANCH, "a");
    scratch.run(&["merge", "--quiet", "--no-ff", "--no-edit", BRANCH]);
    assert_eq!(of(&scratch, &"1".repeat(40)), found(&tip, FoundBy::Ancestry));
}
