//! Does anything that an agent writes into its git directory have an effect outside of its sandbox?
//!
//! Every trap would `touch` a canary beside the user's repository, where no agent may write.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Team, assert_unchanged, snapshot};
use crate::board_follower::task_json;

/// Adds functions to a script: `$G` is the agent's git directory; `trap_ NAME` makes a program that
/// creates a canary file, and a file in the git directory to show that it ran.
fn with_trap_words(team: &Team, script: &str) -> String {
    format!(
        r#"
        G=$(git rev-parse --absolute-git-dir); MAIN='{main}'; ROOT='{root}'
        trap_() {{
            mkdir -p "$G/traps"
            printf '#!/bin/sh\ntouch "%s/canary-%s"\ntouch "%s/ran-%s"\n%s\n' "$ROOT" "$1" "$G/traps" "$1" "$2" > "$G/traps/$1"
            chmod +x "$G/traps/$1"
        }}
        {script}
        "#,
        main = team.world.repository.display(),
        root = team.world.path().display()
    )
}

fn team(script: &str) -> Team {
    configured(script, &json!({}))
}

fn configured(script: &str, settings: &Value) -> Team {
    let team = Team::configured("true", settings);
    let script = with_trap_words(&team, script);
    team.redefine_solo(&script, &json!({}));
    team
}

#[track_caller]
fn no_canary(team: &Team) {
    let entries = fs::read_dir(team.world.path()).unwrap().flatten();
    let canaries: Vec<_> =
        entries.map(|entry| entry.file_name()).filter(|name| name.to_string_lossy().starts_with("canary")).collect();
    assert!(canaries.is_empty(), "executed outside of the sandbox: {canaries:?}");
}

/// Another repository of the user's, and a commit in it.
fn private_repository(team: &Team) -> String {
    let private = team.world.path().join("private");
    fs::create_dir(&private).unwrap();
    let directory = private.to_string_lossy().into_owned();
    let git = |arguments: &[&str]| team.world.git(&[&["-C", &directory], arguments].concat());
    git(&["init", "--quiet", "--initial-branch=main"]);
    fs::write(private.join("secret.txt"), "secret\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message=secret"]);
    git(&["rev-parse", "HEAD"])
}

/// Everything in the repository except what Saihai itself writes there.
fn user_files(team: &Team) -> std::collections::BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = snapshot(&team.world.repository);
    all.retain(|path, _| {
        let path = path.to_string_lossy();
        !path.contains("/.git/objects")
            && !path.contains("/saihai")
            && !path.contains("/task-")
            && !path.ends_with("/logs/refs")
    });
    all
}

/// The verdict on the first session, which must be a rejection. The task is cancelled then.
#[track_caller]
fn rejected(team: &Team, task: &str) -> String {
    let session = team.until_session(1, "a verdict", |session| session["verdict"] != Value::Null);
    team.world.ok(&["task", "cancel", task, "--reason", "seen enough"]);
    assert_eq!(session["verdict"], "rejected", "{session:#}\n{}", team.log(1));
    session["verdict_detail"].to_string()
}

/// Whatever configuration can name a program.
const CONFIGURATION: &str = r#"
    for name in fsmonitor hook alias filter smudge process textconv diff merge ssh proxy askpass editor pager gpg credential upload pack bundle; do trap_ $name; done
    trap_ filter cat; trap_ smudge cat
    git config core.fsmonitor "$G/traps/fsmonitor"
    mkdir -p "$G/hooks" "$G/traps/hooks"
    for hook in pre-commit post-commit commit-msg prepare-commit-msg post-checkout post-merge pre-merge-commit reference-transaction post-index-change pre-push post-rewrite update pre-auto-gc; do
        cp "$G/traps/hook" "$G/hooks/$hook"; cp "$G/traps/hook" "$G/traps/hooks/$hook"
    done
    git config core.hooksPath "$G/traps/hooks"
    for word in status add commit diff merge bundle fetch rev-parse checkout; do git config alias.$word "!$G/traps/alias"; done
    git config filter.evil.clean "$G/traps/filter"; git config filter.evil.smudge "$G/traps/smudge"
    git config diff.evil.textconv "$G/traps/textconv"; git config diff.evil.command "$G/traps/diff"; git config diff.external "$G/traps/diff"
    git config merge.evil.driver "$G/traps/merge"; git config merge.default evil
    git config core.sshCommand "$G/traps/ssh"; git config core.gitProxy "$G/traps/proxy"; git config core.askPass "$G/traps/askpass"
    git config core.editor "$G/traps/editor"; git config core.pager "$G/traps/pager"; git config pager.diff "$G/traps/pager"
    git config gpg.program "$G/traps/gpg"; git config commit.gpgSign true; git config credential.helper "$G/traps/credential"
    git config uploadpack.packObjectsHook "$G/traps/upload"; git config remote.origin.uploadpack "$G/traps/upload"
    git config remote.origin.url "ext::$G/traps/pack"; git config protocol.ext.allow always; git config protocol.allow always
    git config url."ext::$G/traps/pack ".insteadOf "$ROOT"; git config url."ext::$G/traps/pack ".insteadOf "file://"
    git config include.path "$G/more"; printf '[alias]\n\tbundle = "!%s/traps/bundle"\n' "$G" > "$G/more"
    printf '* filter=evil diff=evil merge=evil\n' > "$G/info/attributes"
    printf '* filter=evil diff=evil merge=evil\n' > src/.gitattributes
