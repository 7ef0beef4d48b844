//! Does every change of the owner's do what the command does?

use board::{Actor, Command, EventKind, Limits, NewTask, Party, Priority, Purpose, Status, TaskId, TaskType};
use serde_json::{Value, json};

use super::Sender;
use crate::test_server::{TestServer, agent};

/// The last event of a project, as it is in the log.
async fn last(server: &TestServer, project: &str) -> board::Event {
    let opened = server.project(project).await;
    let seq = opened.newest().await.unwrap().seq;
    opened.events_after(seq - 1, 1).await.unwrap().remove(0).1
}

/// W4, L1, F17: each change is the command's own event, under the name of whoever made it.
#[tokio::test]
async fn every_change_is_the_commands_own() {
    let server = TestServer::open(Limits::default()).await;
    let made = Sender::of(&server, "owner").change("POST", "/tokens", json!({ "role": "owner", "name": "ann" })).await;
    let ann = Sender { bearer: Some(made["token"].as_str().unwrap().into()), ..Sender::nobody(&server) };
    let tasks = "/projects/web/tasks";
    let new = json!({ "title": "T", "description": "D", "type": "bug", "priority": "high", "labels": ["l"],
        "completion": "merged", "allow_empty": true });
    assert_eq!(ann.change("POST", tasks, new).await["status"], "backlog");
    let event = last(&server, "web").await;
    assert_eq!(event.by, Actor::Owner("ann".into()));
    let EventKind::TasksCreated { tasks: created, .. } = event.what else { panic!("{event:?}") };
    let created = &created[0];
    assert_eq!((created.task_type, created.priority, created.allow_empty), (TaskType::Bug, Priority::High, true));
    assert_eq!(created.completion, Some(board::Completion::Merged));
    let one = format!("{tasks}/{}", created.id);
    let before = ann.change("POST", tasks, json!({ "title": "Before it" })).await["id"].clone();

    let edit = json!({ "title": "T2", "description": "", "priority": "critical", "type": "docs", "labels": [] });
    let edited = ann.change("PATCH", &one, edit).await;
    let expected = ["T2", "", "critical", "docs"];
    assert_eq!(["title", "description", "priority", "type"].map(|name| edited[name].as_str().unwrap()), expected);

    ann.change("PATCH", &format!("{one}/dependencies"), json!({ "add": [before] })).await;
    assert!(matches!(last(&server, "web").await.what, EventKind::DependenciesChanged { .. }));
    let assigned = ann.change("PUT", &format!("{one}/assignee"), json!({ "agent": "w1" })).await;
    assert_eq!((&assigned["assignee_id"], &assigned["status"]), (&json!("w1"), &json!("todo")));
    // What keeps it from starting is the board's to say.
    let refused = ann.refused("POST", &format!("{one}/start"), json!({})).await;
    assert_eq!(refused, (409, "not_ready".into()));
    ann.change("PATCH", &format!("{one}/dependencies"), json!({ "remove": [before] })).await;
    assert_eq!(
        ann.change("PUT", &format!("{one}/assignee"), json!({ "agent": null })).await["assignee_id"],
        Value::Null
    );
    ann.change("PUT", &format!("{one}/assignee"), json!({ "agent": "w1" })).await;

    let moves = [
        ("shelve", json!({}), "backlog"),
        ("queue", json!({}), "todo"),
        ("start", json!({}), "in_progress"),
        ("block", json!({ "reason": "no" }), "blocked"),
        ("unblock", json!({}), "in_progress"),
        ("unstart", json!({}), "todo"),
        ("start", json!({}), "in_progress"),
    ];
    for (name, body, status) in moves {
        assert_eq!(ann.change("POST", &format!("{one}/{name}"), body).await["status"], status, "{name}");
        let EventKind::TaskMoved { forced, by, .. } = last(&server, "web").await.what else { panic!("{name}") };
        assert_eq!((forced, by), (false, Party::Owner), "{name}");
    }
    // Done is what is in the target, or insisted on.
    let refused = ann.refused("POST", &format!("{one}/finish"), json!({})).await;
    assert_eq!(refused, (409, "not_merged".into()));
    server.beside.merged.lock().unwrap().push(created.id);
    assert_eq!(ann.change("POST", &format!("{one}/finish"), json!({})).await["status"], "done");
    assert_eq!(ann.change("POST", &format!("{one}/reopen"), json!({})).await["status"], "todo");
    let refused = ann.refused("POST", &format!("{one}/cancel"), json!({})).await;
    assert_eq!(refused, (400, "invalid_argument".into()), "a reason is needed");
    assert_eq!(ann.change("POST", &format!("{one}/cancel"), json!({ "reason": "x" })).await["reason"], "x");
    for name in ["create", "fly"] {
        assert_eq!(ann.refused("POST", &format!("{one}/{name}"), json!({})).await.0, 404, "{name}");
    }
}

