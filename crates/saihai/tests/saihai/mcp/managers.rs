//! Is a manager led through splitting, starting, waiting and being woken, to its report?

use serde_json::{Value, json};

use super::agent::Agent;
use super::fixture::{Fixture, merged, over_both_transports};
use crate::world::{column, texts};

/// A manager has split its task into `Build` and `Ship`, which needs `Build`.
async fn split(fixture: &mut Fixture, manager: &str, task: &str) -> (Agent, [String; 2]) {
    let mut lead = fixture.claim(manager, task).await;
    lead.begin_session().await;
    assert_eq!(lead.next_action().await, "create_subtasks");
    let created = lead
        .must(
            "create_tasks_batch",
            json!({ "tasks": [
                { "local_id": "build", "title": "Build", "description": "Build it." },
                { "local_id": "ship", "title": "Ship", "description": "Ship it.", "dependencies": ["build"] },
            ] }),
        )
        .await;
    assert_eq!(column(&created["tasks"], "status"), ["backlog", "backlog"]);
    let ids = ["build", "ship"].map(|local| created["task_ids"][local].as_str().unwrap().to_owned());
    (lead, ids)
}

/// A manager comes back and is asked to look.
async fn back(fixture: &mut Fixture, manager: &str, task: &str) -> Agent {
    let mut lead = fixture.claim(manager, task).await;
    lead.begin_session().await;
    lead
}

/// N2, N4, N5, A1.7, A1.8, A2, F2, F4, F5: a manager with two workers and a dependency splits, looks,
/// starts, waits, is woken by what was finished, and reports.
#[tokio::test]
async fn manager_is_led_through_its_workers_to_done() {
    over_both_transports(async |mut fixture| {
        let top = fixture.started("Release", "lead");
        assert_eq!(fixture.staffed("lead").await, ["start", "has_in_progress_task"]);
        let (mut lead, [build, ship]) = split(&mut fixture, "lead", &top).await;

        let look = lead.next().await;
        assert_eq!(look["action"], "situational_awareness");
        assert_eq!((&look["progress"]["total"], &look["progress"]["unstarted"]), (&json!(2), &json!(2)));
        assert!(!look.to_string().contains("Build"), "counts, not the board: {look}");
        let choose = |action: &str| json!({ "action": action });
        let early = lead.refusal("select_action", choose("wait")).await;
        assert_eq!(early["code"], "cannot_help");
        assert!(texts(&early["tools"]).contains(&"select_action"), "{early}");

        lead.start(&build, "coder").await;
        lead.must("assign_task", json!({ "task_id": ship, "assignee_id": "tester" })).await;
        let early = json!({ "task_id": ship, "status": "in_progress" });
        assert_eq!(lead.refused("update_task_status", early).await, "not_ready");
        assert_eq!(lead.next_action().await, "situational_awareness", "the choice is spent");
        assert_eq!(lead.refused("select_action", choose("start")).await, "cannot_help");
        lead.select("wait").await;
        let wait = lead.next().await;
        assert_eq!((&wait["action"], column(&wait["waiting"], "id")), (&json!("wait"), vec![build.as_str()]));
        assert_eq!(lead.next_action().await, "wait", "until it leaves");
        let first = fixture.log_out(lead).await;
        assert_eq!(fixture.world.json(&["session", "show", &first.session])["verdict"], "none");
        assert_eq!(fixture.staffed("lead").await, ["hold", "waiting_for_workers"]);
        let wanted = fixture.staffing("coder").await;
        assert_eq!([&wanted["action"], &wanted["task_id"]], ["start", build.as_str()]);
        assert_eq!(fixture.staffed("tester").await, ["hold", "no_in_progress_task"], "todo starts nobody");

        fixture.work("coder", &build).await;
        assert_eq!(fixture.staffed("lead").await, ["start", "workers_progressed"]);
        let mut lead = back(&mut fixture, "lead", &top).await;
        assert_eq!(lead.next_action().await, "situational_awareness");
        let recent = lead.must("get_recent_completions", json!({})).await;
        assert_eq!(column(&recent["completions"], "task_id"), [build.as_str()]);
        assert_eq!(column(&recent["completions"], "summary"), ["It works."]);
        lead.select("start").await;
        assert_eq!(lead.next_action().await, "start");
        lead.set(&ship, "in_progress").await;
        lead.wait().await;
        fixture.log_out(lead).await;
        assert_eq!(fixture.staffed("lead").await, ["hold", "waiting_for_workers"]);

        let mut tester = fixture.claim("tester", &ship).await;
        let own = tester.must("get_my_task", json!({})).await;
        assert_eq!(column(&own["dependencies"], "summary"), ["It works."]);
        assert_eq!(own["parent"]["id"], top);
        tester.obey_as_worker().await;
        let ended = fixture.log_out(tester).await;
        assert_eq!(fixture.staffed("lead").await, ["hold", "waiting_for_workers"], "it is not verified yet");
        fixture.examine(&ended, merged()).await;

        let mut lead = back(&mut fixture, "lead", &top).await;
        assert_eq!(lead.next_action().await, "report_completion");
        lead.report("success", "Released.").await;
        assert_eq!(lead.next_action().await, "logout");
        let last = fixture.log_out(lead).await;
        assert_eq!(fixture.world.status(&top), "done");
        assert_eq!(fixture.world.json(&["session", "show", &last.session])["verdict"], "done");
        assert_eq!(fixture.world.json(&["task", "show", &top])["summary"], "Released.");
    })
    .await;
}

