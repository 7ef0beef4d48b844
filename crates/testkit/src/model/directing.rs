//! What does a model do that directs a project for its owner? It plans, starts, follows and judges, with the tools of an
//! orchestrator.
//!
//! Nothing is kept between requests: the conversation says what was done so far.

use board::Tool;
use serde_json::{Value, json};

use super::action::{Action, ask, last};
use super::conversation::{Conversation, ToolCall};

/// After so many answers to `wait_for_changes` it gives up.
const MAX_WAITS: usize = 60;

/// What an orchestrator does next.
pub(super) fn next(conversation: &Conversation) -> Action {
    let Some(overview) = answer(conversation, Tool::GetOverview) else { return ask(Tool::GetOverview) };
    let Some(made) = answer(conversation, Tool::CreateTasks) else { return plan(&overview) };
    let [top, first, second] = ["top", "first", "second"].map(|name| made["task_ids"][name].clone());
    if top.is_null() {
        return Action::Say("There is nothing to follow.".into());
    }
    let starts = calls(conversation, Tool::StartTasks).count();
    if starts == 0 {
        return Action::Ask(Tool::StartTasks, json!({ "task_ids": [top, first, second] }));
    }
    if last(conversation, Tool::ExplainTask).is_none() {
        return Action::Ask(Tool::ExplainTask, json!({ "task_id": second }));
    }
    if last(conversation, Tool::CommentTask).is_none() {
        return Action::Ask(Tool::CommentTask, json!({ "task_id": second, "text": remark(conversation) }));
    }
    if status(conversation, &first) != "done" {
        return follow(conversation, &overview, &first);
    }
    if starts == 1 {
        return Action::Ask(Tool::StartTasks, json!({ "task_ids": [second] }));
    }
    if status(conversation, &second) != "done" {
        return follow(conversation, &overview, &second);
    }
    judge(conversation, &top, [&first, &second])
}

/// A task above two others, each for a worker, the second after the first.
fn plan(overview: &Value) -> Action {
    let agents = overview["agents"].as_array().into_iter().flatten();
    let workers: Vec<_> = agents.filter(|agent| agent["hierarchy_type"] == "worker").collect();
    let (Some(first), Some(last)) = (workers.first(), workers.last()) else {
        return Action::Say("There is nobody to do it.".into());
    };
    let tasks = json!([
        { "local_id": "top", "title": "Greet everybody", "description": "All of them." },
        { "local_id": "first", "title": "Greet the first", "description": "In a file of its own.",
          "assignee_id": first["id"], "parent": "top" },
        { "local_id": "second", "title": "Greet the last", "description": "In a file of its own.",
          "assignee_id": last["id"], "parent": "top", "dependencies": ["first"] },
    ]);
    Action::Ask(Tool::CreateTasks, json!({ "tasks": tasks, "idempotency_key": "greetings" }))
}

/// What the owner wants to have said: it is in backticks.
fn remark(conversation: &Conversation) -> &str {
    conversation.prompt.split('`').nth(1).unwrap_or("Keep it small")
}

/// Waits until something happens to a task that is not done.
fn follow(conversation: &Conversation, overview: &Value, task: &Value) -> Action {
    let status = status(conversation, task);
    if ["failed", "blocked", "cancelled"].contains(&status.as_str()) {
        return Action::Say(format!("{task} is {status}, so I stop."));
    }
    if calls(conversation, Tool::WaitForChanges).count() >= MAX_WAITS {
        return Action::Say(format!("I have waited for {task} long enough."));
    }
    let seen = answer(conversation, Tool::WaitForChanges).map(|changes| changes["events"].clone());
    let after = seen.unwrap_or_else(|| overview["project"]["events"].clone());
    Action::Ask(Tool::WaitForChanges, json!({ "after": after }))
}

/// Looks at what was changed, and ends the tree.
fn judge(conversation: &Conversation, top: &Value, children: [&Value; 2]) -> Action {
    let diffs: Vec<_> = calls(conversation, Tool::GetDiff).map(ToolCall::answer).collect();
    if let Some(task) = children.get(diffs.len()) {
        return Action::Ask(Tool::GetDiff, json!({ "task_id": task }));
    }
    match answer(conversation, Tool::ReviewTask) {
        None => Action::Ask(Tool::ReviewTask, json!({ "task_id": top, "decision": "approve" })),
        Some(review) if review["new_status"] == "done" => {
            let diffs: String = diffs.iter().filter_map(|diff| diff["text"].as_str()).collect();
            Action::Say(format!("All of it is merged.\n{diffs}"))
        }
        Some(review) => Action::Say(format!("It could not be ended: {review}")),
    }
}

