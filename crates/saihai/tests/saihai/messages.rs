//! C2: what is said between the owner and the agents.

use crate::world::{World, column};

/// C2
#[test]
fn messages_are_sent_and_listed() {
    let world = World::new();
    world.task("one");
    let sent = world.json(&["message", "send", "lead", "look at this", "--task", "1"]);
    assert_eq!([&sent["id"], &sent["from"], &sent["to"]], ["msg_1", "owner", "lead"]);
    assert_eq!([&sent["content"], &sent["related_task_id"]], ["look at this", "tsk_1"]);
    assert_eq!((&sent["read"], &sent["expired"]), (&false.into(), &false.into()));
    let output = world.run_with(&["message", "send", "coder", "-", "--json"], "二行\nの文\n".as_bytes());
    assert_eq!(output.json()["content"], "二行\nの文");
    assert_eq!(column(&world.json(&["message", "list"]), "id"), ["msg_1", "msg_2"]);
    assert_eq!(column(&world.json(&["message", "list", "--agent", "coder"]), "id"), ["msg_2"]);
    assert_eq!(world.ok(&["message", "list", "--limit", "1", "--quiet"]), "msg_2", "the newest");
}

/// C3: 4,000 characters, and not one more.
#[test]
fn a_message_has_a_length() {
    let world = World::new();
    world.ok(&["message", "send", "lead", &"界".repeat(4000)]);
    assert_eq!(world.refused(2, &["message", "send", "lead", &"x".repeat(4001)])["code"], "invalid_argument");
}

/// N11, F121: a message that nobody would hear is refused, and says what to do instead.
#[test]
fn a_message_to_a_one_shot_agent_is_refused() {
    let world = World::new();
    world.write(".saihai/agents/once.yaml", "id: once\nmode: one_shot\nclient: command\ncommand: [\"true\"]\n");
    world.ok(&["agent", "apply"]);
    let refusal = world.refused(1, &["message", "send", "once", "hello"]);
    assert_eq!(refusal["code"], "not_allowed");
    assert!(refusal["hint"].as_str().unwrap().contains("task comment"), "{refusal}");
}
