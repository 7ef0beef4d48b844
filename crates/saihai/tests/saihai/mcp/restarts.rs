//! Does the end of a server, in the middle of anything, cost an agent nothing?

use board::EndReason;
use serde_json::{Value, json};

use super::agent::Agent;
use super::stage::{Stage, merged, over_both};
use crate::world::column;

/// N6, M1, E3: killed between every two calls of a worker, the server that follows gives the same
/// answer; nothing is lost, nothing is done twice, and over HTTP the client notices nothing.
#[tokio::test]
async fn killed_server_is_followed_by_one_that_says_the_same() {
    over_both(async |mut stage| {
        let task = stage.started("Fix the login", "coder");
        let mut coder = stage.claim("coder", &task).await;
        coder.must("authenticate", json!({})).await;
        let mut actions = Vec::new();
        loop {
            let told = coder.next().await;
            stage.kill(&mut coder).await;
            assert_eq!(coder.next().await, told, "the same board, the same answer");
            actions.push(told["action"].as_str().unwrap().to_owned());
            if told["action"] == "logout" {
                break;
            }
            stage.kill(&mut coder).await;
            coder.follow(&told).await;
            stage.kill(&mut coder).await;
        }
        let pair = ["start_subtask", "execute_subtask"];
        let whole =
            [&["report_model", "get_task", "create_subtasks"], &pair[..], &pair, &["report_completion", "logout"]];
        assert_eq!(actions, whole.concat());
        let ended = stage.leave(coder).await;
        stage.examine(&ended, merged()).await;
        let tasks = stage.world.json(&["task", "list", "--all"]);
        assert_eq!(column(&tasks, "id"), ["tsk_1", "tsk_2", "tsk_3"]);
        assert_eq!(column(&tasks, "status"), ["done", "done", "done"]);
        assert_eq!(stage.world.json(&["session", "list"]).as_array().unwrap().len(), 1);
        stage.world.ok(&["log", "verify"]);
    })
    .await;
}

