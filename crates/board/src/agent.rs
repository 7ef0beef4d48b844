//! Who is on the roster, and what is each of them for?

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{AgentId, Generation, MessageId, SessionId, Timestamp};

words! {
    /// A manager splits work, assigns it and waits; a worker does it.
    Hierarchy { Manager = "manager", Worker = "worker" }
}

words! {
    /// A guided agent talks to the MCP server; a one-shot agent is judged by its exit alone.
    Mode { Guided = "guided", OneShot = "one_shot" }
}

words! {
    /// The program that is the agent.
    Client {
        ClaudeCode = "claude-code",
        Codex = "codex",
        Gemini = "gemini",
        Opencode = "opencode",
        Command = "command",
        /// No runner starts it: a person's own client joins with the agent's passkey (S7).
        Attached = "attached",
    }
}

words! {
    /// Does a worker split its task into steps first?
    Decompose { Auto = "auto", Never = "never" }
}

/// Which files an agent sees and may change, as gitignore patterns (R2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// When given, only these (and `write`) are checked out.
    pub read: Vec<String>,
    /// The only paths that may change.
    pub write: Vec<String>,
    /// Not checked out.
    pub exclude: Vec<String>,
    /// Where builds may write although nothing there is kept.
    pub scratch: Vec<String>,
}

/// An agent as its definition file describes it (R8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSpec {
    pub id: AgentId,
    pub name: String,
    pub hierarchy: Hierarchy,
    /// Free text: developer, reviewer, …
    pub role: String,
    /// The manager it works for.
    pub parent: Option<AgentId>,
    pub mode: Mode,
    pub client: Client,
    /// The program and its arguments, for `client: command`.
    pub command: Vec<String>,
    pub model: Option<String>,
    /// The text of the prompt, also when it comes from a file.
    pub system_prompt: String,
    /// Where that text came from, relative to `.saihai/`.
    pub prompt_file: Option<String>,
    pub scope: Scope,
    pub decompose: Decompose,
    pub max_sessions: u32,
    /// Seconds of wall clock for one session.
    pub timeout: u32,
    /// Seconds without output or call.
    pub stall_timeout: u32,
    pub env: EnvNames,
    /// What it is good at, for the managers who choose. Older logs have none.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Labels that a runner must have. Older logs have none.
    #[serde(default)]
    pub runs_on: Vec<String>,
}

impl AgentSpec {
    pub const DEFAULT_TIMEOUT: u32 = 30 * 60;
    pub const DEFAULT_STALL_TIMEOUT: u32 = 5 * 60;

    /// A guided worker with every default.
    pub fn worker(id: AgentId) -> Self {
        Self {
            name: id.to_string(),
            id,
            hierarchy: Hierarchy::Worker,
            role: String::new(),
            parent: None,
            mode: Mode::Guided,
            client: Client::ClaudeCode,
            command: Vec::new(),
            model: None,
            system_prompt: String::new(),
            prompt_file: None,
            scope: Scope::default(),
            decompose: Decompose::Auto,
            max_sessions: 1,
            timeout: Self::DEFAULT_TIMEOUT,
            stall_timeout: Self::DEFAULT_STALL_TIMEOUT,
            env: EnvNames::default(),
            skills: Vec::new(),
            runs_on: Vec::new(),
        }
    }

    /// The account whose rate limit it shares (A3): one login per client program.
    pub fn account(&self) -> &'static str {
        self.client.as_str()
    }
}

/// Which variables an agent's definition adds to its environment. Their values are often keys, and are no part of the
/// board: the store keeps them apart (E8). Older logs have them here, and they are dropped on reading.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
pub struct EnvNames(#[schemars(with = "BTreeMap<String, String>")] pub BTreeSet<String>);

impl EnvNames {
    /// What stands in the place of a value.
    pub const HIDDEN: &'static str = "(hidden)";
}

impl Serialize for EnvNames {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|name| (name, Self::HIDDEN)))
    }
}

impl<'de> Deserialize<'de> for EnvNames {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::<String, String>::deserialize(deserializer).map(|values| Self(values.into_keys().collect()))
    }
}

/// The variables of an agent with their values. It reaches the runner that claimed a session, and nobody else.
pub type EnvValues = BTreeMap<String, EnvValue>;

/// The values that must not appear in logs: those of variables that are called a key, token or the like. Others, such as a
/// port, would only make a log unreadable.
pub fn secret_values(env: &EnvValues) -> impl Iterator<Item = &str> {
    const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
    const SHORTEST: usize = 8;
    let is_secret = |name: &str| {
        let name = name.to_ascii_uppercase();
        WORDS.iter().any(|word| name.contains(word))
    };
    env.iter()
        .filter(move |(name, value)| value.0.len() >= SHORTEST && is_secret(name))
        .map(|(_, value)| value.0.as_str())
}

/// The value of a variable. It is often a key, so it is never shown (S4).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EnvValue(pub String);

impl std::fmt::Debug for EnvValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EnvValue(…)")
    }
}

/// A roster entry: the definition, and what has happened to the agent since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub spec: AgentSpec,
    /// An agent whose definition was removed stays, for the record.
    pub active: bool,
    pub passkey: Option<SecretHash>,
    /// The newest message it has acknowledged.
    pub read_upto: MessageId,
    pub chat: Chat,
}

/// The state of an agent's chat with the owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chat {
    pub live: Option<SessionId>,
    pub generation: Generation,
    /// Chat sessions in a row that left messages unread.
    pub idle: u32,
    pub not_before: Option<Timestamp>,
}

impl Agent {
    pub fn id(&self) -> &AgentId {
        &self.spec.id
    }

    pub fn is_manager(&self) -> bool {
        self.spec.hierarchy == Hierarchy::Manager
    }
}

/// The hash of a secret. The secret itself never reaches the board (S3, S4).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretHash(pub String);

impl std::fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretHash(…)")
    }
}