/// What was last said of a task.
fn status(conversation: &Conversation, task: &Value) -> String {
    let waits: Vec<_> = calls(conversation, Tool::WaitForChanges).map(ToolCall::answer).collect();
    let mut tasks = waits.iter().rev().flat_map(|changes| changes["tasks"].as_array().into_iter().flatten());
    let found = tasks.find(|item| item["id"] == *task);
    found.and_then(|item| item["status"].as_str()).unwrap_or("").to_owned()
}

fn calls(conversation: &Conversation, tool: Tool) -> impl Iterator<Item = &ToolCall> {
    conversation.calls.iter().filter(move |call| conversation.saihai_tool(call) == Some(tool))
}

/// What the last call of a tool gave.
fn answer(conversation: &Conversation, tool: Tool) -> Option<Value> {
    last(conversation, tool).map(|at| conversation.calls[at].answer())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::action::next_turn;
    use super::super::conversation::{ClientTool, Conversation, Entry, ToolCall, Turn};

    const TOOLS: [&str; 8] = [
        "get_overview",
        "create_tasks",
        "start_tasks",
        "explain_task",
        "comment_task",
        "wait_for_changes",
        "get_diff",
        "review_task",
    ];

    /// The turn after these calls and their results.
    fn after(calls: &[(&str, Value)]) -> (String, Value) {
        let call = |(name, answer): &(&str, Value)| {
            let (tool, arguments) = (ClientTool::named(&format!("s_{name}")), json!({}));
            Entry::Call(ToolCall { tool, arguments, result: answer.to_string(), failed: false })
        };
        let prompt = Entry::User("You direct project web. Say `be brief`.".into());
        let entries = std::iter::once(prompt).chain(calls.iter().map(call)).collect();
        let tools = TOOLS.iter().map(|name| ClientTool::named(&format!("s_{name}"))).collect();
        match next_turn(&Conversation::new("vendor", &json!({ "model": "m" }), entries, tools)) {
            Turn::Call { tool, arguments } => (tool.name["s_".len()..].to_owned(), arguments),
            Turn::Say(text) => ("say".into(), json!(text)),
        }
    }

    fn changed(task: &str, status: &str) -> (&'static str, Value) {
        ("wait_for_changes", json!({ "events": 30, "tasks": [{ "id": task, "status": status }] }))
    }

    #[test]
    fn it_plans_starts_follows_judges_and_ends() {
        let agent = |id: &str| json!({ "id": id, "hierarchy_type": "worker" });
        let overview = json!({ "project": { "events": 7 }, "agents": [agent("anna"), agent("bert")] });
        let ids = json!({ "top": "tsk_1", "first": "tsk_2", "second": "tsk_3" });
        let script = [
            ("get_overview", overview),
            ("create_tasks", json!({ "task_ids": ids })),
            ("start_tasks", json!({ "success": false })),
            ("explain_task", json!({ "reasons": ["It waits."] })),
            ("comment_task", json!({ "success": true })),
            changed("tsk_2", "in_progress"),
            changed("tsk_2", "done"),
            ("start_tasks", json!({ "success": true })),
            changed("tsk_3", "done"),
            ("get_diff", json!({ "text": "+a\n" })),
            ("get_diff", json!({ "text": "+b\n" })),
            ("review_task", json!({ "new_status": "done" })),
        ];
        let turns: Vec<_> = (0..=script.len()).map(|made| after(&script[..made])).collect();
        let names: Vec<_> = turns.iter().map(|(name, _)| name.as_str()).collect();
        let expected: Vec<_> = script.iter().map(|(name, _)| *name).chain(["say"]).collect();
        assert_eq!(names, expected);
        assert_eq!(turns[1].1["tasks"][2]["assignee_id"], "bert");
        assert_eq!(turns[4].1, json!({ "task_id": "tsk_3", "text": "be brief" }));
        assert_eq!([&turns[5].1["after"], &turns[6].1["after"]], [&json!(7), &json!(30)]);
        assert_eq!(turns[12].1, "All of it is merged.\n+a\n+b\n");
        let failed = [&script[..5], &[changed("tsk_2", "failed")]].concat();
        assert_eq!(after(&failed), ("say".into(), json!("\"tsk_2\" is failed, so I stop.")));
    }
}
