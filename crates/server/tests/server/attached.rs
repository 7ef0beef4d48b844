//! How does an agent that a person attached by hand come in, stay and leave?

use board::{Actor, Command, Limits, SessionId, Status, TaskId};
use serde_json::{Value, json};
use testkit::mcp::Client;

use crate::test_server::{BY_HAND, TestServer, moving, owner};

fn who(passkey: &str, project: &str) -> Value {
    json!({ "agent_id": BY_HAND, "passkey": passkey, "project_id": project })
}

/// A client that names its session in every call.
struct Attached {
    client: Client,
    token: String,
}

impl Attached {
    async fn call(&mut self, tool: &str, mut arguments: Value) -> Result<Value, Value> {
        arguments["session_token"] = self.token.clone().into();
        self.client.call(tool, arguments).await
    }

    async fn must(&mut self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).await.unwrap_or_else(|refused| panic!("{tool}: {refused}"))
    }
}

async fn attach(server: &TestServer, project: &str) -> Result<Attached, Value> {
    let mut client = server.client(None);
    let told = client.call("authenticate", who(&server.passkeys[project], project)).await?;
    let token = told["session_token"].as_str().unwrap().to_owned();
    Ok(Attached { client, token })
}

fn code(refused: &Value) -> &str {
    refused["code"].as_str().unwrap()
}

/// S3, M3, V7: with a passkey an agent gets a session if there is work for it, and is led through
/// its task; its report and its logout are the facts.
#[tokio::test]
async fn an_attached_agent_is_led_through_its_task() {
    let server = TestServer::open(Limits::default()).await;
    let refused = attach(&server, "web").await.map(|_| ()).unwrap_err();
    assert_eq!(code(&refused), "state_conflict");
    assert!(refused["message"].as_str().unwrap().contains("no_in_progress_task"), "{refused}");
    let task = server.started("web", BY_HAND).await;
    let mut agent = attach(&server, "web").await.unwrap();
    for expected in ["report_model", "get_task", "create_subtasks"] {
        let next = agent.must("get_next_action", json!({})).await;
        assert_eq!(next["action"], expected, "{next}");
        match expected {
            "report_model" => agent.must("report_model", json!({ "provider": "x", "model_id": "y" })).await,
            "get_task" => agent.must("get_my_task", json!({})).await,
            _ => Value::Null,
        };
    }
    let batch = json!({ "tasks": [{ "local_id": "a", "title": "One", "description": "It" }] });
    let step = agent.must("create_tasks_batch", batch).await["task_ids"]["a"].clone();
    for status in ["in_progress", "done"] {
        agent.must("get_next_action", json!({})).await;
        agent.must("update_task_status", json!({ "task_id": step, "status": status })).await;
    }
    agent.must("report_completed", json!({ "result": "success", "summary": "It is there." })).await;
    agent.must("logout", json!({})).await;
    assert_eq!(server.project("web").await.newest().await.unwrap().task(task).unwrap().status, Status::Done);
    let late = agent.call("get_next_action", json!({})).await.unwrap_err();
    assert_eq!((code(&late), &late["tools"]), ("stale_session", &json!([])));
}

/// S3, F35: the passkey may stand in the client's configuration; then no model ever sees it.
#[tokio::test]
async fn a_passkey_may_be_the_bearer() {
    let server = TestServer::open(Limits::default()).await;
    server.started("web", BY_HAND).await;
    let mut client = server.client(Some(&server.passkeys["web"]));
    let refused = client.call("get_next_action", json!({})).await.unwrap_err();
    assert_eq!(code(&refused), "not_authenticated");
    let told = client.must("authenticate", json!({ "agent_id": BY_HAND, "project_id": "web" })).await;
    let token = told["session_token"].clone();
    let next = client.must("get_next_action", json!({ "session_token": token })).await;
    assert_eq!(next["action"], "report_model");
}

