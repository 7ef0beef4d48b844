//! Can an agent, or code under test, have something believed that did not happen (V16)?

use std::fs;

use serde_json::{Value, json};

use super::{Team, checks, unconfined_checks, wait_for};

/// Tries to speak for the process that reports its end, in every way that the kernel has. Perl is part of every Debian.
const SPEAK_FOR_INIT: &str = r#"
/usr/bin/perl - <<'END'
use POSIX; use strict; $| = 1;
my $word = qq({"ended":{"code":0,"signal":null}}\n);
my $ptrace = (POSIX::uname())[4] eq 'x86_64' ? 101 : 117;
sub attempt { my ($name, $done) = @_; print($done ? "ESCAPED $name\n" : "refused $name\n") }
sub opens { my ($path, $flags) = @_; my $fd = POSIX::open($path, $flags); defined $fd }
my $handle = syscall(434, 1, 0);
my $stolen = 0;
for my $number (0 .. 15) {
    my $fd = syscall(438, $handle, $number, 0);
    $stolen = 1 if $fd >= 0 && POSIX::write($fd, $word, length $word);
}
attempt('pidfd_getfd', $stolen);
attempt('ptrace', syscall($ptrace, 0x4206, 1, 0, 0) == 0);
attempt('memory', opens('/proc/1/mem', O_RDWR));
attempt('environment', opens('/proc/1/environ', O_RDONLY));
attempt('descriptor', opens('/proc/1/fd/0', O_WRONLY));
END
"#;

/// V16, F105: a check that must fail fails, whatever the code under test does to the process that reports its end.
#[test]
fn code_under_test_cannot_forge_the_outcome_of_its_check() {
    let mut settings = checks(&[("attacked", "sh src/test.sh; test ! -e src/attack")]);
    settings["limits"] = json!({ "max_attempts": 1 });
    let attack = format!("cat > src/test.sh <<'SCRIPT'\n{SPEAK_FOR_INIT}SCRIPT\necho > src/attack");
    let team = Team::configured(&attack, &settings);
    team.world.write("src/test.sh", "true\n");
    team.commit("a harmless test");
    let task = team.start_task("Attack");
    let up = team.up();
    team.until_task(&task, "failed");
    let check = &team.session(1)["workspace"]["checks"][0];
    let output = check["output"].as_str().unwrap();
    assert_eq!(check["outcome"], "fail", "{check}");
    assert!(output.matches("refused").count() == 5 && !output.contains("ESCAPED"), "{output}");
    assert_eq!(team.merged("src/attack"), None);
    up.stop();
}

/// V16, F105, F106, S5: nor can an agent have another end recorded than its own.
#[test]
fn an_agent_cannot_forge_how_it_ended() {
    let team = Team::new(&format!("{SPEAK_FOR_INIT}\nexit 7"));
    team.start_task("Attack");
    let up = team.up();
    let session = team.until_ended(1);
    assert_eq!((&session["end_reason"], &session["exit_code"]), (&json!("exited"), &json!(7)));
    let log = team.log(1);
    assert!(log.matches("refused").count() == 5 && !log.contains("ESCAPED"), "{log}");
    up.stop();
}

/// R13, F112: an agent sees its own processes and no others, and may not mount. Also as an ordinary user.
#[test]
fn an_agent_sees_only_its_own_processes() {
    let script = r#"
echo "others $(ls -d /proc/[0-9]* | grep -c -v -x -e /proc/1 -e "/proc/$$")"
grep '^CapAmb' /proc/self/status
try mount mount -t tmpfs none "$TMPDIR"
"#;
    let team = Team::new(script);
    team.start_task("Look around");
    let up = team.up();
    team.until_ended(1);
    let log = team.log(1);
    let others = log.lines().find_map(|line| line.strip_prefix("others ")?.parse::<u32>().ok());
    // The shell of the substitution, `ls` and `grep`.
    assert!(others.is_some_and(|others| others <= 3), "{log}");
    assert!(log.contains("CapAmb:\t0000000000000000") && log.contains("refused mount"), "{log}");
    up.stop();
}