/// W4: projects, sessions and messages.
#[tokio::test]
async fn projects_sessions_and_messages_are_changed_too() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    assert_eq!(owner.change("POST", "/projects/web/pause", Value::Null).await["paused"], true);
    assert_eq!(last(&server, "web").await.what, EventKind::ProjectPaused);
    assert_eq!(owner.get("/projects").await["items"][1]["paused"], true);
    assert_eq!(owner.change("POST", "/projects/web/resume", Value::Null).await["paused"], false);

    let task = server.started("web", "w1").await;
    let (session, _) = server.claim("web", &agent("w1"), Purpose::Task(task)).await.unwrap();
    owner.change("POST", &format!("/projects/web/sessions/{session}/stop"), Value::Null).await;
    let stopped = owner.get(&format!("/projects/web/sessions/{session}")).await;
    assert_eq!(stopped["stop"], "stopped_by_owner");
    let blocked = EventKind::TaskMoved {
        task,
        from: Status::InProgress,
        to: Status::Blocked,
        by: board::Party::Owner,
        reason: Some("stopped by owner".into()),
        forced: false,
    };
    assert_eq!(last(&server, "web").await.what, blocked, "it is not started again (L12)");

    let message = json!({ "to": "w2", "content": "Well?", "related_task": task });
    let sent = owner.change("POST", "/projects/web/messages", message).await;
    assert_eq!((&sent["from"], &sent["to"], &sent["content"]), (&json!("owner"), &json!("w2"), &json!("Well?")));
    assert_eq!(owner.get("/projects/web/messages?agent=w2").await["items"], json!([sent]));
    assert_eq!(owner.get("/projects/web/messages?agent=w3").await["items"], json!([]));
    let refused = owner.refused("POST", "/projects/web/messages", json!({ "to": "ghost", "content": "x" })).await;
    assert_eq!(refused, (404, "not_found".into()));
}

/// A task of a manager's, with a child for one of its workers.
async fn tree(server: &TestServer) -> (TaskId, TaskId) {
    let parent = server.started("web", "boss").await;
    let (session, _) = server.claim("web", &agent("boss"), Purpose::Task(parent)).await.unwrap();
    let project = server.project("web").await;
    let model = Command::ReportModel { provider: "p".into(), model_id: "m".into() };
    project.submit(Actor::Session(session), model).await.unwrap();
    project.submit(Actor::Session(session), Command::FetchTask).await.unwrap();
    let new = NewTask { assignee: Some(agent("w1")), ..NewTask::titled("A part") };
    let create = Command::CreateTasks { parent: None, tasks: vec![new], key: None };
    let receipt = project.submit(Actor::Session(session), create).await.unwrap();
    (parent, *receipt.after.tasks.keys().next_back().unwrap())
}

