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
