//! C3, F83: which exit code has which failure, and does its message name the next step?

use crate::world::World;

/// C3
#[test]
fn refused_is_one() {
    let world = World::new();
    world.ok(&["task", "add", "parent", "--assign", "lead"]);
    world.ok(&["task", "add", "child", "--parent", "1", "--assign", "coder"]);
    assert_eq!(world.refused(1, &["task", "start", "2"])["code"], "not_allowed");
    assert_eq!(world.refused(1, &["task", "add", " CHILD ", "--parent", "1"])["code"], "duplicate");
    assert_eq!(world.refused(1, &["task", "depend", "1", "--on", "2"])["code"], "cycle");
    for title in ["b", "c", "d", "e"] {
        world.ok(&["task", "add", title, "--parent", "1"]);
    }
    assert_eq!(world.refused(1, &["task", "add", "sixth", "--parent", "1"])["code"], "limit_reached");
}

/// C3: what the words mean is found wrong only after they were read.
#[test]
fn wrong_words_are_two() {
    let world = World::new();
    let long = "x".repeat(501);
    for arguments in [
        &["task", "add", ""][..],
        &["task", "add", "  "],
        &["task", "add", "two\nlines"],
        &["task", "add", "\x1b[31mred"],
        &["task", "add", &long],
        &["task", "add", "x", "--description", "\x1b[2J"],
        &["message", "send", "coder", ""],
        &["log", "replay", "--until", "999"],
        &["init", "--base-branch", "nowhere"],
        &["project", "add", "/nowhere"],
    ] {
        assert_eq!(world.refused(2, arguments)["code"], "invalid_argument", "{arguments:?}");
    }
    assert_eq!(world.json(&["task", "list", "--all"]), serde_json::json!([]));
}

/// C3: also in a directory that is gone, and for a home without a store, which is not made by asking.
#[test]
fn not_initialised_is_three() {
    let world = World::repository();
    for arguments in [&["task", "list"][..], &["task", "add", "x"], &["log", "tail"], &["agent", "apply"]] {
        let error = world.refused(3, arguments);
        assert_eq!(error["code"], "not_initialised", "{arguments:?}");
        assert!(error["hint"].as_str().unwrap().contains("saihai init"), "{error}");
    }
    assert!(!world.store().exists());
    assert_eq!(World::bare().refused(3, &["init"])["code"], "not_initialised");
}

/// C3
#[test]
fn bad_configuration_is_three() {
    let world = World::new();
    world.write(".saihai/config.yaml", "nme: shop\n");
    assert_eq!(world.refused(3, &["agent", "apply"])["code"], "bad_configuration");
    assert_eq!(world.refused(3, &["init"])["code"], "bad_configuration");
}

/// C3
#[test]
fn a_store_that_cannot_be_used_is_four() {
    let world = World::new();
    std::fs::write(world.store(), vec![b'x'; 8192]).unwrap();
    for arguments in [&["task", "list"][..], &["task", "add", "x"], &["token", "list"], &["log", "verify"], &["init"]] {
        assert_eq!(world.refused(4, arguments)["code"], "store", "{arguments:?}");
    }
    let world = World::repository();
    std::fs::write(world.home(), "a file in the place of the directory").unwrap();
    let error = world.refused(4, &["init"]);
    assert!(error["hint"].as_str().unwrap().contains("SAIHAI_HOME"), "{error}");
}

