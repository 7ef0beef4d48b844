//! Is every process that an agent started gone when its session is over, and is its end recorded as it was?

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Team, Up, processes_with, signal, wait_for};

/// Starts descendants in every way that a shell has, all of which would outlive it: in a session of
/// their own, forked twice, ignoring TERM, without the marker in their environment.
const PROCESS_TREE: &str = r#"
    cat > "$TMPDIR/deaf" <<'END'
trap '' TERM INT HUP
while :; do sleep 1; done
END
    setsid sh "$TMPDIR/deaf" PROCESS_TREE &
    ( ( sh "$TMPDIR/deaf" PROCESS_TREE & ) & )
    ( setsid env -i PATH="$PATH" sh "$TMPDIR/deaf" PROCESS_TREE & )
    nohup sh "$TMPDIR/deaf" PROCESS_TREE > /dev/null 2>&1 &
    while [ "$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -o 'deaf PROCESS_TREE' | wc -l)" -lt 4 ]; do sleep 0.02; done
"#;

/// A team whose agent starts these processes and then runs `then`, and the text in their command lines.
fn team_with_process_tree(then: &str, keys: &Value) -> (Team, String) {
    let team = Team::new("true");
    let name = format!("tree-{}", team.world.path().file_name().unwrap().to_string_lossy().trim_start_matches('.'));
    let script = format!("{}\n{then}", PROCESS_TREE.replace("PROCESS_TREE", &name));
    team.redefine_solo(&script, keys);
    (team, format!("deaf\0{name}"))
}

/// None is left now.
#[track_caller]
fn assert_none_left(name: &str) {
    let left = processes_with(name);
    assert!(left.is_empty(), "these processes are left: {left:?}");
}

/// R4, F37: none is left when an agent ends by itself, at the moment when the board says so.
#[test]
fn none_is_left_when_an_agent_ends() {
    let (team, name) = team_with_process_tree("barrier look; echo work > src/b.txt", &json!({}));
    let task = team.start_task("Leave processes");
    let up = team.up();
    team.until_barrier(1, "look");
    assert!(processes_with(&name).len() >= 4);
    team.release(1, "look");
    team.until_session(1, "its end", |session| session["end_reason"] == "exited");
    assert_none_left(&name);
    team.until_task(&task, "done");
    up.stop();
}

/// R4, F37, F38: nor when it is stopped; no verdict, no attempt.
#[test]
fn none_is_left_when_a_session_is_stopped() {
    let (team, name) = team_with_process_tree("barrier look; exec sleep 1000", &json!({}));
    let task = team.start_task("Be stopped");
    let up = team.up();
    team.until_barrier(1, "look");
    team.release(1, "look");
    assert!(processes_with(&name).len() >= 4);
    team.world.ok(&["task", "block", &task, "--reason", "wait"]);
    let session = team.until_ended(1);
    assert_none_left(&name);
    assert_eq!([&session["end_reason"], &session["verdict"]], ["stopped", "none"]);
    assert_eq!(team.task(&task)["attempts"], 0);
    up.stop();
}

/// R4, F30, F37: `session stop` ends that session and its processes, and not the one beside it.
#[test]
fn stopping_one_session_leaves_the_other() {
    let (team, name) = team_with_process_tree("echo ready; exec sleep 1000", &json!({}));
    team.agent("other", "barrier go; echo other > src/other.txt", &json!({}));
    team.commit("other");
    team.world.ok(&["agent", "apply"]);
    team.start_task("Be stopped");
    let other = team.world.ok(&["task", "add", "Go on", "--assign", "other", "--quiet"]);
    team.world.ok(&["task", "start", &other]);
    let up = Up::start(&team, &["--max-parallel", "2"]);
    let number = |agent: &str| -> u32 {
        let sessions = team.world.json(&["session", "list"]);
        let found = sessions.as_array().unwrap().iter().find(|session| session["agent_id"] == agent).unwrap();
        found["id"].as_str().unwrap()[4..].parse().unwrap()
    };
    team.until_board("both to begin", |board| (board.sessions.len() == 2).then_some(()));
    let (stopped, going) = (number("solo"), number("other"));
    team.until_line(stopped, "ready");
    team.until_barrier(going, "go");
    team.world.ok(&["session", "stop", &stopped.to_string()]);
    assert_eq!(team.until_ended(stopped)["end_reason"], "stopped");
    assert_none_left(&name);
    assert_eq!(team.session(going)["status"], "running");
    team.release(2, "go");
    team.until_task(&other, "done");
    up.stop();
}