/// L2: what is inside of a tree is its mover's, who is named; the owner may insist, and that is recorded.
#[tokio::test]
async fn a_task_inside_of_a_tree_is_left_to_its_mover_or_insisted_on() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    let (_, child) = tree(&server).await;
    let one = format!("/projects/web/tasks/{child}");
    let offers = owner.get(&format!("{one}/offers")).await;
    let names: Vec<_> = offers["moves"].as_array().unwrap().iter().map(|offer| offer["name"].clone()).collect();
    assert!(!names.contains(&json!("start")), "{offers}");
    assert_eq!(offers["may_edit"], false);
    assert!(offers["refusal"]["detail"].as_str().unwrap().contains("boss"), "{offers}");

    let heads = server.heads().await;
    let attempts = [
        ("POST", format!("{one}/start"), json!({})),
        ("PATCH", one.clone(), json!({ "title": "Mine" })),
        ("PUT", format!("{one}/assignee"), json!({ "agent": "w2" })),
    ];
    for (method, path, body) in &attempts {
        let (status, problem) = owner.call(method, path, body.clone()).await;
        assert_eq!((status, &problem["code"]), (403, &json!("not_allowed")), "{path}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains("boss"), "{problem}");
    }
    assert_eq!(server.heads().await, heads, "nothing has happened");
    for (method, path, mut body) in attempts.into_iter().rev() {
        body["force"] = json!(true);
        owner.change(method, &path, body).await;
    }
    let EventKind::TaskMoved { to, forced, .. } = last(&server, "web").await.what else { panic!() };
    assert_eq!((to, forced), (Status::InProgress, true));
    // To block and to cancel is the owner's in any case.
    owner.change("POST", &format!("{one}/block"), json!({ "reason": "wait" })).await;
    owner.change("POST", &format!("{one}/cancel"), json!({ "reason": "no" })).await;
}

/// W4: what is offered is accepted, and what is not is refused; a viewer is offered nothing.
#[tokio::test]
async fn offers_are_what_would_be_accepted() {
    let server = TestServer::open(Limits::default()).await;
    let (owner, viewer) = (Sender::of(&server, "owner"), Sender::of(&server, "viewer"));
    let mut accepted = 0;
    for (prepared, name) in [
        (vec![], "queue"),
        (vec!["queue"], "shelve"),
        (vec!["queue"], "start"),
        (vec!["queue", "start"], "unstart"),
        (vec!["queue", "start", "block"], "unblock"),
        (vec!["queue", "start"], "finish"),
        (vec!["queue"], "cancel"),
        (vec!["queue", "cancel"], "reopen"),
        (vec![], "retry"),
    ] {
        let made =
            owner.change("POST", "/projects/web/tasks", json!({ "title": format!("{prepared:?} {name}") })).await;
        let one = format!("/projects/web/tasks/{}", made["id"].as_str().unwrap());
        owner.change("PUT", &format!("{one}/assignee"), json!({ "agent": "w1" })).await;
        owner.change("POST", &format!("{one}/shelve"), json!({})).await;
        for step in prepared {
            owner.change("POST", &format!("{one}/{step}"), json!({ "reason": "x" })).await;
        }
        let offers = owner.get(&format!("{one}/offers")).await;
        let offered = offers["moves"].as_array().unwrap().iter().find(|offer| offer["name"] == name).cloned();
        let (status, answer) = owner.call("POST", &format!("{one}/{name}"), json!({ "reason": "x" })).await;
        assert_eq!(status == 200, offered.is_some(), "{name}: {offers} {answer}");
        if let Some(offered) = offered {
            assert_eq!(answer["status"], offered["to"], "{name}");
            accepted += 1;
        }
        assert_eq!(viewer.get(&format!("{one}/offers")).await["moves"], json!([]));
    }
    assert_eq!(accepted, 6);
}

/// L6: the same key gives the same task, and is nobody else's answer.
#[tokio::test]
async fn a_request_that_is_sent_again_makes_nothing_new() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    let new = json!({ "title": "Once", "idempotency_key": "k" });
    let (first, made) = owner.call("POST", "/projects/web/tasks", new.clone()).await;
    let (second, again) = owner.call("POST", "/projects/web/tasks", new).await;
    assert_eq!((first, second), (201, 200));
    assert_eq!(made, again);
    let other = owner.change("POST", "/projects/api/tasks", json!({ "title": "Once", "idempotency_key": "k" })).await;
    assert_eq!(other["title"], "Once");
    assert_eq!(owner.get("/projects/web/tasks").await["items"].as_array().unwrap().len(), 1);
}

