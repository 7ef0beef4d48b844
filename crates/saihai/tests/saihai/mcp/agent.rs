//! An agent of the tests: makes calls, or obeys `get_next_action`.

use board::{Generation, SessionId};
use serde_json::{Value, json};
use testkit::mcp::Client;

use crate::world::{column, texts};

pub(crate) struct Agent {
    pub(crate) client: Client,
    pub(crate) credential: String,
    pub(crate) session: SessionId,
    pub(crate) generation: Generation,
    /// The tools that `tools/list` showed it.
    pub(crate) listed_tools: Vec<String>,
}

impl Agent {
    pub(crate) async fn new(
        mut client: Client,
        credential: String,
        session: SessionId,
        generation: Generation,
    ) -> Self {
        let listed = client.request("tools/list", json!({})).await;
        let listed_tools = column(&listed["result"]["tools"], "name").into_iter().map(str::to_owned).collect();
        Self { client, credential, session, generation, listed_tools }
    }

    pub(crate) fn id(&self) -> String {
        self.session.to_string()
    }

    #[track_caller]
    pub(crate) fn must(&mut self, tool: &str, arguments: Value) -> impl Future<Output = Value> {
        self.client.must(tool, arguments)
    }

    /// A call that must be refused, with a message, a hint and the tools that can be called (M4).
    pub(crate) async fn refusal(&mut self, tool: &str, arguments: Value) -> Value {
        let called = format!("{tool} {arguments}");
        let Err(refusal) = self.client.call(tool, arguments).await else { panic!("{called} was accepted") };
        for field in ["code", "message", "hint"] {
            assert!(refusal[field].as_str().is_some_and(|text| !text.is_empty()), "{called}: {refusal}");
        }
        assert!(refusal["tools"].is_array(), "{called}: {refusal}");
        refusal
    }

    /// The code of a refusal.
    pub(crate) async fn refused(&mut self, tool: &str, arguments: Value) -> String {
        self.refusal(tool, arguments).await["code"].as_str().unwrap().to_owned()
    }

    /// The next action. The tools that it offers are among those listed.
    pub(crate) async fn next(&mut self) -> Value {
        let answer = self.client.next().await;
        for tool in texts(&answer["tools"]) {
            assert!(self.listed_tools.iter().any(|listed| listed == tool), "{tool} is not listed: {answer}");
        }
        answer
    }

    /// The word of the next action.
    pub(crate) async fn next_action(&mut self) -> String {
        self.next().await["action"].as_str().unwrap().to_owned()
    }

    /// The calls that every task session begins with.
    pub(crate) async fn begin_session(&mut self) {
        self.must("authenticate", json!({})).await;
        assert_eq!(self.next_action().await, "report_model");
        self.must("report_model", json!({ "provider": "anthropic", "model_id": "claude-sonnet-4-5" })).await;
        assert_eq!(self.next_action().await, "get_task");
        self.must("get_my_task", json!({})).await;
    }

    pub(crate) async fn set(&mut self, task: &str, status: &str) -> Value {
        let reason = "that is how it is";
        self.must("update_task_status", json!({ "task_id": task, "status": status, "reason": reason })).await
    }

    pub(crate) async fn report(&mut self, result: &str, summary: &str) -> Value {
        self.must("report_completed", json!({ "result": result, "summary": summary })).await
    }

    pub(crate) async fn select(&mut self, action: &str) {
        let selected = self.must("select_action", json!({ "action": action })).await;
        assert_eq!(selected["selected_action"], action);
    }

    /// Does one step that a worker was told to do.
    pub(crate) async fn follow(&mut self, answer: &Value) {
        let step = answer["subtask"]["id"].as_str();
        match answer["action"].as_str().unwrap() {
            "report_model" => {
                drop(
                    self.must("report_model", json!({ "provider": "anthropic", "model_id": "claude-sonnet-4-5" }))
                        .await,
                );
            }
            "get_task" => drop(self.must("get_my_task", json!({})).await),
            "create_subtasks" => drop(self.must("create_tasks_batch", two_steps()).await),
            "start_subtask" => drop(self.set(step.unwrap(), "in_progress").await),
            "execute_subtask" => drop(self.set(step.unwrap(), "done").await),
            "report_completion" | "work" => drop(self.report("success", "It works.").await),
            _ => panic!("a worker is told {answer}"),
        }
    }

    /// An obedient worker, until it is told to log out: the actions it was told.
    pub(crate) async fn obey_as_worker(&mut self) -> Vec<String> {
        self.must("authenticate", json!({})).await;
        let mut actions = Vec::new();
        loop {
            let answer = self.next().await;
            actions.push(answer["action"].as_str().unwrap().to_owned());
            if answer["action"] == "logout" {
                return actions;
            }
            self.follow(&answer).await;
        }
    }

    /// A manager that was told to look starts a task of its own, assigning it first.
    pub(crate) async fn start(&mut self, task: &str, assignee: &str) {
        self.select("start").await;
        assert_eq!(self.next_action().await, "start");
        self.must("assign_task", json!({ "task_id": task, "assignee_id": assignee })).await;
        self.set(task, "in_progress").await;
    }

    /// A manager chooses to wait, and is told to until it leaves.
    pub(crate) async fn wait(&mut self) {
        self.select("wait").await;
        for _ in 0..2 {
            assert_eq!(self.next_action().await, "wait");
        }
    }
}

/// Two steps, the first of which needs the second.
pub(crate) fn two_steps() -> Value {
    json!({ "tasks": [
        { "local_id": "test", "title": "Test it", "description": "All of it.", "dependencies": ["write"] },
        { "local_id": "write", "title": "Write it", "description": "All of it." },
    ] })
}