/// R3, R4, F71: the wall clock is the shim's, and what it ends is ended whole. Its reason is not a code.
#[test]
fn none_is_left_after_a_timeout_or_a_stall() {
    let none_is_left = |keys: Value, reason: &str, then: &str| {
        let (team, name) = team_with_process_tree(then, &keys);
        let task = team.start_task("Take too long");
        let up = team.up();
        let session = team.until_ended(1);
        assert_none_left(&name);
        assert_eq!(session["end_reason"], reason, "{session:#}");
        // A stall is tried once more (A5).
        team.until_task(&task, "failed");
        assert_none_left(&name);
        up.stop();
    };
    // Side by side: each waits for its time to pass.
    std::thread::scope(|scope| {
        let busy = "while :; do echo busy; sleep 0.1; done";
        scope.spawn(|| none_is_left(json!({ "timeout": 2 }), "timed_out", busy));
        scope.spawn(|| none_is_left(json!({ "stall_timeout": 1 }), "stalled", "exec sleep 1000"));
    });
}

/// R4, seed 003: a client that takes too long is told by SIGTERM, and has time to end by itself.
#[test]
fn a_client_may_end_by_itself_when_its_time_is_up() {
    let script = "trap 'echo saved; exit 0' TERM; while :; do echo busy; sleep 0.1; done";
    let team = Team::new("");
    team.redefine_solo(script, &json!({ "timeout": 1 }));
    team.start_task("Take too long");
    let up = team.up();
    let session = team.until_ended(1);
    up.stop();
    assert_eq!(session["end_reason"], "timed_out", "{session:#}");
    assert!(team.log(1).lines().any(|line| line == "saved"), "{}", team.log(1));
}

pub(super) fn shim_of(team: &Team, session: u32) -> u32 {
    let text = fs::read_to_string(team.run_directory(session).join("shim.json")).unwrap();
    let identity: Value = serde_json::from_str(&text).unwrap();
    u32::try_from(identity["pid"].as_u64().unwrap()).unwrap()
}

pub(super) fn is_shim(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b"\0shim\0"))
}

