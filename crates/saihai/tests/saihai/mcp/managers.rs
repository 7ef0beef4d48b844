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

/// R8, seed 001: a manager chooses by what its workers are good at.
#[tokio::test]
async fn skills_are_shown_to_managers() {
    over_both_transports(async |mut fixture| {
        let tester = fixture.world.read(".saihai/agents/tester.yaml");
        fixture.world.write(".saihai/agents/tester.yaml", format!("{tester}skills: [rust, \"load tests\"]\n"));
        fixture.world.ok(&["agent", "apply"]);
        let top = fixture.started("Release", "lead");
        let (mut lead, _) = split(&mut fixture, "lead", &top).await;
        let listed = lead.must("list_subordinates", json!({})).await;
        let skills = |id: &str| {
            let found = listed["subordinates"].as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap();
            texts(&found["skills"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!((skills("tester"), skills("coder")), (vec!["rust".into(), "load tests".into()], vec![]));
        let profile = lead.must("get_subordinate_profile", json!({ "agent_id": "tester" })).await;
        assert_eq!(texts(&profile["skills"]), ["rust", "load tests"]);
        assert!(fixture.world.ok(&["agent", "show", "tester"]).contains("rust, load tests"));
    })
    .await;
}

/// N1, S6, M5, seeds 000 and 001: the prompt of the definition is in the answer of `authenticate`, another model than the
/// roster's is recorded and shown, and the answers that ask to split and to report carry the task.
#[tokio::test]
async fn answers_carry_what_the_seeds_say() {
    over_both_transports(async |mut fixture| {
        let lead = fixture.world.read(".saihai/agents/lead.yaml");
        fixture.world.write(".saihai/agents/lead.yaml", format!("{lead}model: sonnet\n"));
        fixture.world.ok(&["agent", "apply"]);
        let top = fixture.started("Release", "lead");
        let mut lead = fixture.claim("lead", &top).await;
        let prompt = fixture.world.read(".saihai/prompts/lead.md");
        assert_eq!(lead.must("authenticate", json!({})).await["system_prompt"], prompt);
        lead.next().await;
        let reported = lead.must("report_model", json!({ "provider": "openai", "model_id": "gpt-4o" })).await;
        assert_eq!(reported["verified"], false, "{reported}");
        let model = &fixture.world.json(&["session", "show", &lead.id()])["model"];
        assert_eq!(
            [&model["provider"], &model["model_id"], &model["matches"]],
            [&json!("openai"), &json!("gpt-4o"), &json!(false)]
        );
        lead.next().await;
        lead.must("get_my_task", json!({})).await;
        let split = lead.next().await;
        assert_eq!(split["task"], json!({ "id": top, "title": "Release", "status": "in_progress" }), "{split}");
        let created = lead.must("create_task", json!({ "title": "Build", "description": "It." })).await;
        let build = created["task"]["id"].as_str().unwrap().to_owned();
        lead.next().await;
        lead.start(&build, "coder").await;
        lead.wait().await;
        fixture.log_out(lead).await;
        fixture.work("coder", &build).await;
        let mut lead = back(&mut fixture, "lead", &top).await;
        let report = lead.next().await;
        assert_eq!((&report["action"], &report["task"]["id"]), (&json!("report_completion"), &json!(top)), "{report}");
        assert_eq!(report["task"]["title"], "Release");
    })
    .await;
}

/// N5, seed 001: `get_recent_completions` lists what is done since the manager's last session, or since a time, under a
/// parent, newest first and not more than asked for; what failed is found in `list_tasks`.
#[tokio::test]
async fn recent_completions_are_what_is_done_since() {
    over_both_transports(async |mut fixture| {
        let top = fixture.started("Release", "lead");
        let (mut lead, [build, ship]) = split(&mut fixture, "lead", &top).await;
        lead.next().await;
        lead.start(&build, "coder").await;
        lead.wait().await;
        fixture.log_out(lead).await;
        fixture.work("coder", &build).await;
        let mut lead = back(&mut fixture, "lead", &top).await;
        lead.next().await;
        lead.start(&ship, "tester").await;
        lead.wait().await;
        fixture.log_out(lead).await;
        fixture.work("tester", &ship).await;

        let mut lead = back(&mut fixture, "lead", &top).await;
        let recent = async |lead: &mut Agent, arguments: Value| {
            let answer = lead.must("get_recent_completions", arguments).await;
            let ids = column(&answer["completions"], "task_id").into_iter().map(str::to_owned).collect::<Vec<_>>();
            (ids, answer["total"].as_u64().unwrap(), answer["completions"].clone())
        };
        let (ids, total, completions) = recent(&mut lead, json!({})).await;
        assert_eq!((ids, total), (vec![ship.clone()], 1), "since its last session");
        assert_eq!((&completions[0]["result"], completions[0]["completed_at"].is_string()), (&json!("success"), true));
        let early = "2000-01-01T00:00:00Z";
        let (ids, total, _) = recent(&mut lead, json!({ "since": early })).await;
        assert_eq!((ids, total), (vec![ship.clone(), build.clone()], 2));
        let (ids, total, _) = recent(&mut lead, json!({ "since": early, "limit": 1 })).await;
        assert_eq!((ids, total), (vec![ship.clone()], 2));
        let (ids, total, _) = recent(&mut lead, json!({ "since": early, "parent_task_id": build })).await;
        assert_eq!(total, 2, "the steps of another parent");
        assert!(!ids.contains(&build) && !ids.contains(&ship), "{ids:?}");

        // What failed is no completion.
        let made = lead.must("create_task", json!({ "title": "Announce", "description": "It." })).await;
        let announce = made["task"]["id"].as_str().unwrap().to_owned();
        lead.must("assign_task", json!({ "task_id": announce, "assignee_id": "solo" })).await;
        lead.set(&announce, "in_progress").await;
        lead.wait().await;
        fixture.log_out(lead).await;
        let mut solo = fixture.claim("solo", &announce).await;
        solo.begin_session().await;
        solo.report("failed", "No words.").await;
        fixture.log_out(solo).await;
        let mut lead = back(&mut fixture, "lead", &top).await;
        let (ids, _, _) = recent(&mut lead, json!({ "since": early })).await;
        assert_eq!(ids, [ship, build]);
        let listed = lead.must("list_tasks", json!({})).await;
        let failed = listed["tasks"].as_array().unwrap().iter().find(|task| task["id"] == announce).unwrap();
        assert_eq!(failed["status"], "failed", "{failed}");
    })
    .await;
}
