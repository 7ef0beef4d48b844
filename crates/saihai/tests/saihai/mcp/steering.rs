//! Do the owner's words reach the agent that works, and does it know what it is judged by?

use serde_json::json;

use super::fixture::over_both_transports;
use crate::world::column;

/// L10, F118: a comment is in the next answer of the running session, in `get_my_task`, and the owner sees who has read
/// it. Success is not reported past it.
#[tokio::test]
async fn a_comment_reaches_the_running_worker() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "solo");
        let mut solo = fixture.claim("solo", &task).await;
        solo.must("report_model", json!({ "provider": "p", "model_id": "m" })).await;
        solo.must("get_my_task", json!({})).await;
        assert_eq!(solo.next().await["action"], "work");
        let said = fixture.world.json(&["task", "comment", &task, "Use the name want_integer"]);
        assert_eq!(
            [&said["by"], &said["text"], &said["read_by"]],
            [&json!("owner"), &json!("Use the name want_integer"), &json!([])]
        );

        let report = json!({ "result": "success", "summary": "done" });
        let refusal = solo.refusal("report_completed", report.clone()).await;
        assert_eq!(refusal["code"], "not_ready");
        assert!(refusal["hint"].as_str().unwrap().contains("get_next_action"), "{refusal}");
        let answer = solo.next().await;
        assert_eq!(column(&answer["comments"], "text"), ["Use the name want_integer"], "{answer}");
        assert!(answer["instruction"].as_str().unwrap().contains("comments"), "{answer}");
        assert!(solo.next().await["comments"].is_null(), "it is told once");
        let mine = solo.must("get_my_task", json!({})).await;
        assert_eq!(column(&mine["task"]["comments"], "text"), ["Use the name want_integer"]);
        let shown = fixture.world.json(&["task", "show", &task]);
        assert_eq!(shown["comments"][0]["read_by"], json!([solo.id()]));
        assert!(fixture.world.ok(&["task", "show", &task]).contains("want_integer"));

        // A message about its own task is one too.
        let sent = fixture.world.json(&["message", "send", "solo", "And test it", "--task", &task]);
        assert_eq!(sent["text"], "And test it");
        assert_eq!(column(&solo.next().await["comments"], "text"), ["And test it"]);
        solo.must("report_completed", report).await;
    })
    .await;
}

/// L10: what the owner answers with an unblocking, and says with a return, is there for the next session.
#[tokio::test]
async fn the_next_session_is_told_the_answer() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "solo");
        fixture.world.ok(&["task", "block", &task, "--reason", "wait"]);
        fixture.world.ok(&["task", "unblock", &task, "--answer", "The key is in the vault"]);
        fixture.world.ok(&["task", "update", &task, "--status", "todo", "--reason", "Handle None too"]);
        fixture.world.ok(&["task", "start", &task]);
        let prompt = fixture.world.ok(&["worker", "command", &task]);
        for said in ["The key is in the vault", "Handle None too"] {
            assert!(prompt.contains(said), "{said}\n{prompt}");
        }
        let mut solo = fixture.claim("solo", &task).await;
        let told = solo.next().await;
        assert_eq!(column(&told["comments"], "text"), ["The key is in the vault", "Handle None too"]);
    })
    .await;
}

/// L10, N11: a manager writes to whoever works on its subtasks; agents do not chat with each other.
#[tokio::test]
async fn a_manager_comments_on_its_subtask() {
    over_both_transports(async |mut fixture| {
        let top = fixture.started("The shop", "lead");
        let mut lead = fixture.claim("lead", &top).await;
        lead.must("report_model", json!({ "provider": "p", "model_id": "m" })).await;
        lead.must("get_my_task", json!({})).await;
        let made = lead.must("create_task", json!({ "title": "Part", "description": "d" })).await;
        let part = made["task"]["id"].as_str().unwrap().to_owned();
        lead.must("assign_task", json!({ "task_id": part, "assignee_id": "solo" })).await;
        lead.must("update_task_status", json!({ "task_id": part, "status": "in_progress" })).await;
        lead.must("comment_task", json!({ "task_id": part, "text": "Keep it small" })).await;
        let mut solo = fixture.claim("solo", &part).await;
        assert_eq!(solo.next().await["comments"][0]["by"], "lead");
        let refusal = lead.refusal("send_message", json!({ "to": "solo", "content": "hello" })).await;
        assert_eq!(refusal["code"], "not_allowed");
        let about = json!({ "to": "solo", "content": "Smaller", "related_task_id": part });
        assert_eq!(lead.must("send_message", about).await["comment_on"], json!(part));
        let refusal = solo.refusal("send_message", json!({ "to": "lead", "content": "help" })).await;
        assert!(refusal["hint"].as_str().unwrap().contains("report_completed"), "{refusal}");
    })
    .await;
}

