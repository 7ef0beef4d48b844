//! C2, C6: tasks, from being added to being settled.

use serde_json::json;

use crate::world::{Output, World, column, texts};

/// C6: every option of `task add`.
#[test]
fn a_task_has_what_it_was_given() {
    let world = World::new();
    world.ok(&["task", "add", "first", "--assign", "lead"]);
    world.ok(&["task", "add", "second", "--parent", "1"]);
    let task = world.json(&[
        "task",
        "add",
        "third",
        "-d",
        "at length",
        "-t",
        "bug",
        "-p",
        "critical",
        "--parent",
        "1",
        "--assign",
        "coder",
        "--depends",
        "2",
        "--label",
        "a,b",
        "--completion",
        "reported",
        "--allow-empty",
    ]);
    let expected = json!({
        "id": "tsk_3", "title": "third", "description": "at length", "type": "bug", "priority": "critical",
        "status": "todo", "parent_id": "tsk_1", "assignee_id": "coder", "created_by": "owner",
        "dependencies": ["tsk_2"], "labels": ["a", "b"], "blocked_reason": null, "attempts": 0,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&task[field], value, "{field}");
    }
    assert_eq!(world.status("2"), "backlog", "nobody has it yet");
}

/// C6: `-` reads the description from stdin, whatever it begins with.
#[test]
fn a_description_comes_from_stdin() {
    let world = World::new();
    let output = world.run_with(&["task", "add", "x", "--description", "-", "--json"], "--line one\n行 2\n".as_bytes());
    assert_eq!(output.json()["description"], "--line one\n行 2");
    assert_eq!(world.json(&["task", "add", "y", "-d", "--not-an-option"])["description"], "--not-an-option");
    let output = world.run_with(&["task", "update", "1", "-d", "-", "--json"], b"changed");
    assert_eq!(output.json()["description"], "changed");
    let output = world.run_with(&["task", "add", "z", "-d", "-", "--json"], b"\xff\xfe");
    assert_eq!((output.code, output.error()["code"].as_str()), (2, Some("invalid_argument")));
}

/// C6: descriptions are long, but not endless.
#[test]
fn a_description_of_100_000_characters_is_the_longest() {
    let world = World::new();
    let add = ["task", "add", "x", "-d", "-", "--json"];
    assert_eq!(world.run_with(&add, "界".repeat(100_000).as_bytes()).json()["id"], "tsk_1");
    assert_eq!(world.run_with(&add, "x".repeat(100_001).as_bytes()).code, 2);
    assert_eq!(world.run_with(&add, &vec![b'x'; 8 << 20]).code, 2, "a stream is not read for ever");
    assert_eq!(world.json(&["task", "show", "1"])["description"].as_str().unwrap().chars().count(), 100_000);
}

/// F20: most urgent first, by rank and not by spelling; settled ones only with `--all`.
#[test]
fn lists_are_sorted_by_urgency_and_filtered() {
    let world = World::new();
    for (title, priority) in [("a", "low"), ("b", "critical"), ("c", "medium"), ("d", "high")] {
        world.ok(&["task", "add", title, "--priority", priority]);
    }
    assert_eq!(column(&world.json(&["task", "list"]), "title"), ["b", "d", "c", "a"]);
    world.ok(&["task", "assign", "1", "coder"]);
    world.ok(&["task", "cancel", "4", "--reason", "no"]);
    assert_eq!(column(&world.json(&["task", "list"]), "title"), ["b", "c", "a"]);
    assert_eq!(column(&world.json(&["task", "list", "--all"]), "title"), ["b", "d", "c", "a"]);
    assert_eq!(column(&world.json(&["task", "list", "--status", "cancelled"]), "title"), ["d"]);
    assert_eq!(column(&world.json(&["task", "list", "--status", "open"]), "title"), ["b", "c", "a"], "C7");
    assert_eq!(column(&world.json(&["task", "list", "--assignee", "coder"]), "title"), ["a"]);
    assert_eq!(world.json(&["task", "list", "--parent", "2"]), json!([]));
}

/// C6: an id is `tsk_12` or `12`.
#[test]
fn ids_are_taken_with_and_without_their_prefix() {
    let world = World::new();
    world.task("one");
    assert_eq!(world.json(&["task", "show", "1"]), world.json(&["task", "show", "tsk_1"]));
}

