//! C2, C3: every command, with `--json`, with `--quiet`, and with `--help`.

use crate::world::{World, one_document};

/// Every command, as it goes well in [`prepared`] on its own.
const COMMANDS: &[&[&str]] = &[
    &["init"],
    &["project", "list"],
    &["project", "add", "."],
    &["project", "show"],
    &["project", "pause"],
    &["project", "resume"],
    &["agent", "list"],
    &["agent", "show", "coder"],
    &["agent", "apply"],
    &["agent", "passkey", "coder"],
    &["task", "add", "Another"],
    &["task", "list"],
    &["task", "show", "1"],
    &["task", "tree"],
    &["task", "update", "1", "--title", "Changed"],
    &["task", "assign", "1", "coder"],
    &["task", "start", "1"],
    &["task", "block", "1", "--reason", "wait"],
    &["task", "unblock", "2"],
    &["task", "cancel", "1", "--reason", "no"],
    &["task", "retry", "3"],
    &["task", "depend", "1", "--on", "2"],
    &["task", "why", "1"],
    &["task", "log", "1"],
    &["session", "list"],
    &["session", "show", "1"],
    &["session", "start", "1", "--agent", "coder"],
    &["session", "end", "2", "--exit-code", "0"],
    &["memory", "list"],
    &["memory", "add", "A decision"],
    &["memory", "show", "project"],
    &["memory", "preview"],
    &["memory", "proposals"],
    &["message", "send", "coder", "hello"],
    &["message", "list"],
    &["token", "create", "--role", "viewer"],
    &["token", "list"],
    &["token", "revoke", TOKEN],
    &["log", "tail"],
    &["log", "verify"],
    &["log", "replay", "--until", "3"],
    &["doctor"],
    &["completions", "bash"],
];

/// Stands for the id of the one token.
const TOKEN: &str = "TOKEN";

/// Task 1 is todo, 2 blocked, 3 failed in session 1, 4 in progress in session 2.
fn prepared() -> World {
    let world = World::new();
    for title in ["one", "two", "three", "four"] {
        world.task(title);
    }
    world.ok(&["task", "block", "2", "--reason", "wait"]);
    world.ok(&["session", "start", "3", "--agent", "coder"]);
    world.ok(&["session", "end", "1", "--exit-code", "1"]);
    world.ok(&["session", "start", "4", "--agent", "coder"]);
    world.ok(&["token", "create", "--role", "viewer"]);
    world
}

fn arguments<'a>(world: &World, command: &[&'a str], token: &'a mut String) -> Vec<&'a str> {
    *token = world.ok(&["token", "list", "--quiet"]);
    let token: &'a str = token;
    command.iter().map(|word| if *word == TOKEN { token } else { word }).collect()
}

/// C2, C3, F44: one document on stdout and nothing else, whatever the command.
#[test]
fn every_command_prints_one_json_document() {
    for command in COMMANDS {
        let (world, mut token) = (prepared(), String::new());
        let arguments = arguments(&world, command, &mut token);
        let output = world.run(&[&arguments[..], &["--json"]].concat());
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{command:?}: {output:?}");
        let document = one_document(&output.stdout);
        assert!(document.is_array() || document.is_object(), "{command:?}: {document}");
    }
}

/// C3: `--quiet` prints ids only: one word to a line. (Completions have no ids: the script itself.)
#[test]
fn every_command_prints_only_ids_when_quiet() {
    for command in COMMANDS.iter().filter(|command| command[0] != "completions") {
        let (world, mut token) = (prepared(), String::new());
        let arguments = arguments(&world, command, &mut token);
        let output = world.run(&[&arguments[..], &["--quiet"]].concat());
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{command:?}: {output:?}");
        for line in output.stdout.lines() {
            assert!(!line.is_empty() && !line.contains(char::is_whitespace), "{command:?}: {output:?}");
        }
    }
}

/// C3: what people see is text that ends in one line break, and never JSON.
#[test]
fn every_command_has_words_for_people() {
    for command in COMMANDS {
        let (world, mut token) = (prepared(), String::new());
        let arguments = arguments(&world, command, &mut token);
        let output = world.run(&arguments);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{command:?}: {output:?}");
        assert!(output.stdout.ends_with('\n') && !output.stdout.ends_with("\n\n"), "{command:?}: {output:?}");
        assert!(serde_json::from_str::<serde_json::Value>(&output.stdout).is_err(), "{command:?}: {output:?}");
    }
}

/// C2: `--help` of every command says what it does, how it is called, and what each word means.
#[test]
fn every_command_explains_itself() {
    let world = World::bare();
    for command in COMMANDS {
        let path: Vec<_> = match command[0] {
            "init" | "doctor" | "completions" => vec![command[0]],
            _ => command[..2].to_vec(),
        };
        let help = world.ok(&[&path[..], &["--help"]].concat());
        assert!(help.contains(&format!("Usage: saihai {}", path.join(" "))), "{help}");
        assert!(help.lines().next().is_some_and(|line| line.len() > 8), "{help}");
        for (line, next) in help.lines().zip(help.lines().skip(1)) {
            let argument = line.trim_start();
            let bare =
                argument.starts_with(['-', '<', '[']) && argument.ends_with(['>', ']']) && !argument.contains("  ");
            assert!(!bare || next.starts_with("          "), "`{argument}` has no explanation:\n{help}");
        }
    }
}

/// C3: usage errors are JSON too, wherever `--json` stands.
#[test]
fn usage_errors_are_one_line_of_json() {
    let world = World::new();
    for arguments in [
        &["frobnicate"][..],
        &["task"],
        &[],
        &["task", "lst"],
        &["task", "add"],
        &["task", "add", "x", "--type", "chore"],
        &["task", "add", "x", "--priority", "urgent"],
        &["task", "list", "--status", "doing"],
        &["task", "show", "seven"],
        &["task", "show", "-1"],
        &["task", "update", "1"],
        &["task", "depend", "1"],
        &["task", "assign", "1"],
        &["task", "block", "1"],
        &["task", "cancel", "1"],
        &["session", "end", "1"],
        &["session", "end", "1", "--exit-code", "many"],
        &["session", "end", "1", "--exit-code", "0", "--dod-result", "perhaps"],
        &["token", "create", "--role", "king"],
        &["log", "tail", "--lines", "all"],
        &["log", "replay", "--until", "-3"],
        &["completions", "tcl"],
        &["task", "list", "--lang", "fr"],
        &["task", "list", "--quiet"],
    ] {
        for arguments in [[arguments, &["--json"]].concat(), [&["--json"], arguments].concat()] {
            let output = world.run(&arguments);
            assert_eq!(output.code, 2, "{arguments:?}: {output:?}");
            let error = output.error();
            assert_eq!(error["code"], "usage", "{arguments:?}");
            let message = error["message"].as_str().unwrap();
            assert!(!message.starts_with("error:") && !message.contains("For more information"), "{message}");
        }
    }
}

/// C3: help and version are answers, not errors.
#[test]
fn help_and_version_go_to_stdout() {
    let world = World::bare();
    for arguments in [&["--help"][..], &["--version"], &["task", "--help"], &["help", "task", "add"]] {
        let output = world.run(arguments);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output:?}");
        assert!(!output.stdout.is_empty());
    }
    let output = world.run(&[]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""), "without a word it shows the help as an error");
    assert!(output.stderr.contains("Usage:"), "{output:?}");
}
