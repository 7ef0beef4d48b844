//! Does the end of a server, in the middle of anything, cost an agent nothing?

use board::EndReason;
use serde_json::{Value, json};

use super::agent::Agent;
use super::fixture::{Fixture, merged, over_both_transports};
use crate::world::column;

/// N6, M1, E3: killed between every two calls of a worker, the server that follows gives the same
/// answer; nothing is lost, nothing is done twice, and over HTTP the client notices nothing.
#[tokio::test]
async fn killed_server_is_followed_by_one_that_says_the_same() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        let mut coder = fixture.claim("coder", &task).await;
        coder.must("authenticate", json!({})).await;
        let mut actions = Vec::new();
        loop {
            let told = coder.next().await;
            fixture.kill(&mut coder).await;
            assert_eq!(coder.next().await, told, "the same board, the same answer");
            actions.push(told["action"].as_str().unwrap().to_owned());
            if told["action"] == "logout" {
                break;
            }
            fixture.kill(&mut coder).await;
            coder.follow(&told).await;
            fixture.kill(&mut coder).await;
        }
        let pair = ["start_subtask", "execute_subtask"];
        let whole =
            [&["report_model", "get_task", "create_subtasks"], &pair[..], &pair, &["report_completion", "logout"]];
        assert_eq!(actions, whole.concat());
        let ended = fixture.log_out(coder).await;
        fixture.examine(&ended, merged()).await;
        let tasks = fixture.world.json(&["task", "list", "--all"]);
        assert_eq!(column(&tasks, "id"), ["tsk_1", "tsk_2", "tsk_3"]);
        assert_eq!(column(&tasks, "status"), ["done", "done", "done"]);
        assert_eq!(fixture.world.json(&["session", "list"]).as_array().unwrap().len(), 1);
        fixture.world.ok(&["log", "verify"]);
    })
    .await;
}

/// One call of an agent whose server was just killed.
async fn after_a_kill(fixture: &mut Fixture, agent: &mut Agent, tool: &str, arguments: Value) -> Value {
    fixture.kill(agent).await;
    agent.must(tool, arguments).await
}

/// What an agent must be told, and what it calls then.
type Script = Vec<(&'static str, Vec<(&'static str, Value)>)>;

/// A manager looks, starts one task, looks again and waits.
fn starting(task: &str, assignee: &str) -> Script {
    let select = |action: &str| vec![("select_action", json!({ "action": action }))];
    let start = vec![
        ("assign_task", json!({ "task_id": task, "assignee_id": assignee })),
        ("update_task_status", json!({ "task_id": task, "status": "in_progress" })),
    ];
    let look = "situational_awareness";
    vec![(look, select("start")), ("start", start), (look, select("wait")), ("wait", Vec::new())]
}

/// Plays a script; the server is killed before every call.
async fn play(fixture: &mut Fixture, agent: &mut Agent, script: Script) {
    for (action, calls) in script {
        let told = after_a_kill(fixture, agent, "get_next_action", json!({})).await;
        assert_eq!(told["action"], action, "{told}");
        for (tool, arguments) in calls {
            after_a_kill(fixture, agent, tool, arguments).await;
        }
    }
}

