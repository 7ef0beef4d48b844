//! Which agent does a file of `.saihai/agents/` define?

use std::path::{Component, Path, PathBuf};

use board::{AgentId, AgentSpec, Client, Decompose, EnvNames, EnvValue, EnvValues, Hierarchy, Mode, Scope};

use crate::dir::{self, SaihaiDir};
use crate::fields::Fields;
use crate::problem::{ProblemReport, SourceLocation};
use crate::values;
use crate::yaml;

/// In the order in which they are written.
const KEYS: &[&str] = &[
    "id",
    "name",
    "hierarchy_type",
    "role_type",
    "parent",
    "mode",
    "client",
    "command",
    "model",
    "prompt_file",
    "system_prompt",
    "scope",
    "decompose",
    "max_sessions",
    "timeout",
    "stall_timeout",
    "env",
    "skills",
    "runs_on",
];

const SCOPE_KEYS: &[&str] = &["read", "write", "exclude", "scratch"];

/// An agent whose file could be read as far as its id. What was wrong has its default.
#[derive(Debug)]
pub(crate) struct ParsedAgent {
    pub(crate) spec: AgentSpec,
    pub(crate) env: EnvValues,
    pub(crate) file: PathBuf,
    pub(crate) id_location: SourceLocation,
    pub(crate) parent_location: SourceLocation,
}

/// What an agent sees and may change if its file does not say: a worker everything, a manager, who
/// does no work itself, nothing.
pub fn default_scope(hierarchy: Hierarchy) -> Scope {
    let everything = || vec!["**".to_owned()];
    Scope {
        read: everything(),
        write: match hierarchy {
            Hierarchy::Manager => Vec::new(),
            Hierarchy::Worker => everything(),
        },
        exclude: Vec::new(),
        scratch: vec!["target/".into(), "node_modules/".into()],
    }
}

/// Reads one file; `None` if it does not even name an agent.
pub(crate) fn read(dir: &SaihaiDir, source: &str, report: &mut ProblemReport) -> Option<ParsedAgent> {
    let file = report.file.clone();
    let node = yaml::parse(source, report)?;
    let mut fields = Fields::open("an agent", node, KEYS, report)?;
    fields.require("id");
    let id = fields.parsed::<AgentId>("id");
    let hierarchy = fields.parsed_or("hierarchy_type", Hierarchy::Worker);
    let mode = fields.parsed_or("mode", Mode::Guided);
    let decompose = fields.parsed_or("decompose", Decompose::Auto);
    check_rank(hierarchy, mode, decompose, &mut fields);
    let client = fields.parsed_or("client", Client::ClaudeCode);
    check_attached(client, mode, &mut fields);
    let command = command(client, &mut fields);
    let (prompt_file, system_prompt) = prompt(dir, &mut fields);
    let hierarchy = hierarchy.unwrap_or(Hierarchy::Worker);
    let name = fields.text("name", values::line);
    let role = fields.text("role_type", values::line).unwrap_or_default();
    let parent = fields.parsed("parent");
    let model = fields.text("model", values::line);
    let scope = scope(hierarchy, &mut fields);
    let max_sessions = fields.count("max_sessions", 1..=1000).unwrap_or(1);
    let timeout = seconds("timeout", AgentSpec::DEFAULT_TIMEOUT, &mut fields);
    let stall_timeout = seconds("stall_timeout", AgentSpec::DEFAULT_STALL_TIMEOUT, &mut fields);
    let env = env(&mut fields);
    let skills = fields.texts("skills", values::line).unwrap_or_default();
    let runs_on = fields.texts("runs_on", values::line).unwrap_or_default();
    let (id_location, parent_location) = (fields.location("id"), fields.location("parent"));

    // Only now: a bad id must not hide the other problems.
    let id = id?;
    let spec = AgentSpec {
        name: name.unwrap_or_else(|| id.to_string()),
        id,
        hierarchy,
        role,
        parent,
        mode: mode.unwrap_or(Mode::Guided),
        client: client.unwrap_or(Client::ClaudeCode),
        command,
        model,
        system_prompt,
        prompt_file,
        scope,
        decompose: decompose.unwrap_or(Decompose::Auto),
        max_sessions,
        timeout,
        stall_timeout,
        env: EnvNames(env.keys().cloned().collect()),
        skills,
        runs_on,
    };
    Some(ParsedAgent { spec, env, file, id_location, parent_location })
}

/// A manager splits every task and talks to the server (N3).
fn check_rank(hierarchy: Option<Hierarchy>, mode: Option<Mode>, decompose: Option<Decompose>, fields: &mut Fields<'_>) {
    if hierarchy != Some(Hierarchy::Manager) {
        return;
    }
    if mode == Some(Mode::OneShot) {
        fields.report.at(fields.location("mode"), "a manager must be guided: it works through the server");
    }
    if decompose == Some(Decompose::Never) {
        let message = "a manager cannot have `decompose: never`: to split work is what it does";
        fields.report.at(fields.location("decompose"), message);
    }
}

