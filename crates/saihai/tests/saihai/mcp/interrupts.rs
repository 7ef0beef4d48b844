//! Does an interrupt reach the very next call of that session, and no other (N7)?

use std::sync::Arc;

use board::{Board, EndReason, ProcessEnd, Session, SessionId};
use serde_json::{Value, json};

use super::agent::Agent;
use super::fixture::{Fixture, over_both_transports};
use crate::world::texts;

/// What interrupts the session on `tsk_1`, and the reason its agent and its runner are given.
const INTERRUPTIONS: [(&[&str], &str); 5] = [
    (&["task", "cancel", "tsk_1", "--reason", "never mind"], "cancelled"),
    (&["task", "block", "tsk_1", "--reason", "wait"], "blocked"),
    (&["task", "update", "tsk_1", "--status", "todo"], "unstarted"),
    (&["session", "stop", "ses_1"], "stopped_by_owner"),
    (&["project", "pause", "--now"], "project_paused"),
];

/// Calls that would change something.
fn mutating() -> [(&'static str, Value); 5] {
    [
        ("report_completed", json!({ "result": "success", "summary": "done" })),
        ("create_task", json!({ "title": "another", "description": "d" })),
        ("update_task_status", json!({ "task_id": "tsk_3", "status": "in_progress" })),
        ("send_message", json!({ "to": "owner", "content": "but" })),
        ("report_model", json!({ "provider": "other", "model_id": "other" })),
    ]
}

/// A session without what only counts its calls.
fn uncounted(session: &Session) -> Session {
    Session { calls: 0, last_call_at: session.claimed_at, ..session.clone() }
}

#[track_caller]
fn assert_unchanged(before: &Board, after: &Board) {
    assert_eq!(before.tasks, after.tasks);
    assert_eq!(before.messages, after.messages);
    assert_eq!(before.agents, after.agents);
    let sessions = |board: &Board| board.sessions.values().map(|session| uncounted(session)).collect::<Vec<_>>();
    assert_eq!(sessions(before), sessions(after));
}

async fn working(fixture: &mut Fixture, task: &str) -> Agent {
    let mut solo = fixture.claim("solo", task).await;
    solo.begin_session().await;
    assert_eq!(solo.next_action().await, "work");
    solo
}

async fn interrupted(fixture: &mut Fixture, command: &[&str], reason: &str) -> (Agent, Agent) {
    for title in ["one", "two"] {
        fixture.started(title, "solo");
    }
    let (mut first, mut second) = (working(fixture, "tsk_1").await, working(fixture, "tsk_2").await);
    first.must("create_task", json!({ "title": "step", "description": "d" })).await;
    second.must("save_context", json!({ "progress": "half" })).await;
    fixture.world.ok(command);

    let before = fixture.board().await;
    for (tool, arguments) in mutating() {
        let refusal = first.refusal(tool, arguments).await;
        assert_eq!(refusal["code"], "interrupted", "{reason}: {tool}");
        assert!(refusal["hint"].as_str().unwrap().contains("get_next_action"), "{refusal}");
        assert_eq!(texts(&refusal["tools"]), ["save_context", "logout", "get_next_action"], "{reason}: {tool}");
    }
    assert_unchanged(&before, fixture.board().await.as_ref());
    let stop = first.next().await;
    assert_eq!([&stop["action"], &stop["state"], &stop["reason"]], ["stop", "interrupted", reason]);
    let told = fixture.staffing("solo").await;
    assert_eq!([&told["action"], &told["reason"], &told["task_id"]], ["stop", reason, "tsk_1"]);
    (first, second)
}

/// N7, N2.2, A1.1, A1.3, F24: after a command has returned, the next call of the session that it
/// is about is refused and changes nothing; what only reads, notes and leaves is still allowed; and
/// another session of the same agent goes on.
#[tokio::test]
async fn interrupt_reaches_the_next_call_of_that_session_alone() {
    for (command, reason) in INTERRUPTIONS {
        over_both_transports(async |mut fixture| {
            let (mut first, mut second) = interrupted(&mut fixture, command, reason).await;
            first.must("get_my_task", json!({})).await;
            for tool in ["list_tasks", "get_my_profile", "help"] {
                first.must(tool, json!({})).await;
            }
            first.must("save_context", json!({ "progress": "stopped here" })).await;
            assert_eq!(
                first.must("get_task", json!({ "task_id": "tsk_1" })).await["context"]["progress"],
                "stopped here"
            );

            let others = second.next().await;
            if reason == "project_paused" {
                assert_eq!([&others["action"], &others["reason"]], ["stop", "project_paused"], "all work stops");
            } else {
                assert_eq!(others["action"], "work", "{reason}");
                second.report("success", "It works.").await;
            }
            first.must("logout", json!({})).await;
            assert_eq!(first.refused("save_context", json!({})).await, "stale_session");
            let ended = fixture.end(first, ProcessEnd::because(EndReason::Stopped)).await;
            assert_eq!(fixture.world.json(&["session", "show", &ended.session])["verdict"], "none");
            let task = fixture.world.json(&["task", "show", "tsk_1"]);
            assert_eq!(task["attempts"], 0, "nobody is charged for being stopped");
        })
        .await;
    }
}

/// L4, N2.2: blocking a task holds what is below it, without a word written there; lifting it lets
/// the same step be told again.
#[tokio::test]
async fn session_below_a_blocked_task_is_held() {
    over_both_transports(async |mut fixture| {
        let top = fixture.started("Release", "lead");
        let mut lead = fixture.claim("lead", &top).await;
        lead.begin_session().await;
        assert_eq!(lead.next_action().await, "create_subtasks");
        lead.must("create_task", json!({ "title": "Build", "description": "d" })).await;
        assert_eq!(lead.next_action().await, "situational_awareness");
        lead.start("tsk_2", "solo").await;
        let mut solo = working(&mut fixture, "tsk_2").await;
        fixture.world.ok(&["task", "block", &top, "--reason", "wait"]);
        assert_eq!(
            solo.refused("report_completed", json!({ "result": "success", "summary": "s" })).await,
            "interrupted"
        );
        assert_eq!(solo.next().await["reason"], "held");
        assert_eq!(lead.next().await["reason"], "blocked");
        assert_eq!(fixture.world.status("tsk_2"), "in_progress", "held is derived");
        fixture.world.ok(&["task", "unblock", &top]);
        assert_eq!(solo.next_action().await, "work");
        assert_eq!(lead.next_action().await, "situational_awareness");
        solo.report("success", "It works.").await;
    })
    .await;
}

/// L11, F123: what runs goes on in a paused project, and what it reports is taken.
#[tokio::test]
async fn session_goes_on_in_a_paused_project() {
    over_both_transports(async |mut fixture| {
        fixture.started("one", "solo");
        let mut solo = working(&mut fixture, "tsk_1").await;
        fixture.world.ok(&["project", "pause"]);
        assert_eq!(solo.next_action().await, "work");
        solo.report("success", "It works.").await;
        let board: Arc<Board> = fixture.board().await;
        assert!(board.session(SessionId(1)).unwrap().report.is_some());
    })
    .await;
}
