//! What does a manager do about children that are blocked, failed or cancelled?

use serde_json::json;

use super::agent::Agent;
use super::fixture::{Fixture, merged, over_both_transports};
use crate::world::{column, texts};

/// `lead` has given `tsk_2` to `coder` and `tsk_3` to `tester`, started both, and left.
async fn both_started(fixture: &mut Fixture) -> String {
    let top = fixture.started("Release", "lead");
    let mut lead = fixture.claim("lead", &top).await;
    lead.begin_session().await;
    assert_eq!(lead.next_action().await, "create_subtasks");
    for title in ["Build", "Ship"] {
        lead.must("create_task", json!({ "title": title, "description": title })).await;
    }
    for (task, assignee) in [("tsk_2", "coder"), ("tsk_3", "tester")] {
        assert_eq!(lead.next_action().await, "situational_awareness");
        lead.start(task, assignee).await;
    }
    lead.wait().await;
    fixture.log_out(lead).await;
    top
}

/// A worker reports that it cannot do its task.
async fn give_up(fixture: &mut Fixture, agent: &str, task: &str, result: &str, why: &str) {
    let mut worker = fixture.claim(agent, task).await;
    worker.begin_session().await;
    worker.report(result, why).await;
    assert_eq!(worker.next_action().await, "logout");
    fixture.log_out(worker).await;
    assert_eq!(fixture.world.status(task), result);
}

async fn reviewing(fixture: &mut Fixture, top: &str) -> Agent {
    assert_eq!(fixture.staffed("lead").await, ["start", "worker_blocked"]);
    let mut lead = fixture.claim("lead", top).await;
    lead.begin_session().await;
    lead
}

/// N2.17, A1.6, L1, F6, F8: a manager is woken by what is stuck, reads why, lifts the block, retries
/// what failed, and every call that it is told to make is accepted.
#[tokio::test]
async fn manager_resolves_what_is_blocked_and_failed() {
    over_both_transports(async |mut fixture| {
        let top = both_started(&mut fixture).await;
        give_up(&mut fixture, "coder", "tsk_2", "failed", "The compiler is broken.").await;
        give_up(&mut fixture, "tester", "tsk_3", "blocked", "There is no key.").await;
        let mut lead = reviewing(&mut fixture, &top).await;
        let review = lead.next().await;
        assert_eq!([&review["action"], &review["state"]], ["review_and_resolve_blocks", "needs_review"]);
        assert!(texts(&review["tools"]).contains(&"update_task_status"), "{review}");
        let children = lead.must("list_tasks", json!({})).await;
        assert_eq!(children["tasks"][0]["reason"], "The compiler is broken.");
        assert_eq!(children["tasks"][1]["blocked_reason"], "There is no key.");
        assert_eq!(lead.refused("select_action", json!({ "action": "wait" })).await, "cannot_help");

        assert_eq!(lead.set("tsk_2", "todo").await["previous_status"], "failed");
        assert_eq!(lead.set("tsk_3", "in_progress").await["previous_status"], "blocked");
        assert_eq!(lead.next_action().await, "situational_awareness");
        lead.select("start").await;
        assert_eq!(lead.next_action().await, "start");
        lead.set("tsk_2", "in_progress").await;
        lead.wait().await;
        fixture.log_out(lead).await;
        for (agent, task) in [("coder", "tsk_2"), ("tester", "tsk_3")] {
            assert_eq!(fixture.staffed(agent).await, ["start", "has_in_progress_task"]);
            fixture.work(agent, task).await;
        }
        assert_eq!(fixture.staffed("lead").await, ["start", "workers_progressed"]);
        let mut lead = fixture.claim("lead", &top).await;
        lead.begin_session().await;
        assert_eq!(lead.next_action().await, "report_completion");
        lead.report("success", "Released after all.").await;
        fixture.log_out(lead).await;
        assert_eq!(fixture.world.status(&top), "done");
    })
    .await;
}

