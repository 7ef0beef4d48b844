//! R5, C2: what the doctor finds.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::world::{World, one_document};

fn findings(world: &World, exit: i32) -> Value {
    let output = world.run(&["doctor", "--json"]);
    assert_eq!(output.code, exit, "{output:?}");
    one_document(&output.stdout)
}

fn state<'a>(findings: &'a Value, what: &str) -> &'a str {
    let found = findings.as_array().unwrap().iter().find(|finding| finding["what"] == what);
    found.unwrap_or_else(|| panic!("no `{what}` in {findings}"))["state"].as_str().unwrap()
}

/// C2: outside of a project there is something to do, but nothing is broken, and nothing is made.
#[test]
fn outside_of_a_project_it_says_what_to_do() {
    let world = World::bare();
    let found = findings(&world, 0);
    assert_eq!([state(&found, "git"), state(&found, "project")], ["ok", "warning"]);
    assert!(!world.home().exists(), "it changes nothing");
}

/// R5: the clients that the roster names are found and started.
#[test]
fn clients_are_found_and_started() {
    let world = World::new();
    let bin = world.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let run = |script: Option<&str>| {
        if let Some(script) = script {
            std::fs::write(bin.join("claude"), script).unwrap();
            std::fs::set_permissions(bin.join("claude"), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let output = world.command(&["doctor", "--json"]).env("PATH", &path).output().unwrap();
        one_document(&String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(state(&run(None), "claude"), "warning");
    let found = run(Some("#!/bin/sh\necho 2.1.0\n"));
    assert_eq!(state(&found, "claude"), "ok");
    assert!(found.to_string().contains("2.1.0"), "{found}");
    assert_eq!(state(&run(Some("#!/bin/sh\nexit 3\n")), "claude"), "problem");
}

/// R8: what the files say and the board does not is told.
#[test]
fn definitions_that_are_not_applied_are_told() {
    let world = World::new();
    world.write(".saihai/agents/tester.yaml", "id: tester\nhierarchy_type: worker\nparent: lead\n");
    let found = findings(&world, 0);
    assert_eq!(state(&found, "definitions"), "warning");
    assert!(found.to_string().contains("+ tester") && found.to_string().contains("saihai agent apply"), "{found}");
    world.ok(&["agent", "apply"]);
    assert_eq!(state(&findings(&world, 0), "definitions"), "ok");
}

/// C3: a problem is an exit code of one, and the findings are printed all the same.
#[test]
fn a_missing_target_branch_is_a_problem() {
    let world = World::new();
    world.git(&["checkout", "--quiet", "-b", "other"]);
    world.git(&["branch", "--quiet", "-D", "main"]);
    assert_eq!(state(&findings(&world, 1), "target"), "problem");
}

/// R14: setup and checks are run in the sandbox, on the target branch in a copy of its own; what they name and cannot see
/// is told, with where to allow it. Nothing is left behind.
#[test]
fn setup_and_checks_are_tried_in_the_sandbox() {
    let world = World::new();
    let notes = world.path().join("notes.txt");
    std::fs::write(&notes, "notes\n").unwrap();
    let config = format!(
        "dod:\n  setup: echo built > built\n  checks:\n  - {{ type: test, command: test -e built }}\n  \
         - {{ type: broken, command: exit 3 }}\n  - {{ type: notes, command: cat {} }}\n",
        notes.display()
    );
    world.write(".saihai/config.yaml", &config);
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message", "checks"]);
    world.ok(&["agent", "apply"]);
    let found = findings(&world, 1);
    let states = ["check setup", "check test", "check broken", "check notes"].map(|what| state(&found, what));
    assert_eq!(states, ["ok", "ok", "warning", "problem"], "{found:#}");
    let notes_finding = found.as_array().unwrap().last().unwrap();
    let hint = notes_finding["hint"].as_str().unwrap();
    assert!(hint.contains(notes.to_str().unwrap()) && hint.contains("sandbox.read"), "{hint}");
    assert!(!world.repository.join("built").exists());

    world.write(
        ".saihai/config.yaml",
        config.replace("dod:", &format!("sandbox: {{ read: [{}] }}\ndod:", notes.display())),
    );
    world.ok(&["agent", "apply"]);
    assert_eq!(state(&findings(&world, 0), "check notes"), "ok");
    let skipped = world.json(&["doctor", "--skip-checks"]);
    assert!(!skipped.to_string().contains("check setup"), "{skipped}");
}
