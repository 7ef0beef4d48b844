//! C7: does `saihai up --until-idle` end when nothing can move, and say by its exit code what came of it?

use serde_json::{Value, json};

use super::Team;
use crate::world::Output;

const UP: [&str; 6] = ["up", "--until-idle", "--listen", "127.0.0.1:0", "--min-free-disk", "0"];

/// C7, D25: what is in progress is brought to its end, and every fact is a line of JSON.
#[test]
fn it_ends_when_all_is_done() {
    let team = Team::new("echo $$ > src/new.txt");
    assert_eq!(team.world.run(&UP).code, 0, "nothing was started");
    team.start_task("Add a file");
    team.world.ok(&["task", "add", "Not started", "--assign", "solo"]);
    let output = team.world.run(&[&UP[..], &["--json"]].concat());
    assert_eq!(output.code, 0, "{output:?}");
    let facts: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(facts[0]["mcp_url"].is_string(), "{facts:?}");
    let types: Vec<_> = facts[1..].iter().filter_map(|fact| fact["type"].as_str()).collect();
    assert!(types.contains(&"session_claimed") && types.contains(&"judged"), "{types:?}");
    assert_eq!([&team.task("tsk_1")["status"], &team.task("tsk_2")["status"]], ["done", "todo"]);
}

/// C7: what has failed is named, with an exit code of its own.
#[test]
fn it_ends_with_another_code_when_something_failed() {
    let team = Team::configured("exit 3", &json!({ "limits": { "max_attempts": 1 } }));
    team.start_task("Fail");
    let output = team.world.run(&UP);
    assert_eq!(output.code, 7, "{output:?}");
    assert!(output.stderr.contains("tsk_1 (failed)") && output.stderr.contains("task why"), "{output:?}");
    let again = Output::of(team.world.command(&UP).output().unwrap());
    assert_eq!(again.code, 7, "it is still left: {again:?}");
}
