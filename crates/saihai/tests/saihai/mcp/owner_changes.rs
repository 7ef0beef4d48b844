//! Do the owner's changes of settings and tokens hold for the next call of an agent?

use serde_json::json;

use super::fixture::over_both_transports;

fn is_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

/// N1, C5, F88: instructions, refusals and hints are Japanese when the project says so, from the next
/// call on.
#[tokio::test]
async fn agents_are_spoken_to_in_the_projects_language() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        let mut coder = fixture.claim("coder", &task).await;
        assert!(!is_japanese(coder.next().await["instruction"].as_str().unwrap()));
        let config = fixture.world.read(".saihai/config.yaml").replace("language: en", "language: ja");
        fixture.world.write(".saihai/config.yaml", config);
        fixture.world.ok(&["agent", "apply"]);

        let mut said = vec![
            coder.next().await["instruction"].clone(),
            coder.must("authenticate", json!({})).await["instruction"].clone(),
            coder.must("report_model", json!({ "provider": "p", "model_id": "m" })).await["message"].clone(),
            coder.next().await["instruction"].clone(),
        ];
        coder.must("get_my_task", json!({})).await;
        said.push(coder.next().await["instruction"].clone());
        for (tool, arguments) in [
            ("update_task_status", json!({ "task_id": task, "status": "done" })),
            ("get_task", json!({ "task_id": "99" })),
            ("create_task", json!({ "title": "", "description": "d" })),
            ("nonsense", json!({})),
        ] {
            let refusal = coder.refusal(tool, arguments).await;
            said.extend([refusal["message"].clone(), refusal["hint"].clone()]);
        }
        said.push(coder.report("blocked", "x").await["message"].clone());
        said.push(coder.must("logout", json!({})).await["message"].clone());
        let late = coder.refusal("get_next_action", json!({})).await;
        said.extend([late["message"].clone(), late["hint"].clone()]);
        for text in said {
            assert!(is_japanese(text.as_str().unwrap()), "{text}");
        }
    })
    .await;
}

/// S4, M3, E2: a coordinator's token opens its tools as soon as it was made, and nothing once it is
/// revoked; nobody else's credential does.
#[tokio::test]
async fn token_holds_from_its_making_to_its_revocation() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        let mut coder = fixture.claim("coder", &task).await;
        let asking = json!({ "agent_id": "coder", "project_id": "shop" });
        assert_eq!(coder.refused("get_agent_action", asking.clone()).await, "not_allowed");
        let token = fixture.world.json(&["token", "create", "--role", "coordinator"]);
        let mut client = fixture.connect(token["token"].as_str().unwrap()).await;
        let answer = client.must("get_agent_action", asking.clone()).await;
        assert_eq!([&answer["action"], &answer["reason"]], ["hold", "already_running"]);
        let refused = client.call("get_my_task", json!({})).await.unwrap_err();
        assert_eq!(refused["code"], "not_allowed", "it is no session");
        fixture.world.ok(&["token", "revoke", token["id"].as_str().unwrap()]);
        let refused = client.call("get_agent_action", asking.clone()).await.unwrap_err();
        assert_eq!(refused["code"], "not_authenticated");
        let viewer = fixture.world.json(&["token", "create", "--role", "viewer"]);
        let mut client = fixture.connect(viewer["token"].as_str().unwrap()).await;
        let refused = client.call("get_agent_action", asking).await.unwrap_err();
        assert_eq!(refused["code"], "not_allowed");
    })
    .await;
}
