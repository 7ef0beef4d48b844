//! C2, C6: which projects there are, and which one is meant.

use serde_json::json;

use crate::world::{Output, World, keys};

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
    let text = world.ok(&["project", "show"]);
    assert!(text.contains("5 open subtasks of a task") && text.contains("3 attempts"), "D26: {text}");
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

/// C7, D12: a repository that was moved is recognised, and its board comes along. A copy is not taken for it.
#[test]
fn a_moved_repository_is_recognised() {
    let world = World::new();
    let task = world.task("stays");
    let moved = world.path().join("elsewhere");
    std::fs::rename(&world.repository, &moved).unwrap();
    let there = |arguments: &[&str]| Output::of(world.command(arguments).current_dir(&moved).output().unwrap());
    for arguments in [&["task", "list"][..], &["init"]] {
        let refused = there(&[arguments, &["--json"]].concat());
        let error = refused.error();
        assert_eq!((refused.code, error["code"].as_str()), (3, Some("not_initialised")), "{error}");
        assert!(error["message"].as_str().unwrap().contains("the project `shop`"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("saihai project move shop ."), "{error}");
    }
    assert_eq!(there(&["project", "move", "shop", "--quiet"]).stdout, "shop\n");
    assert_eq!(there(&["task", "list", "--quiet"]).stdout.trim(), task);
    assert_eq!(there(&["project", "move", "shop"]).code, 0, "twice is once");

    // The copy has the mark too, but the project's repository is still there.
    let copy = world.path().join("copy");
    assert!(std::process::Command::new("cp").args(["-r"]).args([&moved, &copy]).status().unwrap().success());
    let output = world.command(&["init", "--name", "copy", "--quiet"]).current_dir(&copy).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "copy\n");
    let taken = Output::of(world.command(&["project", "move", "shop", "--json"]).current_dir(&copy).output().unwrap());
    assert_eq!((taken.code, taken.error()["code"].as_str()), (6, Some("state_conflict")));
}

/// C7: a project that is removed is no longer listed, keeps its board and comes back with it.
#[test]
fn a_removed_project_comes_back_with_its_board() {
    let world = World::new();
    let task = world.task("stays");
    world.ok(&["session", "start", &task, "--agent", "coder"]);
    assert_eq!(world.refused(6, &["project", "remove", "shop"])["code"], "state_conflict");
    world.ok(&["session", "end", "1", "--exit-code", "1"]);
    assert_eq!(world.json(&["project", "remove", "shop"]), json!({"id": "shop", "removed": true}));
    assert_eq!(world.json(&["project", "list"]), json!([]));
    assert_eq!(world.refused(3, &["task", "list"])["code"], "not_initialised");
    let again = world.refused(3, &["init"]);
    assert!(again["hint"].as_str().unwrap().contains("saihai project move shop ."), "{again}");
    world.ok(&["project", "move", "shop", "."]);
    assert_eq!(world.ok(&["task", "list", "--all", "--quiet"]), task);
    assert_eq!(world.refused(5, &["project", "remove", "nothing"])["code"], "not_found");
    world.ok(&["log", "verify"]);
}

/// C7: another name for people; nothing else in the file changes, and a name that cannot be is refused.
#[test]
fn a_project_is_renamed() {
    let world = World::new();
    let before = world.read(".saihai/config.yaml");
    world.ok(&["project", "rename", "Web shop"]);
    let project = world.json(&["project", "show"]);
    assert_eq!([&project["id"], &project["name"]], ["shop", "Web shop"]);
    let lines =
        |text: &str| text.lines().filter(|line| !line.starts_with("name:")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&world.read(".saihai/config.yaml")), lines(&before));
    assert_eq!(world.refused(2, &["project", "rename", " "])["code"], "invalid_argument");
    world.write(".saihai/agents/broken.yaml", "id: [\n");
    let file = world.read(".saihai/config.yaml");
    assert_eq!(world.refused(3, &["project", "rename", "Other"])["code"], "bad_configuration");
    assert_eq!(world.read(".saihai/config.yaml"), file, "what cannot be applied is not kept");
}
