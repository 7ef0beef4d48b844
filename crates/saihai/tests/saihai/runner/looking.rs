//! C7, L9: can the owner look at work and at failures from the terminal?

use serde_json::json;

use super::{Team, checks};

/// C7: the difference, the workspace and the merge commit of a task.
#[test]
fn work_is_shown_before_and_after_its_merge() {
    let team = Team::new("echo four >> src/a.txt; barrier ready");
    let task = team.start_task("Add a line");
    let world = &team.world;
    assert_eq!(world.refused(5, &["task", "open", &task])["code"], "not_found");
    assert!(world.refused(5, &["task", "diff", &task])["hint"].to_string().contains("task why"));
    let up = team.up();
    team.until_barrier(1, "ready");
    assert_eq!(world.ok(&["task", "open", &task]), team.workspace(1).to_str().unwrap());
    assert!(world.refused(5, &["task", "diff", &task])["hint"].to_string().contains("task open"));
    let mut shell = world.command(&["task", "open", &task, "--shell"]);
    let entered = shell.env("SHELL", "/bin/pwd").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&entered.stdout).trim_end(), team.workspace(1).to_str().unwrap());
    team.release(1, "ready");
    team.until_task(&task, "done");
    let diff = world.ok(&["task", "diff", &task]);
    assert!(diff.contains("+++ b/src/a.txt") && diff.contains("+four"), "{diff}");
    assert!(world.ok(&["task", "diff", &task, "--stat"]).contains("1 insertion"));
    assert_eq!(world.ok(&["task", "diff", &task, "--quiet"]), "src/a.txt");
    let commit = world.git(&["rev-parse", "main"]);
    let shown = world.json(&["task", "show", &task]);
    assert_eq!((&shown["merge_commit"], &shown["changed_files"]), (&json!(commit), &json!(["src/a.txt"])));
    let text = world.ok(&["task", "show", &task]);
    assert!(text.contains(&commit) && text.contains("src/a.txt"), "{text}");
    up.stop();
}

/// D6: after a failure `why` and `show` say which check failed, and how.
#[test]
fn a_failed_check_is_shown_with_its_output() {
    let mut settings = checks(&[("style", "! grep -n long src/a.txt")]);
    settings["limits"] = json!({ "max_attempts": 1 });
    let team = Team::configured("echo too long >> src/a.txt", &settings);
    let task = team.start_task("Bad style");
    let up = team.up();
    team.until_task(&task, "failed");
    for arguments in [&["task", "why", &task][..], &["task", "show", &task], &["session", "show", "1"]] {
        let text = team.world.ok(arguments);
        assert!(text.contains("style (fail)") && text.contains("4:too long"), "{arguments:?}: {text}");
    }
    up.stop();
}

/// D6: a process that ends badly.
#[test]
fn a_bad_end_is_shown_with_its_last_lines() {
    let team = Team::configured("echo cannot find the key >&2; exit 3", &json!({ "limits": { "max_attempts": 1 } }));
    let task = team.start_task("Fail");
    let up = team.up();
    team.until_task(&task, "failed");
    let world = &team.world;
    for arguments in [&["task", "why", &task][..], &["session", "show", "1"]] {
        let text = world.ok(arguments);
        assert!(text.contains("cannot find the key") && text.contains('3'), "{arguments:?}: {text}");
    }
    assert_eq!(world.json(&["task", "why", &task])["last_lines"], json!(["cannot find the key"]));
    let shown = world.json(&["session", "show", "1"]);
    assert_eq!(shown["path"], team.workspace(1).to_str().unwrap());
    up.stop();
}
