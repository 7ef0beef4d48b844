//! What is a shim told, and what does it leave behind?

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use board::{Client, EndReason, OutputKind, ProcessEnd};
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
    pub record: Durability,
}

/// Must what a shim leaves behind survive a power failure?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Durability {
    /// The record of an agent: nobody else knows how it ended.
    Durable,
    /// Whoever started it waits for it, and would start it again.
    UntilRestart,
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

/// What the client has used so far.
pub(crate) fn usage_file(directory: &Path) -> PathBuf {
    directory.join("usage.json")
}

pub(crate) fn log_directory(directory: &Path, kind: OutputKind) -> PathBuf {
    directory.join(match kind {
        OutputKind::Raw => "log",
        OutputKind::Transcript => "transcript",
    })
}

/// Writes a file so that it is there whole or not at all; if it is durable, also after a power failure.
pub(crate) fn write_whole<T: Serialize>(path: &Path, value: &T, durability: Durability) -> io::Result<()> {
    let aside = path.with_extension("tmp");
    let mut file = fs::File::create(&aside)?;
    file.write_all(&serde_json::to_vec(value)?)?;
    if durability == Durability::UntilRestart {
        return fs::rename(&aside, path);
    }
    file.sync_all()?;
    fs::rename(&aside, path)?;
    fs::File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// Sets space aside for the exit record, so that a disk that is full by then does not lose it.
pub(crate) fn reserve_exit_record(directory: &Path) -> io::Result<()> {
    let mut file = fs::File::create(exit_file(directory).with_extension("tmp"))?;
    file.write_all(&[b' '; EXIT_RECORD_SPACE])?;
    file.sync_all()
}

/// Writes the exit record into the space that was set aside for it. White space at its end is part of the JSON.
pub(crate) fn write_exit_record(directory: &Path, exit: &ExitRecord, durability: Durability) -> io::Result<()> {
    let path = exit_file(directory);
    let aside = path.with_extension("tmp");
    let mut text = serde_json::to_vec(exit)?;
    if text.len() > EXIT_RECORD_SPACE {
        // Only what a client or the system said can be that long.
        let short = ExitRecord::because(exit.end.reason, "its record was too long");
        text = serde_json::to_vec(&ExitRecord {
            end: ProcessEnd { error: short.end.error, ..exit.end.clone() },
            ..short
        })?;
    }
    let mut file = fs::File::options().write(true).create(true).truncate(false).open(&aside)?;
    file.write_all(&text)?;
    file.write_all(&vec![b' '; EXIT_RECORD_SPACE.saturating_sub(text.len())])?;
    if durability == Durability::Durable {
        file.sync_all()?;
    }
    fs::rename(&aside, &path)?;
    match durability {
        Durability::Durable => fs::File::open(directory)?.sync_all(),
        Durability::UntilRestart => Ok(()),
    }
}

/// How much space is set aside for an exit record, in bytes.
const EXIT_RECORD_SPACE: usize = 8192;

pub(crate) fn read_whole<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