/// V16, F108, F66: whoever stands on a commit that another task merged has done nothing, also when it tries again.
#[test]
fn standing_on_anothers_merged_commit_is_no_work() {
    let script = r#"
barrier merged
for commit in $(git cat-file --batch-all-objects --batch-check='%(objecttype) %(objectname)' | sed -n 's/^commit //p'); do
    if [ "$(git log -1 --format=%s "$commit")" = 'honest work' ]; then git reset -q --hard "$commit"; echo found; fi
done
"#;
    let team = Team::configured(script, &json!({ "limits": { "max_attempts": 2 } }));
    team.agent("honest", "echo b > src/b.txt; git add -A; git commit -qm 'honest work'", &json!({}));
    team.commit("an honest agent");
    team.world.ok(&["agent", "apply"]);
    let thief = team.start_task("Write the payment module");
    let up = super::Up::start(&team, &["--max-parallel", "2"]);
    team.until_barrier(1, "merged");
    let honest = team.world.ok(&["task", "add", "Work", "--assign", "honest", "--quiet"]);
    team.world.ok(&["task", "start", &honest]);
    team.until_task(&honest, "done");
    team.release(1, "merged");
    team.until_line(1, "found");
    team.until_barrier(3, "merged");
    team.release(1, "merged");
    team.until_task(&thief, "failed");
    for session in [1, 3] {
        assert_eq!(
            team.session(session)["verdict_detail"]["rejected"],
            json!("no_change"),
            "{}",
            team.session(session)
        );
    }
    up.stop();
}

/// V16, F109, V6: a file of the user's that git ignores is not overwritten. The work waits and says which file it is.
#[test]
fn ignored_file_of_the_user_is_not_overwritten() {
    let team = Team::new("true");
    team.world.write(".gitignore", ".env\n");
    team.redefine_solo("echo theirs > .env; git add -f .env", &json!({ "scope": { "read": ["**"], "write": ["**"] } }));
    team.world.write(".env", "irreplaceable\n");
    let task = team.start_task("Overwrite");
    let up = team.up();
    wait_for("`why` to name the file", || team.world.ok(&["task", "why", &task]).contains(".env").then_some(()));
    assert_eq!(fs::read_to_string(team.world.repository.join(".env")).unwrap(), "irreplaceable\n");
    fs::remove_file(team.world.repository.join(".env")).unwrap();
    team.until_task(&task, "done");
    up.stop();
}

/// V16, F109, V6: a commit that the user drops while a candidate is checked stays dropped.
#[test]
fn reset_during_a_check_is_not_undone() {
    let slow = "touch \"$HOME/../checking\"; while ! [ -e \"$HOME/../go\" ]; do sleep 0.02; done";
    let team = Team::configured("barrier go; echo b > src/b.txt", &unconfined_checks(&[("slow", slow)]));
    let task = team.start_task("Work");
    let up = team.up();
    team.until_barrier(1, "go");
    team.world.write("src/dropped.txt", "no\n");
    team.commit("to be dropped");
    team.release(1, "go");
    let copy = team.project_directory().join("verification");
    wait_for("the check", || copy.join("checking").exists().then_some(()));
    team.world.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    fs::write(copy.join("go"), "").unwrap();
    team.until_task(&task, "done");
    assert!(!team.history().iter().any(|subject| subject == "to be dropped"), "{:?}", team.history());
    assert_eq!((team.merged("src/dropped.txt"), team.merged("src/b.txt").as_deref()), (None, Some("b\n")));
    up.stop();
}