/// S3, S4, F113: a wrong passkey, agent or project is refused alike; guessing is slowed down, and locks out neither
/// the right one nor the agent of another project.
#[tokio::test]
async fn guessing_a_passkey_is_refused_alike_and_slows_the_guesser() {
    let server = TestServer::open(Limits::default()).await;
    server.started("web", BY_HAND).await;
    let mut client = server.client(None);
    let wrong = [
        who("pk_0", "web"),
        who(&server.passkeys["api"], "web"),
        who("pk_0", "nowhere"),
        json!({ "agent_id": "nobody", "passkey": "pk_0", "project_id": "web" }),
        // There, but without a passkey of its own.
        json!({ "agent_id": "w1", "passkey": "pk_0", "project_id": "web" }),
    ];
    let mut messages = Vec::new();
    for arguments in wrong {
        let refused = client.call("authenticate", arguments).await.unwrap_err();
        assert_eq!(code(&refused), "not_authenticated");
        messages.push(refused["message"].clone());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    for _ in 0..3 {
        client.call("authenticate", who("pk_1", "web")).await.unwrap_err();
    }
    let slowed = client.call("authenticate", who("pk_1", "web")).await.unwrap_err();
    assert!(slowed["message"].as_str().unwrap().contains("seconds"), "{slowed}");
    let other = client.call("authenticate", who("pk_1", "api")).await.unwrap_err();
    assert!(!other["message"].as_str().unwrap().contains("seconds"), "{other}");
    client.must("authenticate", who(&server.passkeys["web"], "web")).await;
}

/// S3: work that is done when merged needs a workspace, which only a runner gives.
#[tokio::test]
async fn work_that_must_be_merged_is_not_given_to_an_attached_agent() {
    let server = TestServer::open(Limits::default()).await;
    server.started("api", BY_HAND).await;
    let before = server.heads().await;
    let refused = attach(&server, "api").await.map(|_| ()).unwrap_err();
    assert_eq!(code(&refused), "state_conflict");
    assert!(refused["message"].as_str().unwrap().contains("tsk_1"), "{refused}");
    assert_eq!(server.heads().await, before, "nothing was opened");
}

/// S3, F31: an agent whose client went away takes up its work again with its passkey, but not from
/// somebody who is still there.
#[tokio::test]
async fn an_agent_that_comes_back_takes_its_silent_session_over() {
    let server = TestServer::open(Limits::default()).await;
    server.started("web", BY_HAND).await;
    let mut first = attach(&server, "web").await.unwrap();
    let refused = attach(&server, "web").await.map(|_| ()).unwrap_err();
    assert_eq!(code(&refused), "already_claimed");
    server.clock.pass(61);
    let mut second = attach(&server, "web").await.unwrap();
    assert_eq!(second.must("get_next_action", json!({})).await["action"], "report_model");
    assert_eq!(code(&first.call("logout", json!({})).await.unwrap_err()), "stale_session");
    let board = server.project("web").await.newest().await.unwrap();
    assert_eq!(board.task(TaskId(1)).unwrap().used.attempts, 0);
    assert!(!board.session(SessionId(1)).unwrap().is_live());
}

/// S3: the lease of an attached agent lasts an hour and is renewed by every call, reads too.
#[tokio::test]
async fn every_call_renews_the_lease_of_an_attached_agent() {
    let server = TestServer::open(Limits::default()).await;
    server.started("web", BY_HAND).await;
    let mut agent = attach(&server, "web").await.unwrap();
    let project = server.project("web").await;
    for _ in 0..3 {
        server.clock.pass(40 * 60);
        // The first call after a pause is told to the board with the next.
        agent.must("list_tasks", json!({})).await;
        server.clock.pass(2);
        agent.must("list_tasks", json!({})).await;
        let now = control::Clock::now(&server.clock);
        let mut boards = project.writer().watch();
        let renewed = |board: &std::sync::Arc<board::Board>| {
            board.session(SessionId(1)).is_ok_and(|session| session.last_call_at == now)
        };
        let limit = std::time::Duration::from_secs(30);
        tokio::time::timeout(limit, boards.wait_for(renewed)).await.expect("it is told soon").unwrap();
    }
    server.clock.pass(61 * 60);
    project.submit(Actor::System, Command::Sweep).await.unwrap();
    project.submit(owner(), moving(TaskId(1), Status::Blocked)).await.unwrap();
    assert_eq!(code(&agent.call("get_my_task", json!({})).await.unwrap_err()), "stale_session");
}

/// M3, S3: one agent may have several sessions; each token speaks for its own, and a session's
/// bearer cannot speak for another.
#[tokio::test]
async fn one_agent_may_have_several_sessions() {
    let server = TestServer::open(Limits::default()).await;
    let (one, two) = (server.started("web", BY_HAND).await, server.started("web", BY_HAND).await);
    let (mut first, mut second) = (attach(&server, "web").await.unwrap(), attach(&server, "web").await.unwrap());
    assert_eq!(first.must("get_my_task", json!({})).await["task"]["id"], json!(one));
    assert_eq!(second.must("get_my_task", json!({})).await["task"]["id"], json!(two));
    let mut mixed = server.client(Some(&first.token));
    assert_eq!(mixed.must("get_my_task", json!({})).await["task"]["id"], json!(one));
    let refused = mixed.call("get_my_task", json!({ "session_token": second.token })).await.unwrap_err();
    assert_eq!(code(&refused), "not_authenticated");
}

/// N2.6, A1.9: a chat that has been idle for ten minutes is told to leave; a message that nobody
/// came to read in time starts nobody.
#[tokio::test]
async fn an_idle_chat_is_told_to_leave_and_an_old_message_starts_nobody() {
    let server = TestServer::open(Limits::default()).await;
    server.write_to("web", BY_HAND).await;
    let mut agent = attach(&server, "web").await.unwrap();
    agent.must("report_model", json!({ "provider": "x", "model_id": "y" })).await;
    assert_eq!(agent.must("get_next_action", json!({})).await["action"], "get_pending_messages");
    let read = agent.must("get_pending_messages", json!({})).await;
    assert_eq!(read["pending_messages"].as_array().unwrap().len(), 1);
    agent.must("send_message", json!({ "to": "owner", "content": "Well." })).await;
    let waiting = agent.must("get_next_action", json!({ "timeout_seconds": 0 })).await;
    assert_eq!(waiting["state"], "chat_waiting");
    server.clock.pass(10 * 60 + 1);
    let told = agent.must("get_next_action", json!({})).await;
    assert_eq!((&told["action"], &told["state"]), (&json!("logout"), &json!("chat_timeout")));
    agent.must("logout", json!({})).await;
    server.write_to("web", BY_HAND).await;
    server.clock.pass(301);
    let refused = attach(&server, "web").await.map(|_| ()).unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("message_expired"), "{refused}");
}
