//! How does the runner start, find and end shims, which may outlive it?

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use board::{EndReason, Usage};
use rustix::process::Signal;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Interest};
use tokio::process::{ChildStdout, Command};

use super::plan::{self, Durability, ExitRecord, ShimPlan, StartupMessage, StopReason};
use crate::process::{MARKER, ProcessIdentity, marked, signal_all};

/// A shim that runs, or ran when it was last looked at.
#[derive(Debug)]
pub struct Shim {
    directory: PathBuf,
    spawn: String,
    identity: ProcessIdentity,
    /// Readable once it has ended; `None` if it had ended before we could look.
    handle: Option<AsyncFd<OwnedFd>>,
}

/// A shim that was just started, and may not have started its client yet.
#[derive(Debug)]
pub struct Started {
    pub shim: Shim,
    lines: tokio::io::Lines<BufReader<ChildStdout>>,
}

impl Started {
    /// Waits until the client runs; `Err` says why it does not.
    pub async fn client(&mut self) -> Result<(), String> {
        match next_message(&mut self.lines).await {
            Some(StartupMessage::Client) => Ok(()),
            Some(StartupMessage::Failed(problem)) => Err(problem),
            Some(StartupMessage::Shim(_)) | None => Err("the shim ended before its client ran".into()),
        }
    }
}

/// What was found in the directory of a session.
#[derive(Debug)]
pub enum ShimState {
    /// It runs.
    Running(Shim),
    /// It has ended and left its record.
    Exited(Box<ExitRecord>),
    /// There is none, or it was killed.
    Missing,
}

impl Shim {
    /// Starts a shim. It is no part of us: it goes on when we end.
    pub async fn start(plan: &ShimPlan) -> io::Result<Started> {
        // Files that we inherited may be open for writing, and Landlock does not confine what is open already.
        close_fds::set_fds_cloexec_threadsafe(3, &[]);
        let mut command = Command::new("/proc/self/exe");
        command.arg("shim").env_clear().env(MARKER, &plan.spawn).current_dir(&plan.directory);
        let errors = std::fs::File::create(plan.directory.join("shim.err"))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn()?;
        let text = serde_json::to_vec(plan)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(&text).await?;
        }
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        // Reaped here, so that it does not stay a zombie as long as we run.
        tokio::spawn(async move { child.wait().await });
        let Some(StartupMessage::Shim(identity)) = next_message(&mut lines).await else {
            return Err(io::Error::other("the shim ended at once"));
        };
        // On a busy machine a short client, and its shim with it, may be over by now. Its record says how it ended.
        let handle = identity.open().map(async_handle).transpose()?;
        let shim = Self { directory: plan.directory.clone(), spawn: plan.spawn.clone(), identity, handle };
        Ok(Started { shim, lines })
    }

    /// Was there ever a shim in a session's directory?
    pub fn was_started(directory: &Path) -> bool {
        plan::shim_file(directory).exists()
    }

    /// What is left of a session's shim, whichever runner started it.
    pub fn find(directory: &Path, spawn: &str) -> io::Result<ShimState> {
        // The process before the record: a shim writes its record and then ends, so one that is gone and has
        // no record even now was killed.
        let identity: Option<ProcessIdentity> = plan::read_whole(&plan::shim_file(directory));
        let handle = identity.as_ref().and_then(ProcessIdentity::open);
        if let Some(exit) = plan::read_whole(&plan::exit_file(directory)) {
            return Ok(ShimState::Exited(Box::new(exit)));
        }
        Ok(match (identity, handle) {
            (Some(identity), Some(handle)) => {
                let (directory, spawn) = (directory.to_owned(), spawn.to_owned());
                ShimState::Running(Self { directory, spawn, identity, handle: Some(async_handle(handle)?) })
            }
            (Some(_) | None, _) => ShimState::Missing,
        })
    }

    pub fn identity(&self) -> &ProcessIdentity {
        &self.identity
    }

    /// Waits for its end. A shim that was killed takes its client with it, and leaves no record.
    pub async fn ended(&self) -> ExitRecord {
        if let Some(handle) = &self.handle {
            let _ = handle.ready(Interest::READABLE).await;
        }
        match plan::read_whole(&plan::exit_file(&self.directory)) {
            Some(exit) => exit,
            None => {
                kill_marked(&self.spawn).await;
                ExitRecord::because(EndReason::Lost, "the shim was killed")
            }
        }
    }

    /// Tells it to end its client; it says so itself when that is done.
    pub fn stop(&self, reason: StopReason) {
        if let Err(error) = plan::write_whole(&plan::stop_file(&self.directory), &reason, Durability::Durable) {
            tracing::warn!(%error, "cannot say why a session is stopped");
        }
        self.identity.signal(Signal::TERM);
    }

    /// What its client has used so far, where it tells.
    pub fn usage(&self) -> Option<Usage> {
        plan::read_whole(&plan::usage_file(&self.directory))
    }

    /// The agent has called the server.
    pub fn called(&self) {
        let _ = std::fs::write(plan::last_call_file(&self.directory), b"");
    }
}

/// Kills every process with the marker of a spawn whose shim is gone, and returns when none is left.
pub async fn kill_marked(spawn: &str) {
    loop {
        let left = marked(spawn);
        if left.is_empty() {
            return;
        }
        signal_all(&left, Signal::KILL);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[expect(deprecated, reason = "its successor is unsafe for descriptors that are closed behind its back")]
fn async_handle(handle: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(handle, Interest::READABLE)
}

async fn next_message(lines: &mut tokio::io::Lines<BufReader<ChildStdout>>) -> Option<StartupMessage> {
    let line = lines.next_line().await.ok().flatten()?;
    serde_json::from_str(&line).ok()
}