/// C2, L1, L4: a whole life by hand, and what cancelling does to what is below.
#[test]
fn a_tree_is_started_blocked_and_cancelled() {
    let world = World::new();
    world.ok(&["task", "add", "whole", "--assign", "lead"]);
    world.ok(&["task", "add", "part", "--parent", "1", "--assign", "coder"]);
    world.ok(&["task", "add", "rest", "--parent", "1", "--assign", "coder", "--depends", "2"]);
    assert_eq!(world.json(&["task", "start", "1"])["status"], "in_progress");
    assert_eq!(world.refused(1, &["task", "start", "2"])["code"], "not_allowed", "the lead starts it");
    assert_eq!(world.json(&["task", "start", "2", "--force"])["status"], "in_progress");
    assert_eq!(world.refused(6, &["task", "start", "3", "--force"])["code"], "not_ready");
    let blocked = world.json(&["task", "block", "2", "--reason", "no key"]);
    assert_eq!([&blocked["status"], &blocked["blocked_reason"]], ["blocked", "no key"]);
    let unblocked = world.json(&["task", "unblock", "2"]);
    assert_eq!((&unblocked["status"], &unblocked["blocked_reason"]), (&json!("in_progress"), &json!(null)));
    let tree = world.json(&["task", "tree"]);
    assert_eq!(column(&tree[0]["children"], "id"), ["tsk_2", "tsk_3"]);
    assert_eq!(texts(&tree[0]["children"][1]["dependencies"]), ["tsk_2"]);
    assert_eq!(world.ok(&["task", "tree", "--quiet"]), "tsk_1\ntsk_2\ntsk_3");
    assert!(world.ok(&["task", "cancel", "1", "--reason", "no"]).contains("with 2 below it"));
    assert_eq!(column(&world.json(&["task", "list", "--all"]), "status"), ["cancelled"; 3]);
    assert_eq!(world.refused(6, &["task", "update", "1", "--status", "todo"])["code"], "illegal_transition");
    assert_eq!(world.json(&["task", "tree"]), json!([]));
}

/// L5, F19: a cycle is refused, and named.
#[test]
fn dependencies_make_no_circle() {
    let world = World::new();
    for title in ["a", "b", "c"] {
        world.task(title);
    }
    assert_eq!(texts(&world.json(&["task", "depend", "2", "--on", "1"])["dependencies"]), ["tsk_1"]);
    world.ok(&["task", "depend", "3", "--on", "2"]);
    let error = world.refused(1, &["task", "depend", "1", "--on", "3"]);
    assert_eq!(error["code"], "cycle");
    for id in ["tsk_1", "tsk_2", "tsk_3"] {
        assert!(error["message"].as_str().unwrap().contains(id), "{error}");
    }
    assert_eq!(world.refused(1, &["task", "depend", "1", "--on", "1"])["code"], "cycle");
    assert_eq!(world.json(&["task", "depend", "3", "--off", "2", "--on", "1"])["dependencies"], json!(["tsk_1"]));
    assert_eq!(world.refused(6, &["task", "depend", "3", "--off", "2"])["code"], "state_conflict");
}

/// C2: only what failed is retried; what is done is reopened, by a word that says so.
#[test]
fn retry_is_for_what_failed() {
    let world = World::new();
    let task = world.task("one");
    world.ok(&["session", "start", &task, "--agent", "coder"]);
    assert_eq!(world.refused(6, &["task", "retry", &task])["code"], "state_conflict");
    assert_eq!(world.status(&task), "in_progress");
    world.ok(&["session", "end", "1", "--exit-code", "3"]);
    let retried = world.json(&["task", "retry", &task]);
    assert_eq!((&retried["status"], &retried["attempts"]), (&json!("in_progress"), &json!(0)));
    world.ok(&["task", "update", &task, "--status", "done", "--force"]);
    assert_eq!(world.refused(6, &["task", "retry", &task])["code"], "state_conflict");
    assert_eq!(world.status(&task), "done");
    assert_eq!(world.json(&["task", "update", &task, "--status", "todo"])["status"], "todo");
}

