//! C2, C6: which projects there are, and which one is meant.

use serde_json::json;

use crate::world::{World, keys};

/// C6: by id, by path, by a path below, and by the current directory.
#[test]
fn a_project_is_named_by_id_or_path() {
    let world = World::new();
    world.task("here");
    let below = world.repository.join(".saihai/agents");
    for project in ["shop", world.repository.to_str().unwrap(), ".", below.to_str().unwrap()] {
        assert_eq!(world.ok(&["task", "list", "--quiet", "--project", project]), "tsk_1", "{project}");
    }
    let mut elsewhere = world.command(&["task", "list", "--quiet", "--project", "shop"]);
    let output = elsewhere.current_dir("/").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "tsk_1\n");
}

/// C6: each project has tasks of its own, counted from one.
#[test]
fn projects_do_not_mix() {
    let world = World::new();
    world.task("in the shop");
    let other = world.path().join("api");
    std::fs::create_dir(&other).unwrap();
    world.git(&["init", "--quiet", other.to_str().unwrap()]);
    assert_eq!(world.ok(&["project", "add", other.to_str().unwrap(), "--name", "api", "--quiet"]), "api");
    assert_eq!(world.ok(&["task", "add", "in the api", "--project", "api", "--quiet"]), "tsk_1");
    assert_eq!(world.json(&["task", "show", "1"])["title"], "in the shop");
    assert_eq!(world.json(&["task", "show", "1", "--project", "api"])["title"], "in the api");
}

/// C2, F36
#[test]
fn pausing_holds_task_work_until_it_is_resumed() {
    let world = World::new();
    world.task("one");
    assert_eq!(world.json(&["project", "pause"]), json!({"id": "shop", "paused": true, "changed": true}));
    assert_eq!(world.json(&["project", "pause"])["changed"], false);
    let error = world.refused(6, &["session", "start", "1", "--agent", "coder"]);
    assert_eq!(error["code"], "not_ready");
    assert!(world.ok(&["task", "why", "1"]).contains("saihai project resume"));
    assert_eq!(world.json(&["project", "resume"]), json!({"id": "shop", "paused": false, "changed": true}));
    assert_eq!(world.json(&["project", "resume"])["changed"], false);
    world.ok(&["session", "start", "1", "--agent", "coder"]);
}

/// C2
#[test]
fn showing_a_project_counts_its_tasks() {
    let world = World::new();
    world.task("one");
    world.ok(&["task", "add", "two"]);
    let shown = world.json(&["project", "show"]);
    for field in ["id", "name", "path", "paused", "target_branch", "completion", "limits", "tasks", "running_sessions"]
    {
        assert!(keys(&shown).contains(&field), "{field}: {shown}");
    }
    assert_eq!([&shown["tasks"]["todo"], &shown["tasks"]["backlog"], &shown["tasks"]["done"]], [1, 1, 0]);
}

/// A repository that was deleted: its board can still be read, and the doctor says what is wrong.
#[test]
fn a_deleted_repository_leaves_its_board() {
    let world = World::new();
    world.task("one");
    std::fs::remove_dir_all(&world.repository).unwrap();
    let run = |arguments: &[&str]| {
        crate::world::Output::of(world.command(arguments).current_dir(world.path()).output().unwrap())
    };
    assert_eq!(run(&["task", "list", "--quiet", "--project", "shop"]).stdout, "tsk_1\n");
    let by_path = run(&["task", "list", "--quiet", "--project", world.repository.to_str().unwrap()]);
    assert_eq!(by_path.stdout, "tsk_1\n", "{by_path:?}");
    let doctor = run(&["doctor", "--project", "shop"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("is not there any more"), "{doctor:?}");
    assert_eq!(run(&["agent", "apply", "--project", "shop", "--json"]).code, 3);
}