/// C3, F83: nothing that is not there is ever a success.
#[test]
fn not_found_is_five() {
    let world = World::new();
    world.task("one");
    for arguments in [
        &["task", "show", "99"][..],
        &["task", "tree", "99"],
        &["task", "why", "99"],
        &["task", "log", "99"],
        &["task", "list", "--parent", "99"],
        &["task", "list", "--assignee", "nobody"],
        &["task", "update", "99", "--title", "x"],
        &["task", "assign", "99", "coder"],
        &["task", "assign", "1", "nobody"],
        &["task", "start", "99"],
        &["task", "block", "99", "--reason", "x"],
        &["task", "unblock", "99"],
        &["task", "cancel", "99", "--reason", "x"],
        &["task", "retry", "99"],
        &["task", "depend", "1", "--on", "99"],
        &["task", "depend", "99", "--on", "1"],
        &["task", "add", "x", "--parent", "99"],
        &["task", "add", "x", "--depends", "99"],
        &["task", "add", "x", "--assign", "nobody"],
        &["session", "show", "99"],
        &["session", "end", "99", "--exit-code", "0"],
        &["session", "start", "99", "--agent", "coder"],
        &["session", "start", "1", "--agent", "nobody"],
        &["session", "list", "--task", "99"],
        &["agent", "show", "nobody"],
        &["agent", "passkey", "nobody"],
        &["message", "send", "nobody", "hello"],
        &["message", "send", "coder", "hello", "--task", "99"],
        &["message", "list", "--agent", "nobody"],
        &["memory", "show", "nothing"],
        &["memory", "show", "../config.yaml"],
        &["token", "revoke", "tok_nothing"],
        &["task", "list", "--project", "nothing"],
        &["task", "list", "--project", "/nowhere"],
    ] {
        let error = world.refused(5, arguments);
        assert_eq!(error["code"], "not_found", "{arguments:?}");
        assert!(error["hint"].as_str().unwrap().contains("`saihai "), "{arguments:?} names no next step: {error}");
    }
}

/// C3
#[test]
fn state_conflict_is_six() {
    let world = World::new();
    let task = world.task("one");
    let code = |arguments: &[&str]| world.refused(6, arguments)["code"].as_str().unwrap().to_owned();
    assert_eq!(code(&["task", "unblock", &task]), "state_conflict");
    assert_eq!(code(&["task", "retry", &task]), "state_conflict");
    assert_eq!(code(&["task", "update", &task, "--status", "done"]), "illegal_transition");
    world.ok(&["session", "start", &task, "--agent", "coder"]);
    assert_eq!(code(&["session", "start", &task, "--agent", "coder"]), "already_claimed");
    assert_eq!(code(&["task", "start", &task]), "state_conflict");
    assert_eq!(code(&["session", "end", "1", "--exit-code", "0", "--dod-result", "merged"]), "not_merged");
    world.ok(&["session", "end", "1", "--exit-code", "0"]);
    assert_eq!(code(&["session", "end", "1", "--exit-code", "0"]), "stale_session");
    world.ok(&["project", "pause"]);
    let other = world.task("two");
    assert_eq!(code(&["task", "start", &other]), "not_ready");
}

/// C3: for people an error is two lines on stderr, the second of them the next step.
#[test]
fn errors_for_people_name_the_next_step() {
    let world = World::new();
    let output = world.run(&["task", "show", "99"]);
    assert_eq!((output.code, output.stdout.as_str()), (5, ""));
    let lines: Vec<_> = output.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{output:?}");
    assert!(lines[0].starts_with("error: ") && lines[1].starts_with("hint: "), "{output:?}");
}

/// F27, F84: no hint proposes what destroys anything.
#[test]
fn no_hint_suggests_destruction() {
    let world = World::new();
    world.task("one");
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    for arguments in [
        &["task", "show", "99"][..],
        &["session", "end", "1", "--exit-code", "0", "--dod-result", "merged"],
        &["session", "start", "1", "--agent", "coder"],
        &["task", "retry", "1"],
        &["memory", "show", "nothing"],
        &["init", "--base-branch", "nowhere"],
    ] {
        let hint = world.run(&[arguments, &["--json"]].concat()).error()["hint"].as_str().unwrap().to_lowercase();
        for word in ["rm ", "delete", "reset", "remove the", "git clean", "drop"] {
            assert!(!hint.contains(word), "{arguments:?}: {hint}");
        }
    }
}
