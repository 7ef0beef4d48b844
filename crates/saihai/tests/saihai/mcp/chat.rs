//! Do the owner and an agent talk, with nothing lost and nobody started for ever?

use serde_json::{Value, json};

use super::agent::Agent;
use super::fixture::{Fixture, WAIT_LIMIT, over_both_transports};
use crate::world::column;

/// The owner has written, and the agent has come and said which model it is.
async fn chatting(fixture: &mut Fixture, texts: &[String]) -> Agent {
    for text in texts {
        fixture.world.ok(&["message", "send", "coder", text]);
    }
    let wanted = fixture.staffing("coder").await;
    assert_eq!([&wanted["action"], &wanted["reason"], &wanted["purpose"]], ["start", "has_pending_purpose", "chat"]);
    let mut coder = fixture.claim_chat("coder").await;
    coder.must("authenticate", json!({})).await;
    assert_eq!(coder.next_action().await, "report_model");
    coder.must("report_model", json!({ "provider": "anthropic", "model_id": "m" })).await;
    coder
}

async fn read(coder: &mut Agent) -> Value {
    let told = coder.next().await;
    assert_eq!([&told["action"], &told["state"]], ["get_pending_messages", "chat_session"]);
    coder.must("get_pending_messages", json!({})).await
}

async fn waits(fixture: &Fixture, session: &str) -> usize {
    fixture.trace(session).await.iter().filter(|entry| entry["action"] == "wait_for_messages").count()
}

