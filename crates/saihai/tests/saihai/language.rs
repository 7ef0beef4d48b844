//! C5: what people see is English or Japanese; what programs see is the same in both.

use crate::world::{Output, World};

fn is_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

/// C5
#[test]
fn errors_are_said_in_the_language_that_was_chosen() {
    let world = World::new();
    world.task("one");
    for arguments in [
        &["task", "show", "99"][..],
        &["task", "add", ""],
        &["task", "retry", "1"],
        &["task", "list", "--project", "nothing"],
        &["session", "end", "99", "--exit-code", "0"],
        &["agent", "show", "nobody"],
    ] {
        let [english, japanese] = ["en", "ja"].map(|language| world.run(&[arguments, &["--lang", language]].concat()));
        assert_eq!(english.code, japanese.code);
        assert!(!is_japanese(&english.stderr), "{english:?}");
        for line in japanese.stderr.lines() {
            assert!(is_japanese(line), "{arguments:?}: {line}");
        }
    }
}

/// C5: outside of a project the locale decides.
#[test]
fn the_locale_decides_where_nothing_else_does() {
    let world = World::repository();
    let run = |variable: &str, value: &str| {
        Output::of(world.command(&["task", "list"]).env(variable, value).output().unwrap()).stderr
    };
    assert!(is_japanese(&run("LANG", "ja_JP.UTF-8")));
    assert!(is_japanese(&run("LC_ALL", "ja_JP.UTF-8")));
    assert!(!is_japanese(&run("LANG", "de_DE.UTF-8")));
}

/// C7: the person's locale decides the language of their terminal, whatever the project's is; `--lang` goes before both.
#[test]
fn the_locale_decides_before_the_project() {
    let world = World::repository();
    world.ok(&["init", "--lang", "ja"]);
    let run = |variables: &[(&str, &str)], arguments: &[&str]| {
        let arguments = [&["task", "list"], arguments].concat();
        let mut command = world.command(&arguments);
        let output = Output::of(command.envs(variables.iter().copied()).output().unwrap());
        is_japanese(&(output.stdout + &output.stderr))
    };
    assert!(!run(&[("LANG", "en_US.UTF-8")], &[]));
    assert!(!run(&[("LANG", "ja_JP.UTF-8"), ("LC_ALL", "en_GB.UTF-8")], &[]));
    assert!(run(&[("LANG", "en_US.UTF-8")], &["--lang", "ja"]));
    for says_nothing in ["C", "POSIX", "C.UTF-8", "", "de_DE.UTF-8", "jam_JM"] {
        assert!(run(&[("LANG", says_nothing)], &[]), "{says_nothing}");
    }
    assert!(run(&[("LANG", "en_US.UTF-8"), ("LC_ALL", "C")], &[]));
}

/// C5: `init` under a Japanese locale makes a Japanese project, which then speaks it everywhere.
#[test]
fn a_project_speaks_its_language() {
    let world = World::repository();
    let output = Output::of(world.command(&["init"]).env("LANG", "ja_JP.UTF-8").output().unwrap());
    assert!(output.code == 0 && is_japanese(&output.stdout), "{output:?}");
    assert!(world.read(".saihai/config.yaml").contains("language: ja"));
    assert!(is_japanese(&world.run(&["task", "show", "99"]).stderr));
    assert!(is_japanese(&world.ok(&["task", "list"])));
    assert!(!is_japanese(&world.run(&["task", "show", "99", "--lang", "en"]).stderr));
}

/// C5, C6: codes and field names do not depend on the language.
#[test]
fn codes_are_the_same_in_both_languages() {
    let world = World::new();
    let error = world.refused(5, &["task", "show", "99", "--lang", "ja"]);
    assert_eq!(error["code"], "not_found");
    assert!(is_japanese(error["message"].as_str().unwrap()));
    assert_eq!(world.json(&["task", "list", "--lang", "ja"]), world.json(&["task", "list", "--lang", "en"]));
}

