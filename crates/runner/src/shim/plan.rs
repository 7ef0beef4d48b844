//! What is a shim told, and what does it leave behind?

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use board::{Client, EndReason, ProcessEnd};
use serde::{Deserialize, Serialize};

use crate::clients::OutputSummary;
use crate::process::ProcessIdentity;
use crate::sandbox::Policy;

/// All that a shim has to know. It comes through a pipe: it holds a credential, and is never on disk (S3).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShimPlan {
    /// In the environment of everything that is started, so that it can be found again.
    pub spawn: String,
    /// Where the shim keeps its log and says how it ended.
    pub directory: PathBuf,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    pub cwd: PathBuf,
    pub stdin: Option<PathBuf>,
    pub sandbox: Option<Policy>,
    pub wall: Duration,
    /// How long it may be silent.
    pub stall: Option<Duration>,
    /// Between asking it to end and ending it.
    pub grace: Duration,
    /// It ends well on SIGINT, and not on SIGTERM.
    pub ends_on_sigint: bool,
    /// Values that must not appear in the log.
    pub secrets: Vec<String>,
    /// Whose output it is; `None` if it is not read for meaning.
    pub client: Option<Client>,
}

pub const GRACE: Duration = Duration::from_secs(5);

/// Why the runner ends a shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It is not to go on.
    Stopped,
    /// It has reported or logged out, and lives on: it counts as having ended well (V2).
    Finished,
}

/// How it ended, as the shim saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExitRecord {
    pub end: ProcessEnd,
    #[serde(default, rename = "heard")]
    pub output_summary: OutputSummary,
    /// Bytes of output in all.
    #[serde(default)]
    pub output: u64,
}

impl ExitRecord {
    pub(crate) fn because(reason: EndReason, error: impl Into<String>) -> Self {
        let end = ProcessEnd { error: Some(error.into()), ..ProcessEnd::because(reason) };
        Self { end, output_summary: OutputSummary::default(), output: 0 }
    }
}

/// What a shim says on its stdout while it begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartupMessage {
    Shim(ProcessIdentity),
    /// The client runs.
    Client,
    Failed(String),
}

/// The files of a shim in its directory.
pub(crate) fn shim_file(directory: &Path) -> PathBuf {
    directory.join("shim.json")
}

pub(crate) fn exit_file(directory: &Path) -> PathBuf {
    directory.join("exit.json")
}

pub(crate) fn stop_file(directory: &Path) -> PathBuf {
    directory.join("stop.json")
}

/// Touched when the agent calls the server: an agent that prints nothing but calls does not stall.
pub(crate) fn last_call_file(directory: &Path) -> PathBuf {
    directory.join("called")
}

pub(crate) fn log_directory(directory: &Path) -> PathBuf {
    directory.join("log")
}

/// Writes a file so that it is there whole or not at all, also after a power failure.
pub(crate) fn write_whole<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let aside = path.with_extension("tmp");
    let file = fs::File::create(&aside)?;
    serde_json::to_writer(&file, value)?;
    file.sync_all()?;
    fs::rename(&aside, path)?;
    fs::File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
}

pub(crate) fn read_whole<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
