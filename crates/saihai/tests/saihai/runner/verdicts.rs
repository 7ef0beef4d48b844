//! Is work judged by what is in the workspace, merged once, and are the user's files left alone?

use std::path::PathBuf;
use std::{fs, thread};

use serde_json::{Value, json};

use super::{Team, checks, processes_with, wait_for};

/// Counts the sessions for a script: `nth` is 1 in the first.
const COUNT: &str = r#"count="$(git rev-parse --absolute-git-dir)/count"; nth=$(($(cat "$count" 2>/dev/null || echo 0) + 1)); echo $nth > "$count""#;

fn counted(script: &str) -> String {
    format!("{COUNT}\n{script}")
}

#[track_caller]
fn detail(team: &Team, session: u32) -> String {
    let session = team.until_session(session, "a verdict", |session| session["verdict"] != Value::Null);
    session["verdict_detail"].to_string()
}

/// Waits until the merge of the first session's work is held up by what is named.
#[track_caller]
fn until_merge_waits_for(team: &Team, named: &str) {
    team.until_board(named, |board| {
        let session = board.sessions.get(&board::SessionId(1))?;
        let reason = board::say_waiting(&board::waiting(board, session, board::Timestamp(0))?, board::Language::En);
        reason.contains(named).then_some(())
    });
}

