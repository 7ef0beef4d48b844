//! E2, E3, S1: many processes at once, with no server between them.

use std::collections::BTreeSet;

use crate::world::{Output, World, column};

/// Starts them all, then waits for all.
fn together(world: &World, commands: &[Vec<String>]) -> Vec<Output> {
    let spawn = |arguments: &Vec<String>| world.spawn(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let children: Vec<_> = commands.iter().map(spawn).collect();
    children.into_iter().map(|child| Output::of(child.wait_with_output().unwrap())).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// F80: no `task add` fails because another was first, and every one gets an id of its own.
#[test]
fn forty_tasks_are_added_at_once() {
    let world = World::new();
    let commands: Vec<_> = (0..40).map(|n| words(&["task", "add", &format!("task {n}"), "--json"])).collect();
    let ids: BTreeSet<_> =
        together(&world, &commands).iter().map(|output| output.json()["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 40);
    assert_eq!(world.json(&["task", "list"]).as_array().unwrap().len(), 40);
    world.json(&["log", "verify"]);
}

/// F80: no `session start` on a task of its own fails.
#[test]
fn forty_sessions_are_started_at_once() {
    let world = World::new();
    for n in 1..=40 {
        world.task(&format!("task {n}"));
    }
    let start = |n: usize| words(&["session", "start", &n.to_string(), "--agent", "coder", "--json"]);
    let outputs = together(&world, &(1..=40).map(start).collect::<Vec<_>>());
    let ids: BTreeSet<_> = outputs.iter().map(|output| output.json()["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 40);
    assert_eq!(column(&world.json(&["session", "list", "--running"]), "status"), ["running"; 40]);
    let tasks = world.json(&["log", "replay"])["tasks"].clone();
    assert_eq!(column(&tasks, "status"), ["in_progress"; 40]);
    world.json(&["log", "verify"]);
}

/// S1, F85: eight claimers of one task have exactly one winner; the others are told who it is.
#[test]
fn one_of_eight_claimers_wins() {
    let world = World::new();
    for round in 1..=3 {
        world.task(&format!("round {round}"));
        let start = words(&["session", "start", &round.to_string(), "--agent", "coder", "--json"]);
        let outputs = together(&world, &vec![start; 8]);
        let (won, lost): (Vec<_>, Vec<_>) = outputs.iter().partition(|output| output.code == 0);
        assert_eq!((won.len(), lost.len()), (1, 7), "{outputs:?}");
        let winner = won[0].json()["id"].as_str().unwrap().to_owned();
        for output in lost {
            assert_eq!(output.code, 6, "{output:?}");
            let error = output.error();
            assert_eq!(error["code"], "already_claimed");
            assert!(error["message"].as_str().unwrap().contains(&winner), "{error}");
        }
    }
}

/// F81: a first `init` in two shells at once makes one project.
#[test]
fn one_repository_is_one_project() {
    let world = World::repository();
    // The files are there already: this is about the registration.
    world.ok(&["init", "--home", world.path().join("other").to_str().unwrap()]);
    let outputs = together(&world, &vec![words(&["init", "--json"]); 6]);
    assert!(outputs.iter().all(|output| output.json()["id"] == "shop"), "{outputs:?}");
    assert_eq!(world.ok(&["project", "list", "--quiet"]), "shop");
    assert_eq!(world.ok(&["agent", "list", "--quiet"]), "coder\nlead");
    world.json(&["log", "verify"]);
}

/// F80: different commands on one task: each is judged on the state it meets, none is lost.
#[test]
fn labels_and_messages_do_not_disturb_each_other() {
    let world = World::new();
    world.task("one");
    let mut commands = Vec::new();
    for n in 0..10 {
        commands.push(words(&["message", "send", "coder", &format!("message {n}"), "--json"]));
        commands.push(words(&["task", "update", "1", "--title", &format!("title {n}"), "--json"]));
        commands.push(words(&["token", "create", "--role", "viewer", "--json"]));
    }
    together(&world, &commands).iter().for_each(|output| drop(output.json()));
    assert_eq!(world.json(&["message", "list"]).as_array().unwrap().len(), 10);
    assert_eq!(world.json(&["token", "list"]).as_array().unwrap().len(), 10);
    world.json(&["log", "verify"]);
}
