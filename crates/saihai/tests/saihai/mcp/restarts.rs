//! Does the end of a server, in the middle of anything, cost an agent nothing?

use board::EndReason;
use serde_json::{Value, json};

use super::stage::{merged, over_both};
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
