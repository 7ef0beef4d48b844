//! Do the values of `env` reach the agent, and nothing else (E8)?

use std::path::Path;

use serde_json::json;

use super::{Team, wait_for};

const FIRST: &str = "sk-first-8f3b1c";
const SECOND: &str = "sk-second-77aa02";

/// The files of the installation that have this text in them.
fn files_with(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files_with(&entry, text));
        } else if let Ok(bytes) = std::fs::read(&entry)
            && bytes.windows(text.len()).any(|window| window == text.as_bytes())
        {
            found.push(entry.display().to_string());
        }
    }
    found
}

fn use_key(team: &Team, key: &str) {
    let script = r#"printf %s "$SERVICE_KEY" | sha256sum > src/hash.txt; echo "the key is $SERVICE_KEY""#;
    team.agent("solo", script, &json!({ "env": { "SERVICE_KEY": key } }));
}

/// E8, F116: a key in `env` reaches the agent. It is in no event, snapshot, answer or log, can be replaced, and is gone
/// from every file when it is removed.
#[test]
fn a_key_reaches_the_agent_and_can_be_replaced_and_removed() {
    let team = Team::new("true");
    use_key(&team, FIRST);
    assert_eq!(team.world.ok(&["agent", "apply"]), "~ solo");
    use_key(&team, SECOND);
    assert_eq!(team.world.ok(&["agent", "apply", "--dry-run"]), "~ solo (env)");
    assert_eq!(team.world.json(&["agent", "apply"])["env_replaced"], json!(["solo"]));
    assert_eq!(team.world.ok(&["agent", "apply"]), "Nothing to change.");
    // The file with the key is not committed, so no copy of the repository has it.
    let task = team.start_task("Use a key");
    let up = team.up();
    team.until_task(&task, "done");
    let hash = team.merged("src/hash.txt").unwrap();
    up.stop();
    assert!(hash.starts_with("7fe79c6d21b00b01"), "{hash}");
    let log = team.world.ok(&["session", "log", "ses_1"]);
    assert!(log.contains("the key is") && !log.contains(SECOND), "{log}");
    for shown in [&["log", "tail", "--json"][..], &["agent", "show", "solo", "--json"], &["session", "trace", "ses_1"]]
    {
        assert!(!team.world.ok(shown).contains(SECOND), "{shown:?}");
    }
    let store = rusqlite::Connection::open(team.world.store()).unwrap();
    let inside = |query: &str| store.query_row(query, [SECOND], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(inside("SELECT count(*) FROM events WHERE instr(body, ?1)"), 0);
    assert_eq!(inside("SELECT count(*) FROM snapshots WHERE instr(bytes, CAST(?1 AS BLOB))"), 0);
    assert_eq!(inside("SELECT count(*) FROM decisions WHERE instr(body, ?1)"), 0);
    assert_eq!(inside("SELECT count(*) FROM secrets WHERE value = ?1"), 1);
    drop(store);

    team.agent("solo", "true", &json!({}));
    team.world.ok(&["agent", "apply"]);
    team.world.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    wait_for("the keys to be gone", || {
        let left = [FIRST, SECOND].map(|key| files_with(&team.world.home(), key)).concat();
        left.is_empty().then_some(())
    });
}

/// E8: a store that came without values, as a copy may, starts no agent with half of its environment.
#[test]
fn an_agent_without_its_values_does_not_start() {
    let team = Team::new("true");
    use_key(&team, FIRST);
    team.commit("definitions");
    team.world.ok(&["agent", "apply"]);
    let task = team.start_task("Miss a key");
    team.world.sql("DELETE FROM secrets");
    team.world.run(&["worker", "run", &task]);
    let session = team.until_ended(1);
    assert_eq!(session["end_reason"], "launch_failed");
    let said = session["error"].as_str().unwrap();
    assert!(said.contains("no value for SERVICE_KEY") && said.contains("saihai agent apply"), "{said}");
}
