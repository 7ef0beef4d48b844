//! Does seed 003's own shell script run, with an orchestrator that uses nothing but the command line and git (C7)?

use std::process::Command;

use serde_json::json;

use crate::world::{Output, World, column};

/// The seed's script with its names changed. `client` stands for the AI client in exec mode.
const SCRIPT: &str = r#"
set -u
TASK_ID=$1
SESSION_ID=$(saihai session start $TASK_ID --agent coder --branch task-$TASK_ID --quiet) || exit 90
git worktree add --quiet .worktrees/task-$TASK_ID -b task-$TASK_ID || exit 91
cd .worktrees/task-$TASK_ID
PROMPT=$(saihai worker command $TASK_ID) || exit 92
timeout --signal=SIGTERM "$2" client exec "$PROMPT"
EXIT_CODE=$?
if [ $EXIT_CODE -eq 124 ]; then
  saihai session end $SESSION_ID --exit-code $EXIT_CODE --dod-result timeout
elif [ $EXIT_CODE -eq 0 ]; then
  saihai session end $SESSION_ID --exit-code $EXIT_CODE --dod-result pending
else
  saihai session end $SESSION_ID --exit-code $EXIT_CODE --dod-result error
fi
"#;

/// Runs a script in the repository, with `saihai` and the client on its PATH.
fn script(world: &World, client: &str, text: &str, arguments: &[&str]) -> Output {
    let bin = world.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for (name, body) in [
        ("saihai", format!("#!/bin/sh\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_saihai"))),
        ("client", format!("#!/bin/sh\nprintf '%s' \"$2\" > ../../last-prompt.txt\n{client}\n")),
    ] {
        let path = bin.join(name);
        std::fs::write(&path, body).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let of_saihai = world.command(&[]);
    let mut command = Command::new("sh");
    command.current_dir(&world.repository).args(["-c", text, "script"]).args(arguments);
    command.envs(of_saihai.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", bin.display()));
    Output::of(command.output().unwrap())
}

const WORK: &str = "echo done > made.txt && git add made.txt && git commit --quiet --message=work";

/// C7, seed 003: the script, literally, for the agent that `init` writes; then the merge, and the record says so.
#[test]
fn the_seeds_script_runs() {
    let world = World::new();
    world.ok(&["task", "add", "Add logout", "-t", "feature"]);
    assert_eq!(column(&world.json(&["task", "list", "--status", "open"]), "id"), ["tsk_1"], "it is open");
    let run = script(&world, WORK, SCRIPT, &["1", "300"]);
    assert_eq!(run.code, 0, "{run:?}");
    let prompt = world.read("last-prompt.txt");
    assert!(prompt.contains("Add logout") && prompt.contains("## "), "{prompt}");
    assert!(!prompt.contains("authenticate"), "whoever works by hand has no MCP server: {prompt}");
    assert_eq!(world.status("1"), "in_progress");
    assert_eq!(world.json(&["task", "list", "--status", "open"]), json!([]));
    // The work is not merged yet, and nobody believes that it is.
    assert_eq!(world.refused(6, &["task", "update", "1", "--status", "done"])["code"], "not_merged");
    world.git(&["merge", "--quiet", "--no-edit", "task-1"]);
    world.ok(&["task", "update", "1", "--status", "done"]);
    assert_eq!(world.json(&["session", "show", "1"])["dod_result"], "merged", "brought up to date");
    world.git(&["worktree", "remove", ".worktrees/task-1"]);
}

/// C7, seed 003: a worker that fails, and one that does not end.
#[test]
fn the_seeds_script_records_bad_ends() {
    for (client, seconds, code, dod) in [("exit 3", "300", 3, "error"), ("exec sleep 600", "1", 124, "timeout")] {
        let world = World::new();
        world.ok(&["task", "add", "Add logout"]);
        let run = script(&world, client, SCRIPT, &["1", seconds]);
        assert_eq!(run.code, 0, "{run:?}");
        let session = world.json(&["session", "show", "1"]);
        assert_eq!([&session["exit_code"], &session["dod_result"]], [&json!(code), &json!(dod)]);
        assert_eq!(world.status("1"), "failed");
        world.ok(&["task", "update", "1", "--status", "open"]);
    }
}

/// C7, seed 003: parents and children by hand, without `--force`.
#[test]
fn a_tree_by_hand_needs_no_force() {
    let world = World::new();
    world.ok(&["task", "add", "The shop"]);
    world.ok(&["task", "add", "The page", "--parent", "1"]);
    world.ok(&["task", "start", "1"]);
    let why = world.ok(&["task", "why", "1"]);
    assert!(why.contains("saihai task update tsk_1 --status done"), "{why}");
    let run = script(&world, WORK, SCRIPT, &["2", "300"]);
    assert_eq!(run.code, 0, "{run:?}");
    world.git(&["merge", "--quiet", "--no-edit", "task-2"]);
    assert_eq!(world.refused(6, &["task", "update", "1", "--status", "done"])["code"], "children_unsettled");
    world.ok(&["task", "update", "2", "--status", "done"]);
    world.ok(&["task", "update", "1", "--status", "done"]);
}

/// C7: `--worktree` prepares what the scope names; without it the commands are printed, and they do the same.
#[test]
fn a_worktree_is_prepared_or_its_commands_are_printed() {
    let world = World::new();
    for file in ["src/a.txt", "docs/b.txt", "secrets/key.txt"] {
        world.write(file, "x\n");
    }
    let agent = "id: coder\nname: Coder\nrole_type: coder\nclient: claude-code\nsystem_prompt: You write code.\n\
        scope:\n  read: [\"src/**\"]\n  write: [\"src/**\"]\n  exclude: [\"secrets/**\"]\n";
    world.write(".saihai/agents/coder.yaml", agent);
    world.git(&["add", "."]);
    world.git(&["commit", "--quiet", "--message=files"]);
    world.ok(&["agent", "apply"]);
    for title in ["one", "two", "three"] {
        world.task(title);
    }
    let session = world.json(&["session", "start", "1", "--agent", "coder", "--branch", "login", "--worktree"]);
    assert_eq!(session["branch"], "login");
    let tree = std::path::PathBuf::from(session["worktree"].as_str().unwrap());
    assert_eq!(tree, world.repository.join(".worktrees/task-1"));
    let has = |tree: &std::path::Path, file: &str| tree.join(file).exists();
    assert!(has(&tree, "src/a.txt") && !has(&tree, "docs/b.txt") && !has(&tree, "secrets/key.txt"));
    assert_eq!(world.git(&["-C", ".worktrees/task-1", "branch", "--show-current"]), "login");
    assert_eq!(world.git(&["status", "--porcelain"]), "", "worktrees are no files of the repository");

    let said = world.ok(&["session", "start", "2", "--agent", "coder"]);
    let commands: Vec<_> = said.lines().filter(|line| line.starts_with("  git ")).collect();
    let run = script(&world, "", &commands.join("\n"), &[]);
    assert_eq!(run.code, 0, "{said}\n{run:?}");
    let tree = world.repository.join(".worktrees/task-2");
    assert!(has(&tree, "src/a.txt") && !has(&tree, "docs/b.txt") && !has(&tree, "secrets/key.txt"), "{said}");

    // What is in the way is not touched, and nothing is claimed.
    world.write(".worktrees/task-3/mine.txt", "mine\n");
    let error = world.refused(6, &["session", "start", "3", "--agent", "coder", "--worktree"]);
    assert_eq!((&error["code"], world.status("3").as_str()), (&json!("no_worktree"), "todo"), "{error}");
    assert_eq!(world.read(".worktrees/task-3/mine.txt"), "mine\n");
    for branch in ["main", "a..b", "-x"] {
        let branch = format!("--branch={branch}");
        assert_eq!(
            world.refused(2, &["session", "start", "3", "--agent", "coder", &branch])["code"],
            "invalid_argument"
        );
    }
}

/// C7: an error that is recorded as an object stays one; everything unsettled that is not in progress is open.
#[test]
fn what_is_recorded_by_hand_is_read_back() {
    let world = World::new();
    for title in ["one", "two", "three", "four"] {
        world.task(title);
    }
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    world.ok(&["session", "end", "1", "--exit-code", "1", "--error", r#"{"type":"signal","name":"SIGTERM"}"#]);
    let error = &world.json(&["session", "show", "1"])["error"];
    assert_eq!(*error, json!({ "type": "signal", "name": "SIGTERM" }));
    assert!(world.ok(&["session", "show", "1"]).contains(r#""name":"SIGTERM""#));
    world.ok(&["session", "start", "2", "--agent", "coder"]);
    world.ok(&["task", "block", "3", "--reason", "wait"]);
    world.ok(&["task", "cancel", "4", "--reason", "no"]);
    assert_eq!(column(&world.json(&["task", "list", "--status", "open"]), "id"), ["tsk_1", "tsk_3"]);
}
