//! C3, C4: pipes that close, texts that attack the terminal, arguments that are no text.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;

use crate::world::{Output, World};

/// C3: whoever closes the pipe has read enough: no error, no panic.
#[test]
fn a_closed_pipe_is_no_error() {
    let world = World::new();
    world.task("one");
    for arguments in [&["completions", "bash"][..], &["task", "list"], &["log", "tail", "--json"], &["--help"]] {
        let mut child = world.spawn(arguments);
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        if arguments[0] == "completions" {
            stdout.read_line(&mut String::new()).unwrap();
        }
        drop(stdout);
        let output = Output::of(child.wait_with_output().unwrap());
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{arguments:?}: {output:?}");
    }
}

/// C3: a result that cannot be written is a failure with an exit code, never a panic.
#[test]
fn a_full_output_is_a_failure() {
    let world = World::new();
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for arguments in [&["task", "list", "--json"][..], &["completions", "bash", "--json"], &["doctor", "--json"]] {
        let output = Output::of(world.command(arguments).stdout(full()).output().unwrap());
        assert_eq!((output.code, output.error()["code"].as_str()), (1, Some("failed")), "{arguments:?}");
    }
    let output = world.command(&["task", "show", "99"]).stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "the exit code tells where no message can");
}

/// C4: no colour where nobody sees it, and none with `NO_COLOR`.
#[test]
fn there_is_no_colour_in_a_pipe() {
    let world = World::new();
    for arguments in [&["task", "show", "99"][..], &["task", "lst"], &["--help"], &["agent", "list"]] {
        for no_color in ["", "1"] {
            let output = Output::of(world.command(arguments).env("NO_COLOR", no_color).output().unwrap());
            assert!(!output.stdout.contains('\x1b') && !output.stderr.contains('\x1b'), "{output:?}");
        }
    }
}

/// C3: arguments that are no text are a usage error.
#[test]
fn arguments_that_are_not_utf_8_are_a_usage_error() {
    let world = World::new();
    let mut command = world.command(&["task", "add", "--json"]);
    let output = Output::of(command.arg(OsStr::from_bytes(b"bad\xff\xfe")).output().unwrap());
    assert_eq!((output.code, output.error()["code"].as_str()), (2, Some("usage")));
}

/// What comes from files, arguments and agents moves no cursor, and does not turn the text round.
#[test]
fn hostile_text_does_not_reach_the_terminal() {
    let world = World::new();
    world.ok(&["task", "add", "turned \u{202e}dnuor", "--assign", "coder", "--label", "\u{2066}x"]);
    let refused = world.run(&["token", "create", "--role", "viewer", "--name", "\x1b[31mred\u{7}"]);
    assert_eq!(refused.code, 2, "a name has no control characters");
    world.ok(&["token", "create", "--role", "viewer", "--name", "turned \u{202e}eman"]);
    world.write(".saihai/memory/evil.md", "---\ntitle: Evil\n---\n\x1b]0;owned\x07body\n");
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    world.ok(&[
        "session",
        "end",
        "1",
        "--exit-code",
        "1",
        "--error",
        r#""\u001b[2J""#,
        "--artifacts",
        r#"["\u001b[1m"]"#,
    ]);
    for arguments in [
        &["task", "list"][..],
        &["task", "show", "1"],
        &["task", "tree"],
        &["task", "why", "1"],
        &["task", "log", "1"],
        &["session", "show", "1"],
        &["token", "list"],
        &["memory", "list"],
        &["memory", "show", "evil"],
        &["log", "tail"],
        &["log", "replay"],
        &["task", "list", "--project", "\x1b[31m"],
        &["memory", "show", "\x1b[31m"],
    ] {
        let output = world.run(arguments);
        for text in [&output.stdout, &output.stderr] {
            let hidden = |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{202e}' | '\u{2066}'));
            assert!(!text.contains(hidden), "{arguments:?}: {text:?}");
        }
    }
    assert_eq!(world.json(&["task", "show", "1"])["title"], "turned \u{202e}dnuor", "programs get it as it is");
}

/// C2: every shell has a script, which asks the program itself.
#[test]
fn every_shell_has_a_script_for_completions() {
    let world = World::bare();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.ok(&["completions", shell]);
        assert!(script.contains("COMPLETE") && script.contains("saihai"), "{shell}: {script}");
        let json = world.json(&["completions", shell]);
        let said = (json["shell"].as_str(), json["script"].as_str().map(str::trim_end));
        assert_eq!(said, (Some(shell), Some(script.as_str())));
    }
    assert!(!world.home().exists());
}

