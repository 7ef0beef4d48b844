//! What does a model do that obeys Saihai? It asks for its next action, does it, and asks again.
//!
//! Nothing is kept between requests: the conversation says what was done so far.

use board::Tool;
use serde_json::{Value, json};

use super::action::{Action, ask, has_shell, last, parent, quote, refusal};
use super::conversation::{Conversation, ToolCall};

/// What whoever is led does next.
pub(super) fn next(conversation: &Conversation) -> Action {
    let Some(greeting) = last(conversation, Tool::Authenticate) else { return authenticate(conversation) };
    if let Some(why) = refusal(&conversation.calls[greeting]) {
        return Action::Say(format!("I could not authenticate: {why}"));
    }
    let Some(asked) = last(conversation, Tool::GetNextAction) else { return ask(Tool::GetNextAction) };
    if let Some(why) = refusal(&conversation.calls[asked]) {
        return Action::Say(format!("I am not told what to do: {why}"));
    }
    let (answer, since) = (conversation.calls[asked].answer(), &conversation.calls[asked + 1..]);
    if since.iter().any(|call| conversation.saihai_tool(call) == Some(Tool::Logout)) {
        return Action::Say("I did what I was told, and logged out.".into());
    }
    if since.last().is_some_and(|call| conversation.saihai_tool(call).is_some() && refusal(call).is_some()) {
        return ask(Tool::GetNextAction);
    }
    plan(conversation, &answer, since).into_iter().nth(since.len()).unwrap_or_else(|| ask(Tool::GetNextAction))
}

/// Everything that follows from an answer, in order, as far as it is known yet.
fn plan(conversation: &Conversation, answer: &Value, since: &[ToolCall]) -> Vec<Action> {
    let step = &answer["subtask"]["id"];
    match answer["action"].as_str().unwrap_or("") {
        "report_model" => {
            vec![Action::Ask(
                Tool::ReportModel,
                json!({ "provider": conversation.provider, "model_id": conversation.model }),
            )]
        }
        "get_task" => vec![ask(Tool::GetMyTask)],
        "create_subtasks" => vec![split(conversation, answer)],
        "start_subtask" => {
            vec![Action::Ask(Tool::UpdateTaskStatus, json!({ "task_id": step, "status": "in_progress" }))]
        }
        "execute_subtask" => {
            let done = Action::Ask(Tool::UpdateTaskStatus, json!({ "task_id": step, "status": "done" }));
            work(conversation, &answer["subtask"], since, done)
        }
        "work" => work(conversation, &answer["task"], since, report("It is written and committed.")),
        "report_completion" => vec![report("Every step is done.")],
        "situational_awareness" => vec![Action::Ask(Tool::SelectAction, json!({ "action": choice(answer) }))],
        "start" => start(since),
        "review_and_resolve_blocks" => {
            let stuck = json!({ "result": "blocked", "summary": "Nothing can be started." });
            vec![Action::Ask(Tool::ReportCompleted, stuck)]
        }
        "get_pending_messages" => {
            let reply = json!({ "to": "owner", "content": "I have read it." });
            vec![ask(Tool::GetPendingMessages), Action::Ask(Tool::SendMessage, reply)]
        }
        "logout" | "stop" | "wait" => vec![ask(Tool::Logout)],
        "wait_for_messages" | "adjust" => Vec::new(),
        unknown => vec![Action::Say(format!("I do not know what `{unknown}` is."))],
    }
}

fn authenticate(conversation: &Conversation) -> Action {
    let mut who = json!({});
    for (argument, label) in [("agent_id", "agent"), ("project_id", "project")] {
        if let Some(name) = conversation.word_after(label) {
            who[argument] = json!(name);
        }
    }
    Action::Ask(Tool::Authenticate, who)
}

fn report(summary: &str) -> Action {
    Action::Ask(Tool::ReportCompleted, json!({ "result": "success", "summary": summary }))
}

/// Two steps that name what their task names.
fn split(conversation: &Conversation, answer: &Value) -> Action {
    let title = answer["task"]["title"].as_str().unwrap_or("the task");
    let about = description(conversation);
    let step = |local_id: &str, part: &str| {
        let title: String = format!("{part}: {title}").chars().take(120).collect();
        json!({ "local_id": local_id, "title": title, "description": format!("{part}. {about}") })
    };
    Action::Ask(Tool::CreateTasksBatch, json!({ "tasks": [step("a", "The first half"), step("b", "The rest")] }))
}

