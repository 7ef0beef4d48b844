//! C2, S5: sessions driven by hand are judged by the facts that are told, and nothing else.

use serde_json::json;

use crate::world::{World, column};

/// C2: starting claims the task, moves it, and names the branch.
#[test]
fn starting_claims_the_task() {
    let world = World::new();
    world.ok(&["task", "add", "Fix the login!", "--assign", "coder"]);
    let session = world.json(&["session", "start", "1", "--agent", "coder"]);
    assert_eq!(session["branch"], "task-1-fix-the-login");
    let task = world.json(&["task", "show", "1"]);
    assert_eq!([&task["status"], &task["branch"]], ["in_progress", "task-1-fix-the-login"]);
    assert_eq!(task["base_commit"], world.git(&["rev-parse", "main"]));
    assert_eq!(column(&world.json(&["session", "list", "--running"]), "id"), ["ses_1"]);
    assert_eq!(world.ok(&["session", "list", "--task", "1", "--quiet"]), "ses_1");
}

/// C2, S5: a bad end fails the task, whatever else is said; a good one leaves it in progress.
#[test]
fn the_end_decides() {
    for (facts, verdict, end_reason, dod_result, status) in [
        (&["--exit-code", "0"][..], "none", "exited", "pending", "in_progress"),
        (&["--exit-code", "0", "--dod-result", "pending"], "none", "exited", "pending", "in_progress"),
        (&["--exit-code", "1"], "failed", "exited", "pending", "failed"),
        (&["--exit-code", "-1"], "failed", "exited", "pending", "failed"),
        (&["--exit-code", "124"], "failed", "exited", "pending", "failed"),
        (&["--exit-code", "1", "--dod-result", "merged"], "failed", "exited", "merged", "failed"),
        (&["--exit-code", "0", "--signal", "SIGKILL"], "failed", "signaled", "pending", "failed"),
        (&["--exit-code", "0", "--signal", ""], "none", "exited", "pending", "in_progress"),
        (&["--exit-code", "0", "--dod-result", "timeout"], "failed", "timed_out", "timeout", "failed"),
        (&["--exit-code", "0", "--dod-result", "error"], "failed", "exited", "error", "failed"),
        (&["--exit-code", "0", "--error", r#"{"message":"oops"}"#], "failed", "exited", "pending", "failed"),
        (&["--exit-code", "0", "--error", r#""oops""#], "failed", "exited", "pending", "failed"),
        (&["--exit-code", "0", "--error", "{}"], "none", "exited", "pending", "in_progress"),
        (&["--exit-code", "0", "--error", "null"], "none", "exited", "pending", "in_progress"),
        (&["--exit-code", "0", "--error", r#""""#], "none", "exited", "pending", "in_progress"),
        (&["--exit-code", "0", "--error", ""], "none", "exited", "pending", "in_progress"),
    ] {
        let world = World::new();
        world.task("one");
        world.ok(&["session", "start", "1", "--agent", "coder"]);
        let session = world.json(&[&["session", "end", "1"], facts].concat());
        let seen = [&session["verdict"], &session["end_reason"], &session["dod_result"], &session["status"]];
        assert_eq!(seen, [verdict, end_reason, dod_result, "ended"], "{facts:?}");
        assert_eq!(world.status("1"), status, "{facts:?}");
    }
}

/// C2, S5: what was recorded can be read again.
#[test]
fn the_facts_are_kept() {
    let world = World::new();
    world.task("one");
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    world.ok(&[
        "session",
        "end",
        "1",
        "--exit-code",
        "143",
        "--signal",
        "SIGTERM",
        "--artifacts",
        r#"["src/a.rs","b.md"]"#,
        "--error",
        r#"{"message":"out of memory"}"#,
    ]);
    let session = world.json(&["session", "show", "1"]);
    assert_eq!([&session["exit_code"], &session["signal"]], [&json!(143), &json!("SIGTERM")]);
    assert_eq!(session["artifacts"], json!(["src/a.rs", "b.md"]));
    assert_eq!(session["error"], json!({ "message": "out of memory" }));
    let shown = world.ok(&["session", "show", "1"]);
    assert!(shown.contains("src/a.rs") && shown.contains("out of memory"), "{shown}");
    assert_eq!(world.json(&["session", "list", "--running"]), json!([]));
}

/// C3: JSON that is none is a usage error and records nothing.
#[test]
fn facts_that_are_no_json_are_refused() {
    let world = World::new();
    world.task("one");
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    for facts in
        [["--artifacts", "src/a.rs"], ["--artifacts", r#"{"a":1}"#], ["--artifacts", "[1]"], ["--error", "oops"]]
    {
        let error = world.refused(2, &[&["session", "end", "1", "--exit-code", "0"], &facts[..]].concat());
        assert_eq!(error["code"], "invalid_argument", "{facts:?}");
    }
    assert_eq!(world.json(&["session", "show", "1"])["status"], "running");
}

/// C2: after `pending` the same agent may go on in another session, with the same branch.
#[test]
fn a_pending_task_goes_on() {
    let world = World::new();
    world.task("one");
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    let base = world.json(&["task", "show", "1"])["base_commit"].clone();
    world.ok(&["session", "end", "1", "--exit-code", "0"]);
    world.git(&["commit", "--quiet", "--allow-empty", "--message=meanwhile"]);
    assert_eq!(world.json(&["session", "start", "1", "--agent", "coder"])["id"], "ses_2");
    assert_eq!(world.json(&["task", "show", "1"])["base_commit"], base, "the work began where it began");
    assert_eq!(column(&world.json(&["session", "list"]), "id"), ["ses_1", "ses_2"]);
}

/// L1: a task that was set back has no second session before the first has ended.
#[test]
fn a_task_that_was_set_back_waits_for_its_session() {
    let world = World::new();
    world.task("one");
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    world.ok(&["task", "update", "1", "--status", "todo"]);
    assert_eq!(world.refused(6, &["session", "start", "1", "--agent", "coder"])["code"], "already_claimed");
    world.ok(&["session", "end", "1", "--exit-code", "0"]);
    world.ok(&["session", "start", "1", "--agent", "coder"]);
}

/// C7: people see the newest 20 and how many are left out; programs get all of them; both can ask for fewer.
#[test]
fn a_list_of_sessions_is_as_long_as_one_wants() {
    let world = World::new();
    world.task("one");
    for number in 1..=22 {
        world.ok(&["session", "start", "1", "--agent", "coder"]);
        world.ok(&["session", "end", &number.to_string(), "--exit-code", "0"]);
    }
    let shown = world.ok(&["session", "list"]);
    assert!(shown.contains("2 older ones") && shown.contains("ses_22") && !shown.contains("ses_2 "), "{shown}");
    assert_eq!(world.ok(&["session", "list", "--all"]).lines().count(), 23);
    assert_eq!(world.json(&["session", "list"]).as_array().unwrap().len(), 22);
    assert_eq!(column(&world.json(&["session", "list", "-n", "2"]), "id"), ["ses_21", "ses_22"]);
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    world.ok(&["session", "end", "23", "--exit-code", "1"]);
    assert_eq!(column(&world.json(&["session", "list", "--verdict", "failed"]), "id"), ["ses_23"]);
    assert_eq!(world.json(&["session", "list", "--agent", "lead"]), json!([]));
    assert_eq!(world.refused(5, &["session", "list", "--agent", "nobody"])["code"], "not_found");
    assert_eq!(world.refused(2, &["session", "list", "--verdict", "good"])["code"], "usage");
    let list = world.ok(&["session", "list"]);
    assert!(!list.contains(" ago"), "one that was run by hand has made no call: {list}");
}