"#;

/// R1, F62: a configuration full of traps is read in the sandbox only, and the work is merged for what it is.
#[test]
fn a_configuration_full_of_traps_reaches_nobody() {
    let team = team(&format!("{CONFIGURATION}\necho work > src/b.txt"));
    let before = user_files(&team);
    let task = team.start_task("Set traps");
    let mut up = team.up();
    team.until_task(&task, "done");
    assert_eq!(team.merged("src/b.txt").as_deref(), Some("work\n"));
    assert!(team.merged("src/.gitattributes").is_some(), "it is in scope, and means nothing without a driver");
    let config = team.world.repository.join(".git/config");
    assert_eq!(before.get(&config), user_files(&team).get(&config));
    no_canary(&team);
    // The user's own git is none the worse.
    team.world.git(&["status"]);
    team.world.git(&["log", "-p", "-1"]);
    no_canary(&team);
    assert!(up.is_running());
    up.stop();
}

/// R1, FACTS: the traps are real: whoever runs git there without care sets them off.
#[test]
fn the_traps_would_work_outside() {
    let team = team(&format!("{CONFIGURATION}\nexit 1"));
    let task = team.start_task("Set traps");
    let up = team.up();
    team.until_task(&task, "failed");
    no_canary(&team);
    let workspace = team.workspace(1);
    let _ = std::process::Command::new("git").arg("-C").arg(workspace).args(["status", "--short"]).output();
    assert!(team.world.path().join("canary-fsmonitor").exists());
    up.stop();
}

/// R1, V3: a conflict is merged into the workspace inside the sandbox too, drivers, hooks and all.
#[test]
fn a_conflict_is_prepared_inside_the_sandbox() {
    let team = team(&format!(
        r#"
        if [ -e "$G/second" ]; then ls "$G/traps"; echo resolved > src/a.txt; exit 0; fi
        touch "$G/second"
        barrier ready
        {CONFIGURATION}
        rm -f src/.gitattributes
        echo mine > src/a.txt
        "#
    ));
    let task = team.start_task("Conflict");
    let up = team.up();
    team.commit_conflicting_change();
    team.until_task(&task, "done");
    assert_eq!(team.session(1)["verdict"], "rejected");
    assert!(team.log(2).lines().any(|line| line == "ran-merge"), "it did run, where it belongs: {}", team.log(2));
    assert_eq!(team.merged("src/a.txt").as_deref(), Some("resolved\n"));
    no_canary(&team);
    up.stop();
}

/// R1, FACTS: objects of another repository are not imported, whatever alternates say.
#[test]
fn alternates_import_nothing() {
    let team = team(
        r#"
        echo "$ROOT/private/.git/objects" >> "$G/objects/info/alternates"
        secret=$(cat src/.commit); rm src/.commit
        git cat-file -p "$secret" && echo SEEN
        echo "$secret" > "$G/refs/heads/$(git branch --show-current)"
        "#,
    );
    let commit = private_repository(&team);
    team.world.write("src/.commit", &commit);
    team.commit("a hint");
    let task = team.start_task("Import");
    let mut up = team.up();
    rejected(&team, &task);
    assert!(!team.log(1).contains("SEEN"), "{}", team.log(1));
    assert!(!team.git_quietly(&["cat-file", "-e", &commit]).status.success(), "a foreign commit was imported");
    assert!(up.is_running());
    up.stop();
}