/// L2, L6, L7, F12, F14: a sub-manager splits its part again, gives it only to its own people, and
/// finds and finishes it though it has a parent.
#[tokio::test]
async fn sub_manager_splits_its_part_again() {
    over_both_transports(async |mut fixture| {
        let top = fixture.started("Release", "lead");
        let (mut lead, [build, ship]) = split(&mut fixture, "lead", &top).await;
        assert_eq!(lead.next_action().await, "situational_awareness");
        assert_eq!(assigning(&mut lead, &build, "deep").await, "not_allowed", "it is sub's");
        lead.start(&build, "sub").await;
        lead.wait().await;
        fixture.log_out(lead).await;

        let (mut sub, [inner, outer]) = split(&mut fixture, "sub", &build).await;
        assert_eq!(sub.next_action().await, "situational_awareness");
        assert_eq!(column(&sub.must("list_tasks", json!({})).await["tasks"], "id"), [&*inner, &*outer]);
        assert_eq!(assigning(&mut sub, &inner, "coder").await, "not_allowed", "it is lead's");
        assert_eq!(assigning(&mut sub, &ship, "deep").await, "not_allowed", "a task of another");
        sub.start(&inner, "deep").await;
        sub.wait().await;
        fixture.log_out(sub).await;
        fixture.work("deep", &inner).await;
        assert_eq!(fixture.staffed("lead").await, ["hold", "waiting_for_workers"], "its own child still runs");

        assert_eq!(fixture.staffed("sub").await, ["start", "workers_progressed"]);
        let mut sub = back(&mut fixture, "sub", &build).await;
        assert_eq!(sub.next_action().await, "situational_awareness");
        sub.start(&outer, "deep").await;
        sub.wait().await;
        fixture.log_out(sub).await;
        fixture.work("deep", &outer).await;
        let mut sub = back(&mut fixture, "sub", &build).await;
        assert_eq!(sub.next_action().await, "report_completion");
        sub.report("success", "Both are built.").await;
        fixture.log_out(sub).await;
        assert_eq!([&build, &ship, &top].map(|task| fixture.world.status(task)), ["done", "backlog", "in_progress"]);

        assert_eq!(fixture.staffed("lead").await, ["start", "workers_progressed"]);
        let mut lead = back(&mut fixture, "lead", &top).await;
        assert_eq!(lead.next_action().await, "situational_awareness");
        let recent = lead.must("get_recent_completions", json!({})).await;
        assert_eq!(column(&recent["completions"], "summary"), ["Both are built."]);
        let reported = fixture.world.json(&["task", "tree", &top]);
        assert!(reported.to_string().contains(&outer), "{reported}");
    })
    .await;
}

async fn assigning(manager: &mut Agent, task: &str, assignee: &str) -> String {
    let arguments: Value = json!({ "task_id": task, "assignee_id": assignee });
    manager.refused("assign_task", arguments).await
}