/// Whoever joins by itself talks to the server (S7).
fn check_attached(client: Option<Client>, mode: Option<Mode>, fields: &mut Fields<'_>) {
    if (client, mode) == (Some(Client::Attached), Some(Mode::OneShot)) {
        let message = "an agent with `client: attached` works through the server and cannot be one_shot";
        fields.report.at(fields.location("mode"), message);
    }
}

fn command(client: Option<Client>, fields: &mut Fields<'_>) -> Vec<String> {
    let command = fields.texts("command", values::argument);
    let location = fields.location("command");
    match (client, &command) {
        (None, _) => {}
        (Some(Client::Command), None) if !fields.has("command") => {
            fields.report.at(fields.location("client"), "`client: command` needs the key `command`");
        }
        (Some(Client::Command), Some(words)) if words.first().is_none_or(|word| word.trim().is_empty()) => {
            fields.report.at(location, "`command` names no program");
        }
        (Some(Client::Command), Some(words)) => {
            for unknown in words.iter().filter_map(|word| unknown_placeholder(word)) {
                let known = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(", ");
                let message = format!("`command` has `{{{unknown}}}`, which nothing is put in for");
                fields.report.hinted(location, message, format!("what there is: {known}"));
            }
        }
        (Some(Client::Command), None) => {}
        (
            Some(client @ (Client::ClaudeCode | Client::Codex | Client::Gemini | Client::Opencode | Client::Attached)),
            _,
        ) => {
            if fields.has("command") {
                let message = format!("`command` is for `client: command`, and the client is `{client}`");
                fields.report.at(location, message);
            }
        }
    }
    command.unwrap_or_default()
}

/// What is put into the arguments of a `command`.
const PLACEHOLDERS: [&str; 6] = ["prompt_file", "prompt", "workspace", "model", "mcp_url", "agent"];

/// A word that was meant to be replaced, and will not be. Braces inside of scripts are the script's own.
fn unknown_placeholder(word: &str) -> Option<&str> {
    let value = word.rsplit_once('=').map_or(word, |(_, value)| value);
    let name = value.strip_prefix('{')?.strip_suffix('}')?;
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    (is_name && !PLACEHOLDERS.contains(&name)).then_some(name)
}

/// The file's name and the text of the prompt.
fn prompt(dir: &SaihaiDir, fields: &mut Fields<'_>) -> (Option<String>, String) {
    let text = fields.text("system_prompt", values::non_blank);
    let name = fields.text("prompt_file", values::line);
    if fields.has("prompt_file") && fields.has("system_prompt") {
        fields.report.hinted(
            fields.location("system_prompt"),
            "both `prompt_file` and `system_prompt` are given",
            "keep one of them",
        );
    }
    let Some(name) = name else {
        return (None, text.unwrap_or_default());
    };
    let path = Path::new(&name);
    if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        let message = format!("`prompt_file` must be a path below `.saihai/`, not `{name}`");
        fields.report.hinted(fields.location("prompt_file"), message, "for example `prompts/coder.md`");
        return (Some(name), String::new());
    }
    match dir.read(path) {
        Ok(text) => (Some(name), text),
        Err(error) => {
            let message = format!("prompt file `{}` {error}", dir::in_repository(path).display());
            fields.report.at(fields.location("prompt_file"), message);
            (Some(name), String::new())
        }
    }
}

fn scope(hierarchy: Hierarchy, fields: &mut Fields<'_>) -> Scope {
    let mut scope = default_scope(hierarchy);
    let Some(mut fields) = fields.fields("scope", SCOPE_KEYS) else {
        return scope;
    };
    let lists = [&mut scope.read, &mut scope.write, &mut scope.exclude, &mut scope.scratch];
    for (key, list) in SCOPE_KEYS.iter().zip(lists) {
        if let Some(patterns) = fields.texts(key, values::pattern) {
            *list = patterns;
        }
    }
    scope
}

fn seconds(key: &str, default: u32, fields: &mut Fields<'_>) -> u32 {
    fields.seconds(key, 1).and_then(|seconds| u32::try_from(seconds).ok()).unwrap_or(default)
}

fn env(fields: &mut Fields<'_>) -> EnvValues {
    let Some(mut fields) = fields.fields_any("env") else {
        return EnvValues::new();
    };
    let mut env = EnvValues::new();
    for (key, location) in fields.keys() {
        if let Err(wrong) = values::variable(&key) {
            fields.report.at(location, wrong);
        } else if let Some(value) = fields.text(&key, values::variable_value) {
            env.insert(key, EnvValue(value));
        }
    }
    env
}
