//! What if work changes the files that judge it (V16)?

use std::fs;

use serde_json::{Value, json};

use super::Team;

/// A project whose check is `test.sh`, which agents may change and which fails if `src/bad` is there.
fn team(script: &str, dod: &Value) -> Team {
    let mut dod = dod.clone();
    dod["checks"] = json!([{ "type": "t", "command": "sh test.sh" }]);
    let team = Team::configured("true", &json!({ "dod": dod }));
    team.world.write("test.sh", "! test -e src/bad\n");
    team.world.write("lib/conftest.py", "kept\n");
    team.agent("solo", script, &json!({ "scope": { "write": ["**"] } }));
    team.commit("the check");
    team.world.ok(&["agent", "apply"]);
    team
}

fn judged(team: &Team) -> Value {
    team.until_session(1, "a verdict", |session| session["verdict"] != Value::Null)
}

/// V16: an agent that replaces a protected check is judged by the target's; what it adds, removes, renames or puts in
/// its place is undone as well while checks run.
#[test]
fn protected_files_are_those_of_the_target() {
    let replaced = "touch src/bad; echo exit 0 > test.sh";
    let linked = "touch src/bad; rm test.sh; echo exit 0 > src/x; ln -s src/x test.sh";
    let directory = "touch src/bad; rm test.sh; mkdir test.sh; touch test.sh/x";
    let above = "touch src/bad; rm -r lib; mkdir src/lib; ln -s src/lib lib; rm test.sh";
    for script in [replaced, linked, directory, above] {
        let team = team(script, &json!({ "protect": ["/test.sh", "conftest.py"] }));
        team.start_task("Cheat");
        let up = team.up();
        let session = judged(&team);
        assert_eq!(session["verdict"], "rejected", "{script}");
        assert_eq!(session["verdict_detail"]["rejected"]["check"]["failed"][0]["outcome"], "fail", "{session}");
        up.stop();
    }
}

/// V16: what is protected may still be changed, and people are told. Caches are kept although other files were checked out.
#[test]
fn protected_files_may_be_changed_by_honest_work() {
    let script =
        "echo '! test -e src/worse' > test.sh; echo more > src/b.txt; printf 'x\\n' > lat$(printf '\\351')n.txt";
    let team = team(script, &json!({ "protect": ["test.sh", "*.txt"] }));
    let task = team.start_task("Mend the check");
    let up = team.up();
    team.until_task(&task, "done");
    let shown = team.world.ok(&["session", "show", "ses_1"]);
    assert!(shown.contains("it changes protected files, and was checked with the target's: "), "{shown}");
    assert!(shown.contains("test.sh"), "{shown}");
    assert_eq!(team.merged("test.sh").as_deref(), Some("! test -e src/worse\n"));
    let tested = fs::read_to_string(team.project_directory().join("verification/git/saihai-last-tested")).unwrap();
    assert_eq!(tested, team.world.git(&["rev-parse", "main"]), "its caches are those of merged work");
    up.stop();
}

/// V16: without protection the work is believed, and everybody is told that it changed what judges it.
#[test]
fn work_that_changes_its_own_judge_is_marked() {
    let team = team("touch src/bad; echo exit 0 > test.sh", &json!({}));
    let said = team.world.run(&["doctor", "--skip-checks"]);
    assert!(said.stdout.contains(r#"protect: ["/test.sh"]"#), "{}", said.stdout);
    let task = team.start_task("Cheat");
    let up = team.up();
    team.until_task(&task, "done");
    let shown = team.world.ok(&["session", "show", "ses_1"]);
    assert!(shown.contains("it changes files that judge it, and was checked with its own: test.sh"), "{shown}");
    let json = team.world.json(&["session", "show", "ses_1"]);
    assert_eq!(json["workspace"]["judge_changes"]["trusted"], json!(["test.sh"]));
    up.stop();
}

/// V16: neither an earlier check that runs code of the work, nor its attributes, nor a cache that it left, changes what is
/// protected.
#[test]
fn protected_files_stay_the_targets_while_checks_run() {
    let protect = json!(["/judge/**"]);
    let attributes = "touch src/bad; echo '* text working-tree-encoding=UTF-16LE' > judge/.gitattributes; echo '/judge/* text working-tree-encoding=UTF-16LE' > .gitattributes";
    let overwrites = r#"touch src/bad; echo 'echo exit 0 > judge/test.sh; echo x > "$HOME/left"' > src/build.sh"#;
    for script in [attributes, overwrites] {
        let checks = json!([
            { "type": "build", "command": "if [ -e src/build.sh ]; then sh src/build.sh; fi" },
            { "type": "home", "command": "! [ -e \"$HOME/left\" ]" },
            { "type": "judge", "command": "grep -q src/bad judge/test.sh && sh judge/test.sh" },
        ]);
        let dod = json!({ "protect": protect, "checks": checks });
        let team = Team::configured("true", &json!({ "dod": dod, "limits": { "max_attempts": 1 } }));
        team.world.write("judge/test.sh", "! test -e src/bad\n");
        team.agent("solo", script, &json!({ "scope": { "write": ["**"] } }));
        team.commit("the check");
        team.world.ok(&["agent", "apply"]);
        team.start_task("Cheat");
        let up = team.up();
        let session = judged(&team);
        let failed = session["verdict_detail"]["rejected"]["check"]["failed"].as_array().unwrap();
        let names: Vec<_> = failed.iter().map(|check| check["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["judge"], "{script}: {session}");
        up.stop();
    }
}