/// N2.4, N2.5, A1.9, F25, F88: the owner writes, the agent is started, reads, answers and waits; the
/// wait ends because a message comes, not because its time is over.
#[tokio::test]
async fn owner_and_agent_talk() {
    over_both_transports(async |mut fixture| {
        fixture.world.ok(&["project", "pause"]);
        let mut coder = chatting(&mut fixture, &["How far are you?".into()]).await;
        let pending = read(&mut coder).await;
        assert_eq!(column(&pending["pending_messages"], "content"), ["How far are you?"]);
        assert_eq!((&pending["cursor"], &pending["context"]), (&json!("msg_1"), &json!([])));
        coder.must("send_message", json!({ "to": "owner", "content": "Half." })).await;
        let said = fixture.world.json(&["message", "list", "--agent", "coder"]);
        assert_eq!(column(&said, "content"), ["How far are you?", "Half."]);
        assert_eq!(said[0]["read"], true);

        let short = coder.must("get_next_action", json!({ "timeout_seconds": 1 })).await;
        assert_eq!([&short["action"], &short["state"]], ["wait_for_messages", "chat_waiting"]);
        let (id, before) = (coder.id(), waits(&fixture, &coder.id()).await);
        let asking = tokio::spawn(async move { (coder.next().await, coder) });
        let begun = async {
            while waits(&fixture, &id).await == before {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(WAIT_LIMIT, begun).await.unwrap();
        fixture.world.ok(&["message", "send", "coder", "And the tests?"]);
        let answered = tokio::time::timeout(std::time::Duration::from_secs(40), asking).await;
        let (told, mut coder) = answered.expect("before the 45 seconds are over").unwrap();
        assert_eq!(told["action"], "get_pending_messages");
        let pending = coder.must("get_pending_messages", json!({})).await;
        assert_eq!(column(&pending["pending_messages"], "content"), ["And the tests?"]);
        assert_eq!(column(&pending["context"], "content"), ["How far are you?", "Half."]);

        fixture.log_out(coder).await;
        assert_eq!(fixture.staffed("coder").await, ["hold", "no_in_progress_task"]);
    })
    .await;
}

/// F86: more than ten unread messages all arrive, once, in their order; what comes while they are
/// read is not taken for read.
#[tokio::test]
async fn every_unread_message_arrives_once() {
    over_both_transports(async |mut fixture| {
        let texts: Vec<_> = (1..=13).map(|number| format!("number {number}")).collect();
        let mut coder = chatting(&mut fixture, &texts).await;
        let pending = read(&mut coder).await;
        assert_eq!(column(&pending["pending_messages"], "content"), texts);
        assert_eq!(pending["cursor"], "msg_13");
        fixture.world.ok(&["message", "send", "coder", "one more"]);
        let again = read(&mut coder).await;
        assert_eq!(column(&again["pending_messages"], "content"), ["one more"]);
        assert_eq!(column(&again["context"], "content"), texts[3..]);
        fixture.log_out(coder).await;
        assert_eq!(fixture.world.json(&["message", "list"]).as_array().unwrap().len(), 14);
    })
    .await;
}

/// F87, A3: a message that was read and not answered starts nobody again; one that was not read
/// starts the agent again only after a pause.
#[tokio::test]
async fn message_that_was_read_starts_nobody_again() {
    over_both_transports(async |mut fixture| {
        let coder = chatting(&mut fixture, &["Hello?".into()]).await;
        fixture.log_out(coder).await;
        assert_eq!(fixture.staffed("coder").await, ["hold", "cooling_down"], "it has not read it");

        fixture.world.ok(&["message", "send", "tester", "Hello?"]);
        let mut tester = fixture.claim_chat("tester").await;
        let pending = tester.must("get_pending_messages", json!({})).await;
        assert_eq!(column(&pending["pending_messages"], "content"), ["Hello?"]);
        fixture.log_out(tester).await;
        assert_eq!(fixture.staffed("tester").await, ["hold", "no_in_progress_task"]);
        assert_eq!(fixture.world.json(&["message", "list", "--agent", "tester"])[0]["read"], true);
    })
    .await;
}

/// M2, M4: a chat has the tools for talking, and a task session those for working.
#[tokio::test]
async fn chat_and_work_have_tools_of_their_own() {
    over_both_transports(async |mut fixture| {
        let mut chat = chatting(&mut fixture, &["Hello?".into()]).await;
        let task = fixture.started("Fix the login", "coder");
        let mut work = fixture.claim("coder", &task).await;
        assert!(
            chat.listed_tools.contains(&"get_pending_messages".into())
                && !chat.listed_tools.contains(&"get_my_task".into())
        );
        assert!(
            work.listed_tools.contains(&"get_my_task".into())
                && !work.listed_tools.contains(&"get_pending_messages".into())
        );
        assert!(!work.listed_tools.contains(&"assign_task".into()), "that is a manager's");
        assert_eq!(chat.refused("get_my_task", json!({})).await, "not_allowed");
        assert_eq!(work.refused("get_pending_messages", json!({})).await, "not_allowed");
        assert_eq!(work.refused("assign_task", json!({ "task_id": task })).await, "not_allowed");
    })
    .await;
}

/// C2: `saihai chat` sends what it reads, shows what the agent answers, and ends with that.
#[tokio::test]
async fn chat_on_the_command_line_ends_with_the_answer() {
    over_both_transports(async |mut fixture| {
        let mut chat = fixture.world.spawn(&["chat", "coder", "--json"]);
        std::io::Write::write_all(&mut chat.stdin.take().unwrap(), b"How far are you?\n\n").unwrap();
        let sent = async {
            while fixture.board().await.messages.is_empty() {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(WAIT_LIMIT, sent).await.unwrap();
        let mut coder = chatting(&mut fixture, &[]).await;
        read(&mut coder).await;
        coder.must("send_message", json!({ "to": "owner", "content": "Half.\nThe rest today." })).await;
        let output = tokio::task::spawn_blocking(move || chat.wait_with_output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{output:?}");
        let lines = String::from_utf8(output.stdout).unwrap();
        let said: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(column(&Value::Array(said), "content"), ["How far are you?", "Half.\nThe rest today."]);
        fixture.log_out(coder).await;
    })
    .await;
}

/// N11, F121, seed 002: what the owner asks a manager for in its chat is a task that starts, and the chat names it.
#[tokio::test]
async fn what_is_asked_for_in_a_chat_becomes_work() {
    over_both_transports(async |mut fixture| {
        fixture.world.ok(&["message", "send", "lead", "Build me a shop"]);
        let mut lead = fixture.claim_chat("lead").await;
        lead.must("report_model", json!({ "provider": "p", "model_id": "m" })).await;
        let told = lead.next().await;
        assert!(told["instruction"].as_str().unwrap().contains("create_task"), "{told}");
        lead.must("get_pending_messages", json!({})).await;
        let made = lead.must("create_task", json!({ "title": "A shop", "description": "as asked" })).await;
        assert_eq!([&made["task"]["status"], &made["task"]["assignee_id"]], ["in_progress", "lead"], "{made}");
        lead.must("send_message", json!({ "to": "owner", "content": "It is tsk_1." })).await;
        let said = fixture.world.json(&["message", "list", "--agent", "lead"]);
        assert_eq!(said[0]["tasks"], json!(["tsk_1"]));
        let wanted = fixture.staffing("lead").await;
        assert_eq!([&wanted["action"], &wanted["reason"]], ["start", "has_in_progress_task"]);
        for title in ["Two", "Three"] {
            lead.must("create_task", json!({ "title": title, "description": "d" })).await;
        }
        let refusal = lead.refusal("create_task", json!({ "title": "Four", "description": "d" })).await;
        assert_eq!(refusal["code"], "limit_reached");
        assert!(fixture.world.json(&["log", "tail", "-n", "100"]).to_string().contains("asked for in msg_1"));
    })
    .await;
}
