//! Is the merge queue fair, are its items independent, and is no work done twice (V9 to V12)?

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Team, Up, checks, signal, unconfined_checks, wait_for};

/// A check that notes on which target each candidate was tested.
const NOTE_RUN: &str = r#"echo "$(git rev-parse HEAD^1) $(git log -1 --format=%s)" >> "$HOME/../runs""#;

/// What the check noted.
fn runs(team: &Team) -> Vec<String> {
    let noted = fs::read_to_string(team.project_directory().join("verification/runs")).unwrap_or_default();
    noted.lines().map(str::to_owned).collect()
}

fn why(team: &Team, task: &str) -> String {
    team.world.ok(&["task", "why", task])
}

#[track_caller]
fn until_why(team: &Team, task: &str, said: &str) {
    wait_for(&format!("`why {task}` to say {said}"), || why(team, task).contains(said).then_some(()));
}

fn sessions(team: &Team) -> usize {
    team.world.json(&["session", "list"]).as_array().unwrap().len()
}

/// V11, D1, F102: one file that the user is editing holds up the work that changes it, and nothing else. What was
/// tested is not tested again on the same target, and the wait is told once.
#[test]
fn file_that_the_user_edits_holds_up_only_its_own_work() {
    let team = Team::configured("echo work >> src/a.txt", &unconfined_checks(&[("noted", NOTE_RUN)]));
    team.agent("other", "echo b > src/b.txt", &json!({}));
    team.commit("another agent");
    team.world.write("src/a.txt", "being edited\n");
    let waiting = team.start_task("Change a");
    let up = team.up();
    until_why(&team, &waiting, "src/a.txt");
    let other = team.world.ok(&["task", "add", "Add b", "--assign", "other", "--quiet"]);
    team.world.ok(&["task", "start", &other]);
    team.until_task(&other, "done");
    until_why(&team, &waiting, "src/a.txt");
    // The queue looks at the file again and again; let it do so a few times.
    thread::sleep(Duration::from_secs(5));
    let noted = runs(&team);
    let mut once = noted.clone();
    once.sort();
    once.dedup();
    assert_eq!(noted.len(), once.len(), "tested twice on one target: {noted:?}");
    let told = team.world.ok(&["log", "tail", "-n", "200"]).matches("examined").count();
    // When it is tried and when it waits: for each target of the one, and when the other is merged.
    assert!(told <= 6, "told {told} times");
    team.world.git(&["checkout", "--quiet", "--", "src/a.txt"]);
    let done = team.until_task(&waiting, "done");
    assert_eq!((&done["attempts"], sessions(&team)), (&json!(0), 2));
    assert_eq!(team.merged("src/b.txt").as_deref(), Some("b\n"));
    up.stop();
}

/// V9, F104, L9: a target that fails its own check stops the queue and charges nobody; work that repairs it goes
/// through, and what waited goes on.
#[test]
fn red_target_is_repaired_by_work_that_says_so() {
    let team = Team::configured("echo work > src/b.txt", &checks(&[("whole", "echo looking; test -e src/whole.txt")]));
    team.agent("mender", "echo whole > src/whole.txt", &json!({}));
    team.commit("a mender");
    team.world.ok(&["agent", "apply"]);
    let task = team.start_task("Work");
    let up = team.up();
    until_why(&team, &task, "the target itself fails whole");
    let found = team.task(&task);
    assert_eq!((&found["status"], &found["attempts"]), (&json!("in_progress"), &json!(0)));
    let mend = team.world.ok(&["task", "add", "Mend", "--assign", "mender", "--repairs-target", "--quiet"]);
    team.world.ok(&["task", "start", &mend]);
    team.until_task(&mend, "done");
    team.until_task(&task, "done");
    assert_eq!(sessions(&team), 2);
    up.stop();
}

/// V9: the same when the owner breaks the target and mends it by hand.
#[test]
fn red_target_is_mended_by_its_owner() {
    let team = Team::configured("barrier go; echo work > src/b.txt", &checks(&[("whole", "test -e src/whole.txt")]));
    team.world.write("src/whole.txt", "whole\n");
    team.commit("whole");
    let task = team.start_task("Work");
    let up = team.up();
    team.until_barrier(1, "go");
    team.world.git(&["rm", "--quiet", "src/whole.txt"]);
    team.world.git(&["commit", "--quiet", "--message=break it"]);
    team.release(1, "go");
    until_why(&team, &task, "the target itself fails whole");
    team.world.git(&["revert", "--no-edit", "HEAD"]);
    let done = team.until_task(&task, "done");
    assert_eq!((&done["attempts"], sessions(&team)), (&json!(0), 1));
    up.stop();
}

