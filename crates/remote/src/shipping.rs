//! How does what agents have printed reach the server? From the files in which it is, by position, until the server has all
//! of it. Nothing is kept for it but how far the server has come.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use board::{OutputKind, OutputName, ProjectId, SessionId};
use runner::RunnerPaths;
use runner::shim::{SessionLog, Shim, ShimState};
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, RemoteError};
use crate::protocol::{AnswerOutput, AnswerPiece, PIECE};

/// How often it is looked for new output.
const LOOK: Duration = Duration::from_millis(700);
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The file that says that the server has all of a session's output.
fn sent_file(directory: &Path, kind: OutputKind) -> PathBuf {
    directory.join(match kind {
        OutputKind::Raw => "output-sent",
        OutputKind::Transcript => "transcript-sent",
    })
}

/// Sends the output of all sessions of a project as it comes, until it is cancelled and everything was sent once more.
pub async fn ship_output(connection: Connection, project: ProjectId, paths: RunnerPaths, ending: CancellationToken) {
    let mut shipping = Shipping { connection, base: format!("/projects/{project}/output"), ends: BTreeMap::new() };
    loop {
        let last = ending.is_cancelled();
        let pause = match shipping.look(&paths).await {
            Ok(()) => LOOK,
            Err(error) => {
                tracing::debug!(%error, "output was not sent");
                LOOK_AGAIN
            }
        };
        if last {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = ending.cancelled() => {}
        }
    }
}

struct Shipping {
    connection: Connection,
    base: String,
    /// How far the server has the output of each session.
    ends: BTreeMap<OutputName, u64>,
}

impl Shipping {
    async fn look(&mut self, paths: &RunnerPaths) -> Result<(), RemoteError> {
        let mut trouble = Ok(());
        for (output, directory) in unsent(&paths.sessions()) {
            match self.ship(output, &directory).await {
                Ok(()) => {}
                // Somebody else's by now, or unknown: nobody wants it.
                Err(RemoteError::Refused { message, .. }) => {
                    tracing::info!(%output, message, "output is not wanted");
                    let _ = std::fs::write(sent_file(&directory, output.kind), b"");
                }
                Err(error) => trouble = Err(error),
            }
        }
        trouble
    }

    async fn ship(&mut self, output: OutputName, directory: &Path) -> Result<(), RemoteError> {
        // Before its output is read: what comes later is looked for again.
        // A directory without a shim is that of a session that is still being prepared.
        let started = Shim::was_started(directory);
        let over = match Shim::find(directory, "") {
            Ok(ShimState::Exited(_)) => true,
            Ok(ShimState::Missing) => started,
            Ok(ShimState::Running(_)) | Err(_) => false,
        };
        let log = SessionLog::of(directory, output.kind);
        let mut end = match self.ends.get(&output) {
            Some(end) => *end,
            None => self.kept(output).await?.end,
        };
        loop {
            let page = log.read_on(end, PIECE);
            if page.bytes.is_empty() {
                break;
            }
            // Later than asked for: what came between is not kept here any more either.
            let anew = if page.start > end { "&anew=true" } else { "" };
            let path = format!("{}/{output}?at={}{anew}", self.base, page.start);
            let sent = page.end();
            let answer: AnswerPiece = self.connection.put(&path, page.bytes.into()).await?;
            end = answer.end;
            self.ends.insert(output, end);
            if end != sent {
                // The server knows better how much it has.
                break;
            }
        }
        self.ends.insert(output, end);
        if over && end == log.end() && self.is_complete(output, &log).await? {
            let _ = std::fs::write(sent_file(directory, output.kind), b"");
            self.ends.remove(&output);
        }
        Ok(())
    }

    async fn kept(&self, output: OutputName) -> Result<AnswerOutput, RemoteError> {
        self.connection.get(&format!("{}/{output}", self.base)).await
    }

    /// Has the server just what was printed? If not it is sent again.
    async fn is_complete(&mut self, output: OutputName, log: &SessionLog) -> Result<bool, RemoteError> {
        let kept = self.kept(output).await?;
        let from = kept.oldest.max(log.oldest());
        if from > kept.oldest {
            // The server has more than is left here.
            return Ok(kept.end == log.end());
        }
        let own = log.read_on(from, usize::MAX);
        if own.end() == kept.end && blake3::hash(&own.bytes).to_hex().as_str() == kept.blake3 {
            return Ok(true);
        }
        tracing::warn!(%output, "the server has other output than was printed; it is sent again");
        let path = format!("{}/{output}?at={}&anew=true", self.base, log.oldest());
        let first = log.read_on(log.oldest(), PIECE);
        let answer: AnswerPiece = self.connection.put(&path, first.bytes.into()).await?;
        self.ends.insert(output, answer.end);
        Ok(false)
    }
}

/// The output that the server does not have yet, as far as is known, with the directories of its sessions.
fn unsent(directory: &Path) -> Vec<(OutputName, PathBuf)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let sessions = entries.filter_map(|path| Some((path.file_name()?.to_str()?.parse().ok()?, path)));
    let of_session = |(session, path): (SessionId, PathBuf)| {
        let kinds = OutputKind::ALL.iter().filter(|kind| !sent_file(&path, **kind).exists());
        kinds.map(|kind| (OutputName { session, kind: *kind }, path.clone())).collect::<Vec<_>>()
    };
    sessions.flat_map(of_session).collect()
}
