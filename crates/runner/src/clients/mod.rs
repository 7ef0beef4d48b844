//! How is each client started headless, and what does its output tell?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use board::{AgentSpec, Usage, VendorTrouble};
use serde::{Deserialize, Serialize};

/// What an adapter has to work with.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    pub spec: &'a AgentSpec,
    /// The whole prompt.
    pub prompt: &'a str,
    /// Where the MCP server is; `None` for a one-shot agent.
    pub mcp_url: Option<&'a str>,
    /// The session's private directory. `home` and `tmp` below it exist, and are its HOME and TMPDIR.
    pub run: &'a Path,
    /// Where it works.
    pub workspace: &'a Path,
    pub user: &'a User,
}

/// Whose programs and logins are used: the person who started the runner.
#[derive(Clone, Debug, Default)]
pub struct User {
    pub home: PathBuf,
    pub env: BTreeMap<String, String>,
}

/// How the client is started. The common environment (PATH, HOME, TMPDIR, locale, the agent's own
/// `env`, the credential in `SAIHAI_TOKEN`) is the caller's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// Written before it starts, for its owner alone.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// What it reads from stdin.
    pub stdin: Option<PathBuf>,
    /// What it must be able to read and execute besides the system's own directories.
    pub readable: Vec<PathBuf>,
    /// Values that must not appear in its log.
    pub secrets: Vec<String>,
    /// It ends well on SIGINT, and not on SIGTERM.
    pub interrupt: bool,
}

/// Why it cannot be started, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}. {hint}")]
pub struct CannotLaunch {
    pub problem: String,
    pub hint: String,
}

/// What a client's output told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    pub usage: Option<Usage>,
    /// The vendor's own id of the conversation.
    pub vendor_session: Option<String>,
    pub trouble: Option<VendorTrouble>,
    /// It could not log in: what it said, and what to do.
    pub login: Option<String>,
}

#[derive(Debug)]
pub struct Reader(Heard);

impl Reader {
    pub fn new(_: board::Client) -> Self {
        Self(Heard::default())
    }

    pub fn line(&mut self, _: &[u8], _: board::Timestamp) {}

    pub fn finish(self, _: Option<i32>) -> Heard {
        self.0
    }
}

pub fn launch(assignment: &Assignment<'_>) -> Result<Launch, CannotLaunch> {
    let mut words = assignment.spec.command.iter();
    let program = words.next().cloned().unwrap_or_default();
    let prompt = assignment.run.join("prompt.md");
    Ok(Launch {
        program: program.into(),
        arguments: words.cloned().collect(),
        files: vec![(prompt.clone(), assignment.prompt.as_bytes().to_vec())],
        stdin: Some(prompt),
        ..Launch::default()
    })
}