/// R1: a history of its own is not merged, and does not hold up the queue.
#[test]
fn an_unrelated_history_is_rejected() {
    let team = team(
        "git checkout -q --orphan other; git rm -rqf --cached .; echo x > src/x; git add src/x; git commit -qm orphan; git branch -f task-1-stray; git symbolic-ref HEAD refs/heads/other",
    );
    let task = team.start_task("Stray");
    let mut up = team.up();
    let detail = rejected(&team, &task);
    assert!(detail.contains("no history in common"), "{detail}");
    assert_eq!(team.merged("src/x"), None);
    assert!(up.is_running());
    up.stop();
}

/// R1, V3: links and garbage where git keeps its own; each is told, and each leaves the user's repository alone.
#[test]
fn a_broken_git_directory_is_told_and_set_aside() {
    let broken: [(&str, &str); 7] = [
        ("head is a link", r#"rm "$G/HEAD"; ln -s "$MAIN/.git/HEAD" "$G/HEAD""#),
        ("head is garbage", r#"head -c 100000 /dev/urandom > "$G/HEAD""#),
        ("refs are a link", r#"rm -rf "$G/refs"; ln -s "$MAIN/.git/refs" "$G/refs""#),
        ("all is gone", r#"rm -rf "$G"/* "$G"/.??* 2>/dev/null; true"#),
        ("objects are a link", r#"rm -rf "$G/objects"; ln -s "$MAIN/.git/objects" "$G/objects""#),
        ("the branch is garbage", r#"yes garbage | head -c 1000000 > "$G/$(git symbolic-ref HEAD)""#),
        ("the configuration is garbage", r#"yes '[[[' | head -c 100000 > "$G/config""#),
    ];
    let team = configured("true", &json!({ "limits": { "max_attempts": 2 } }));
    for (number, (_, script)) in broken.iter().enumerate() {
        // The next attempt begins anew, and goes well.
        let once = format!(
            r#"echo work > src/b{number}.txt; if [ -e "$G/../../../tried-{number}" ]; then true; else {script}; fi"#
        );
        team.agent(&format!("a{number}"), &with_trap_words(&team, &once), &json!({}));
    }
    team.commit("agents");
    team.world.ok(&["agent", "apply"]);
    let before = user_files(&team);
    for (number, (title, _)) in broken.iter().enumerate() {
        let task = team.world.ok(&["task", "add", title, "--assign", &format!("a{number}"), "--quiet"]);
        team.world.ok(&["task", "start", &task]);
    }
    let mut up = team.up();
    for (number, (title, _)) in broken.iter().enumerate() {
        let task = format!("tsk_{}", number + 1);
        let over = |status: &Value| status == "failed" || status == "done";
        team.until_board(title, |board| over(&task_json(board, &task)?["status"]).then_some(()));
    }
    let sessions = team.world.json(&["session", "list"]);
    for session in sessions.as_array().unwrap() {
        let (verdict, title) = (session["verdict"].as_str().unwrap(), &session["task_id"]);
        assert!(["rejected", "failed", "done"].contains(&verdict), "{title}: {session:#}");
    }
    for (number, (title, _)) in broken.iter().enumerate() {
        let done = team.world.status(&format!("tsk_{}", number + 1)) == "done";
        assert_eq!(team.merged(&format!("src/b{number}.txt")).is_some(), done, "{title}");
    }
    no_canary(&team);
    let config = team.world.repository.join(".git/config");
    assert_eq!(before.get(&config), user_files(&team).get(&config));
    assert_eq!(team.world.git(&["fsck", "--no-progress"]), "");
    assert!(up.is_running());
    up.stop();
}

/// R1: the link to the git directory is the agent's to break where it may write; what it points to then
/// is read in the sandbox, or not at all.
#[test]
fn a_replaced_link_to_git_leads_nowhere() {
    let team = team("true");
    let everything = json!({ "scope": { "read": ["**"], "write": ["**"] } });
    let script = r#"
        echo work > src/b.txt
        case "$(cat "$G/times" 2>/dev/null)" in
            "") echo 1 > "$G/times"; echo "gitdir: $MAIN/.git" > .git ;;
            *) true ;;
        esac
    "#;
    team.redefine_solo(&with_trap_words(&team, script), &everything);
    let before = user_files(&team);
    let task = team.start_task("Lead elsewhere");
    let mut up = team.up();
    rejected(&team, &task);
    assert_unchanged(&before, &user_files(&team));
    assert!(up.is_running());
    up.stop();
}

/// R1: objects that git itself calls bad are refused, and the queue goes on with others.
#[test]
fn bad_objects_are_refused() {
    let bad: [(&str, &str); 3] = [
        ("a tree with .git in it", "tree=$(printf '100644 blob %s\\t.git\\n' $blob | git mktree)"),
        (
            "a tree that leads out",
            "tree=$(printf '100644 .. \\0' | tr -d ' ' >/dev/null; { printf '100644 ..\\0'; git rev-parse $blob | sed 's/../\\\\x&/g' | xargs -0 printf '%b'; } | head -c 30 | git hash-object -t tree --literally -w --stdin)",
        ),
        (
            "submodule options",
            "blob=$(printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = -u./payload\\n' | git hash-object -w --stdin); tree=$(printf '100644 blob %s\\t.gitmodules\\n' $blob | git mktree)",
        ),
    ];
    let team = team("true");
    for (number, (_, make)) in bad.iter().enumerate() {
        let script = format!(
            "blob=$(echo x | git hash-object -w --stdin); {make}; echo tree $tree; commit=$(git commit-tree $tree -p HEAD -m bad) && git update-ref --no-deref HEAD $commit; true"
        );
        team.agent(&format!("a{number}"), &with_trap_words(&team, &script), &json!({}));
    }
    team.agent("good", "echo good > src/good.txt", &json!({}));
    team.commit("agents");
    team.world.ok(&["agent", "apply"]);
    for (number, (title, _)) in bad.iter().enumerate() {
        let task = team.world.ok(&["task", "add", title, "--assign", &format!("a{number}"), "--quiet"]);
        team.world.ok(&["task", "start", &task]);
    }
    let good = team.world.ok(&["task", "add", "good", "--assign", "good", "--quiet"]);
    team.world.ok(&["task", "start", &good]);
    let head = team.world.git(&["rev-parse", "HEAD"]);
    let up = team.up();
    for number in 1..=bad.len() {
        team.until_task(&format!("tsk_{number}"), "failed");
    }
    team.until_task(&good, "done");
    assert_eq!(team.world.git(&["rev-list", "--count", &format!("{head}..main")]), "2", "the good work and its merge");
    assert_eq!(team.world.git(&["fsck", "--no-progress", "--strict"]), "");
    up.stop();
}

/// R2, V2: a link is committed as a link, and leads the user nowhere new; checks see no more through it.
#[test]
fn a_committed_link_is_a_link() {
    let settings =
        json!({ "dod": { "checks": [{ "type": "no_leak", "command": "! cat src/out/id && ! cat src/key" }] } });
    let team = configured(
        r#"ln -s "$ROOT/.ssh" src/out; ln -s "$ROOT/.ssh/id" src/key; ln -s /dev/zero src/zero; mkfifo src/pipe; ln -s pipe src/through"#,
        &settings,
    );
    fs::create_dir(team.world.path().join(".ssh")).unwrap();
    fs::write(team.world.path().join(".ssh/id"), "private\n").unwrap();
    let task = team.start_task("Link");
    let up = team.up();
    team.until_task(&task, "done");
    assert_eq!(team.world.git(&["ls-tree", "main", "src/out"]).split(' ').next(), Some("120000"));
    assert_eq!(team.merged("src/zero").as_deref(), Some("/dev/zero"));
    assert_eq!(fs::read_to_string(team.world.path().join(".ssh/id")).unwrap(), "private\n");
    up.stop();
}

/// R1, R2: what is written for the next session is written into the workspace, though its own
/// directories were made links to the user's.
#[test]
fn links_in_the_git_directory_lead_no_writer_out() {
    let team = team(
        r#"
        if [ -e "$G/second" ]; then echo work > src/b.txt; exit 0; fi
        touch "$G/second"
        rm -rf "$G/info"; ln -s "$ROOT/user" "$G/info"
        "#,
    );
    fs::create_dir(team.world.path().join("user")).unwrap();
    let task = team.start_task("Lead out");
    let up = team.up();
    team.until_task(&task, "done");
    assert_eq!(snapshot(&team.world.path().join("user")).len(), 1, "it is empty as before");
    up.stop();
}

/// R1: a filter runs when leftovers are committed, and then has the hand-over in its hands. What it
/// puts there instead of commits is believed no more than the agent.
#[test]
fn a_forged_hand_over_is_not_believed() {
    const FORGER: &str = r#"
        cat > "$G/forge" <<'END'
#!/bin/sh
forge() {
    for p in /proc/[0-9]*; do tr '\0' ' ' < $p/cmdline | grep -q ' workspace-git ' && inside=${p#/proc/}; done
    while ! [ -e "$TMPDIR/commits.bundle.lock" ] && ! [ -e "$TMPDIR/commits.bundle" ]; do :; done
    kill -STOP $inside
    while ! [ -e "$TMPDIR/commits.bundle" ]; do :; done
    FORGERY
    kill -CONT $inside
}
if [ "$1" = forge ]; then forge; exit; fi
if mkdir "$TMPDIR/once"; then setsid "$0" forge > /dev/null 2>&1 < /dev/null & fi
exec cat
END
        chmod +x "$G/forge"
        git config filter.forge.clean "$G/forge"
        echo '* filter=forge' > "$G/info/attributes"
        echo work > src/NAME.txt
    "#;
    let forgeries: [(&str, &str); 4] = [
        ("link", r#"rm -f "$TMPDIR/commits.bundle"; echo "gitdir: ROOT/private/.git" > "$TMPDIR/commits.bundle""#),
        ("repository", r#"rm -f "$TMPDIR/commits.bundle"; ln -s "ROOT/private" "$TMPDIR/commits.bundle""#),
        ("pipe", r#"mkfifo "$TMPDIR/answer.json"; cat "$TMPDIR/answer.json" &"#),
        ("endless", r#"ln -s /dev/zero "$TMPDIR/answer.json""#),
    ];
    let team = configured("true", &json!({ "limits": { "max_attempts": 1 } }));
    let secret = private_repository(&team);
    for (name, forgery) in forgeries {
        let forgery = forgery.replace("ROOT", &team.world.path().to_string_lossy());
        let script = FORGER.replace("FORGERY", &forgery).replace("NAME", name);
        team.agent(name, &with_trap_words(&team, &script), &json!({}));
    }
    team.commit("agents");
    team.world.ok(&["agent", "apply"]);
    let tasks = forgeries.map(|(name, _)| {
        let task = team.world.ok(&["task", "add", name, "--assign", name, "--quiet"]);
        team.world.ok(&["task", "start", &task]);
        (name, task)
    });
    let mut up = team.up();
    for (name, task) in &tasks {
        // A forger who is too slow has handed over its work.
        let end = team.until_board(name, |board| {
            Some(task_json(board, task)?["status"].clone()).filter(|status| status != "in_progress")
        });
        assert_eq!(team.merged(&format!("src/{name}.txt")).is_some(), end == "done", "{name}: {end}");
    }
    assert!(up.is_running());
    assert!(!team.git_quietly(&["cat-file", "-e", &secret]).status.success(), "a foreign commit was imported");
    assert_eq!(team.world.git(&["fsck", "--no-progress", "--no-dangling"]), "");
    up.stop();
}

/// F115: a file's name is bytes. Files with names that are not UTF-8, new, changed and removed, are committed and merged.
#[test]
fn names_that_are_not_utf8_are_merged() {
    let script = r#"
        name=$(printf 'src/lat\351in')
        if [ -e "$name" ]; then rm "$name"; printf 'x' > "$(printf 'src/\377')"; else echo one > "$name"; fi"#;
    let team = Team::new(script);
    let listed = || team.world.git(&["ls-tree", "-r", "--name-only", "main", "--", "src"]);
    let up = team.up();
    let first = team.start_task("A name in Latin-1");
    team.until_task(&first, "done");
    assert!(listed().contains("lat\\351in"), "{}", listed());
    let second = team.start_task("Another one");
    team.until_task(&second, "done");
    assert!(!listed().contains("lat\\351in") && listed().contains("src/\\377"), "{}", listed());
    up.stop();
}