/// F7: one child that was cancelled does not keep the others from completing the task.
#[tokio::test]
async fn cancelled_child_does_not_prevent_completion() {
    over_both_transports(async |mut fixture| {
        let top = both_started(&mut fixture).await;
        fixture.work("coder", "tsk_2").await;
        give_up(&mut fixture, "tester", "tsk_3", "failed", "Nobody can.").await;
        let mut lead = reviewing(&mut fixture, &top).await;
        assert_eq!(lead.next_action().await, "review_and_resolve_blocks");
        assert_eq!(
            lead.refused("report_completed", json!({ "result": "success", "summary": "x" })).await,
            "children_unsettled"
        );
        let cancelled = lead.must("cancel_task", json!({ "task_id": "tsk_3", "reason": "not needed" })).await;
        assert_eq!([&cancelled["previous_status"], &cancelled["new_status"]], ["failed", "cancelled"]);
        let answer = lead.next().await;
        assert_eq!((&answer["action"], &answer["progress"]["total"]), (&json!("report_completion"), &json!(1)));
        lead.report("success", "Released without it.").await;
        fixture.log_out(lead).await;
        assert_eq!(fixture.world.status(&top), "done");
    })
    .await;
}

/// F8, L1, L3: a manager that cannot resolve it reports so; the owner, whose block nobody else lifts,
/// does, and the work goes on.
#[tokio::test]
async fn manager_that_cannot_resolve_it_reports_blocked() {
    over_both_transports(async |mut fixture| {
        let top = both_started(&mut fixture).await;
        fixture.work("coder", "tsk_2").await;
        fixture.world.ok(&["task", "block", "tsk_3", "--reason", "The lawyers look at it."]);
        let mut lead = reviewing(&mut fixture, &top).await;
        let review = lead.next().await;
        assert_eq!(review["action"], "review_and_resolve_blocks");
        let lifting = json!({ "task_id": "tsk_3", "status": "in_progress" });
        assert_eq!(lead.refused("update_task_status", lifting).await, "not_allowed", "it is the owner's block");
        assert!(texts(&review["tools"]).contains(&"report_completed"), "{review}");
        lead.report("blocked", "The owner has blocked Ship.").await;
        assert_eq!(lead.next_action().await, "logout");
        fixture.log_out(lead).await;
        let blocked = fixture.world.json(&["task", "show", &top]);
        assert_eq!([&blocked["status"], &blocked["blocked_reason"]], ["blocked", "The owner has blocked Ship."]);
        assert_eq!(fixture.staffed("lead").await, ["hold", "blocked_without_in_progress"]);

        assert_eq!(
            fixture.world.refused(6, &["task", "unblock", "tsk_3"])["code"],
            "not_ready",
            "what is above it first"
        );
        for task in [top.as_str(), "tsk_3"] {
            fixture.world.ok(&["task", "unblock", task]);
        }
        let mut tester = fixture.claim("tester", "tsk_3").await;
        tester.obey_as_worker().await;
        let ended = fixture.log_out(tester).await;
        fixture.examine(&ended, merged()).await;
        let mut lead = fixture.claim("lead", &top).await;
        lead.begin_session().await;
        assert_eq!(lead.next_action().await, "report_completion");
        lead.report("success", "Released.").await;
        fixture.log_out(lead).await;
        assert_eq!(column(&fixture.world.json(&["task", "list", "--all"]), "status")[..3], ["done", "done", "done"]);
    })
    .await;
}

/// L1, L2, L12, A2: what the owner retries for later waits in `todo` until the owner, its mover, starts it.
#[tokio::test]
async fn owner_retries_what_failed() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        give_up(&mut fixture, "coder", &task, "failed", "Too hard.").await;
        assert_eq!(fixture.staffed("coder").await, ["hold", "no_in_progress_task"]);
        fixture.world.ok(&["task", "retry", &task, "--later"]);
        assert_eq!(fixture.staffed("coder").await, ["hold", "no_in_progress_task"], "todo starts nobody");
        fixture.world.ok(&["task", "start", &task]);
        fixture.work("coder", &task).await;
    })
    .await;
}