/// One call of an agent whose server was just killed.
async fn after_a_kill(stage: &mut Stage, agent: &mut Agent, tool: &str, arguments: Value) -> Value {
    stage.kill(agent).await;
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
async fn play(stage: &mut Stage, agent: &mut Agent, script: Script) {
    for (action, calls) in script {
        let told = after_a_kill(stage, agent, "get_next_action", json!({})).await;
        assert_eq!(told["action"], action, "{told}");
        for (tool, arguments) in calls {
            after_a_kill(stage, agent, tool, arguments).await;
        }
    }
}

/// N6, N4, E3: the same for a manager: its choices are kept, delivered once and spent once, whichever
/// two calls the server dies between.
#[tokio::test]
async fn killed_server_costs_a_manager_nothing() {
    over_both(async |mut stage| {
        let top = stage.started("Release", "lead");
        let mut lead = stage.claim("lead", &top).await;
        let model = json!({ "provider": "anthropic", "model_id": "claude-sonnet-4-5" });
        let script = [
            ("report_model", vec![("report_model", model)]),
            ("get_task", vec![("get_my_task", json!({}))]),
            ("create_subtasks", vec![("create_tasks_batch", super::agent::two_steps())]),
        ];
        play(&mut stage, &mut lead, script.into()).await;
        // The second of the batch is the one that needs nothing.
        play(&mut stage, &mut lead, starting("tsk_3", "coder")).await;
        stage.kill(&mut lead).await;
        assert_eq!(lead.told().await, "wait", "until it leaves");
        stage.leave(lead).await;
        assert_eq!(stage.staffed("lead").await, ["hold", "waiting_for_workers"]);
        stage.work("coder", "tsk_3").await;
        let mut lead = stage.claim("lead", &top).await;
        lead.enter().await;
        play(&mut stage, &mut lead, starting("tsk_2", "tester")).await;
        stage.leave(lead).await;
        stage.work("tester", "tsk_2").await;
        let mut lead = stage.claim("lead", &top).await;
        lead.enter().await;
        let told = after_a_kill(&mut stage, &mut lead, "get_next_action", json!({})).await;
        assert_eq!(told["action"], "report_completion");
        let report = json!({ "result": "success", "summary": "Both are there." });
        after_a_kill(&mut stage, &mut lead, "report_completed", report).await;
        stage.kill(&mut lead).await;
        assert_eq!(lead.told().await, "logout");
        stage.leave(lead).await;
        assert_eq!(stage.world.status(&top), "done");
        stage.world.ok(&["log", "verify"]);
    })
    .await;
}

/// N6, S1, S2: the session that follows one that was lost goes on where the facts are.
#[tokio::test]
async fn next_session_goes_on_where_the_lost_one_was() {
    over_both(async |mut stage| {
        let task = stage.started("Fix the login", "coder");
        let mut first = stage.claim("coder", &task).await;
        first.enter().await;
        first.must("create_tasks_batch", super::agent::two_steps()).await;
        first.set("tsk_3", "in_progress").await;
        first.set("tsk_3", "done").await;
        first.set("tsk_2", "in_progress").await;
        first.must("save_context", json!({ "findings": "The cookie is too old." })).await;
        stage.end(first, board::ProcessEnd::because(EndReason::Lost)).await;
        assert_eq!(stage.staffed("coder").await, ["start", "has_in_progress_task"]);
        let mut second = stage.claim("coder", &task).await;
        second.enter().await;
        let own = second.must("get_my_task", json!({})).await;
        assert_eq!(own["task"]["context"]["findings"], "The cookie is too old.");
        let told = second.next().await;
        assert_eq!([&told["action"], &told["subtask"]["id"]], ["execute_subtask", "tsk_2"]);
        assert_eq!(stage.world.json(&["task", "show", &task])["attempts"], 0);
    })
    .await;
}

/// G2, G3: the same answer for the eighth time with nothing new between stops the session and parks
/// the task, with the reason.
#[tokio::test]
async fn eighth_equal_answer_stops_the_session() {
    over_both(async |mut stage| {
        let task = stage.started("Fix the login", "coder");
        let mut coder = stage.claim("coder", &task).await;
        coder.enter().await;
        for time in 1..8 {
            assert_eq!(coder.told().await, "create_subtasks", "time {time}");
            coder.must("list_tasks", json!({})).await;
        }
        assert_parked(&coder.next().await, &stage.world.json(&["task", "show", &task]));
        let another = json!({ "title": "late", "description": "d" });
        assert_eq!(coder.refused("create_task", another).await, "interrupted");
        assert_eq!(stage.staffed("coder").await, ["stop", "no_progress"]);
        stage.leave(coder).await;
        assert_eq!(stage.staffed("coder").await, ["hold", "blocked_without_in_progress"]);
        stage.world.ok(&["task", "unblock", &task]);
        assert_eq!(stage.staffed("coder").await, ["start", "has_in_progress_task"]);
    })
    .await;
}

#[track_caller]
fn assert_parked(told: &Value, task: &Value) {
    assert_eq!([&told["action"], &told["reason"]], ["stop", "no_progress"]);
    assert_eq!([&task["status"], &task["blocked_reason"]], ["blocked", "no_progress"]);
}

/// G2, G4, C6: an agent does not get round that by connecting anew for every call: a server that
/// ends, on SIGTERM or when its client closes its end, leaves no call uncounted.
#[tokio::test]
async fn another_server_does_not_begin_the_count_again() {
    over_both(async |mut stage| {
        let task = stage.started("Fix the login", "coder");
        let mut coder = stage.claim("coder", &task).await;
        coder.enter().await;
        for time in 1..8 {
            assert_eq!(coder.told().await, "create_subtasks", "time {time}");
            stage.replace(&mut coder).await;
        }
        assert_parked(&coder.next().await, &stage.world.json(&["task", "show", &task]));
    })
    .await;
}