fn description(conversation: &Conversation) -> String {
    let task = last(conversation, Tool::GetMyTask).map(|at| conversation.calls[at].answer());
    task.and_then(|told| told["task"]["description"].as_str().map(str::to_owned)).unwrap_or_default()
}

/// Writes a file, commits it, and says so: the file that is named in backticks, or one of its own.
fn work(conversation: &Conversation, task: &Value, since: &[ToolCall], done: Action) -> Vec<Action> {
    let id = task["id"].as_str().unwrap_or("work");
    let own = task["description"].as_str().map_or_else(|| description(conversation), str::to_owned);
    let path = quoted_path(&own).unwrap_or_else(|| format!("work/{id}.md"));
    let content = format!("# {}\n\nDone as {id}.\n", task["title"].as_str().unwrap_or(id));
    let (path, git) = match elsewhere(conversation) {
        Some(place) => (format!("{place}/{path}"), format!("git -C {}", quote(&place))),
        None => (path, "git".into()),
    };
    let command = format!("mkdir -p {} && printf '%s' {} > {}", parent(&path), quote(&content), quote(&path));
    let commit = Action::Shell(format!("{git} add -- {} && {git} commit -q -m {}", quote(&path), quote(id)));
    let mut plan = vec![Action::Write { path, content }];
    // Some clients do not write over a file that they have not read.
    if since.first().is_some_and(|call| call.failed) {
        plan.push(Action::Shell(command));
    }
    if has_shell(conversation) {
        plan.push(commit);
    }
    plan.push(done);
    plan
}

/// Where to work, if that is not where the client is: whoever is attached by hand is told.
fn elsewhere(conversation: &Conversation) -> Option<String> {
    let greeting = conversation.calls[last(conversation, Tool::Authenticate)?].answer();
    let told = greeting["working_directory"].as_str()?;
    (conversation.directory() != Some(told)).then(|| told.to_owned())
}

fn quoted_path(text: &str) -> Option<String> {
    let mut quoted = text.split('`').skip(1).step_by(2);
    let safe = |path: &&str| !path.is_empty() && !path.contains([' ', '\'']) && !path.contains("..");
    quoted.find(|path| safe(path) && !path.starts_with('/')).map(str::to_owned)
}

/// A manager's choice: what can be started is started, then it waits.
fn choice(answer: &Value) -> &'static str {
    match answer["progress"]["unstarted"].as_u64() {
        Some(0) | None => "wait",
        Some(_) => "start",
    }
}

