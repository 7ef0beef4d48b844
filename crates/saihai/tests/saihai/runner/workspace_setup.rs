//! Is what agents need there when they start (R15)?

use serde_json::json;

use super::Team;

/// A setup that does what package managers do: it fetches into HOME, once, and installs into the workspace.
const SETUP: &str = r#"
    if [ -e "$HOME/.cache/packages/one" ]; then echo "from the cache"; else
        mkdir -p "$HOME/.cache/packages"; echo fetched > "$HOME/.cache/packages/one"; echo "from the network"; fi
    mkdir -p packages && cp "$HOME/.cache/packages/one" packages/
    echo changed > src/a.txt; echo made > 'made by [setup] *.txt'
"#;

/// What the setup of a session printed.
fn setup_log(team: &Team, session: u32) -> String {
    let directory = team.run_directory(session).join("setup/log");
    let mut segments = super::files_in(&directory);
    segments.sort();
    segments.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// R15: a new workspace is set up before its agent starts. What the setup made is there, and is no part of the work, also
/// where the agent may change everything. What it fetched is fetched once.
#[test]
fn dependencies_are_there_when_the_agent_starts() {
    let settings = json!({ "workspace": { "setup": SETUP } });
    let script = "cat packages/one src/a.txt && ls 'made by [setup] *.txt' && echo work > \"$TASK_FILE\"";
    let team = Team::configured("true", &settings);
    for (id, file) in [("solo", "src/first"), ("duo", "src/second")] {
        let script = script.replace("\"$TASK_FILE\"", file);
        team.agent(id, &script, &json!({ "scope": { "read": ["**"], "write": ["**"] } }));
    }
    team.commit("a team");
    team.world.ok(&["agent", "apply"]);
    let up = team.up();
    let first = team.start_task("First");
    team.until_task(&first, "done");
    let second = team.world.ok(&["task", "add", "Second", "--assign", "duo", "--start", "--quiet"]);
    team.until_task(&second, "done");
    up.stop();
    assert!(team.log(1).starts_with("fetched\none\ntwo\nthree\nmade by"), "{}", team.log(1));
    assert_eq!((setup_log(&team, 1), setup_log(&team, 2)), ("from the network\n".into(), "from the cache\n".into()));
    let files = team.world.git(&["ls-tree", "-r", "--name-only", "main"]);
    let files: Vec<_> = files.lines().filter(|file| !file.starts_with(".saihai/")).collect();
    assert_eq!(files, ["src/a.txt", "src/first", "src/second"]);
    assert_eq!(team.merged("src/a.txt").as_deref(), Some("one\ntwo\nthree\n"));
}

/// R15: agents and checks find what was fetched, and can add to it for themselves. Only the setup on merged code writes what
/// others find: neither what an agent leaves there nor what a setup does beside unmerged work.
#[test]
fn only_merged_code_writes_to_the_caches() {
    let packages = "$HOME/.cache/packages";
    let look = format!("ls {packages} | xargs; echo > {packages}/poison; rm -f {packages}/first");
    let config = |setup: &str| {
        json!({
            "workspace": { "setup": format!("{setup}; mkdir -p {packages}; touch {packages}/$(head -n 1 src/a.txt)") },
            "dod": { "checks": [{ "type": "cache", "command": format!("{look}; ! grep unmerged src/a.txt") }] },
            "limits": { "backoff_first": 1, "backoff_most": 1 },
        })
    };
    // The first attempt fails its check; the second sets up the workspace anew, on the work of the first.
    let script = format!(
        "{look}; if grep -q unmerged src/a.txt; then echo merged > src/a.txt; else echo unmerged > src/a.txt; barrier ready; fi"
    );
    let team = Team::configured(&script, &config("true"));
    let task = team.start_task("Poison");
    let up = team.up();
    team.until_barrier(1, "ready");
    team.world.write(".saihai/config.yaml", config("echo again").to_string());
    team.commit("another setup");
    team.world.ok(&["agent", "apply"]);
    team.release(1, "ready");
    team.until_task(&task, "done");
    team.redefine_solo(&format!("{look}; echo > src/looked"), &json!({}));
    let last = team.start_task("Look");
    team.until_task(&last, "done");
    up.stop();
    assert_eq!((setup_log(&team, 1).as_str(), setup_log(&team, 2).as_str()), ("", "again\n"));
    let first_lines = [1, 2, 3].map(|session| team.log(session).lines().next().unwrap_or_default().to_owned());
    assert_eq!(first_lines, ["one", "one", "merged one"]);
    let check = &team.session(2)["workspace"]["checks"][0];
    assert_eq!(check["output"], "one\n", "{check:#}");
}

/// R15: while the files that its owner named are the same, a setup does not run again: what it made is copied, and what an
/// agent does to it stays with that agent.
#[test]
fn what_a_setup_made_is_used_again() {
    let setup = "mkdir -p installed && cp src/lock installed/lock && ln -s lock installed/link && echo ran";
    let team = Team::configured("true", &json!({ "workspace": { "setup": setup, "inputs": ["src/lock"] } }));
    team.world.write("src/lock", "1\n");
    team.world.write(".gitignore", "installed/\n");
    let script = "cat installed/link; echo poison > installed/lock; date +%N >> src/dates";
    team.redefine_solo(script, &json!({ "scope": { "write": ["**"] } }));
    let up = team.up();
    for title in ["First", "Second"] {
        let task = team.start_task(title);
        team.until_task(&task, "done");
    }
    team.world.write("src/lock", "2\n");
    team.commit("another lock");
    let task = team.start_task("Third");
    team.until_task(&task, "done");
    up.stop();
    let logs = [1, 2, 3].map(|session| team.log(session));
    assert_eq!(logs, ["1\n", "1\n", "2\n"], "what the first agent wrote there stayed with it");
    let ran = |session: u32| team.run_directory(session).join("setup/log").is_dir();
    assert_eq!([1, 2, 3].map(ran), [true, false, true]);
    assert_eq!(setup_log(&team, 3), "ran\n");
}

/// R15: a setup that fails is told with its output, charges no attempt, and the agent does not start. When it is mended the
/// task goes on.
#[test]
fn a_setup_that_fails_is_our_trouble() {
    let team = Team::configured(
        "echo work > src/a.txt",
        &json!({ "workspace": { "setup": "echo > made; echo no registry; exit 3" } }),
    );
    let task = team.start_task("Work");
    let up = team.up();
    let blocked = team.until_task(&task, "blocked");
    assert_eq!(blocked["attempts"], 0, "{blocked:#}");
    let session = team.session(1);
    assert_eq!(session["end_reason"], "launch_failed", "{session:#}");
    let why = team.world.ok(&["task", "why", &task]);
    assert!(
        why.contains("workspace.setup (echo > made; echo no registry; exit 3) failed") && why.contains("no registry"),
        "{why}"
    );

    team.world.write(".saihai/config.yaml", json!({ "workspace": { "setup": "echo > made" } }).to_string());
    team.commit("another setup");
    team.world.ok(&["agent", "apply"]);
    team.world.ok(&["task", "unblock", &task]);
    team.until_task(&task, "done");
    up.stop();
}

/// R15, L12: a session that is stopped while its workspace is set up ends, with the setup.
#[test]
fn stopping_ends_the_setup() {
    let team = Team::configured("true", &json!({ "workspace": { "setup": "echo begun; sleep 300 & wait" } }));
    let task = team.start_task("Work");
    let up = team.up();
    super::wait_for("the setup to begin", || setup_log_if_any(&team).filter(|log| log == "begun\n"));
    team.world.ok(&["session", "stop", "1"]);
    let ended = team.until_ended(1);
    assert_eq!(ended["end_reason"], "stopped", "{ended:#}");
    team.until_task(&task, "blocked");
    up.stop();
}

fn setup_log_if_any(team: &Team) -> Option<String> {
    team.run_directory(1).join("setup/log").is_dir().then(|| setup_log(team, 1))
}