/// V16, F110: what a check of rejected work leaves in HOME or in ignored files does not reach the next check.
#[test]
fn rejected_work_does_not_poison_the_next_check() {
    let mut settings = checks(&[("poisonable", "sh src/test.sh")]);
    settings["limits"] = json!({ "max_attempts": 1 });
    let poison = "echo 'mkdir -p build; touch \"$HOME/poison\" build/poison; exit 1' > src/test.sh";
    let team = Team::configured(poison, &settings);
    let hope = "echo 'ls \"$HOME/poison\" build/poison && exit 0; exit 1' > src/test.sh";
    team.agent("hopeful", hope, &json!({}));
    team.world.write("src/test.sh", "true\n");
    team.world.write(".gitignore", "build/\n");
    team.commit("a test");
    team.world.ok(&["agent", "apply"]);
    let evil = team.start_task("Poison");
    let up = team.up();
    team.until_task(&evil, "failed");
    let next = team.world.ok(&["task", "add", "Hope", "--assign", "hopeful", "--quiet"]);
    team.world.ok(&["task", "start", &next]);
    let found: Value = team.until_task(&next, "failed");
    assert_eq!(found["attempts"], 1);
    assert!(team.session(2)["workspace"]["checks"][0]["output"].as_str().unwrap().contains("No such file"));
    up.stop();
}

/// V16, F111: a tree of 3,000 directories in an agent's HOME, and a pipe that a check leaves where git reads a file, hold
/// up nobody.
#[test]
fn deep_trees_and_pipes_hold_up_nobody() {
    let pipe = "mkdir -p junk && mkfifo junk/.gitignore; test -p junk/.gitignore";
    let deep = r#"cd "$HOME"; /usr/bin/perl -e 'for (1 .. 3000) { mkdir "d"; chdir "d" }'; cd -"#;
    let script = format!("{deep}; date +%N > \"src/$(git branch --show-current)\"");
    let team = Team::configured(&script, &checks(&[("pipe", pipe)]));
    let up = team.up();
    for number in 1..=2 {
        let task = team.start_task(&format!("part {number}"));
        team.until_task(&task, "done");
        wait_for("its HOME to be removed", || (!team.run_directory(number).join("home").exists()).then_some(()));
    }
    up.stop();
}

/// R2, V16, F114: only patterns that name `.saihai` open files in it, and only those that they mean.
#[test]
fn definitions_open_only_to_patterns_that_name_them() {
    for (write, opened) in [(".saihai-notes/**", false), (".saihai/memory/**", false), (".saihai/**", true)] {
        let team = Team::configured("true", &json!({ "limits": { "max_attempts": 1 } }));
        let script = "echo '# mine' >> .saihai/config.yaml; git add -A; git commit -qm mine";
        team.redefine_solo(script, &json!({ "scope": { "read": ["**"], "write": ["**", write] } }));
        let task = team.start_task("Change the rules");
        let up = team.up();
        team.until_task(&task, if opened { "done" } else { "failed" });
        assert_eq!(team.merged(".saihai/config.yaml").unwrap().contains("# mine"), opened, "{write}");
        up.stop();
    }
}

/// V16, F109: commits that the user takes out of the target while an agent works do not come back with its work, and are
/// not charged to it.
#[test]
fn commits_that_the_user_took_out_do_not_come_back() {
    for strategy in ["merge", "squash"] {
        let settings = json!({ "merge": { "strategy": strategy } });
        let team = Team::configured("barrier ready; echo work > src/b.txt", &settings);
        team.world.write("src/dropped.txt", "no\n");
        team.world.write("dropped.txt", "outside of the scope\n");
        team.commit("to be dropped");
        let task = team.start_task("Work meanwhile");
        let up = team.up();
        team.until_barrier(1, "ready");
        team.world.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        team.release(1, "ready");
        let done = team.until_task(&task, "done");
        assert_eq!(done["attempts"], 0);
        assert_eq!(team.merged("src/b.txt").as_deref(), Some("work\n"));
        assert_eq!((team.merged("src/dropped.txt"), team.merged("dropped.txt")), (None, None), "{strategy}");
        assert!(!team.history().contains(&"to be dropped".to_owned()));
        up.stop();
    }
}

