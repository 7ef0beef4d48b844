//! Can the owner's own client direct a whole project, and nothing beyond it (M6, seed 003)?

use serde_json::{Value, json};
use testkit::mcp::Client;

use super::fixture::{Fixture, over_both_transports};
use crate::world::column;

/// The token of a new orchestrator with this name.
fn token(fixture: &Fixture, name: &str) -> String {
    let made = fixture.world.json(&["token", "create", "--role", "orchestrator", "--name", name]);
    made["token"].as_str().unwrap().to_owned()
}

async fn orchestrator(fixture: &Fixture) -> Client {
    fixture.connect(&token(fixture, "assistant")).await
}

async fn refused(client: &mut Client, tool: &str, arguments: Value) -> String {
    let called = format!("{tool} {arguments}");
    let Err(refusal) = client.call(tool, arguments).await else { panic!("{called} was accepted") };
    assert!(refusal["message"].as_str().is_some_and(|said| !said.is_empty()), "{called}: {refusal}");
    refusal["code"].as_str().unwrap_or_else(|| panic!("{called}: {refusal}")).to_owned()
}

/// M6: plan, start, follow, answer, judge: everything through its own tools, and the log says who did it.
#[tokio::test]
async fn an_orchestrator_directs_a_project_from_plan_to_merge() {
    over_both_transports(async |mut fixture| {
        let mut director = orchestrator(&fixture).await;
        let help = director.must("help", json!({})).await;
        assert!(help["message"].as_str().unwrap().contains("get_overview"), "{help}");
        let overview = director.must("get_overview", json!({})).await;
        assert_eq!(overview["project"]["id"], "shop");
        assert!(column(&overview["agents"], "id").contains(&"solo"), "{overview}");

        let tree = json!([
            { "local_id": "top", "title": "The shop", "description": "All of it" },
            { "local_id": "api", "title": "The API", "description": "d", "assignee_id": "solo", "parent": "top" },
            { "local_id": "page", "title": "The page", "description": "d", "parent": "top", "dependencies": ["api"] },
        ]);
        let plan = json!({ "tasks": tree, "idempotency_key": "plan-1" });
        let made = director.must("create_tasks", plan.clone()).await;
        let id = |name: &str| made["task_ids"][name].as_str().unwrap().to_owned();
        let (top, api, page) = (id("top"), id("api"), id("page"));
        assert_eq!(director.must("create_tasks", plan).await["task_ids"], made["task_ids"], "with the same key");
        assert_eq!(fixture.world.json(&["task", "show", &page])["parent_id"], json!(top));
        assert_eq!(fixture.world.json(&["task", "show", &page])["dependencies"], json!([api]));

        director.must("assign_task", json!({ "task_id": page, "assignee_id": "tester" })).await;
        director.must("update_task", json!({ "task_id": page, "priority": "high" })).await;
        let started = director.must("start_tasks", json!({ "task_ids": [top, api, page] })).await;
        assert_eq!(column(&started["started"], "task_id"), [top.as_str(), api.as_str()], "{started}");
        assert_eq!(column(&started["refused"], "task_id"), [page.as_str()], "{started}");
        let why = director.must("explain_task", json!({ "task_id": page })).await;
        assert!(why["reasons"].to_string().contains(&api), "{why}");

        let before = director.must("wait_for_changes", json!({ "timeout_seconds": 0 })).await;
        director.must("comment_task", json!({ "task_id": api, "text": "Keep it small" })).await;
        fixture.work("solo", &api).await;
        let after = json!({ "after": before["events"], "timeout_seconds": 50 });
        let changed = director.must("wait_for_changes", after).await;
        let item = changed["tasks"].as_array().unwrap().iter().find(|task| task["id"] == json!(api));
        assert_eq!(item.unwrap()["status"], "done", "{changed}");

        let back = json!({ "task_id": api, "decision": "send_back" });
        assert_eq!(refused(&mut director, "review_task", back).await, "invalid_argument");
        let back = json!({ "task_id": api, "decision": "send_back", "reason": "The errors have no names" });
        assert_eq!(director.must("review_task", back).await["new_status"], "todo");
        let told = director.must("get_task", json!({ "task_id": api })).await;
        assert!(told["comments"].to_string().contains("have no names"), "{told}");
        director.must("cancel_task", json!({ "task_id": page, "reason": "Not now" })).await;

        let log = fixture.world.json(&["log", "tail", "-n", "200"]);
        let mine = log.as_array().unwrap().iter().filter(|event| event["by"]["owner"] == "assistant (orchestrator)");
        let kinds: Vec<_> = mine.map(|event| event["type"].as_str().unwrap()).collect();
        for kind in ["tasks_created", "task_assigned", "task_moved", "comment_added"] {
            assert!(kinds.contains(&kind), "{kind}: {kinds:?}\n{log}");
        }
    })
    .await;
}