/// V2, F65, F66: exit 0 with nothing changed is no work done; after the last attempt it has failed.
#[test]
fn nothing_changed_is_not_done() {
    let team = Team::configured("echo all done", &json!({ "limits": { "max_attempts": 2 } }));
    let task = team.start_task("Do nothing");
    let head = team.world.git(&["rev-parse", "main"]);
    let up = team.up();
    let task = team.until_task(&task, "failed");
    assert_eq!(detail(&team, 1), r#"{"rejected":"no_change"}"#);
    assert_eq!(task["attempts"], 2);
    assert_eq!(team.world.git(&["rev-parse", "main"]), head);
    up.stop();
}

/// V2: unless that is what the task is about.
#[test]
fn research_may_change_nothing() {
    let team = Team::configured("echo looked", &checks(&[("never", "false")]));
    let up = team.up();
    for options in [["--type", "research"].as_slice(), &["--allow-empty"]] {
        let task = team.start_task_with("Look", options);
        team.until_task(&task, "done");
    }
    up.stop();
}

/// V4: what was left uncommitted is committed with the task's title; scratch and ignored files are not.
#[test]
fn leftovers_are_committed_for_the_agent() {
    let team = Team::new(
        "echo new > src/new.txt; git rm -q src/a.txt; mkdir -p target src/deep; echo x > target/x; echo x > src/deep/y; echo i > src/x.ignored",
    );
    team.world.write(".gitignore", "*.ignored\n");
    team.commit("ignore");
    let task = team.start_task("Add what is new");
    let up = team.up();
    team.until_task(&task, "done");
    let files = team.world.git(&["ls-tree", "-r", "--name-only", "main", "src", "target"]);
    assert_eq!(files.lines().collect::<Vec<_>>(), ["src/deep/y", "src/new.txt"]);
    let work = team.world.git(&["log", "-1", "--format=%s|%an <%ae>|%cn", "main^2"]);
    assert_eq!(work, "Add what is new|solo <solo@saihai.localhost>|Saihai", "the agent's, committed for it");
    assert_eq!(team.world.git(&["status", "--short"]), "");
    up.stop();
}

/// V2, V3: a conflict goes back with its files; the next session finds the markers, and what it makes of them is merged.
#[test]
fn a_conflict_is_resolved_by_its_agent() {
    let team = Team::new(&counted(
        r#"
        if [ $nth = 1 ]; then barrier ready; echo mine > src/a.txt; git commit -qam mine
        else grep -c '^<<<<<<<\|^>>>>>>>' src/a.txt | sed 's/^/markers /'; grep -c src/a.txt - | sed 's/^/prompt /'; printf 'mine\ntheirs\n' > src/a.txt; fi
        "#,
    ));
    let task = team.start_task("Conflict");
    let up = team.up();
    team.commit_conflicting_change();
    let first = detail(&team, 1);
    assert!(first.contains("conflict") && first.contains("src/a.txt"), "{first}");
    team.until_task(&task, "done");
    let log = team.log(2);
    assert!(log.contains("markers 2"), "{log}");
    assert!(
        log.lines().any(|line| line.starts_with("prompt ") && line != "prompt 0"),
        "the prompt names the file: {log}"
    );
    assert_eq!(team.merged("src/a.txt").as_deref(), Some("mine\ntheirs\n"));
    assert_eq!(team.world.read("src/a.txt"), "mine\ntheirs\n", "the user's own files have followed");
    up.stop();
}

/// V3, A5: an agent that leaves the markers where they are has not resolved anything.
#[test]
fn markers_that_are_left_are_a_conflict_still() {
    let team = Team::configured(
        &counted("if [ $nth = 1 ]; then barrier ready; echo mine > src/a.txt; else echo looked at it; fi"),
        &json!({ "limits": { "max_conflicts": 2 } }),
    );
    let task = team.start_task("Conflict");
    let up = team.up();
    team.commit_conflicting_change();
    let blocked = team.until_task(&task, "blocked");
    assert_eq!((&blocked["blocked_reason"], &blocked["attempts"]), (&json!("fuel_spent: max_conflicts"), &json!(0)));
    assert!(detail(&team, 2).contains("conflict"));
    assert_eq!(team.merged("src/a.txt").as_deref(), Some("theirs\n"));
    up.stop();
}

/// V3, V5: what a failing check said is in the next prompt, fenced; the work goes on from where it was.
#[test]
fn the_next_session_knows_what_failed() {
    let settings = checks(&[(
        "spelling",
        "[ -e src/b.txt ] || exit 0; grep -q right src/b.txt || { echo 'b.txt is WRONG-9731'; exit 3; }",
    )]);
    let team = Team::configured(
        &counted(
            "if [ $nth = 1 ]; then echo wrong > src/b.txt; else cat | grep WRONG-9731; cat src/b.txt; echo right > src/b.txt; fi",
        ),
        &settings,
    );
    let task = team.start_task("Spell");
    let up = team.up();
    let task = team.until_task(&task, "done");
    let first = detail(&team, 1);
    assert!(first.contains("spelling") && first.contains("WRONG-9731") && first.contains("\"fail\""), "{first}");
    assert_eq!(team.session(1)["dod_result"], "failed");
    let log = team.log(2);
    assert!(log.contains("b.txt is WRONG-9731") && log.contains("wrong"), "{log}");
    assert_eq!(task["attempts"], 1);
    assert_eq!(team.merged("src/b.txt").as_deref(), Some("right\n"));
    up.stop();
}

/// V5, F66: a check that takes too long is killed with all it started; one that cannot run did not run; neither is a pass.
#[test]
fn a_check_that_hangs_or_cannot_run_is_no_pass() {
    let name = format!("hang-{}", std::process::id());
    let hang = format!(
        "setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' {name} & trap '' TERM; while :; do sleep 1; done"
    );
    // Side by side: each waits for its check, and hardly computes.
    thread::scope(|scope| {
        scope.spawn(|| {
            fails_its_check(&hang, "timed_out", "timeout");
            assert!(processes_with(&name).is_empty(), "the check is still running");
        });
        scope.spawn(|| fails_its_check("no-such-check-anywhere", "did_not_run", "error"));
        scope.spawn(|| fails_its_check("kill -9 $$", "fail", "failed"));
        scope.spawn(|| fails_its_check("/etc/passwd", "did_not_run", "error"));
    });
}

/// The only attempt is rejected for this outcome of its check, and nothing is merged.
fn fails_its_check(command: &str, outcome: &str, dod: &str) {
    // The target passes it, so the work is at fault.
    let command = &format!("[ -e src/b.txt ] || exit 0; {command}");
    let settings = json!({ "limits": { "max_attempts": 1 }, "dod": { "timeout": 1, "checks": [{ "type": "it", "command": command }] } });
    let team = Team::configured("echo work > src/b.txt", &settings);
    let task = team.start_task("Be checked");
    let up = team.up();
    team.until_task(&task, "failed");
    let verdict = detail(&team, 1);
    assert!(verdict.contains(outcome), "{command}: {verdict}");
    assert_eq!(team.session(1)["dod_result"], dod, "{command}");
    assert_eq!(team.merged("src/b.txt"), None);
    up.stop();
}

/// V5: the checks run after the setup, on the candidate, sandboxed; without the setup they do not run.
#[test]
fn a_setup_that_fails_is_no_pass() {
    let settings = json!({ "limits": { "max_attempts": 1 }, "dod": { "setup": "[ -e src/b.txt ] || exit 0; echo no network; exit 1", "checks": [{ "type": "ok", "command": "true" }] } });
    let team = Team::configured("echo work > src/b.txt", &settings);
    let task = team.start_task("Set up");
    let up = team.up();
    team.until_task(&task, "failed");
    let verdict = detail(&team, 1);
    assert!(verdict.contains("setup") && verdict.contains("no network") && !verdict.contains("\"ok\""), "{verdict}");
    up.stop();
}

/// V5, R2: a check sees the merged result, is confined like the agent, and keeps its caches, which no candidate carries.
#[test]
fn checks_run_on_the_merged_result_in_a_sandbox() {
    let command = "test -f src/theirs.txt && test -f src/b.txt && ! cat ../../../saihai.db && ! touch ../escaped && git log -1 --format=%s && mkdir -p target && echo run >> target/cache && echo cache $(wc -l < target/cache)";
    let team = Team::configured("barrier ready; echo work > src/b.txt", &checks(&[("merged", command)]));
    team.world.write(".gitignore", "target/\n");
    team.commit("ignore");
    let up = team.up();
    for number in [1, 2] {
        let task = team.start_task("Be checked");
        team.until_barrier(number, "ready");
        team.world.write("src/theirs.txt", number.to_string());
        team.world.write("src/b.txt", format!("before {number}\n"));
        team.world.git(&["add", "src/theirs.txt"]);
        team.world.git(&["commit", "--quiet", "--message=theirs"]);
        let _ = fs::remove_file(team.world.repository.join("src/b.txt"));
        team.world.git(&["checkout", "--quiet", "--", "."]);
        if number == 2 {
            fs::write(team.workspace(2).join("src/c.txt"), "more\n").unwrap();
        }
        team.release(number, "ready");
        team.until_task(&task, "done");
    }
    let cache = fs::read_to_string(team.project_directory().join("verification/tree/target/cache")).unwrap();
    assert_eq!(cache, "run\nrun\n", "caches are kept between candidates");
    up.stop();
}

/// V5: goals are judged on the difference.
#[test]
fn goals_are_judged_on_the_difference() {
    let settings = json!({ "task_types": {
        "bug": { "goals": [{ "type": "test_added", "pattern": "src/*.test" }] },
        "docs": { "goals": [{ "type": "files_changed", "pattern": "src/a.txt" }] },
    } });
    let team = Team::configured(
        &counted(
            "if [ $nth = 1 ]; then echo work > src/$(git branch --show-current).txt; else echo t > src/b.test; echo more >> src/a.txt; fi",
        ),
        &settings,
    );
    let up = team.up();
    for (number, kind) in [(1, "bug"), (3, "docs")] {
        let task = team.start_task_with("Reach a goal", &["--type", kind]);
        team.until_task(&task, "done");
        let first = detail(&team, number);
        assert!(first.contains("goal"), "{first}");
        team.world.git(&["rm", "-q", "--ignore-unmatch", "src/b.test"]);
        team.commit("again");
    }
    up.stop();
}

/// V6, F61: squashed work is one commit, and is known to be there.
#[test]
fn work_is_squashed_where_that_is_wanted() {
    let team = Team::configured(
        "for n in 1 2 3; do echo $n > src/$n.txt; git add src; git commit -qm step-$n; done",
        &json!({ "merge": { "strategy": "squash" } }),
    );
    let task = team.start_task("Three steps");
    let up = team.up();
    team.until_task(&task, "done");
    assert_eq!(team.history()[..2], ["Three steps", "definitions"]);
    assert_eq!(team.world.git(&["log", "-1", "--format=%p", "main"]).split(' ').count(), 1);
    assert_eq!(team.merged("src/3.txt").as_deref(), Some("3\n"));
    up.stop();
}

/// V6, F68: what the user has changed or staged is in the way, is named, and is never touched; when it is gone the work goes on.
#[test]
fn the_users_own_changes_are_waited_for() {
    let team = Team::new("echo theirs > src/a.txt; echo new > src/new.txt");
    team.world.write("src/staged.txt", "staged\n");
    team.world.git(&["add", "src/staged.txt"]);
    team.world.write("src/a.txt", "my own change\n");
    let task = team.start_task("Be in the way");
    let head = team.world.git(&["rev-parse", "main"]);
    let up = team.up();
    until_merge_waits_for(&team, "src/a.txt in ");
    let why = team.world.ok(&["task", "why", &task]);
    assert!(why.contains("src/a.txt in "), "{why}");
    let shown = team.world.ok(&["session", "show", "1"]);
    assert!(shown.contains("src/a.txt in "), "{shown}");
    let log = team.world.ok(&["log", "tail", "--json"]);
    assert!(log.contains("src/a.txt in "), "{log}");
    assert_eq!(team.world.git(&["rev-parse", "main"]), head);
    assert_eq!(team.world.read("src/a.txt"), "my own change\n");
    assert_eq!(team.world.status(&task), "in_progress");
    team.world.git(&["checkout", "--", "src/a.txt"]);
    team.until_task(&task, "done");
    assert_eq!(team.world.read("src/a.txt"), "theirs\n");
    assert_eq!(team.world.git(&["diff", "--cached", "--name-only"]), "src/staged.txt", "still staged, and only there");
    assert_eq!(team.merged("src/staged.txt"), None);
    up.stop();
}

/// V6: a file of the user's that git does not know is in the way too.
#[test]
fn an_untracked_file_is_not_overwritten() {
    let team = Team::new("echo theirs > src/new.txt");
    team.world.write("src/new.txt", "mine\n");
    let task = team.start_task("Be in the way");
    let up = team.up();
    until_merge_waits_for(&team, "src/new.txt");
    let why = team.world.ok(&["task", "why", &task]);
    assert!(why.contains("src/new.txt"), "{why}");
    assert_eq!(team.world.read("src/new.txt"), "mine\n");
    fs::remove_file(team.world.repository.join("src/new.txt")).unwrap();
    team.until_task(&task, "done");
    up.stop();
}

/// V6: where the target is checked out nowhere, only its ref moves.
#[test]
fn a_target_that_nobody_has_checked_out_just_moves() {
    let team = Team::configured("echo work > src/b.txt", &json!({ "target_branch": "main" }));
    team.world.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    let task = team.start_task("Move it");
    let up = team.up();
    team.until_task(&task, "done");
    assert_eq!(team.merged("src/b.txt").as_deref(), Some("work\n"));
    assert!(!team.world.repository.join("src/b.txt").exists(), "the user looks at something else");
    assert_eq!(team.world.git(&["status", "--short"]), "");
    up.stop();
}

/// V6, F66: what was tested is what is merged: a target that moved meanwhile is tested again.
#[test]
fn a_target_that_moves_is_tested_again() {
    // The copy in which checks run is this test's to write to, too.
    let command =
        "ls src; test -f src/theirs.txt && exit 0; echo waiting > waiting; while ! [ -f go ]; do sleep 0.02; done";
    let team = Team::configured("echo work > src/b.txt", &checks(&[("slow", command)]));
    let task = team.start_task("Be overtaken");
    let up = team.up();
    let copy = team.project_directory().join("verification/tree");
    wait_for("the check to run", || copy.join("waiting").exists().then_some(()));
    team.world.write("src/theirs.txt", "theirs\n");
    team.commit("theirs");
    let theirs = team.world.git(&["rev-parse", "main"]);
    fs::write(copy.join("go"), "").unwrap();
    team.until_task(&task, "done");
    assert_eq!(team.world.git(&["rev-parse", "main^1"]), theirs);
    let log = team.world.ok(&["session", "show", "1", "--json"]);
    assert!(log.contains("\"merged\""), "{log}");
    up.stop();
}

/// V3, V8, F69: after the last attempt the task has failed, its branch and its workspace are there, and a retry goes on with them.
#[test]
fn nothing_is_thrown_away_after_a_failure() {
    let settings = json!({ "limits": { "max_attempts": 2 }, "dod": { "checks": [{ "type": "enough", "command": "test ! -f src/1.txt || test -f src/3.txt" }] } });
    let team = Team::configured(&counted("echo $nth > src/$nth.txt"), &settings);
    let task = team.start_task("Try and try");
    let up = team.up();
    let failed = team.until_task(&task, "failed");
    assert_eq!(failed["attempts"], 2);
    let branch = failed["branch"].as_str().unwrap();
    assert_eq!(team.world.git(&["show", &format!("{branch}:src/2.txt")]), "2");
    assert!(team.workspace(1).join("src/2.txt").exists());
    assert_eq!(team.merged("src/1.txt"), None);
    team.world.ok(&["task", "retry", &task]);
    team.until_task(&task, "done");
    assert_eq!(team.merged("src/1.txt").as_deref(), Some("1\n"), "what was there before is part of it");
    wait_for("the workspace to go, now that all is merged", || (!team.workspace(1).exists()).then_some(()));
    up.stop();
}

/// The user's own git waits for the test in the middle of a merge that brings `src/b.txt`.
fn hold_merges(team: &Team) -> (PathBuf, PathBuf) {
    let (reached, go) = (team.world.repository.join(".git/merging"), team.world.repository.join(".git/go"));
    let smudge = format!("touch {}; while ! [ -f {} ]; do sleep 0.02; done; cat", reached.display(), go.display());
    team.world.git(&["config", "filter.held.smudge", &smudge]);
    team.world.write(".gitattributes", "src/b.txt filter=held\n");
    team.commit("attributes");
    (reached, go)
}

/// V6, F72, F67: a crash after the merge and before anybody knew of it merges nothing twice.
#[test]
fn a_crash_between_merge_and_report_does_not_merge_twice() {
    for strategy in ["merge", "squash"] {
        let settings = json!({ "merge": { "strategy": strategy } });
        let team = Team::configured("echo work > src/b.txt", &settings);
        let (reached, go) = hold_merges(&team);
        let task = team.start_task("Be merged once");
        let before = team.world.git(&["rev-parse", "main"]);
        let up = team.up();
        wait_for("the merge to begin", || reached.exists().then_some(()));
        // Nobody can write to the board from here on.
        let store = rusqlite::Connection::open(team.world.store()).unwrap();
        store.execute_batch("BEGIN IMMEDIATE").unwrap();
        fs::write(go, "").unwrap();
        wait_for("the merge", || (team.world.git(&["rev-parse", "main"]) != before).then_some(()));
        up.kill();
        drop(store);
        let merged = team.world.git(&["rev-parse", "main"]);
        assert_eq!(team.world.status(&task), "in_progress", "nobody knows yet");
        // What it was made from is not needed to find out.
        fs::remove_dir_all(team.workspace(1)).unwrap();
        let up = team.up();
        team.until_task(&task, "done");
        assert_eq!(team.world.git(&["rev-parse", "main"]), merged, "{strategy}");
        assert_eq!(team.world.json(&["session", "list"]).as_array().unwrap().len(), 1);
        assert_eq!(team.session(1)["dod_result"], "merged");
        up.stop();
    }
}

/// V10, V12, L7: a task that is taken away while its work is being merged. The board knows what became of the work, and
/// nobody does it again.
#[test]
fn what_is_taken_away_during_its_merge_is_known_to_be_merged() {
    let team = Team::new("echo work > src/b.txt");
    team.agent("other", "echo again > src/c.txt", &json!({}));
    team.commit("another agent");
    team.world.ok(&["agent", "apply"]);
    let (reached, go) = hold_merges(&team);
    let task = team.start_task("Be taken away");
    let up = team.up();
    wait_for("the merge to begin", || reached.exists().then_some(()));
    team.world.ok(&["task", "update", &task, "--status", "todo"]);
    let refusal = team.world.refused(6, &["task", "assign", &task, "other"]);
    assert_eq!(refusal["code"], "state_conflict", "{refusal}");
    assert!(refusal["message"].as_str().unwrap().contains("being merged"), "{refusal}");
    team.world.ok(&["task", "cancel", &task, "--reason", "not wanted"]);
    fs::write(go, "").unwrap();
    team.until_board("its end", |board| (board.sessions.values().next()?.verdict.is_some()).then_some(()));
    assert_eq!(team.world.status(&task), "cancelled");
    assert_eq!(team.session(1)["dod_result"], "merged");
    assert!(team.world.ok(&["task", "why", &task]).contains("merged"), "the owner is told");
    assert_eq!(team.merged("src/b.txt").as_deref(), Some("work\n"));
    up.stop();
}

/// V5, R4: a crash while checks run leaves none of them behind, and they run again.
#[test]
fn checks_that_were_running_in_a_crash_run_again() {
    let name = format!("check-{}", std::process::id());
    let command = format!(
        "echo run >> runs; test $(wc -l < runs) -gt 1 || test -f go || {{ sh -c 'while :; do sleep 1; done' {name} & while ! [ -f go ]; do sleep 0.02; done; }}"
    );
    let team = Team::configured("echo work > src/b.txt", &checks(&[("slow", &command)]));
    let task = team.start_task("Be checked twice");
    let up = team.up();
    let copy = team.project_directory().join("verification/tree");
    wait_for("the check to run", || (!processes_with(&format!("\0{name}")).is_empty()).then_some(()));
    up.kill();
    let first = processes_with(&format!("\0{name}"));
    let up = team.up();
    wait_for("the old check to go", || {
        (!processes_with(&format!("\0{name}")).iter().any(|pid| first.contains(pid))).then_some(())
    });
    wait_for("the new check to run", || (!processes_with(&format!("\0{name}")).is_empty()).then_some(()));
    fs::write(copy.join("go"), "").unwrap();
    team.until_task(&task, "done");
    assert!(processes_with(&format!("\0{name}")).is_empty());
    up.stop();
}

/// V7: where nothing is to be merged, a good end is enough.
#[test]
fn reported_completion_needs_no_merge() {
    let team = Team::configured("true", &json!({ "completion": "reported" }));
    let task = team.start_task("Report");
    let up = team.up();
    team.until_task(&task, "done");
    assert_eq!(team.session(1)["verdict"], "done");
    up.stop();
}

/// L1, V6, V11, V12, F103: what is blocked while it is being checked is not merged. When the block is lifted it is,
/// without another session and without another test on the same target.
#[test]
fn what_is_blocked_during_its_checks_is_merged_later() {
    let command = "echo waiting > waiting; echo run >> \"$HOME/../runs\"; while ! [ -f go ]; do sleep 0.02; done";
    let team = Team::configured("echo work > src/b.txt", &super::unconfined_checks(&[("slow", command)]));
    let task = team.start_task("Be blocked");
    let up = team.up();
    let copy = team.project_directory().join("verification/tree");
    wait_for("the check to run", || copy.join("waiting").exists().then_some(()));
    team.world.ok(&["task", "block", &task, "--reason", "not now"]);
    fs::write(copy.join("go"), "").unwrap();
    until_merge_waits_for(&team, "blocked");
    wait_for("the result of its checks", || {
        let session = team.session(1);
        session["workspace"]["checks"][0]["outcome"].as_str().map(|outcome| assert_eq!(outcome, "pass"))
    });
    assert_eq!(team.merged("src/b.txt"), None);
    assert_eq!(team.world.status(&task), "blocked");
    team.world.ok(&["task", "unblock", &task]);
    team.until_task(&task, "done");
    assert_eq!(team.merged("src/b.txt").as_deref(), Some("work\n"));
    assert_eq!(team.world.json(&["session", "list"]).as_array().unwrap().len(), 1);
    let runs = fs::read_to_string(team.project_directory().join("verification/runs")).unwrap();
    assert_eq!(runs.lines().count(), 1, "it is not tested twice on one target");
    up.stop();
}

/// V6: work of several agents is merged one after the other, each on top of what is there.
#[test]
fn the_queue_merges_one_after_the_other() {
    let team =
        Team::configured("echo $$ > \"src/$(git branch --show-current).txt\"", &checks(&[("all", "test -d src")]));
    team.redefine_solo("echo x > \"src/$(git branch --show-current).txt\"", &json!({ "max_sessions": 4 }));
    let tasks: Vec<_> = (1..=4).map(|number| team.start_task(&format!("part {number}"))).collect();
    let up = super::Up::start(&team, &["--max-parallel", "4"]);
    for task in &tasks {
        team.until_task(task, "done");
    }
    let line = team.world.git(&["log", "--first-parent", "--format=%s", "-4", "main"]);
    assert_eq!(line.lines().filter(|title| title.starts_with("part ")).count(), 4, "{line}");
    assert_eq!(team.world.git(&["status", "--short"]), "");
    up.stop();
}