/// N8, F119: `get_my_task` and the whole prompt name scope, checks with their commands, and goals.
#[tokio::test]
async fn a_worker_knows_what_it_is_judged_by() {
    over_both_transports(async |mut fixture| {
        let config = fixture.world.read(".saihai/config.yaml");
        let goals = "task_types: {bug: {goals: [{type: test_added, pattern: \"**/*.test.js\"}]}}\n";
        fixture.world.write(".saihai/config.yaml", format!("{config}\n{goals}"));
        fixture.world.ok(&["agent", "apply"]);
        let task = fixture.world.ok(&["task", "add", "Fix", "--type", "bug", "--assign", "solo", "--quiet"]);
        let prompt = fixture.world.ok(&["worker", "command", &task]);
        for part in ["make test", "test_added **/*.test.js", "judged by"] {
            assert!(prompt.contains(part), "{part}\n{prompt}");
        }
        fixture.world.ok(&["task", "start", &task]);
        let mut solo = fixture.claim("solo", &task).await;
        let judged = solo.must("get_my_task", json!({})).await["judged_by"].clone();
        assert_eq!(judged["checks"], json!([{ "name": "tests_pass", "command": "make test" }]), "{judged}");
        assert_eq!(judged["goals"], json!(["test_added **/*.test.js"]));
        assert_eq!(judged["completion"], "merged");
        assert!(judged["may_change"].is_array());
    })
    .await;
}

/// N9: nothing is reported of a task that was not read, and twenty refused calls in a row end the session.
#[tokio::test]
async fn premature_and_endless_calls_are_ended() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "solo");
        let mut solo = fixture.claim("solo", &task).await;
        let report = json!({ "result": "success", "summary": "done" });
        for _ in 0..19 {
            assert_eq!(solo.refused("report_completed", report.clone()).await, "not_ready");
        }
        assert_eq!(solo.next().await["action"], "report_model", "an accepted call ends the row");
        for _ in 0..20 {
            assert_eq!(solo.refused("report_completed", report.clone()).await, "not_ready");
        }
        let answer = solo.next().await;
        assert_eq!([&answer["action"], &answer["reason"]], ["stop", "no_progress"]);
        let shown = fixture.world.json(&["task", "show", &task]);
        assert_eq!([&shown["status"], &shown["blocked_reason"]], ["blocked", "no_progress"]);
    })
    .await;
}

/// R7, L10: what an agent proposes for the memory bank waits for the owner, who writes it there or declines.
#[tokio::test]
async fn an_agent_proposes_a_decision() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "solo");
        let mut solo = fixture.claim("solo", &task).await;
        solo.must("report_model", json!({ "provider": "p", "model_id": "m" })).await;
        solo.must("get_my_task", json!({})).await;
        for decision in ["# Dates are UTC\nEverywhere but in pages.", "Names are short"] {
            solo.must("save_context", json!({ "decision": decision })).await;
        }
        let waiting = fixture.world.json(&["memory", "proposals"]);
        assert_eq!(column(&waiting, "text"), ["# Dates are UTC\nEverywhere but in pages.", "Names are short"]);
        assert_eq!((&waiting[0]["by"], &waiting[0]["task_id"]), (&json!("solo"), &json!(task)));
        assert!(fixture.world.ok(&["task", "show", &task]).contains("Dates are UTC"));
        let number = |n: usize| waiting[n]["number"].to_string();

        let written = fixture.world.json(&["memory", "accept", &number(0), "--category", "time"]);
        assert_eq!(written["path"], ".saihai/memory/time/dates-are-utc.md");
        assert!(fixture.world.read(".saihai/memory/time/dates-are-utc.md").ends_with("Everywhere but in pages.\n"));
        fixture.world.ok(&["memory", "decline", &number(1)]);
        assert_eq!(fixture.world.json(&["memory", "proposals"]), json!([]));
        fixture.world.refused(5, &["memory", "accept", &number(1)]);
    })
    .await;
}