fn children(of: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// R4, F40: a shim that is killed takes everything with it; the session is lost, which costs no attempt.
#[test]
fn none_is_left_when_the_shim_is_killed() {
    let (team, name) = team_with_process_tree(
        "[ -e src/.twice ] && { rm src/.twice; exit 1; }; touch src/.twice; barrier look; exec sleep 1000",
        &json!({}),
    );
    let task = team.start_task("Lose the shim");
    let up = team.up();
    team.until_barrier(1, "look");
    signal(shim_of(&team, 1), Signal::KILL);
    let session = team.until_ended(1);
    assert_none_left(&name);
    assert_eq!([&session["end_reason"], &session["verdict"]], ["lost", "none"]);
    // And it is tried again.
    team.until_session(2, "to begin", |_| true);
    team.world.ok(&["task", "cancel", &task, "--reason", "seen"]);
    team.until_ended(2);
    assert_none_left(&name);
    up.stop();
}

/// R4, F117: a stop while a session starts leaves no client behind, at whatever moment it comes.
#[test]
fn none_is_left_when_a_session_is_stopped_while_it_starts() {
    let (team, name) = team_with_process_tree("exec sleep 1000", &json!({}));
    let up = team.up();
    for number in 1..=12 {
        let task = team.start_task(&format!("Be stopped early {number}"));
        team.until_session(number, "to begin", |_| true);
        let run = team.project_directory().join(format!("sessions/ses_{number}"));
        let reached = match number % 4 {
            0 => run.clone(),
            1 => run.join("home"),
            2 => run.join("shim.err"),
            _ => run.join("log"),
        };
        wait_for("the launch to get so far", || reached.exists().then_some(()));
        team.world.ok(&["task", "cancel", &task, "--reason", "seen"]);
        team.until_ended(number);
        assert_none_left(&name);
    }
    up.stop();
}

/// R4: the first process of its namespace may be killed from outside; all the others go with it.
#[test]
fn none_is_left_when_init_is_killed() {
    let (team, name) = team_with_process_tree("barrier look; exec sleep 1000", &json!({}));
    let task = team.start_task("Lose init");
    let up = team.up();
    team.until_barrier(1, "look");
    let init = children(shim_of(&team, 1));
    assert_eq!(init.len(), 1);
    signal(init[0], Signal::KILL);
    let session = team.until_ended(1);
    assert_none_left(&name);
    assert_eq!([&session["end_reason"], &session["signal"]], ["signaled", "SIGKILL"], "{session:#}");
    assert_eq!(team.task(&task)["attempts"], 1);
    up.stop();
}

/// R3, F40, T4: an agent goes on when `up` is killed, and is taken over with its true end.
#[test]
fn a_killed_up_loses_no_agent() {
    let (team, name) =
        team_with_process_tree("barrier first; barrier second; echo work > src/b.txt; exit 7", &json!({}));
    let task = team.start_task("Go on");
    let up = team.up();
    team.until_barrier(1, "first");
    up.kill();
    assert!(processes_with(&name).len() >= 4, "the agent is still running");
    team.release(1, "first");
    team.until_barrier(1, "second");
    let up = team.up();
    team.release(1, "second");
    let session = team.until_ended(1);
    assert_eq!(json!([session["end_reason"], session["exit_code"]]), json!(["exited", 7]));
    assert_none_left(&name);
    // A bad end is tried once more (A5).
    wait_for("its verdict", || (team.task(&task)["attempts"] == 1).then_some(()));
    up.stop();
}

/// R3, F40: one that ended while nobody was there is judged by how it ended.
#[test]
fn an_end_that_nobody_saw_is_recorded() {
    let (team, name) = team_with_process_tree("barrier first; echo work > src/b.txt", &json!({}));
    let task = team.start_task("End alone");
    let up = team.up();
    team.until_barrier(1, "first");
    up.kill();
    team.release(1, "first");
    wait_for("its record", || team.run_directory(1).join("exit.json").exists().then_some(()));
    assert_none_left(&name);
    assert_ne!(team.session(1)["status"], "ended");
    let up = team.up();
    team.until_task(&task, "done");
    let session = team.session(1);
    assert_eq!(json!([session["end_reason"], session["exit_code"], session["verdict"]]), json!(["exited", 0, "done"]));
    up.stop();
}

/// R3, S2: shim and `up` both killed: nothing is left of it, and the next `up` says so and tries again.
#[test]
fn what_was_killed_with_its_shim_is_lost_and_tried_again() {
    let (team, name) = team_with_process_tree(
        "[ -e src/.twice ] && { rm src/.twice; echo work > src/b.txt; exit 0; }; touch src/.twice; barrier first",
        &json!({}),
    );
    let task = team.start_task("Be lost");
    let up = team.up();
    team.until_barrier(1, "first");
    up.kill();
    signal(shim_of(&team, 1), Signal::KILL);
    let up = team.up();
    team.until_task(&task, "done");
    assert_none_left(&name);
    let (first, second) = (team.session(1), team.session(2));
    assert_eq!(json!([first["end_reason"], first["verdict"], second["verdict"]]), json!(["lost", "none", "done"]));
    assert_eq!(team.task(&task)["attempts"], 0);
    up.stop();
}

/// C6, R3: SIGTERM leaves agents to their shims; with `--stop-agents` it ends them.
#[test]
fn a_clean_end_leaves_agents_or_ends_them() {
    let (team, name) = team_with_process_tree("barrier first; exec sleep 1000", &json!({}));
    team.start_task("Stay");
    let up = team.up();
    team.until_barrier(1, "first");
    up.stop();
    assert!(processes_with(&name).len() >= 4);
    let up = Up::start(&team, &["--stop-agents"]);
    team.until_session(1, "to be taken over", |session| session["status"] == "running");
    up.stop();
    assert_none_left(&name);
    assert_eq!(team.session(1)["end_reason"], "stopped");
}

/// S5, F71: a code is a code, whatever `timeout` means by it; a signal is told by its name.
#[test]
fn codes_and_signals_are_recorded_as_they_were() {
    let team = Team::new("true");
    let ends = [
        ("exit 124", json!(["exited", 124, null])),
        ("exit 137", json!(["exited", 137, null])),
        ("kill -9 $$", json!(["signaled", null, "SIGKILL"])),
        ("kill -TERM $$", json!(["signaled", null, "SIGTERM"])),
        ("kill -ABRT $$", json!(["signaled", null, "SIGABRT"])),
    ];
    for (number, (script, _)) in ends.iter().enumerate() {
        team.agent(&format!("a{number}"), script, &json!({}));
    }
    team.commit("agents");
    team.world.ok(&["agent", "apply"]);
    let up = team.up();
    for (number, (script, expected)) in ends.iter().enumerate() {
        let task = team.world.ok(&["task", "add", script, "--assign", &format!("a{number}"), "--quiet"]);
        team.world.ok(&["task", "start", &task]);
        team.until_task(&task, "failed");
        let sessions = team.world.json(&["session", "list", "--task", &task]);
        let session = &sessions[0];
        assert_eq!(json!([session["end_reason"], session["exit_code"], session["signal"]]), *expected, "{script}");
    }
    up.stop();
}

/// R5, F43: a client that is not there is told with what to do, costs no attempt, and is tried again
/// with patience; `up` goes on with everything else.
#[test]
fn a_missing_client_is_told() {
    let team = Team::new("echo work > src/b.txt");
    team.agent("ghost", "", &json!({ "command": ["no-such-client-anywhere", "x"] }));
    team.commit("ghost");
    team.world.ok(&["agent", "apply"]);
    let ghost = team.world.ok(&["task", "add", "Haunt", "--assign", "ghost", "--quiet"]);
    team.world.ok(&["task", "start", &ghost]);
    let up = team.up();
    let session = team.until_ended(1);
    assert_eq!([&session["end_reason"], &session["verdict"]], ["launch_failed", "none"]);
    assert!(session["error"].as_str().unwrap().contains("no-such-client-anywhere"), "{session:#}");
    let task = team.start_task("Work");
    team.until_task(&task, "done");
    // Three launches in vain block it, and it says why (A3, D22).
    let blocked = team.until_task(&ghost, "blocked");
    assert_eq!(blocked["attempts"], 0);
    assert!(blocked["blocked_reason"].as_str().unwrap().contains("launch_failed"), "{blocked:#}");
    up.stop();
}

/// R3, F89, F44: a flood is bounded on disk, disturbs nobody, and is no part of what `up` prints.
#[test]
fn a_flood_of_output_is_bounded() {
    let team = Team::new(
        "head -c 40000000 /dev/zero | tr '\\0' x; yes | head -c 20000000; echo the end; echo work > src/b.txt",
    );
    let task = team.start_task("Flood");
    let up = team.up();
    team.until_task(&task, "done");
    let segments = fs::read_dir(team.run_directory(1).join("log")).unwrap().flatten();
    let size: u64 = segments.map(|segment| segment.metadata().unwrap().len()).sum();
    assert!(size <= 18 << 20, "{size} bytes are kept");
    assert!(team.log(1).ends_with("the end\n"), "its end is what is kept");
    // D25: after that, one line for each fact.
    for line in up.stop().lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        assert!(fact["type"].is_string() || fact["notice"].is_string(), "{fact}");
    }
}