/// C5: labels and sentences of a result, also where there is nothing to show.
#[test]
fn results_are_shown_in_the_language_that_was_chosen() {
    let world = World::new();
    let task = world.task("one");
    let session = world.ok(&["session", "start", &task, "--agent", "coder", "--quiet"]);
    for arguments in [
        &["task", "show", &task][..],
        &["task", "why", &task],
        &["session", "show", session.trim()],
        &["session", "log", session.trim()],
        &["agent", "show", "coder"],
        &["project", "show"],
        &["gc", "--dry-run"],
    ] {
        let [english, japanese] = ["en", "ja"].map(|language| world.run(&[arguments, &["--lang", language]].concat()));
        assert_eq!(english.code, japanese.code, "{arguments:?}");
        assert!(!is_japanese(&(english.stdout + &english.stderr)), "{arguments:?}");
        assert!(is_japanese(&(japanese.stdout + &japanese.stderr)), "{arguments:?}");
    }
}

/// Words that are the same in every language: states, kinds, names, and what git is told.
const WIRE_WORDS: &[&str] = &[
    "backlog",
    "todo",
    "in",
    "progress",
    "blocked",
    "done",
    "failed",
    "cancelled",
    "task",
    "low",
    "medium",
    "high",
    "worker",
    "manager",
    "developer",
    "hand",
    "running",
    "ended",
    "pending",
    "viewer",
    "bearer",
    "owner",
    "coder",
    "Coder",
    "lead",
    "shop",
    "main",
    "text",
];

/// A line in which nothing is Japanese and something is English.
fn is_english(line: &str) -> bool {
    let mut words = line.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    let english = |word: &str| word.chars().all(|c| c.is_ascii_alphabetic()) && word.len() > 1;
    let command = line.trim_start().starts_with("git ");
    !is_japanese(line) && !command && words.any(|word| english(word) && !WIRE_WORDS.contains(&word))
}

fn assert_japanese(arguments: &[&str], output: &Output) {
    let said = format!("{}{}", output.stdout, output.stderr);
    let english: Vec<_> = said.lines().filter(|line| is_english(line)).collect();
    assert!(english.is_empty(), "{arguments:?}: {english:#?}");
}

