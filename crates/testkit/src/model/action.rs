//! How does what the model wants to do become a call of a tool that its client offers?

use board::Tool;
use serde_json::{Value, json};

use super::conversation::{ClientTool, Conversation, ToolCall, Turn};
use super::{directing, guided};

/// After so many refusals the model gives up.
const MAX_REFUSALS: usize = 5;

const WRITE: [&str; 3] = ["Write", "write_file", "write"];
const SHELL: [&str; 5] = ["Bash", "exec_command", "run_shell_command", "bash", "shell"];

/// What the model does next, before it becomes a call of a client's tool.
pub(super) enum Action {
    Ask(Tool, Value),
    Write { path: String, content: String },
    Shell(String),
    Say(String),
}

/// The model's next turn in a conversation. Who has the tools of an orchestrator directs a project; everybody else is
/// led through a task.
pub fn next_turn(conversation: &Conversation) -> Turn {
    if conversation.tools.is_empty() {
        return Turn::Say("A task".into());
    }
    if conversation.prefix().is_none() {
        return look_for_tools(conversation);
    }
    let directs = conversation.tool_named(Tool::GetOverview).is_some();
    let refused = |call: &&ToolCall| conversation.saihai_tool(call).is_some() && refusal(call).is_some();
    if conversation.calls.iter().filter(refused).count() >= MAX_REFUSALS {
        return Turn::Say("I am refused again and again, so I stop.".into());
    }
    match if directs { directing::next(conversation) } else { guided::next(conversation) } {
        Action::Say(text) => Turn::Say(text),
        Action::Ask(tool, arguments) => match conversation.tool_named(tool) {
            Some(offered) => Turn::Call { tool: offered.clone(), arguments: with_token(conversation, arguments) },
            None => Turn::Say(format!("I was not given {}.", tool.as_str())),
        },
        Action::Write { path, content } => write(conversation, &path, &content),
        Action::Shell(command) => shell(conversation, &command),
    }
}

/// Some clients list the tools of servers by name only, until they are searched for.
fn look_for_tools(conversation: &Conversation) -> Turn {
    let search = conversation.client_tool(&["ToolSearch"]);
    let searched = conversation.calls.iter().any(|call| call.tool.name == "ToolSearch");
    match (search, conversation.deferred_prefix()) {
        (Some(search), Some(prefix)) if !searched => {
            let names: Vec<_> = Tool::ALL.iter().map(|tool| format!("{prefix}{}", tool.as_str())).collect();
            let arguments = json!({ "query": format!("select:{}", names.join(",")), "max_results": names.len() });
            Turn::Call { tool: search.clone(), arguments }
        }
        _ => Turn::Say("I see no tools of Saihai.".into()),
    }
}

pub(super) fn ask(tool: Tool) -> Action {
    Action::Ask(tool, json!({}))
}

pub(super) fn has_shell(conversation: &Conversation) -> bool {
    conversation.client_tool(&SHELL).is_some()
}

/// The last call of a tool.
pub(super) fn last(conversation: &Conversation, tool: Tool) -> Option<usize> {
    conversation.calls.iter().rposition(|call| conversation.saihai_tool(call) == Some(tool))
}

/// Why a call was refused, or that it failed.
pub(super) fn refusal(call: &ToolCall) -> Option<String> {
    let answer = call.answer();
    let text = |name: &str| answer[name].as_str().unwrap_or("").to_owned();
    match answer["code"].is_string() && answer["message"].is_string() {
        true => Some(format!("{} {}", text("message"), text("hint"))),
        false if answer.is_null() => Some(call.result.chars().take(200).collect()),
        false => None,
    }
}

pub(super) fn parent(path: &str) -> String {
    quote(path.rsplit_once('/').map_or(".", |(parent, _)| parent))
}

pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn with_token(conversation: &Conversation, mut arguments: Value) -> Value {
    let greeting = last(conversation, Tool::Authenticate).map(|at| conversation.calls[at].answer());
    if let Some(token) = greeting.and_then(|answer| answer["session_token"].as_str().map(str::to_owned)) {
        arguments["session_token"] = json!(token);
    }
    arguments
}

fn write(conversation: &Conversation, path: &str, content: &str) -> Turn {
    let Some(tool) = conversation.client_tool(&WRITE) else {
        let command = format!("mkdir -p {} && printf '%s' {} > {}", parent(path), quote(content), quote(path));
        return shell(conversation, &command);
    };
    let path = match conversation.directory() {
        Some(directory) if !path.starts_with('/') => format!("{directory}/{path}"),
        Some(_) | None => path.to_owned(),
    };
    let name = if tool.name == "write" { "filePath" } else { "file_path" };
    Turn::Call { tool: tool.clone(), arguments: json!({ name: path, "content": content }) }
}

fn shell(conversation: &Conversation, command: &str) -> Turn {
    let Some(tool) = conversation.client_tool(&SHELL) else {
        return Turn::Say("I have neither a file to write to nor a shell.".into());
    };
    Turn::Call { tool: tool.clone(), arguments: shell_arguments(tool, command) }
}

fn shell_arguments(tool: &ClientTool, command: &str) -> Value {
    match tool.name.as_str() {
        "exec_command" => json!({ "cmd": command }),
        "shell" => json!({ "command": ["sh", "-c", command] }),
        _ => json!({ "command": command, "description": "Keep the work" }),
    }
}