/// C6: content and status in one go, or nothing of it.
#[test]
fn an_update_is_all_or_nothing() {
    let world = World::new();
    let task = world.task("one");
    world.refused(6, &["task", "update", &task, "--title", "two", "--status", "done"]);
    assert_eq!(world.json(&["task", "show", &task])["title"], "one");
    let both = world.json(&["task", "update", &task, "--title", "two", "--priority", "low", "--status", "in_progress"]);
    assert_eq!([&both["title"], &both["priority"], &both["status"]], ["two", "low", "in_progress"]);
    assert_eq!(world.json(&["task", "update", &task, "--label", "x,y"])["labels"], json!(["x", "y"]));
    assert_eq!(world.json(&["task", "update", &task, "--label", ""])["labels"], json!([]));
}

/// C2, L7
#[test]
fn assigning_moves_a_task_to_todo() {
    let world = World::new();
    world.ok(&["task", "add", "one"]);
    let assigned = world.json(&["task", "assign", "1", "coder"]);
    assert_eq!([&assigned["status"], &assigned["assignee_id"]], ["todo", "coder"]);
    assert_eq!(world.json(&["task", "assign", "1", "--nobody"])["assignee_id"], json!(null));
    world.refused(2, &["task", "assign", "1", "coder", "--nobody"]);
}

/// L9: why names what must happen and who must do it.
#[test]
fn why_names_the_next_step() {
    let world = World::new();
    world.task("one");
    world.ok(&["task", "add", "two", "--assign", "coder", "--depends", "1"]);
    assert!(world.ok(&["task", "why", "1"]).contains("saihai task start tsk_1"));
    assert!(world.ok(&["task", "why", "2"]).contains("waits for tsk_1"));
    let why = world.json(&["task", "why", "2"]);
    assert_eq!([&why["id"], &why["status"], &why["mover"]], ["tsk_2", "todo", "owner"]);
    assert_eq!(texts(&why["reasons"]).len(), 1);
    assert_eq!(why["left"]["attempts"], 3);
}