/// C5: in a Japanese terminal every command speaks Japanese, in its result and when it refuses.
#[test]
fn every_command_speaks_japanese() {
    let world = World::repository();
    let run = |arguments: &[&str]| {
        let output = Output::of(world.command(arguments).env("LANG", "ja_JP.UTF-8").output().unwrap());
        assert_japanese(arguments, &output);
        output
    };
    for outside in [&["task", "list"][..], &["login"], &["project", "list"], &["log", "verify"], &["doctor"]] {
        run(outside);
    }
    run(&["init"]);
    run(&["init", "--name", "other"]);
    world.git(&["add", "."]);
    world.git(&["commit", "--quiet", "--message=saihai"]);
    let title = "題名";
    for arguments in [
        &["agent", "list"][..],
        &["agent", "show", "coder"],
        &["agent", "apply"],
        &["agent", "trace", "coder"],
        &["agent", "passkey", "coder"],
        &["project", "show"],
        &["project", "pause"],
        &["project", "pause"],
        &["project", "resume"],
        &["project", "add", "nothing"],
        &["task", "list"],
        &["task", "tree"],
        &["task", "add", title, "--assign", "lead", "--start"],
        &["task", "add", title, "--assign", "coder"],
        &["task", "add", title],
        &["task", "add", "--file", "nothing"],
        &["task", "depend", "3", "--on", "1"],
        &["task", "assign", "3", "coder"],
        &["task", "assign", "3", "--nobody"],
        &["task", "comment", "1", title],
        &["task", "block", "1", "--reason", title],
        &["task", "unblock", "1"],
        &["task", "update", "2", "--status", "done"],
        &["task", "update", "2", "--priority", "high"],
        &["task", "list"],
        &["task", "tree"],
        &["session", "list"],
        &["session", "start", "2", "--agent", "coder"],
        &["session", "start", "2", "--agent", "coder"],
        &["agent", "list"],
        &["agent", "show", "coder"],
        &["session", "list"],
        &["session", "show", "1"],
        &["session", "log", "1"],
        &["session", "trace", "1"],
        &["session", "stop", "1"],
        &["task", "show", "2"],
        &["task", "why", "2"],
        &["task", "log", "2"],
        &["task", "diff", "2"],
        &["task", "open", "2"],
        &["task", "edit", "2"],
        &["session", "end", "1", "--exit-code", "0", "--error", "x"],
        &["session", "end", "1", "--exit-code", "1"],
        &["session", "show", "1"],
        &["task", "why", "2"],
        &["task", "retry", "2", "--later"],
        &["task", "cancel", "2", "--reason", title],
        &["worker", "command", "1"],
        &["message", "list"],
        &["message", "send", "lead", title],
        &["message", "list"],
        &["memory", "list"],
        &["memory", "add", title],
        &["memory", "add", title],
        &["memory", "show", "nothing"],
        &["memory", "preview"],
        &["chat", "nobody"],
        &["token", "list"],
        &["token", "create", "--role", "viewer"],
        &["token", "list"],
        &["token", "revoke", "nothing"],
        &["login"],
        &["log", "tail"],
        &["log", "verify"],
        &["log", "replay"],
        &["log", "replay", "--until", "999"],
        &["gc", "--dry-run"],
        &["doctor", "--skip-checks"],
    ] {
        run(arguments);
    }
    // What is wrong in a file is named as its reader names it, in English.
    world.write(".saihai/config.yaml", "language: [");
    let refused = Output::of(world.command(&["agent", "apply"]).env("LANG", "ja_JP.UTF-8").output().unwrap());
    let lines: Vec<_> = refused.stderr.lines().map(is_japanese).collect();
    assert_eq!(lines, [true, false, true], "{refused:?}");
}

/// C5: help, and what is wrong with arguments, before a project is known.
#[test]
fn help_and_usage_errors_are_said_in_japanese() {
    let world = World::bare();
    for arguments in [&["--help"][..], &["task", "--help"], &["help", "task", "add"], &["task", "retry", "-h"]] {
        let japanese = world.run(&[&["--lang", "ja"], arguments].concat());
        assert_eq!(japanese.code, 0, "{japanese:?}");
        for heading in ["使い方: saihai", "グローバルオプション:", "ヘルプを表示します"] {
            assert!(japanese.stdout.contains(heading), "{arguments:?}: {heading}");
        }
        for english in ["Usage", "Options:", "Commands:", "Arguments:", "Print ", "[default", "[possible", "[alias"] {
            assert!(!japanese.stdout.contains(english), "{arguments:?}: {english}");
        }
        assert!(!is_japanese(&world.ok(arguments)), "{arguments:?}");
    }
    for arguments in [
        &["task", "add"][..],
        &["task", "list", "--nothing"],
        &["tusk"],
        &["task", "add", "x", "--priority", "urgent"],
        &["task", "show", "nothing"],
        &["agent", "show", "x", "--format", "xml"],
        &["task", "assign", "1", "coder", "--nobody"],
        &["task", "list", "--label"],
    ] {
        let japanese = world.run(&[arguments, &["--lang=ja"]].concat());
        assert_eq!(japanese.code, 2, "{japanese:?}");
        assert!(japanese.stderr.lines().all(is_japanese), "{arguments:?}: {japanese:?}");
        let mut command = world.command(&[&["--json"], arguments].concat());
        let error = Output::of(command.env("LC_ALL", "ja_JP.UTF-8").output().unwrap()).error();
        assert_eq!(error["code"], "usage");
        assert!(is_japanese(error["message"].as_str().unwrap()), "{error}");
    }
}
