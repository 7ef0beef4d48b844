//! C6: the field names that scripts rely on.

use crate::world::{World, keys, texts};

const TASK: &[&str] = &[
    "id",
    "title",
    "description",
    "type",
    "priority",
    "status",
    "parent_id",
    "assignee_id",
    "created_by",
    "dependencies",
    "labels",
    "blocked_reason",
    "attempts",
    "created_at",
    "updated_at",
];

const SESSION: &[&str] =
    &["id", "task_id", "agent_id", "purpose", "status", "end_reason", "exit_code", "signal", "dod_result", "verdict"];

#[track_caller]
fn has(object: &serde_json::Value, fields: &[&str]) {
    for field in fields {
        assert!(keys(object).contains(field), "`{field}` is missing in {object}");
    }
}

/// C6
#[test]
fn tasks_have_their_fields_wherever_they_are_printed() {
    let world = World::new();
    has(&world.json(&["task", "add", "one", "--assign", "coder"]), TASK);
    has(&world.json(&["task", "list"])[0], TASK);
    has(&world.json(&["task", "show", "1"]), TASK);
    for arguments in [
        &["task", "update", "1", "--priority", "high"][..],
        &["task", "assign", "1", "coder"],
        &["task", "start", "1"],
        &["task", "block", "1", "--reason", "x"],
        &["task", "unblock", "1"],
        &["task", "cancel", "1", "--reason", "x"],
    ] {
        has(&world.json(arguments), TASK);
    }
    has(&world.json(&["log", "replay"])["tasks"][0], TASK);
}

/// C6
#[test]
fn sessions_have_their_fields_wherever_they_are_printed() {
    let world = World::new();
    world.task("one");
    let started = world.json(&["session", "start", "1", "--agent", "coder"]);
    has(&started, SESSION);
    assert_eq!([&started["id"], &started["task_id"], &started["agent_id"]], ["ses_1", "tsk_1", "coder"]);
    assert_eq!([&started["purpose"], &started["status"], &started["branch"]], ["task", "running", "task-1-one"]);
    has(&world.json(&["session", "list"])[0], SESSION);
    has(&world.json(&["session", "show", "1"]), SESSION);
    has(&world.json(&["session", "end", "1", "--exit-code", "0"]), SESSION);
    has(&world.json(&["log", "replay"])["sessions"][0], SESSION);
}

/// C6: lists are arrays, also when they are empty.
#[test]
fn lists_are_arrays() {
    let world = World::new();
    for noun in ["task", "session", "message", "token", "agent", "memory", "project"] {
        assert!(world.json(&[noun, "list"]).is_array(), "{noun}");
    }
    for noun in ["task", "session", "message", "token"] {
        assert_eq!(world.json(&[noun, "list"]), serde_json::json!([]), "{noun}");
    }
}

/// C6
#[test]
fn everything_else_has_its_fields() {
    let world = World::new();
    world.task("one");
    has(&world.json(&["token", "create", "--role", "owner"]), &["token"]);
    has(&world.json(&["agent", "passkey", "coder"]), &["passkey"]);
    has(&world.json(&["token", "list"])[0], &["id", "role", "name", "created_at", "revoked"]);
    has(&world.json(&["project", "list"])[0], &["id", "path"]);
    has(&world.json(&["log", "tail"])[0], &["seq", "at", "by", "type", "data"]);
    has(&world.json(&["log", "verify"])[0], &["stream", "events", "sound"]);
    has(&world.json(&["log", "replay"]), &["seq", "paused", "tasks", "agents", "sessions"]);
    has(&world.json(&["doctor"])[0], &["what", "state", "detail", "hint"]);
    has(&world.json(&["memory", "list"])[0], &["path", "title", "category", "summary"]);
    has(&world.json(&["memory", "show", "project"]), &["path", "title", "body"]);
    has(&world.json(&["message", "send", "coder", "hi"]), &["id", "from", "to", "content", "related_task_id", "read"]);
    has(&world.json(&["agent", "list"])[0], &["id", "name", "hierarchy_type", "role_type", "parent", "client"]);
    has(&world.json(&["task", "tree"])[0], &["id", "title", "status", "assignee_id", "dependencies", "children"]);
}

/// C6: the words of the enumerations.
#[test]
fn every_type_priority_and_role_is_accepted() {
    let world = World::new();
    for kind in ["task", "feature", "bug", "refactor", "docs", "test", "research"] {
        assert_eq!(world.json(&["task", "add", kind, "--type", kind])["type"], kind);
    }
    for priority in ["low", "medium", "high", "critical"] {
        assert_eq!(world.json(&["task", "add", priority, "--priority", priority])["priority"], priority);
    }
    for completion in ["merged", "reported"] {
        world.json(&["task", "add", completion, "--completion", completion]);
    }
    for role in ["owner", "viewer", "runner", "coordinator"] {
        assert_eq!(world.json(&["token", "create", "--role", role])["role"], role);
    }
    let agents = world.json(&["log", "replay"])["agents"].clone();
    assert_eq!(agents.as_array().unwrap().len(), 2);
    assert_eq!(texts(&world.json(&["init"])["agents"]), ["coder", "lead"]);
}
