//! C2, F61, F65, F67, F72: `merged` is believed only if the branch's work is in the target.

use crate::world::World;

const END: [&str; 7] = ["session", "end", "1", "--exit-code", "0", "--dod-result", "merged"];
const BRANCH: &str = "task-1-one";

/// Task 1, claimed by hand.
fn claimed() -> World {
    let world = World::new();
    world.task("one");
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    world
}

#[track_caller]
fn done(world: &World) {
    let session = world.json(&END);
    assert_eq!([&session["verdict"], &session["dod_result"]], ["done", "merged"]);
    assert_eq!(world.status("1"), "done");
}

#[track_caller]
fn not_merged(world: &World) {
    let error = world.refused(6, &END);
    assert_eq!(error["code"], "not_merged");
    assert!(error["message"].as_str().unwrap().contains(BRANCH), "{error}");
    assert_eq!(world.status("1"), "in_progress");
    assert_eq!(world.json(&["session", "show", "1"])["status"], "running", "it can be told again");
}

/// C2
#[test]
fn a_merge_commit_is_merged() {
    let world = claimed();
    world.commit_on(BRANCH, "a.txt");
    world.git(&["merge", "--quiet", "--no-ff", "--no-edit", BRANCH]);
    done(&world);
}

/// C2
#[test]
fn a_fast_forward_is_merged() {
    let world = claimed();
    world.commit_on(BRANCH, "a.txt");
    world.git(&["merge", "--quiet", "--ff-only", BRANCH]);
    done(&world);
}

/// C2, F72: also when the target has moved on since.
#[test]
fn a_merge_stays_merged_when_the_target_moves_on() {
    let world = claimed();
    world.commit_on(BRANCH, "a.txt");
    world.git(&["merge", "--quiet", "--no-ff", "--no-edit", BRANCH]);
    world.write("b.txt", "more\n");
    world.git(&["add", "."]);
    world.git(&["commit", "--quiet", "--message=more"]);
    done(&world);
}

/// C2, F61: a squash leaves no ancestry, but the work is there.
#[test]
fn a_squash_is_merged() {
    let world = claimed();
    world.commit_on(BRANCH, "a.txt");
    world.commit_on(BRANCH, "b.txt");
    world.git(&["merge", "--quiet", "--squash", BRANCH]);
    not_merged(&world);
    world.git(&["commit", "--quiet", "--message=squashed"]);
    done(&world);
}

/// F65
#[test]
fn a_branch_that_was_never_merged_is_not() {
    let world = claimed();
    not_merged(&world);
    world.commit_on(BRANCH, "a.txt");
    not_merged(&world);
}

/// F67: half of the work is not the work.
#[test]
fn a_commit_after_the_merge_is_not_merged() {
    let world = claimed();
    world.commit_on(BRANCH, "a.txt");
    world.git(&["merge", "--quiet", "--no-ff", "--no-edit", BRANCH]);
    world.commit_on(BRANCH, "b.txt");
    not_merged(&world);
}

/// F61: no commit, no work.
#[test]
fn a_branch_without_commits_is_not_merged() {
    let world = claimed();
    world.git(&["branch", BRANCH]);
    not_merged(&world);
}

/// F61: nor when it was made after the target had moved on with the work of others.
#[test]
fn a_late_branch_without_commits_is_not_merged() {
    let world = claimed();
    world.commit_on("another", "a.txt");
    world.git(&["merge", "--quiet", "--ff-only", "another"]);
    world.git(&["branch", BRANCH]);
    not_merged(&world);
}

/// F61: nor when it was only brought up to date.
#[test]
fn a_branch_that_only_followed_the_target_is_not_merged() {
    let world = claimed();
    world.git(&["branch", BRANCH]);
    world.commit_on("another", "a.txt");
    world.git(&["merge", "--quiet", "--ff-only", "another"]);
    world.git(&["checkout", "--quiet", BRANCH]);
    world.git(&["merge", "--quiet", "main"]);
    world.git(&["checkout", "--quiet", "main"]);
    not_merged(&world);
}

/// F61: a squash that was taken back is not there.
#[test]
fn a_reverted_squash_is_not_merged() {
    let world = claimed();
    world.commit_on(BRANCH, "a.txt");
    world.git(&["merge", "--quiet", "--squash", BRANCH]);
    world.git(&["commit", "--quiet", "--message=squashed"]);
    world.git(&["revert", "--no-edit", "HEAD"]);
    not_merged(&world);
}

/// C2: a bad exit is a failure, merged or not.
#[test]
fn a_bad_exit_fails_though_merged() {
    let world = claimed();
    world.commit_on(BRANCH, "a.txt");
    world.git(&["merge", "--quiet", BRANCH]);
    world.ok(&["session", "end", "1", "--exit-code", "1", "--dod-result", "merged"]);
    assert_eq!(world.status("1"), "failed");
}

/// L1: the owner's `done` asks for the same proof, also without a session, or for `--force`.
#[test]
fn the_owner_marks_done_what_is_merged() {
    let world = World::new();
    world.task("one");
    world.ok(&["task", "start", "1"]);
    let mark = ["task", "update", "1", "--status", "done"];
    assert_eq!(world.refused(6, &mark)["code"], "not_merged");
    world.commit_on(BRANCH, "a.txt");
    assert_eq!(world.refused(6, &mark)["code"], "not_merged");
    world.git(&["merge", "--quiet", "--no-ff", "--no-edit", BRANCH]);
    assert_eq!(world.json(&mark)["status"], "done");

    let other = world.task("two");
    world.ok(&["task", "start", &other]);
    let forced = world.json(&["task", "update", &other, "--status", "done", "--force"]);
    assert_eq!(forced["status"], "done");
    assert!(world.ok(&["task", "log", &other]).contains("[forced]"), "it is recorded");
}