/// V10, B5: a check that is added while others run is run before the work is merged.
#[test]
fn check_that_is_added_meanwhile_is_run() {
    let slow = "echo x > waiting; while ! [ -f go ]; do sleep 0.02; done";
    let team = Team::configured("echo work > src/b.txt", &checks(&[("slow", slow)]));
    let task = team.start_task("Be checked");
    let up = team.up();
    let copy = team.project_directory().join("verification/tree");
    wait_for("the check to run", || copy.join("waiting").exists().then_some(()));
    let settings = checks(&[("slow", "true"), ("added", "test ! -e src/b.txt")]);
    team.world.write(".saihai/config.yaml", settings.to_string());
    team.world.ok(&["agent", "apply"]);
    fs::write(copy.join("go"), "").unwrap();
    wait_for("the verdict", || (team.task(&task)["attempts"] == 1).then_some(()));
    let detail = team.session(1)["verdict_detail"].to_string();
    assert!(detail.contains("added"), "{detail}");
    assert_eq!(team.merged("src/b.txt"), None);
    up.stop();
}

/// L11, V12, F103, F123: a pause lets what runs go on and merges what has ended; with --now it stops it, and nothing
/// is charged.
#[test]
fn pause_drains() {
    let team = Team::new("barrier go; echo work > src/$(git branch --show-current).txt");
    team.redefine_solo("barrier go; echo work > src/$(git branch --show-current).txt", &json!({ "max_sessions": 2 }));
    let first = team.start_task("One");
    let up = team.up();
    team.until_barrier(1, "go");
    team.world.ok(&["project", "pause"]);
    team.world.json(&["task", "add", "Two", "--assign", "solo"]);
    assert_eq!(team.world.refused(6, &["task", "start", "2"])["code"], "not_ready");
    team.release(1, "go");
    team.until_task(&first, "done");
    team.world.ok(&["project", "resume"]);
    team.world.ok(&["task", "start", "2"]);
    team.until_barrier(2, "go");
    team.world.ok(&["project", "pause", "--now"]);
    assert_eq!(team.until_ended(2)["end_reason"], "stopped");
    team.world.ok(&["project", "resume"]);
    team.until_barrier(3, "go");
    team.release(2, "go");
    let done = team.until_task("tsk_2", "done");
    assert_eq!(done["attempts"], 0);
    up.stop();
}

/// L12, D9: stopping a session keeps its task from starting again, until the owner lets it.
#[test]
fn stopped_session_is_not_started_again() {
    let team = Team::new("barrier go; echo work > src/b.txt");
    let task = team.start_task("Be stopped");
    let up = team.up();
    team.until_barrier(1, "go");
    let said = team.world.ok(&["session", "stop", "1"]);
    assert!(said.contains("task unblock tsk_1"), "{said}");
    assert_eq!(team.until_ended(1)["end_reason"], "stopped");
    assert_eq!(team.task(&task)["blocked_reason"], "stopped by owner");
    team.world.ok(&["task", "unblock", &task]);
    team.until_barrier(2, "go");
    team.world.ok(&["session", "stop", "2", "--restart"]);
    team.until_barrier(3, "go");
    team.release(1, "go");
    team.until_task(&task, "done");
    up.stop();
}

/// V12, B2, F117: `--stop-agents` ends an agent that works and leaves work that is being checked as it is: nothing is
/// charged, and the next `up` merges it.
#[test]
fn stopping_agents_charges_nothing_to_work_that_is_checked() {
    let slow = "echo x > waiting; while ! [ -f \"$HOME/../go\" ]; do sleep 0.02; done";
    let team = Team::configured("echo work > src/b.txt", &unconfined_checks(&[("slow", slow)]));
    team.agent("other", "trap '' TERM; barrier never", &json!({}));
    team.commit("one who does not listen");
    team.world.ok(&["agent", "apply"]);
    let task = team.start_task("Be checked");
    let other = team.world.ok(&["task", "add", "Work on", "--assign", "other", "--quiet"]);
    team.world.ok(&["task", "start", &other]);
    let up = Up::start(&team, &["--stop-agents"]);
    let copy = team.project_directory().join("verification");
    wait_for("the check to run", || copy.join("tree/waiting").exists().then_some(()));
    let busy = if team.session(1)["agent_id"] == "other" { 1 } else { 2 };
    team.until_barrier(busy, "never");
    up.stop();
    assert_eq!(team.session(busy)["end_reason"], "stopped");
    let kept = team.session(3 - busy);
    assert_eq!((&kept["status"], &team.task(&task)["attempts"]), (&json!("verifying"), &json!(0)));
    team.world.ok(&["task", "block", &other, "--reason", "enough"]);
    fs::write(copy.join("go"), "").unwrap();
    let up = team.up();
    team.until_task(&task, "done");
    assert_eq!(sessions(&team), 2);
    up.stop();
}