/// M6: what is stuck is answered and tried again; the session's end is looked at first.
#[tokio::test]
async fn an_orchestrator_helps_what_is_stuck() {
    over_both_transports(async |mut fixture| {
        let mut director = orchestrator(&fixture).await;
        let task = fixture.started("Fix the login", "solo");
        fixture.world.ok(&["task", "block", &task, "--reason", "Which key?"]);
        let overview = director.must("get_overview", json!({})).await;
        assert_eq!(column(&overview["needs_attention"], "id"), [task.as_str()]);
        let answer = json!({ "task_ids": [task], "answer": "The second one" });
        assert_eq!(director.must("start_tasks", answer).await["success"], true);
        let mut solo = fixture.claim("solo", &task).await;
        assert_eq!(column(&solo.next().await["comments"], "text"), ["The second one"]);
        let overview = director.must("get_overview", json!({})).await;
        assert_eq!(column(&overview["running"], "task_id"), [task.as_str()]);

        let log = json!({ "task_id": task });
        assert_eq!(refused(&mut director, "get_session_log", log).await, "invalid_argument");
        assert_eq!(
            refused(&mut director, "get_session_log", json!({ "session_id": "seven" })).await,
            "invalid_argument"
        );
        assert_eq!(refused(&mut director, "get_diff", json!({ "task_id": task })).await, "invalid_argument");
        solo.must("report_model", json!({ "provider": "p", "model_id": "m" })).await;
        solo.must("get_my_task", json!({})).await;
        solo.must("report_completed", json!({ "result": "failed", "summary": "Too hard" })).await;
        fixture.log_out(solo).await;
        assert_eq!(fixture.world.status(&task), "failed");
        let again = json!({ "task_id": task, "reason": "Read the test first" });
        assert_eq!(director.must("retry_task", again).await["new_status"], "in_progress");
    })
    .await;
}

/// M6: it is no owner. What it may not do is no tool of its own, no argument, and nothing over HTTP.
#[tokio::test]
async fn an_orchestrator_cannot_insist_define_or_make_tokens() {
    over_both_transports(async |fixture| {
        let secret = token(&fixture, "assistant");
        let mut director = fixture.connect(&secret).await;
        let task = fixture.started("Fix the login", "solo");
        for tool in ["update_task_status", "get_agent_action", "report_completed", "get_next_action"] {
            assert_eq!(refused(&mut director, tool, json!({})).await, "not_allowed", "{tool}");
        }
        for (tool, argument) in [("cancel_task", "force"), ("review_task", "merged"), ("start_tasks", "forced")] {
            let given = json!({ "task_id": task, "task_ids": [task], "reason": "r", "decision": "approve",
                argument: true });
            assert_eq!(refused(&mut director, tool, given).await, "invalid_argument", "{tool}");
        }
        // Not merged: approving does not make it so.
        let approve = json!({ "task_id": task, "decision": "approve" });
        let code = refused(&mut director, "review_task", approve).await;
        assert!(code == "not_merged", "{code}");
        assert_eq!(fixture.world.status(&task), "in_progress");
        for named in [json!("elsewhere"), json!("../shop"), json!(7)] {
            let overview = json!({ "project_id": named });
            assert!(
                ["not_found", "invalid_argument"]
                    .contains(&refused(&mut director, "get_overview", overview).await.as_str())
            );
        }
        assert_eq!(director.must("get_overview", json!({ "project_id": "shop" })).await["project"]["id"], "shop");

        // The same token as a person's: nothing can be read, defined or made with it.
        if let Some(base) = fixture.base_url() {
            for (path, body) in [
                ("/api/v1/tokens", json!({ "role": "owner", "name": "x" })),
                ("/api/v1/projects/shop/tasks", json!({ "title": "x" })),
            ] {
                let mut http = testkit::mcp::Http::new(&format!("{base}{path}"), Some(&secret));
                let status = http.post(body.to_string().as_bytes()).await.unwrap().status;
                assert!([401, 403].contains(&status), "{path}: {status}");
            }
        }
        // Taken back, it is nobody's.
        let tokens = fixture.world.json(&["token", "list"]);
        let own = tokens.as_array().unwrap().iter().find(|token| token["name"] == "assistant").unwrap();
        let id = own["id"].as_str().unwrap().to_owned();
        fixture.world.ok(&["token", "revoke", &id]);
        assert_eq!(refused(&mut director, "get_overview", json!({})).await, "not_authenticated");
    })
    .await;
}

/// M6: the board, a task and its evidence are resources; agents have none.
#[tokio::test]
async fn the_board_a_task_and_its_evidence_are_resources() {
    over_both_transports(async |mut fixture| {
        let mut director = orchestrator(&fixture).await;
        let task = fixture.started("Fix the login", "solo");
        let (board, address) = ("saihai://shop/board".to_owned(), format!("saihai://shop/tasks/{task}"));
        let listed = director.request("resources/list", json!({})).await;
        assert_eq!(column(&listed["result"]["resources"], "uri"), [&board, &address], "{listed}");
        let templates = director.request("resources/templates/list", json!({})).await;
        assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 3, "{templates}");
        fixture.work("solo", &task).await;
        let mut read = async |uri: &str| {
            let answer = director.request("resources/read", json!({ "uri": uri })).await;
            let text =
                answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
            serde_json::from_str::<Value>(&text).unwrap()
        };
        assert_eq!(read(&board).await["tasks"][0]["status"], "done");
        assert_eq!(read(&address).await["title"], "Fix the login");
        let evidence = read(&format!("{address}/evidence")).await;
        assert_eq!(
            [&evidence["sessions"][0]["verdict"], &evidence["sessions"][0]["exit_code"]],
            [&json!("done"), &json!(0)]
        );
        for missing in ["saihai://shop/tasks/tsk_99", "saihai://other/board", "file:///etc/passwd"] {
            let answer = director.request("resources/read", json!({ "uri": missing })).await;
            assert!(answer["error"]["message"].as_str().unwrap().contains(missing), "{answer}");
        }
        let other = fixture.started("Another", "solo");
        let mut solo = fixture.claim("solo", &other).await;
        for method in ["resources/list", "resources/templates/list"] {
            assert_eq!(solo.client.request(method, json!({})).await["error"]["code"], -32601);
        }
        let answer = solo.client.request("resources/read", json!({ "uri": board })).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    })
    .await;
}
