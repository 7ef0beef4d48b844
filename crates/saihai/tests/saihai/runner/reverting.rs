//! Is merged work undone through the same queue (V14)?

use serde_json::json;

use super::{Team, checks};

const BEGAN: &str = "one\ntwo\nthree\n";

/// V14: git undoes what it can alone, without an agent; the checks run; and what was undone comes back the same way.
#[test]
fn merged_work_is_undone_without_an_agent() {
    let team = Team::configured("echo four >> src/a.txt", &checks(&[("readable", "test -r src/a.txt")]));
    let task = team.start_task("Add four");
    let up = team.up();
    team.until_task(&task, "done");
    assert_eq!(team.merged("src/a.txt"), Some(format!("{BEGAN}four\n")));

    let undo = team.world.ok(&["task", "revert", &task, "--reason", "Three are enough", "--quiet"]);
    let done = team.until_task(&undo, "done");
    assert_eq!(team.merged("src/a.txt").as_deref(), Some(BEGAN));
    assert_eq!((&done["reverts"], &done["attempts"]), (&json!(task), &json!(0)));
    assert!(done["description"].as_str().unwrap().starts_with("Three are enough\n"), "{done}");
    assert!(team.log(2).contains("no agent was started"), "{}", team.log(2));
    let checked = &team.session(2)["workspace"]["checks"];
    assert_eq!(checked[0]["outcome"], "pass", "{checked}");

    // Twice is refused, and says where it is.
    let refused = team.world.refused(1, &["task", "revert", &task]);
    assert!(refused["message"].as_str().unwrap().contains(&undo), "{refused}");

    let again = team.world.ok(&["task", "revert", &undo, "--quiet"]);
    team.until_task(&again, "done");
    assert_eq!(team.merged("src/a.txt"), Some(format!("{BEGAN}four\n")));
    up.stop();
}

/// V14: where later work is in the way, whoever did the work resolves it.
#[test]
fn conflicts_of_undoing_are_resolved_by_the_agent() {
    let script = "if grep -q '<<<<<<<' src/a.txt; then printf 'later\\n' > src/a.txt; else echo work > src/a.txt; fi";
    let team = Team::new(script);
    let task = team.start_task("Work");
    let up = team.up();
    team.until_task(&task, "done");
    team.world.write("src/a.txt", "later work\n");
    team.commit("later");
    let undo = team.world.ok(&["task", "revert", &task, "--quiet"]);
    let done = team.until_task(&undo, "done");
    assert_eq!((team.merged("src/a.txt").as_deref(), &done["attempts"]), (Some("later\n"), &json!(0)));
    up.stop();
}

/// V14, C3: what the queue did not merge it does not undo.
#[test]
fn what_was_not_merged_is_not_undone() {
    let team = Team::new("true");
    let task = team.start_task("Wait");
    let refused = team.world.refused(6, &["task", "revert", &task]);
    assert!(
        refused["code"] == "not_merged" && refused["hint"].as_str().unwrap().contains("undone with git"),
        "{refused}"
    );
}

/// V14, V2: an agent that is needed to undo something and changes nothing has undone nothing.
#[test]
fn an_agent_that_undoes_nothing_is_sent_back() {
    let script =
        "grep -q '<<<<<<<' src/a.txt && git checkout -q -f HEAD && git reset -q --hard || echo work > src/a.txt";
    let team = Team::new(script);
    let task = team.start_task("Work");
    let up = team.up();
    team.until_task(&task, "done");
    team.world.write("src/a.txt", "later work\n");
    team.commit("later");
    let undo = team.world.ok(&["task", "revert", &task, "--quiet"]);
    team.until_ended(2);
    assert_eq!(team.session(2)["verdict"], "rejected");
    assert!(team.world.ok(&["task", "why", &undo]).contains("Nothing was changed that the target does not have"));
    up.stop();
}
