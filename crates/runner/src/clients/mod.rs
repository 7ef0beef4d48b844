//! How is each client started headless, and what does its output tell?
//!
//! The credential of a session is only ever named, as the variable `SAIHAI_TOKEN`, in what is
//! written here: neither a file nor an argument holds it (S3).

mod claude_code;
mod codex;
mod command;
mod gemini;
mod login;
mod opencode;
mod program;
mod reader;
mod reset;
mod vendor;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use board::{AgentSpec, Client, EnvValues, Usage, VendorTrouble};
use serde::{Deserialize, Serialize};

pub(crate) use self::program::is_executable;
pub use self::reader::OutputReader;

/// The name of the MCP server in every client's configuration.
const SERVER: &str = "saihai";

/// What an adapter has to work with.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    pub spec: &'a AgentSpec,
    /// What the variables of its `env` are set to.
    pub env: &'a EnvValues,
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
#[derive(Clone, Default)]
pub struct User {
    pub home: PathBuf,
    pub env: BTreeMap<String, String>,
}

impl User {
    /// The vendors' programs that are on the PATH.
    pub fn installed_clients(&self) -> Vec<Client> {
        let path = self.env.get("PATH").map(String::as_str);
        let vendors = [
            (Client::ClaudeCode, claude_code::VENDOR),
            (Client::Codex, codex::VENDOR),
            (Client::Gemini, gemini::VENDOR),
            (Client::Opencode, opencode::VENDOR),
        ];
        let installed =
            vendors.into_iter().filter(|(_, vendor)| program::on_paths(path.into_iter(), vendor.program).is_some());
        installed.map(|(client, _)| client).collect()
    }
}

/// How the client is started. The common environment (PATH, HOME, TMPDIR, locale, the agent's own
/// `env`, the credential in `SAIHAI_TOKEN`) is the caller's.
#[derive(Clone, Default, PartialEq, Eq)]
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
    /// Copies of the user's login that the client may renew while it runs: the copy, and the original,
    /// which is stale then, because vendors accept a refresh token once.
    pub logins: Vec<(PathBuf, PathBuf)>,
    /// Values that must not appear in its log.
    pub secrets: Vec<String>,
    /// It ends well on SIGINT, and not on SIGTERM.
    pub ends_on_sigint: bool,
}

/// Why it cannot be started, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}. {hint}")]
pub struct CannotLaunch {
    pub problem: String,
    pub hint: String,
}

/// What a client's output said, read to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OutputSummary {
    pub usage: Option<Usage>,
    /// The vendor's own id of the conversation.
    pub vendor_session: Option<String>,
    pub trouble: Option<VendorTrouble>,
    /// It could not log in: what it said, and what to do.
    pub login: Option<String>,
}

/// How the agent's client is started with this assignment. Nothing is written or started here.
pub fn launch(assignment: &Assignment<'_>) -> Result<Launch, CannotLaunch> {
    match assignment.spec.client {
        Client::ClaudeCode => claude_code::launch(assignment),
        Client::Codex => codex::launch(assignment),
        Client::Gemini => gemini::launch(assignment),
        Client::Opencode => opencode::launch(assignment),
        Client::Command => command::launch(assignment),
        Client::Attached => Err(CannotLaunch {
            problem: format!("{} joins by itself and is never started", assignment.spec.id),
            hint: "Attach it with its passkey: `saihai agent passkey`".into(),
        }),
    }
}

impl<'a> Assignment<'a> {
    /// Its definition names a variable whose value is not in the store: it came without from another installation, or was
    /// written by an older version.
    pub(crate) fn check_env(&self) -> Result<(), CannotLaunch> {
        match self.spec.env.0.iter().find(|name| !self.env.contains_key(*name)) {
            None => Ok(()),
            Some(name) => Err(CannotLaunch {
                problem: format!("the store has no value for {name} in the env of {}", self.spec.id),
                hint: "Run `saihai agent apply`, which puts it there".into(),
            }),
        }
    }

    /// A variable as the agent has it: its own definition goes before the user's environment. One that
    /// is set to nothing is not set.
    fn variable(&self, name: &str) -> Option<&'a str> {
        let own = self.env.get(name).map(|value| value.0.as_str());
        own.or_else(|| self.user.env.get(name).map(String::as_str)).filter(|value| !value.is_empty())
    }

    /// A directory that the user can move by a variable.
    fn directory(&self, variable: &str, usual: &str) -> PathBuf {
        self.variable(variable).map_or_else(|| self.user.home.join(usual), PathBuf::from)
    }

    /// The HOME of the session.
    fn home(&self) -> PathBuf {
        self.run.join("home")
    }
}

impl Launch {
    /// The prompt comes by a file: an argument list is shown to everybody, and is short (F45).
    fn prompt(&mut self, assignment: &Assignment<'_>) -> PathBuf {
        let path = assignment.run.join("prompt.md");
        self.files.push((path.clone(), assignment.prompt.into()));
        path
    }

    fn set(&mut self, variables: &[(&str, &str)]) {
        self.env.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    }

    fn set_path(&mut self, variable: &str, path: &Path) {
        self.env.insert(variable.to_owned(), path.display().to_string());
    }

    fn arguments<'s>(&mut self, arguments: impl IntoIterator<Item = &'s str>) {
        self.arguments.extend(arguments.into_iter().map(str::to_owned));
    }
}

/// Without the values of variables, which are often keys (S4).
impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { home, env } = self;
        f.debug_struct("User").field("home", home).field("env", &env.keys()).finish()
    }
}

/// Without the values of variables and what is in the files (S4).
impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, arguments, env, files, stdin, readable, logins, secrets: _, ends_on_sigint } = self;
        let files: Vec<_> = files.iter().map(|(path, _)| path).collect();
        f.debug_struct("Launch")
            .field("program", program)
            .field("arguments", arguments)
            .field("env", &env.keys())
            .field("files", &files)
            .field("stdin", stdin)
            .field("readable", readable)
            .field("logins", logins)
            .field("ends_on_sigint", ends_on_sigint)
            .finish_non_exhaustive()
    }
}