/// Looks at the subtasks and the workers, and starts what is ready, giving it to somebody first.
fn start(since: &[ToolCall]) -> Vec<Action> {
    let mut plan = vec![ask(Tool::ListTasks), ask(Tool::ListSubordinates)];
    let [tasks, workers, ..] = since else { return plan };
    let (tasks, workers) = (tasks.answer(), workers.answer());
    let workers: Vec<_> = workers["subordinates"].as_array().into_iter().flatten().collect();
    let tasks: Vec<_> = tasks["tasks"].as_array().into_iter().flatten().collect();
    let done = |id: &Value| tasks.iter().any(|task| task["id"] == *id && task["status"] == "done");
    let ready = |task: &&&Value| {
        let open = matches!(task["status"].as_str(), Some("todo" | "backlog"));
        open && task["dependencies"].as_array().into_iter().flatten().all(done)
    };
    for (at, task) in tasks.iter().filter(ready).enumerate() {
        let id = &task["id"];
        if task["assignee_id"].is_null() && !workers.is_empty() {
            let worker = &workers[at % workers.len()]["id"];
            plan.push(Action::Ask(Tool::AssignTask, json!({ "task_id": id, "assignee_id": worker })));
        }
        plan.push(Action::Ask(Tool::UpdateTaskStatus, json!({ "task_id": id, "status": "in_progress" })));
    }
    plan
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::action::next_turn;
    use super::super::conversation::{ClientTool, Conversation, Entry, ToolCall, Turn};

    const TOOLS: [&str; 9] = [
        "s_authenticate",
        "s_get_next_action",
        "s_report_model",
        "s_create_tasks_batch",
        "s_update_task_status",
        "s_report_completed",
        "s_logout",
        "write",
        "bash",
    ];

    /// The turn after these calls and their results.
    fn after(calls: &[(&str, Value)]) -> (String, Value) {
        let call = |(name, answer): &(&str, Value)| {
            let (tool, arguments) = (ClientTool::named(name), json!({}));
            Entry::Call(ToolCall { tool, arguments, result: answer.to_string(), failed: answer == "failed" })
        };
        let prompt = Entry::User("You are agent coder, project web. Go.".into());
        let entries = std::iter::once(prompt).chain(calls.iter().map(call)).collect();
        let request = json!({ "model": "m", "system": "Working directory: /repo\n" });
        let tools = TOOLS.iter().map(|name| ClientTool::named(name)).collect();
        match next_turn(&Conversation::new("vendor", &request, entries, tools)) {
            Turn::Call { tool, arguments } => (tool.name, arguments),
            Turn::Say(text) => ("say".into(), json!(text)),
        }
    }

    fn known() -> (&'static str, Value) {
        ("s_authenticate", json!({ "success": true, "session_token": "t" }))
    }

    fn told(action: &str) -> (&'static str, Value) {
        let subtask = json!({ "id": "tsk_2", "title": "Greet", "description": "Into `a/b.md`." });
        ("s_get_next_action", json!({ "action": action, "task": { "id": "tsk_1" }, "subtask": subtask }))
    }

    #[test]
    fn it_says_who_it_is_then_asks_with_its_token() {
        let who = json!({ "agent_id": "coder", "project_id": "web" });
        assert_eq!(after(&[]), ("s_authenticate".into(), who));
        assert_eq!(after(&[known()]), ("s_get_next_action".into(), json!({ "session_token": "t" })));
    }

    #[test]
    fn each_action_is_followed_by_its_call_and_then_by_the_next_question() {
        for (action, call) in [
            ("report_model", "s_report_model"),
            ("create_subtasks", "s_create_tasks_batch"),
            ("start_subtask", "s_update_task_status"),
            ("report_completion", "s_report_completed"),
            ("logout", "s_logout"),
            ("stop", "s_logout"),
        ] {
            assert_eq!(after(&[known(), told(action)]).0, call, "{action}");
            let next = if call == "s_logout" { "say" } else { "s_get_next_action" };
            let done = (call, json!({ "success": true }));
            assert_eq!(after(&[known(), told(action), done]).0, next, "{action}");
        }
    }

    #[test]
    fn work_is_written_committed_and_reported() {
        let (tool, arguments) = after(&[known(), told("execute_subtask")]);
        assert_eq!((tool.as_str(), &arguments["filePath"]), ("write", &json!("/repo/a/b.md")));
        let wrote = ("write", json!("ok"));
        let (tool, arguments) = after(&[known(), told("execute_subtask"), wrote.clone()]);
        assert_eq!(tool, "bash");
        assert!(arguments["command"].as_str().unwrap_or("").starts_with("git add -- 'a/b.md'"), "{arguments}");
        let (tool, arguments) = after(&[known(), told("execute_subtask"), wrote, ("bash", json!(""))]);
        assert_eq!((tool.as_str(), &arguments["status"]), ("s_update_task_status", &json!("done")));
        let (_, arguments) = after(&[known(), told("execute_subtask"), ("write", json!("failed"))]);
        assert!(arguments["command"].as_str().unwrap_or("").contains("> 'a/b.md'"), "{arguments}");
    }

    #[test]
    fn it_asks_again_when_refused_and_gives_up_at_last() {
        let refused = ("s_report_model", json!({ "code": "x", "message": "No.", "hint": "Ask." }));
        let round = [told("report_model"), refused.clone()];
        assert_eq!(after(&[&[known()][..], &round].concat()).0, "s_get_next_action");
        assert_eq!(after(&[&[known()][..], &vec![round.to_vec(); 5].concat()].concat()).0, "say");
        assert_eq!(after(&[("s_authenticate", refused.1)]).0, "say");
    }
}
