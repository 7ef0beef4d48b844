//! Is an agent that uses too much stopped, and is seen what it says and does while it runs (G5, W8)?

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{Team, Up, wait_for};
use crate::world::texts;

/// A team whose agent is a program called `claude`, with the PATH on which it is found.
pub(crate) fn team_with_claude(settings: &Value, script: &str) -> (Team, String) {
    let team = Team::configured("true", settings);
    let bin = team.world.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("claude"), format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let agent = json!({ "id": "solo", "mode": "one_shot", "client": "claude-code", "system_prompt": "Work." });
    team.world.write(".saihai/agents/solo.yaml", agent.to_string());
    team.commit("a real client's name");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    (team, path)
}

pub(crate) fn start<'a>(team: &'a Team, path: &str) -> Up<'a> {
    Up::start_with(team, &[], &[("PATH", path), ("ANTHROPIC_API_KEY", "none")])
}

/// Messages that use ten thousand tokens each, for ever.
const GREEDY: &str = r#"
n=0
while true; do
    n=$((n + 1))
    printf '{"type":"assistant","message":{"id":"msg_%s","content":[{"type":"text","text":"Thought %s"}],"usage":{"input_tokens":9000,"output_tokens":1000}}}\n' $n $n
    sleep 0.2
done
"#;

/// G5, F127: an agent that uses more than it may is stopped, its task is blocked with the budget's name, and goes on when the
/// owner has raised it and says so.
#[test]
fn an_agent_that_spends_too_much_is_stopped() {
    let (team, path) = team_with_claude(&json!({ "budget": { "session_tokens": "60k", "day_tokens": "10M" } }), GREEDY);
    let task = team.start_task("Think");
    let up = start(&team, &path);
    let blocked = team.until_task(&task, "blocked");
    assert_eq!(blocked["blocked_reason"], "budget: session");
    let session = team.until_ended(1);
    assert_eq!((&session["end_reason"], &session["verdict"]), (&json!("stopped"), &json!("none")));
    assert!(session["spent"]["tokens"].as_u64().unwrap() >= 60_000, "{session}");
    let why = team.world.ok(&["task", "why", &task]);
    assert!(
        why.contains("the session has used up its budget") && why.contains(&format!("saihai task unblock {task}")),
        "{why}"
    );
    let shown = team.world.ok(&["task", "show", &task]);
    assert!(shown.contains("tokens, cost not told"), "{shown}");
    let project = team.world.json(&["project", "show"]);
    assert_eq!(project["spent_today"]["tokens"], session["spent"]["tokens"]);
    assert_eq!(project["budget"]["session"]["tokens"], 60_000);

    team.world.write(".saihai/config.yaml", json!({ "limits": { "backoff_first": 1, "backoff_most": 1 } }).to_string());
    team.world.ok(&["agent", "apply"]);
    team.world.ok(&["task", "unblock", &task]);
    team.until_session(2, "its second session", |session| session["status"] == "running");
    team.world.ok(&["session", "stop", "2"]);
    team.until_ended(2);
    up.stop();
}

/// W8, F124: an agent that prints and never calls is heard of; what it says and does can be read while it runs.
#[test]
fn what_an_agent_says_is_seen_while_it_runs() {
    let (team, path) = team_with_claude(&json!({}), GREEDY);
    let task = team.start_task("Think");
    let up = start(&team, &path);
    let said = wait_for("something to be said", || {
        let entries = team.world.run(&["session", "log", "1", "--transcript", "--json"]);
        let entries: Value = serde_json::from_str(&entries.stdout).ok()?;
        (entries.as_array()?.len() > 3).then_some(entries)
    });
    assert_eq!((&said[0]["said"]["type"], &said[0]["said"]["text"]), (&json!("text"), &json!("Thought 1")));
    let lines = team.world.ok(&["session", "log", "1", "--transcript", "-n", "2"]);
    assert!(lines.lines().count() == 2 && lines.contains("  Thought "), "{lines}");
    // The runner says so with its next renewal.
    let heard = |session: &Value| session["last_output_at"].is_string();
    let session = team.until_session(1, "to be heard", heard);
    assert!(session["last_output_at"].as_str() > session["last_call_at"].as_str(), "{session}");
    let why = team.world.ok(&["task", "why", &task]);
    let ago = why.split("last heard ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(ago.is_some_and(|seconds| seconds < 60), "{why}");
    team.world.ok(&["session", "stop", "1"]);
    team.until_ended(1);
    up.stop();
}

/// G5: a budget that nothing can hold is told when it is applied.
#[test]
fn a_budget_that_cannot_hold_is_told() {
    let team = Team::configured("true", &json!({ "budget": { "task_usd": 2 } }));
    let doctor = team.world.run(&["doctor", "--skip-checks", "--json"]);
    let findings: Value = serde_json::from_str(&doctor.stdout).unwrap();
    let about: Vec<_> = findings.as_array().unwrap().iter().filter(|finding| finding["what"] == "budget").collect();
    assert_eq!(about.len(), 1, "{findings:#}");
    assert!(about[0]["detail"].as_str().unwrap().contains("solo"), "{findings:#}");
    for bad in [
        json!({ "task_usd": 0 }),
        json!({ "task_usd": "two" }),
        json!({ "day_tokens": "many" }),
        json!({ "hour_usd": 1 }),
    ] {
        team.world.write(".saihai/config.yaml", json!({ "budget": bad }).to_string());
        let refused = team.world.refused(3, &["agent", "apply"]);
        assert!(refused["message"].as_str().unwrap().contains("config.yaml"), "{refused}");
    }
    team.world.write(".saihai/config.yaml", json!({ "prices": { "m-*": { "input_usd": 1.25 } } }).to_string());
    let refused = team.world.refused(3, &["agent", "apply"]);
    assert!(texts(&json!([refused["message"]]))[0].contains("output_usd"), "{refused}");
}
