//! Do pages show every item once, however long they are?

use std::collections::BTreeSet;

use board::{Command, Limits, NewTask, Party, Priority};
use serde_json::{Value, json};

use super::Sender;
use super::sample_board::{PROJECT, sample_board};
use crate::test_server::{TestServer, agent, owner};

/// Everything that a list gives, page after page.
async fn walk(sender: &Sender, path: &str, limit: usize) -> Vec<Value> {
    let mut items = Vec::new();
    let mut after = String::new();
    loop {
        let mark = if path.contains('?') { '&' } else { '?' };
        let page = sender.get(&format!("{path}{mark}limit={limit}{after}")).await;
        let found = page["items"].as_array().unwrap();
        assert!(found.len() <= limit, "{path}");
        items.extend(found.iter().cloned());
        let Some(next) = page["next"].as_str() else { return items };
        assert_eq!(found.len(), limit, "{path}: only the last page is shorter");
        after = format!("&after={next}");
    }
}

/// W4, W5: every list, with any limit, gives the same items once each.
#[tokio::test]
async fn every_item_is_on_one_page() {
    let sample_board = sample_board().await;
    let owner = Sender::of(&sample_board.server, "owner");
    let inside = [
        "tasks?all=true",
        "tasks?all=true&as_of=30",
        "agents",
        "sessions",
        "sessions?running=true",
        "sessions?task=1",
        "sessions?agent=w2",
        "messages",
        "messages?agent=w2",
        "memory",
        "events",
        "tasks/1/events",
        "sessions/1/decisions",
    ];
    let lists = inside.iter().map(|list| format!("/projects/{PROJECT}/{list}"));
    for list in lists.chain(["/projects".into(), "/tokens".into()]) {
        let all = owner.get(&format!("{list}{}limit=500", if list.contains('?') { '&' } else { '?' })).await;
        let all = all["items"].as_array().unwrap().clone();
        assert!(!all.is_empty(), "{list}");
        let different: BTreeSet<_> = all.iter().map(ToString::to_string).collect();
        assert!(different.len() == all.len() || list.contains("decisions"), "{list}");
        for limit in [1, 2, 3, all.len().max(1), all.len() + 1] {
            assert_eq!(walk(&owner, &list, limit).await, all, "{list} by {limit}");
        }
    }
}

/// W5: what comes and goes while somebody reads neither repeats nor hides what stays.
#[tokio::test]
async fn pages_are_sound_while_the_board_changes() {
    let server = TestServer::open(Limits::default()).await;
    let sender = Sender::of(&server, "owner");
    let project = server.project("web").await;
    for batch in 0..4 {
        let new = |number: usize| NewTask {
            priority: Priority::ALL[number % 4],
            ..NewTask::titled(format!("{batch} {number}"))
        };
        let tasks = (0..50).map(new).collect();
        project.submit(owner(), Command::CreateTasks { parent: None, tasks, key: None }).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut after = String::new();
    loop {
        let page = sender.get(&format!("/projects/web/tasks?limit=7{after}")).await;
        seen.extend(page["items"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
        // The last one that was shown goes, and a new one comes.
        let gone = seen.last().unwrap();
        sender.change("POST", &format!("/projects/web/tasks/{gone}/cancel"), json!({ "reason": "x" })).await;
        sender.change("POST", "/projects/web/tasks", json!({ "title": gone, "priority": "critical" })).await;
    }
    let different: BTreeSet<_> = seen.iter().collect();
    assert_eq!(different.len(), seen.len(), "none twice");
    assert!((1..=200).all(|number| different.contains(&format!("tsk_{number}"))), "none is missing");
}

/// W4: newest first where the newest matter, and the log in its order.
#[tokio::test]
async fn lists_are_in_their_order() {
    let server = TestServer::open(Limits::default()).await;
    let sender = Sender::of(&server, "viewer");
    let project = server.project("web").await;
    for number in 0..5 {
        let content = format!("{number}");
        let send = Command::SendMessage { to: Party::Agent(agent("w1")), content, related_task: None };
        project.submit(owner(), send).await.unwrap();
    }
    let contents: Vec<_> =
        walk(&sender, "/projects/web/messages", 2).await.iter().map(|message| message["content"].clone()).collect();
    assert_eq!(contents, ["4", "3", "2", "1", "0"]);
    let seqs: Vec<_> =
        walk(&sender, "/projects/web/events", 2).await.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=project.newest().await.unwrap().seq).collect::<Vec<_>>());
}