/// L9, W1: an explanation is in the language of whoever asks, and for programs too.
#[tokio::test]
async fn explanations_are_in_the_readers_language() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    owner.change("POST", "/projects/web/tasks", json!({ "title": "T" })).await;
    let english = owner.get("/projects/web/tasks/1/why").await;
    let japanese = owner.clone().with("Accept-Language", "ja").get("/projects/web/tasks/1/why").await;
    assert!(english["reasons"][0].as_str().unwrap().is_ascii(), "{english}");
    assert!(!japanese["reasons"][0].as_str().unwrap().is_ascii(), "{japanese}");
    assert_eq!(english["lines"], japanese["lines"]);
    assert_eq!(english["lines"], json!([{ "obstacle": "unassigned" }]));
    let (_, problem) = owner.with("Accept-Language", "ja").call("POST", "/projects/web/tasks/1/start", json!({})).await;
    assert!(!problem["detail"].as_str().unwrap().is_ascii(), "{problem}");
}

/// W2: the board as it was at an earlier event, and never at one that is not there.
#[tokio::test]
async fn the_past_is_shown_as_it_was() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    let project = server.project("web").await;
    let mut then = Vec::new();
    for number in 0..30 {
        owner.change("POST", "/projects/web/tasks", json!({ "title": format!("T{number}") })).await;
        if number % 3 == 0 {
            let body = json!({ "reason": "x" });
            owner.change("POST", &format!("/projects/web/tasks/{}/cancel", number + 1), body).await;
        }
        then.push((project.newest().await.unwrap().seq, owner.get("/projects/web/tasks?all=true").await));
    }
    then.reverse();
    then.swap(3, 20);
    for (seq, was) in then {
        assert_eq!(owner.get(&format!("/projects/web/tasks?all=true&as_of={seq}")).await, was, "{seq}");
    }
    let newest = project.newest().await.unwrap().seq;
    for wrong in [0, newest + 1, u64::MAX] {
        let path = format!("/projects/web/tasks?as_of={wrong}");
        assert_eq!(owner.refused("GET", &path, Value::Null).await, (400, "invalid_argument".into()));
    }
}

/// W4: tasks are found by status, agent, parent, label and words.
#[tokio::test]
async fn tasks_are_found() {
    let server = TestServer::open(Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    let (parent, child) = tree(&server).await;
    owner.change("POST", "/projects/web/tasks", json!({ "title": "Paint the Door", "labels": ["ui"] })).await;
    owner.change("POST", "/projects/web/tasks", json!({ "title": "塗る", "priority": "critical" })).await;
    let found = async |query: &str| {
        let page = owner.get(&format!("/projects/web/tasks?{query}")).await;
        page["items"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("").await, ["tsk_4", "tsk_1", "tsk_2", "tsk_3"], "most urgent first");
    assert_eq!(found("status=in_progress").await, [parent.to_string()]);
    assert_eq!(found("status=todo").await, [child.to_string()]);
    assert_eq!(found("status=open").await, ["tsk_4", "tsk_2", "tsk_3"]);
    assert_eq!(found("assignee=w1").await, [child.to_string()]);
    assert_eq!(found("parent=1").await, [child.to_string()]);
    assert_eq!(found("label=ui").await, ["tsk_3"]);
    for query in ["q=door+PAINT", "q=tsk_3", "q=3"] {
        assert_eq!(found(query).await, ["tsk_3"], "{query}");
    }
    assert_eq!(found("q=%E5%A1%97").await, ["tsk_4"]);
    owner.change("POST", "/projects/web/tasks/3/cancel", json!({ "reason": "x" })).await;
    assert!(found("q=door").await.is_empty());
    assert_eq!(found("q=door&all=true").await, ["tsk_3"]);
    assert_eq!(found("q=door&status=cancelled").await, ["tsk_3"]);
    for (query, status) in [("status=finished", 400), ("assignee=ghost", 404), ("parent=99", 404), ("all=maybe", 400)] {
        let path = format!("/projects/web/tasks?{query}");
        assert_eq!(owner.refused("GET", &path, Value::Null).await.0, status, "{query}");
    }
}