/// N6, N4, E3: the same for a manager: its choices are kept, delivered once and spent once, whichever
/// two calls the server dies between.
#[tokio::test]
async fn killed_server_costs_a_manager_nothing() {
    over_both_transports(async |mut fixture| {
        let top = fixture.started("Release", "lead");
        let mut lead = fixture.claim("lead", &top).await;
        let model = json!({ "provider": "anthropic", "model_id": "claude-sonnet-4-5" });
        let script = [
            ("report_model", vec![("report_model", model)]),
            ("get_task", vec![("get_my_task", json!({}))]),
            ("create_subtasks", vec![("create_tasks_batch", super::agent::two_steps())]),
        ];
        play(&mut fixture, &mut lead, script.into()).await;
        // The second of the batch is the one that needs nothing.
        play(&mut fixture, &mut lead, starting("tsk_3", "coder")).await;
        fixture.kill(&mut lead).await;
        assert_eq!(lead.next_action().await, "wait", "until it leaves");
        fixture.log_out(lead).await;
        assert_eq!(fixture.staffed("lead").await, ["hold", "waiting_for_workers"]);
        fixture.work("coder", "tsk_3").await;
        let mut lead = fixture.claim("lead", &top).await;
        lead.begin_session().await;
        play(&mut fixture, &mut lead, starting("tsk_2", "tester")).await;
        fixture.log_out(lead).await;
        fixture.work("tester", "tsk_2").await;
        let mut lead = fixture.claim("lead", &top).await;
        lead.begin_session().await;
        let told = after_a_kill(&mut fixture, &mut lead, "get_next_action", json!({})).await;
        assert_eq!(told["action"], "report_completion");
        let report = json!({ "result": "success", "summary": "Both are there." });
        after_a_kill(&mut fixture, &mut lead, "report_completed", report).await;
        fixture.kill(&mut lead).await;
        assert_eq!(lead.next_action().await, "logout");
        fixture.log_out(lead).await;
        assert_eq!(fixture.world.status(&top), "done");
        fixture.world.ok(&["log", "verify"]);
    })
    .await;
}

/// N6, S1, S2: the session that follows one that was lost goes on where the facts are.
#[tokio::test]
async fn next_session_goes_on_where_the_lost_one_was() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        let mut first = fixture.claim("coder", &task).await;
        first.begin_session().await;
        first.must("create_tasks_batch", super::agent::two_steps()).await;
        first.set("tsk_3", "in_progress").await;
        first.set("tsk_3", "done").await;
        first.set("tsk_2", "in_progress").await;
        first.must("save_context", json!({ "findings": "The cookie is too old." })).await;
        fixture.end(first, board::ProcessEnd::because(EndReason::Lost)).await;
        assert_eq!(fixture.staffed("coder").await, ["start", "has_in_progress_task"]);
        let mut second = fixture.claim("coder", &task).await;
        second.begin_session().await;
        let own = second.must("get_my_task", json!({})).await;
        assert_eq!(own["task"]["context"]["findings"], "The cookie is too old.");
        let told = second.next().await;
        assert_eq!([&told["action"], &told["subtask"]["id"]], ["execute_subtask", "tsk_2"]);
        assert_eq!(fixture.world.json(&["task", "show", &task])["attempts"], 0);
    })
    .await;
}

/// G2, G3: the same answer for the eighth time with nothing new between stops the session and blocks
/// the task, with the reason.
#[tokio::test]
async fn eighth_equal_answer_stops_the_session() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        let mut coder = fixture.claim("coder", &task).await;
        coder.begin_session().await;
        for time in 1..8 {
            assert_eq!(coder.next_action().await, "create_subtasks", "time {time}");
            coder.must("list_tasks", json!({})).await;
        }
        assert_blocked(&coder.next().await, &fixture.world.json(&["task", "show", &task]));
        let another = json!({ "title": "late", "description": "d" });
        assert_eq!(coder.refused("create_task", another).await, "interrupted");
        assert_eq!(fixture.staffed("coder").await, ["stop", "no_progress"]);
        fixture.log_out(coder).await;
        assert_eq!(fixture.staffed("coder").await, ["hold", "blocked_without_in_progress"]);
        fixture.world.ok(&["task", "unblock", &task]);
        assert_eq!(fixture.staffed("coder").await, ["start", "has_in_progress_task"]);
    })
    .await;
}

#[track_caller]
fn assert_blocked(told: &Value, task: &Value) {
    assert_eq!([&told["action"], &told["reason"]], ["stop", "no_progress"]);
    assert_eq!([&task["status"], &task["blocked_reason"]], ["blocked", "no_progress"]);
}

/// G2, G4, C6: an agent does not get round that by connecting anew for every call: a server that
/// ends, on SIGTERM or when its client closes its end, leaves no call uncounted.
#[tokio::test]
async fn another_server_does_not_begin_the_count_again() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        let mut coder = fixture.claim("coder", &task).await;
        coder.begin_session().await;
        for time in 1..8 {
            assert_eq!(coder.next_action().await, "create_subtasks", "time {time}");
            fixture.replace(&mut coder).await;
        }
        assert_blocked(&coder.next().await, &fixture.world.json(&["task", "show", &task]));
    })
    .await;
}
