//! Which tools does each caller see, and what do they cost it?

use std::collections::BTreeSet;

use board::{Limits, Tool};
use serde_json::{Value, json};

use crate::test_server::TestServer;

/// The tools of a list, in the order of the catalogue.
async fn listed(server: &TestServer, bearer: Option<&str>) -> Vec<Value> {
    let answer = server.client(bearer).request("tools/list", json!({})).await;
    answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

const ANYONE: &[&str] = &["authenticate", "help"];
const SESSION: &[&str] =
    &["get_next_action", "report_model", "get_my_profile", "list_tasks", "get_task", "logout", "send_message"];
const TASK: &[&str] =
    &["get_my_task", "create_task", "create_tasks_batch", "update_task_status", "report_completed", "save_context"];
const MANAGER: &[&str] = &[
    "assign_task",
    "update_task",
    "cancel_task",
    "block_task",
    "comment_task",
    "update_task_dependencies",
    "get_recent_completions",
    "list_subordinates",
    "get_subordinate_profile",
];
const ORCHESTRATOR: &[&str] = &[
    "get_overview",
    "list_tasks",
    "get_task",
    "explain_task",
    "create_tasks",
    "start_tasks",
    "assign_task",
    "comment_task",
    "update_task",
    "cancel_task",
    "retry_task",
    "review_task",
    "get_diff",
    "get_session_log",
    "wait_for_changes",
];
const COORDINATOR: &[&str] = &["get_agent_action", "list_active_projects_with_agents", "health_check"];

fn assert_same(found: &[Value], expected: &[&[&str]]) {
    let found = names(found);
    let expected: BTreeSet<_> = expected.iter().flat_map(|part| part.iter().copied()).collect();
    assert_eq!(found.iter().copied().collect::<BTreeSet<_>>(), expected);
    assert_eq!(found.len(), expected.len(), "{found:?}");
}

/// M2: a session sees what its role and purpose may use, and nothing else.
#[tokio::test]
async fn each_role_and_purpose_sees_its_own_tools() {
    let server = TestServer::open(Limits::default()).await;
    let worker = server.at_work("web", "w1").await;
    assert_same(&listed(&server, Some(&worker)).await, &[ANYONE, SESSION, TASK]);
    let manager = server.at_work("api", "boss").await;
    assert_same(&listed(&server, Some(&manager)).await, &[ANYONE, SESSION, TASK, MANAGER, &["select_action"]]);
    let chat = server.chatting("web", "w2").await;
    assert_same(&listed(&server, Some(&chat)).await, &[ANYONE, SESSION, &["get_pending_messages"]]);
    let chat = server.chatting("api", "boss").await;
    let expected: &[&[&str]] = &[ANYONE, SESSION, MANAGER, &["get_pending_messages", "create_task"]];
    assert_same(&listed(&server, Some(&chat)).await, expected);
}

/// M2, M6, S4: whoever has not said who they are sees every agent's tool; coordinators and orchestrators see their own,
/// a viewer none; a passkey alone is nobody's credential.
#[tokio::test]
async fn strangers_see_the_agents_tools_and_coordinators_theirs() {
    let server = TestServer::open(Limits::default()).await;
    let agents: &[&[&str]] = &[ANYONE, SESSION, TASK, MANAGER, &["select_action", "get_pending_messages"]];
    assert_same(&listed(&server, None).await, agents);
    assert_same(&listed(&server, Some(&server.passkeys["web"])).await, agents);
    assert_same(&listed(&server, Some(&server.tokens["coordinator"])).await, &[ANYONE, COORDINATOR]);
    assert_same(&listed(&server, Some(&server.tokens["orchestrator"])).await, &[ANYONE, ORCHESTRATOR]);
    assert_same(&listed(&server, Some(&server.tokens["viewer"])).await, &[ANYONE]);
}

/// M2, F28: a worker's list costs its context less than 1,500 tokens of four characters, in either language.
#[tokio::test]
async fn a_workers_list_is_cheap() {
    let server = TestServer::open(Limits::default()).await;
    let cost = |tool: &Value| {
        let text = |name: &str| tool[name].as_str().unwrap().chars().count();
        text("name") + text("description") + tool["inputSchema"].to_string().chars().count()
    };
    for project in ["web", "api"] {
        let worker = server.at_work(project, "w1").await;
        let characters: usize = listed(&server, Some(&worker)).await.iter().map(cost).sum();
        assert!(characters < 4 * 1_500, "{project}: {} tokens", characters.div_ceil(4));
    }
}

fn is_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

/// M2, C5: a session's list and its help are in the language of its project; where no project is known, and where there are
/// projects of both languages, they are English.
#[tokio::test]
async fn tools_are_described_in_the_projects_language() {
    let server = TestServer::open(Limits::default()).await;
    let japanese = server.at_work("api", "w1").await;
    let english = server.at_work("web", "w1").await;
    let orchestrator = server.tokens["orchestrator"].clone();
    for (bearer, expected) in
        [(Some(&japanese), true), (Some(&english), false), (None, false), (Some(&orchestrator), false)]
    {
        let bearer = bearer.map(String::as_str);
        for tool in listed(&server, bearer).await {
            assert_eq!(is_japanese(tool["description"].as_str().unwrap()), expected, "{tool}");
        }
        let help = server.client(bearer).call("help", json!({})).await.unwrap();
        let [message, first] = [&help["message"], &help["tools"][0]["description"]].map(|text| text.as_str().unwrap());
        assert_eq!([is_japanese(message), is_japanese(first)], [expected; 2], "{help}");
    }
}

/// M2: every tool has annotations, and schemas of what it takes and gives that are schemas.
#[tokio::test]
async fn every_tool_is_described() {
    let server = TestServer::open(Limits::default()).await;
    let mut tools = listed(&server, None).await;
    let coordinators = listed(&server, Some(&server.tokens["coordinator"])).await;
    tools.extend(coordinators.into_iter().filter(|tool| COORDINATOR.contains(&tool["name"].as_str().unwrap())));
    let orchestrators = listed(&server, Some(&server.tokens["orchestrator"])).await;
    let own = |tool: &Value| ORCHESTRATOR.contains(&tool["name"].as_str().unwrap());
    let known: BTreeSet<_> = names(&tools).into_iter().map(str::to_owned).collect();
    let new = |tool: &Value| !known.contains(tool["name"].as_str().unwrap());
    tools.extend(orchestrators.into_iter().filter(|tool| own(tool) && new(tool)));
    let all: Vec<_> = Tool::ALL.iter().map(|tool| tool.as_str()).collect();
    assert_eq!(names(&tools), all);
    for tool in &tools {
        let hint = |name: &str| tool["annotations"][name].as_bool().unwrap_or_else(|| panic!("{name} of {tool}"));
        let _ = (hint("readOnlyHint"), hint("idempotentHint"));
        assert!(!hint("destructiveHint") && !hint("openWorldHint"), "{tool}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool}");
            jsonschema::draft202012::meta::validate(&tool[schema]).unwrap_or_else(|error| panic!("{error}: {tool}"));
        }
    }
}
