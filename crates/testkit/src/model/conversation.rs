//! What has been said and done so far? A request of any vendor's API, read into one shape.

use board::Tool;
use serde_json::{Value, json};

/// A tool that the client offers; codex groups those of a server in a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientTool {
    pub name: String,
    pub namespace: Option<String>,
}

/// A call that the model made earlier, and what came back.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    pub tool: ClientTool,
    pub arguments: Value,
    pub result: String,
    /// The client said that the call failed.
    pub failed: bool,
}

/// One entry of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// By the user.
    User(String),
    Call(ToolCall),
}

/// Everything that the model decides by.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    pub provider: &'static str,
    pub model: String,
    /// What the user said last.
    pub prompt: String,
    /// The calls since then.
    pub calls: Vec<ToolCall>,
    pub tools: Vec<ClientTool>,
    /// The request as it came: clients mention their working directory and deferred tools in it.
    pub request: String,
}

/// What the model does now.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    Call { tool: ClientTool, arguments: Value },
    Say(String),
}

impl ClientTool {
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), namespace: None }
    }

    /// With its server's name in front, as every client but codex spells it.
    pub fn full(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}__{}", self.name),
            None => self.name.clone(),
        }
    }
}

impl ToolCall {
    /// The JSON in the result, whatever a client has put around it.
    pub fn answer(&self) -> Value {
        let starts = self.result.match_indices('{').map(|(at, _)| &self.result[at..]);
        let mut objects = starts.filter_map(|text| {
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
            values.next()?.ok().filter(Value::is_object)
        });
        objects.next().unwrap_or(Value::Null)
    }
}

impl Conversation {
    pub fn new(provider: &'static str, request: &Value, entries: Vec<Entry>, tools: Vec<ClientTool>) -> Self {
        let (mut prompt, mut calls) = (String::new(), Vec::new());
        for entry in entries {
            match entry {
                // Clients send remarks of their own in the role of the user.
                Entry::User(text) if text.trim_start().starts_with('<') || text.trim().is_empty() => {}
                Entry::User(text) => {
                    prompt = text;
                    calls.clear();
                }
                Entry::Call(call) => calls.push(call),
            }
        }
        let model = request["model"].as_str().unwrap_or("scripted").to_owned();
        Self { provider, model, prompt, calls, tools, request: request.to_string() }
    }

    /// The word after `label` in what the user said: `coder` for `agent` in "You are agent coder".
    pub fn word_after(&self, label: &str) -> Option<String> {
        let words: Vec<_> = self.prompt.split_whitespace().collect();
        let at = words.windows(2).find(|pair| pair[0].eq_ignore_ascii_case(label))?;
        let name = at[1].trim_matches(|c: char| !c.is_alphanumeric());
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// The client's working directory, if the request mentions it.
    pub fn directory(&self) -> Option<&str> {
        const TOLD: [&str; 3] = ["orking directory: /", "<cwd>/", "working in the directory: /"];
        TOLD.iter().find_map(|told| {
            let at = self.request.find(told)? + told.len() - 1;
            self.request[at..].split(['\\', '<', '"']).next()
        })
    }

    /// What the client puts in front of the names of Saihai's tools.
    pub fn prefix(&self) -> Option<String> {
        self.tools.iter().find_map(|tool| before_known_tool(&tool.full()).map(str::to_owned))
    }

    /// A tool of Saihai's, as this client calls it.
    pub fn tool_named(&self, tool: Tool) -> Option<&ClientTool> {
        let wanted = format!("{}{}", self.prefix()?, tool.as_str());
        self.tools.iter().find(|offered| offered.full() == wanted)
    }

    /// Which tool of Saihai's a call was for.
    pub fn saihai_tool(&self, call: &ToolCall) -> Option<Tool> {
        let prefix = self.prefix().unwrap_or_default();
        let full = call.tool.full();
        let own = full.strip_prefix(&prefix).unwrap_or(&full);
        Tool::ALL.iter().copied().find(|tool| tool.as_str() == own)
    }

    /// The client's own tool by one of its names.
    pub fn client_tool(&self, names: &[&str]) -> Option<&ClientTool> {
        self.tools.iter().find(|tool| tool.namespace.is_none() && names.contains(&tool.name.as_str()))
    }

    /// The prefix of tools that the client lists by name only: found by a word that ends like a tool of Saihai's.
    pub fn deferred_prefix(&self) -> Option<String> {
        let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let mut words = self.request.split(|c| !part(c)).filter_map(|word| word.find("mcp__").map(|at| &word[at..]));
        words.find_map(|word| before_known_tool(word).map(str::to_owned))
    }
}

/// What is in front of a tool's name, if it is one that every agent, or every orchestrator, has.
fn before_known_tool(name: &str) -> Option<&str> {
    [Tool::GetNextAction, Tool::GetOverview].iter().find_map(|tool| name.strip_suffix(tool.as_str()))
}

/// The texts in a value that is a text, or a list of parts with texts.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

/// Arguments that were sent as a text.
pub(super) fn arguments(text: &Value) -> Value {
    text.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| json!({}))
}