/// S2a, F100: a lid that is closed: everything stands still for longer than a lease lasts, and nothing is lost.
#[test]
fn time_that_stood_still_costs_nothing() {
    let team = Team::configured("barrier go; echo work > src/b.txt", &json!({ "limits": { "lease": 2 } }));
    let task = team.start_task("Sleep");
    let up = team.up();
    team.until_barrier(1, "go");
    let all = super::pids().into_iter().filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let home = team.world.home().to_string_lossy().into_owned();
        String::from_utf8_lossy(&environment).contains(&home)
    });
    let all: Vec<u32> = all.chain([up.child.id()]).collect();
    all.iter().for_each(|pid| signal(*pid, Signal::STOP));
    thread::sleep(Duration::from_secs(5));
    all.iter().for_each(|pid| signal(*pid, Signal::CONT));
    team.release(1, "go");
    let done = team.until_task(&task, "done");
    assert_eq!((&done["attempts"], sessions(&team)), (&json!(0), 1));
    up.stop();
}

/// B9: `up` ends when it is told to although the store cannot be written, and at once when it is told twice.
#[test]
fn up_ends_although_the_store_is_locked() {
    let team = Team::new("barrier go; exit 3");
    team.start_task("End");
    let mut up = team.up();
    team.until_barrier(1, "go");
    let store = rusqlite::Connection::open(team.world.store()).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    team.release(1, "go");
    wait_for("its record", || team.run_directory(1).join("exit.json").exists().then_some(()));
    signal(up.child.id(), Signal::TERM);
    signal(up.child.id(), Signal::TERM);
    wait_for("up to end", || (!up.is_running()).then_some(()));
    drop(store);
    let up = team.up();
    assert_eq!(team.until_ended(1)["exit_code"], 3, "what it could not tell is told by the next");
    up.stop();
}

/// V11, A5, F101: twelve agents that change the same line and resolve conflicts correctly all land, each with at most
/// three conflicts.
#[test]
fn twelve_agents_on_one_line_all_land() {
    // Everybody adds a line at the same place; whoever finds markers keeps both sides.
    let script = r#"
        name=$(git branch --show-current)
        if grep -q '^<<<<<<<' src/a.txt; then sed -i '/^<<<<<<<\|^=======\|^>>>>>>>/d' src/a.txt
        else sed -i "1i $name" src/a.txt; fi
    "#;
    let everybody = checks(&[("clean", "! grep -n '^<<<<<<<\\|^=======\\|^>>>>>>>' src/a.txt")]);
    let team = Team::configured(script, &everybody);
    team.redefine_solo(script, &json!({ "max_sessions": 12 }));
    let tasks: Vec<_> = (1..=12).map(|number| team.start_task(&format!("line {number}"))).collect();
    let up = Up::start(&team, &["--max-parallel", "6"]);
    for task in &tasks {
        team.until_task(task, "done");
    }
    let text = team.merged("src/a.txt").unwrap();
    let sessions = team.world.json(&["session", "list"]);
    assert_eq!(text.lines().filter(|line| line.starts_with("task-")).count(), 12, "{text}{sessions:#}");
    for task in &tasks {
        let conflicts = |session: &&Value| {
            session["task_id"] == **task && session["verdict_detail"].to_string().contains("conflict")
        };
        let count = sessions.as_array().unwrap().iter().filter(conflicts).count();
        assert!(count <= 3, "{task} had {count} conflicts");
    }
    up.stop();
}

/// L9, D7, F120: why says that nobody runs the project, that every slot is taken and by whom, and that the disk is full.
#[test]
fn why_names_what_a_runner_lacks() {
    let team = Team::new("barrier go; echo work > src/$(git branch --show-current).txt");
    team.agent("other", "true", &json!({}));
    team.commit("another");
    team.world.ok(&["agent", "apply"]);
    let task = team.start_task("Wait");
    assert!(why(&team, &task).contains("Nobody runs this project"), "{}", why(&team, &task));
    let up = Up::start(&team, &["--max-parallel", "1"]);
    team.until_barrier(1, "go");
    let other = team.world.ok(&["task", "add", "Other", "--assign", "other", "--quiet"]);
    team.world.ok(&["task", "start", &other]);
    until_why(&team, &other, "1 of 1 are taken by ses_1");
    up.stop();
    let command = team.world.command(&["up", "--listen", "127.0.0.1:0", "--min-free-disk", "99999999", "--json"]);
    let up = Up::run(&team, command);
    until_why(&team, &other, "MiB are free on the disk");
    up.stop();
}