/// F17: everything that happened to a task, with who did it.
#[test]
fn a_tasks_log_tells_who() {
    let world = World::new();
    world.task("one");
    world.task("two");
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    world.ok(&["session", "end", "1", "--exit-code", "1"]);
    let log = world.json(&["task", "log", "1"]);
    let kinds = column(&log, "type");
    assert_eq!(kinds.first(), Some(&"tasks_created"));
    for kind in ["session_claimed", "process_ended", "judged", "task_moved"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    assert!(log.as_array().unwrap().iter().all(|event| event["by"]["owner"] == "alice"), "{log}");
    assert!(!log.to_string().contains("tsk_2"));
}

/// The same key gives the same task, however often it is sent.
#[test]
fn adding_again_with_the_same_key_adds_nothing() {
    let world = World::new();
    let add = ["task", "add", "one", "--idempotency-key", "k1"];
    assert_eq!(world.json(&add), world.json(&add));
    assert_eq!(world.ok(&["task", "list", "--quiet"]), "tsk_1");
}

/// L12: several ids are taken wherever one is; what is refused is told at the end, and the others are done.
#[test]
fn several_tasks_are_moved_at_once() {
    let world = World::new();
    let tasks: Vec<_> = ["one", "two", "three"].map(|title| world.task(title)).into();
    let each: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let blocked = world.json(&[&["task", "block", "--reason", "wait"], &each[..]].concat());
    assert_eq!(blocked.as_array().unwrap().len(), 3);
    world.ok(&["task", "unblock", each[0]]);
    let refused = world.run(&[&["task", "unblock"], &each[..]].concat());
    assert_eq!(refused.code, 6, "{refused:?}");
    assert!(refused.stdout.contains(each[1]) && refused.stdout.contains(each[2]), "{refused:?}");
    assert!(refused.stderr.contains(each[0]), "{refused:?}");
}

/// D17: labels and words find tasks.
#[test]
fn tasks_are_found_by_label_and_text() {
    let world = World::new();
    world.ok(&["task", "add", "Login page", "--label", "ui,batch", "-d", "With the Form of last week"]);
    world.ok(&["task", "add", "Login API", "--label", "batch"]);
    let found = |filter: &[&str]| world.ok(&[&["task", "list", "--quiet"], filter].concat());
    assert_eq!(found(&["--label", "batch"]), "tsk_1\ntsk_2");
    assert_eq!(found(&["--label", "batch,ui"]), "tsk_1");
    assert_eq!(found(&["--label", "bat"]), "");
    assert_eq!(found(&["--text", "login form"]), "tsk_1");
    assert_eq!(found(&["--text", "LOGIN", "--label", "batch"]), "tsk_1\ntsk_2");
    assert_eq!(found(&["--text", "logout"]), "");
}

/// C7: a task can be added and started in one go; what cannot start is told, with the task that is there.
#[test]
fn a_task_is_added_and_started() {
    let world = World::new();
    let started = world.json(&["task", "add", "one", "--assign", "coder", "--start"]);
    assert_eq!([&started["id"], &started["status"]], ["tsk_1", "in_progress"]);
    assert_eq!(world.refused(2, &["task", "add", "two", "--start"])["code"], "usage");
    let refused = world.refused(6, &["task", "add", "two", "--assign", "coder", "--depends", "1", "--start"]);
    assert!(refused["message"].as_str().unwrap().starts_with("tsk_2 was added and not started"), "{refused}");
    assert_eq!(world.status("2"), "todo");
}

/// C7: a list is added as a whole, or not at all.
#[test]
fn a_list_of_tasks_is_added_all_or_nothing() {
    let world = World::new();
    world.write("tasks.md", "# Plan\n\n- Login page\n  With a form.\n- [x] Gone\n- Logout\n");
    let added = world.json(&["task", "add", "--file", "tasks.md", "--assign", "coder", "--label", "ui", "--start"]);
    assert_eq!(column(&added, "title"), ["Login page", "Logout"]);
    assert_eq!(column(&added, "status"), ["in_progress", "in_progress"]);
    assert_eq!((&added[0]["description"], &added[1]["labels"]), (&json!("With a form."), &json!(["ui"])));
    let output = world.run_with(&["task", "add", "--file", "-", "--quiet"], b"three\nfour\n");
    assert_eq!(output.stdout, "tsk_3\ntsk_4\n", "{output:?}");
    let long = "x".repeat(10_000);
    let output = world.run_with(&["task", "add", "--file", "-", "--json"], format!("- five\n- {long}\n").as_bytes());
    assert_eq!(output.code, 2, "{output:?}");
    assert_eq!(world.ok(&["task", "list", "--quiet"]).lines().count(), 4, "nothing of it was added");
    assert!(world.refused(2, &["task", "add", "--file", "missing.md"])["message"].to_string().contains("missing.md"));
    let empty = world.run_with(&["task", "add", "--file", "-", "--json"], b"# only a heading\n").error();
    assert_eq!(empty["code"], "invalid_argument");
}

/// C7: a task is edited in the user's editor; a text that is not taken is not lost.
#[test]
fn a_task_is_edited_in_an_editor() {
    let world = World::new();
    world.ok(&["task", "add", "one", "-d", "first"]);
    let edit = |editor: &str| {
        let mut command = world.command(&["task", "edit", "1", "--json"]);
        Output::of(command.env("EDITOR", editor).env("TMPDIR", world.path()).output().unwrap())
    };
    let changed = edit("sed -i -e 's/one/Two/' -e 's/first/# Second/'").json();
    assert_eq!([&changed["title"], &changed["description"]], ["Two", "# Second"]);
    assert_eq!(edit("true").error()["message"], "Nothing was changed.");
    let drafts = || {
        let names = std::fs::read_dir(world.path()).unwrap().flatten().map(|entry| entry.path());
        names.filter(|path| path.extension().is_some_and(|end| end == "md")).collect::<Vec<_>>()
    };
    assert_eq!(drafts(), Vec::<std::path::PathBuf>::new());
    let saihai = env!("CARGO_BIN_EXE_saihai");
    let meanwhile = format!("{saihai} task update 1 --title Three >/dev/null; echo mine >>");
    let lost = edit(&meanwhile).error();
    assert_eq!(lost["code"], "state_conflict");
    let [draft] = drafts().try_into().unwrap();
    assert!(lost["hint"].as_str().unwrap().contains(draft.to_str().unwrap()), "{lost}");
    assert!(std::fs::read_to_string(draft).unwrap().ends_with("mine\n"));
    assert_eq!(edit("false #").error()["code"], "failed");
    let none = Output::of(world.command(&["task", "edit", "1", "--json"]).output().unwrap());
    assert!(none.error()["hint"].as_str().unwrap().contains("EDITOR"));
}