/// R4, F39: a pid that belongs to somebody else by now is nobody's shim, and is not signalled.
#[test]
fn a_recycled_pid_is_left_alone() {
    let team = Team::new("barrier first; exec sleep 1000");
    let task = team.start_task("Be mistaken");
    let up = team.up();
    team.until_barrier(1, "first");
    up.kill();
    let real = shim_of(&team, 1);
    let mut stranger = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let path = team.run_directory(1).join("shim.json");
    let mut identity: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    identity["pid"] = json!(stranger.id());
    fs::write(&path, identity.to_string()).unwrap();
    let up = team.up();
    let session = team.until_ended(1);
    assert_eq!(session["end_reason"], "lost");
    team.world.ok(&["task", "cancel", &task, "--reason", "seen"]);
    assert!(stranger.try_wait().unwrap().is_none(), "a process of somebody else was killed");
    wait_for("the forgotten shim to end", || (!is_shim(real)).then_some(()));
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    up.stop();
}

/// R12, G5, R5: what a client has used is on the board while it runs, and kept when it is stopped.
#[test]
fn usage_is_told_while_the_client_runs() {
    let team = Team::new("true");
    let bin = team.world.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let message = |id: &str, input: u32, output: u32| {
        let usage = json!({ "input_tokens": input, "output_tokens": output });
        json!({ "type": "assistant", "message": { "id": id, "content": [], "usage": usage } })
    };
    // The second comes too soon to be written down at once, and nothing follows it.
    let (first, second) = (message("msg_1", 700, 30), message("msg_2", 500, 4));
    let client = format!("#!/bin/sh\necho '{first}'\nsleep 0.2\necho '{second}'\nexec sleep 1000\n");
    fs::write(bin.join("claude"), client).unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let agent = json!({ "id": "solo", "mode": "one_shot", "client": "claude-code", "system_prompt": "Work." });
    team.world.write(".saihai/agents/solo.yaml", agent.to_string());
    team.commit("a real client's name");
    team.start_task("Use tokens");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let up = Up::start_with(&team, &[], &[("PATH", &path), ("ANTHROPIC_API_KEY", "none")]);
    let used = |session: &Value| session["usage"]["input_tokens"] == 1200;
    let session = team.until_session(1, "usage", used);
    assert_eq!((&session["status"], &session["usage"]["output_tokens"]), (&json!("running"), &json!(34)));
    team.world.ok(&["session", "stop", "1"]);
    assert!(used(&team.until_ended(1)));
    up.stop();
}

/// R3: two `up` for one project would see to each other's agents: the second says so and ends.
#[test]
fn only_one_up_runs_a_project() {
    let team = Team::new("true");
    let up = team.up();
    let error = team.world.refused(6, &["up", "--listen", "127.0.0.1:0"]);
    assert_eq!(error["code"], "already_running");
    up.stop();
}

/// S2, L1: a task that is taken back while its agent works is stopped before another starts.
#[test]
fn taking_a_task_back_ends_its_agent_first() {
    let (team, name) = team_with_process_tree("barrier look; exec sleep 1000", &json!({}));
    let task = team.start_task("Take back");
    let up = team.up();
    team.until_barrier(1, "look");
    team.world.ok(&["task", "update", &task, "--status", "todo"]);
    assert_eq!(team.until_ended(1)["end_reason"], "stopped");
    assert_none_left(&name);
    up.stop();
}
