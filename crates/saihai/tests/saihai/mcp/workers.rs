//! Is a worker led from its first call to merged work?

use serde_json::json;

use super::agent::two_steps;
use super::fixture::{failing_check, merged, over_both_transports};
use crate::world::{column, texts};

/// N2, N3, M3, S3, L6, F1, F11, F20: the whole loop of a worker, whose steps come in the order of
/// their dependencies and their urgency, and never more of them than the limit.
#[tokio::test]
async fn worker_is_led_through_its_steps_to_done() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        let mut coder = fixture.claim("coder", &task).await;
        let known = coder.must("authenticate", json!({})).await;
        assert_eq!([&known["agent_id"], &known["session_id"], &known["project_id"]], ["coder", "ses_1", "shop"]);
        assert_eq!(known.get("session_token"), None, "its credential is enough");
        assert_eq!(coder.next_action().await, "report_model");
        let model = json!({ "provider": "anthropic", "model_id": "claude-sonnet-4-5" });
        assert_eq!(coder.must("report_model", model).await["verified"], true);
        assert_eq!(coder.next_action().await, "get_task");
        let own = coder.must("get_my_task", json!({})).await;
        assert_eq!([&own["task"]["title"], &own["task"]["description"]], ["Fix the login", "All about: Fix the login"]);
        let asked = coder.next().await;
        assert_eq!([&asked["action"], &asked["state"]], ["create_subtasks", "needs_subtask_creation"]);
        assert_eq!(texts(&asked["tools"]), ["create_tasks_batch"]);

        let step = |id: &str, priority: &str, needs: &[&str]| {
            json!({ "local_id": id, "title": id, "description": id, "priority": priority, "dependencies": needs })
        };
        let six: Vec<_> = ["1", "2", "3", "4", "5", "6"].map(|id| step(id, "low", &[])).into();
        assert_eq!(coder.refused("create_tasks_batch", json!({ "tasks": six })).await, "limit_reached");
        assert_eq!(coder.must("list_tasks", json!({})).await["total"], 0, "all or nothing");
        let steps = [step("last", "critical", &["first"]), step("second", "low", &[]), step("first", "high", &[])];
        let created = coder.must("create_tasks_batch", json!({ "tasks": steps })).await;
        assert_eq!(created["task_ids"], json!({ "first": "tsk_4", "last": "tsk_2", "second": "tsk_3" }));
        assert_eq!(column(&created["tasks"], "status"), ["todo", "todo", "todo"]);

        let early = json!({ "task_id": "tsk_2", "status": "in_progress" });
        assert_eq!(coder.refused("update_task_status", early).await, "not_ready");
        for (order, id) in ["tsk_4", "tsk_2", "tsk_3"].into_iter().enumerate() {
            let start = coder.next().await;
            assert_eq!([&start["action"], &start["subtask"]["id"]], ["start_subtask", id]);
            assert_eq!(start["progress"]["done"], order);
            assert_eq!(coder.set(id, "in_progress").await["previous_status"], "todo");
            let execute = coder.next().await;
            assert_eq!([&execute["action"], &execute["subtask"]["id"]], ["execute_subtask", id]);
            assert_eq!(coder.refused("report_completed", success()).await, "children_unsettled");
            coder.set(id, "done").await;
        }
        assert_eq!(coder.next_action().await, "report_completion");
        coder.report("success", "It works.").await;
        assert_eq!(coder.next_action().await, "logout");
        coder.must("logout", json!({})).await;
        assert_eq!(coder.refused("get_next_action", json!({})).await, "stale_session");

        let ended = fixture.end(coder, board::ProcessEnd::exited(0)).await;
        assert_eq!(fixture.world.status(&task), "in_progress", "a claim is no proof");
        assert_eq!(fixture.staffed("coder").await, ["hold", "already_running"]);
        fixture.examine(&ended, merged()).await;
        assert_eq!(fixture.world.status(&task), "done");
        let session = fixture.world.json(&["session", "show", &ended.session]);
        let facts = ["status", "end_reason", "dod_result", "verdict"].map(|fact| session[fact].as_str().unwrap());
        assert_eq!(facts, ["ended", "exited", "merged", "done"]);
        assert_eq!(fixture.staffed("coder").await, ["hold", "no_in_progress_task"]);
    })
    .await;
}

fn success() -> serde_json::Value {
    json!({ "result": "success", "summary": "done" })
}

/// N2.10, N3: a worker that does not split its task works on it at once.
#[tokio::test]
async fn worker_that_never_splits_works_at_once() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Small", "solo");
        let mut solo = fixture.claim("solo", &task).await;
        assert_eq!(solo.obey_as_worker().await, ["report_model", "get_task", "work", "logout"]);
        let ended = fixture.log_out(solo).await;
        fixture.examine(&ended, merged()).await;
        assert_eq!(fixture.world.status(&task), "done");
        assert_eq!(fixture.world.json(&["task", "list", "--all"]).as_array().unwrap().len(), 1);
    })
    .await;
}

/// V3, N2.11, N6: work that a check rejected comes back with what was wrong, and with its steps kept.
#[tokio::test]
async fn rejected_work_comes_back_with_what_was_wrong() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        let mut first = fixture.claim("coder", &task).await;
        first.obey_as_worker().await;
        let ended = fixture.log_out(first).await;
        fixture.examine(&ended, failing_check()).await;
        let shown = fixture.world.json(&["task", "show", &task]);
        assert_eq!((&shown["status"], &shown["attempts"]), (&json!("in_progress"), &json!(1)));
        assert_eq!(fixture.world.json(&["session", "show", &ended.session])["verdict"], "rejected");

        let mut second = fixture.claim("coder", &task).await;
        second.must("authenticate", json!({})).await;
        assert_eq!(second.next_action().await, "report_model");
        second.must("report_model", json!({ "provider": "anthropic", "model_id": "m" })).await;
        assert_eq!(second.next_action().await, "get_task");
        let own = second.must("get_my_task", json!({})).await;
        let feedback = own["task"]["feedback"].as_str().unwrap();
        assert!(feedback.contains("tests_pass") && feedback.contains("2 of 7 tests failed"), "{feedback}");
        assert_eq!(column(&own["task"]["children"], "status"), ["done", "done"]);
        let rework = second.next().await;
        assert_eq!([&rework["action"], &rework["state"]], ["work", "rework"]);
        assert!(rework["instruction"].as_str().unwrap().contains("2 of 7 tests failed"), "{rework}");
        second.report("success", "Mended.").await;
        let ended = fixture.log_out(second).await;
        fixture.examine(&ended, merged()).await;
        assert_eq!(fixture.world.status(&task), "done");
    })
    .await;
}

/// L6, F13, F3: a step cannot be split, and nothing is created twice.
#[tokio::test]
async fn steps_are_neither_split_nor_created_again() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        let mut coder = fixture.claim("coder", &task).await;
        coder.begin_session().await;
        coder.must("create_tasks_batch", two_steps()).await;
        let below = json!({ "title": "deeper", "description": "d", "parent_task_id": "tsk_2" });
        assert_eq!(coder.refused("create_task", below).await, "not_allowed");
        let twin = coder.refusal("create_task", json!({ "title": " write IT ", "description": "d" })).await;
        assert_eq!(twin["code"], "duplicate");
        assert!(twin["message"].as_str().unwrap().contains("tsk_3"), "{twin}");
        assert_eq!(column(&coder.must("list_tasks", json!({})).await["tasks"], "id"), ["tsk_2", "tsk_3"]);
    })
    .await;
}