/// V16, F108: an agent that takes the commits of another task into its history, without their content, has neither that
/// work pass for merged nor its own merged.
#[test]
fn work_of_others_in_a_history_does_not_pass_for_merged() {
    let team = Team::configured("echo bad > src/pay.txt", &checks(&[("good", "! grep -rq bad src")]));
    let takeover = r#"
        echo mine > src/mine.txt; git add src/mine.txt; git commit -qm mine
        for object in $(git cat-file --batch-all-objects --batch-check | awk '$2 == "commit" { print $1 }'); do
            if git show "$object:src/pay.txt" > /dev/null 2>&1; then git merge -qs ours -m both "$object"; echo "took $object"; fi
        done
    "#;
    team.agent("other", takeover, &json!({}));
    team.commit("another agent");
    team.world.ok(&["agent", "apply"]);
    let first = team.start_task("Pay");
    let up = team.up();
    team.until_session(1, "a verdict", |session| session["verdict"] == "rejected");
    let second = team.world.ok(&["task", "add", "Take over", "--assign", "other", "--quiet"]);
    team.world.ok(&["task", "start", &second]);
    let failed = team.until_task(&second, "failed");
    assert!(failed["reason"].as_str().unwrap_or_default().contains("unreadable"), "{failed}");
    assert_eq!((team.merged("src/mine.txt"), team.merged("src/pay.txt")), (None, None));
    let why = team.world.ok(&["task", "why", &second]);
    assert!(why.contains(&format!("has work of {first}")), "{why}");
    up.stop();
}

/// V16, F110: what code under test leaves where git does not clean, such as the directory of a submodule, is not there
/// for the next.
#[test]
fn each_run_of_checks_has_a_tree_of_its_own() {
    let leaves = "if [ -e vendor/left ]; then exit 0; fi; mkdir -p vendor; touch vendor/left; exit 1";
    let team = Team::configured("echo $$ > src/b.txt", &checks(&[("leaves", leaves)]));
    let head = team.world.git(&["rev-parse", "HEAD"]);
    team.world.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},vendor")]);
    team.world.git(&["commit", "--quiet", "--message=submodule"]);
    let task = team.start_task("Be judged alike");
    team.world.ok(&["task", "update", &task, "--description", "It fails on the target too, so nobody is charged."]);
    let up = team.up();
    super::wait_for("the target to be red", || team.world.ok(&["task", "why", &task]).contains("leaves").then_some(()));
    assert_eq!(team.merged("src/b.txt"), None);
    team.world.write("src/a.txt", "another commit of the target\n");
    team.world.git(&["commit", "--quiet", "--all", "--message=on"]);
    let on = team.world.git(&["rev-parse", "main"]);
    team.until_board("the new target to be tested", |board| (board.target.as_ref()?.commit == on).then_some(()));
    assert!(team.world.ok(&["task", "why", &task]).contains("leaves"), "it fails again");
    up.stop();
}

/// R13, V16: limits and turns of the process that watches are not the agent's to change.
#[test]
fn an_agent_cannot_weaken_the_process_that_watches_it() {
    let team = Team::new(
        r#"
        try prlimit prlimit --pid 1 --nofile=0:0
        try renice renice -n 19 -p 1
        try taskset taskset -p 1 1
        try chrt chrt --idle --pid 0 1
        try ionice ionice -c 3 -p 1
        prlimit --nofile=100:100 true && nice -n 5 true && echo "own limits work"
        echo work > src/b.txt
        "#,
    );
    let task = team.start_task("Weaken");
    let up = team.up();
    team.until_task(&task, "done");
    up.stop();
    let log = team.log(1);
    assert!(!log.contains("ESCAPED") && log.matches("refused").count() == 5, "{log}");
    assert!(log.contains("own limits work"), "{log}");
}