/// C7: a shell is proposed commands, options, and the ids and names that there are; outside of a project nothing, and no
/// error.
#[test]
fn ids_and_names_are_completed() {
    let world = World::new();
    let task = world.task("Fix the login");
    world.ok(&["session", "start", &task, "--agent", "coder"]);
    let proposed = |words: &[&str]| {
        let mut command = world.command(&[&["--", "saihai"], words].concat());
        let index = words.len().to_string();
        command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_COMPLETE_COMP_TYPE", "9");
        command.env("_CLAP_IFS", "\n").env("_CLAP_COMPLETE_SPACE", "true");
        let output = Output::of(command.output().unwrap());
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{words:?}");
        output.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(proposed(&["task", "wh"]), ["why"]);
    for words in [&["task", "show", "t"][..], &["task", "start", "1", "t"], &["task", "list", "--parent", "t"]] {
        assert_eq!(proposed(words), ["tsk_1"], "{words:?}");
    }
    for words in [&["agent", "show", "co"][..], &["task", "assign", "tsk_1", "co"], &["chat", "co"]] {
        assert_eq!(proposed(words), ["coder"], "{words:?}");
    }
    assert_eq!(proposed(&["session", "log", "s"]), ["ses_1"]);
    assert_eq!(proposed(&["project", "pause", ""])[0], "shop");
    let elsewhere = World::bare();
    let mut outside = elsewhere.command(&["--", "saihai", "task", "show", "t"]);
    let output = outside.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "3").output().unwrap();
    assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(0), Vec::new(), Vec::new()));
}

/// D19: a narrow table leaves columns out, and breaks no id; a terminal without a width has 80 columns.
#[test]
fn a_narrow_terminal_shows_fewer_columns() {
    let world = World::new();
    let title = "Say which of the many columns are worth their room on a terminal that has little";
    world.task(title);
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    let heads = |columns, list: &[&str]| {
        let text = world.on_terminal(columns, list);
        let limit = if columns == 0 { 80 } else { usize::from(columns) };
        assert!(text.lines().all(|line| line.len() <= limit), "{columns}: {text}");
        let head: Vec<_> = text.lines().next().unwrap().split_whitespace().map(str::to_owned).collect();
        (head.join(" "), text)
    };
    let (head, text) = heads(80, &["task", "list"]);
    assert_eq!(head, "ID STATUS PRIORITY TYPE ASSIGNEE TITLE");
    assert_eq!(heads(0, &["task", "list"]), (head, text.clone()));
    assert!(text.contains("Say which of the many"), "{text}");
    assert_eq!(heads(60, &["task", "list"]).0, "ID STATUS ASSIGNEE TITLE");
    assert_eq!(heads(40, &["task", "list"]).0, "ID STATUS TITLE");
    let (head, text) = heads(60, &["session", "list"]);
    assert_eq!(head, "ID TASK AGENT STATUS ENDED VERDICT", "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(world.ok(&["session", "list"]).contains("LAST CALL"), "a pipe gets everything");
}

/// C7: people read the time of their zone to the second; programs get UTC.
#[test]
fn people_read_their_local_time() {
    let world = World::new();
    world.task("one");
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    world.ok(&["session", "end", "1", "--exit-code", "0"]);
    world.ok(&["task", "comment", "1", "As I said."]);
    let started = world.json(&["session", "show", "1"])["started_at"].as_str().unwrap().to_owned();
    assert!(started.ends_with('Z'), "{started}");
    let at: jiff::Timestamp = started.parse().unwrap();
    let tokyo = at.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(9)));
    let local = tokyo.strftime("%Y-%m-%d %H:%M:%S").to_string();
    for arguments in [
        &["session", "show", "1"][..],
        &["session", "list"],
        &["task", "show", "1"],
        &["task", "log", "1"],
        &["log", "tail"],
    ] {
        let output = Output::of(world.command(arguments).env("TZ", "JST-9").output().unwrap());
        assert!(
            !output.stdout.contains("Z ") && !output.stdout.contains("Z,") && !output.stdout.contains("Z\n"),
            "{output:?}"
        );
        let hour = local.split(':').next().unwrap();
        assert!(output.stdout.contains(hour), "{local}: {output:?}");
    }
}
