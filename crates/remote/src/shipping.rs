//! How does what agents have printed reach the server? From the files in which it is, by position, until the server has all
//! of it. Nothing is kept for it but how far the server has come.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use board::{ProjectId, SessionId};
use runner::RunnerPaths;
use runner::shim::{SessionLog, Shim, ShimState};
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, RemoteError};
use crate::protocol::{AnswerOutput, AnswerPiece, PIECE};

/// How often it is looked for new output.
const LOOK: Duration = Duration::from_millis(700);
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The file that says that the server has all of a session's output.
const SENT: &str = "output-sent";

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
    ends: BTreeMap<SessionId, u64>,
}

impl Shipping {
    async fn look(&mut self, paths: &RunnerPaths) -> Result<(), RemoteError> {
        let mut trouble = Ok(());
        for (session, directory) in sessions(&paths.sessions()) {
            match self.ship(session, &directory).await {
                Ok(()) => {}
                // Somebody else's by now, or unknown: nobody wants it.
                Err(RemoteError::Refused { message, .. }) => {
                    tracing::info!(%session, message, "output is not wanted");
                    let _ = std::fs::write(directory.join(SENT), b"");
                }
                Err(error) => trouble = Err(error),
            }
        }
        trouble
    }

    async fn ship(&mut self, session: SessionId, directory: &Path) -> Result<(), RemoteError> {
        // Before its output is read: what comes later is looked for again.
        // A directory without a shim is that of a session that is still being prepared.
        let started = Shim::was_started(directory);
        let over = match Shim::find(directory, "") {
            Ok(ShimState::Exited(_)) => true,
            Ok(ShimState::Missing) => started,
            Ok(ShimState::Running(_)) | Err(_) => false,
        };
        let log = SessionLog::of(directory);
        let mut end = match self.ends.get(&session) {
            Some(end) => *end,
            None => self.kept(session).await?.end,
        };
        loop {
            let page = log.read_on(end, PIECE);
            if page.bytes.is_empty() {
                break;
            }
            // Later than asked for: what came between is not kept here any more either.
            let anew = if page.start > end { "&anew=true" } else { "" };
            let path = format!("{}/{session}?at={}{anew}", self.base, page.start);
            let sent = page.end();
            let answer: AnswerPiece = self.connection.put(&path, page.bytes.into()).await?;
            end = answer.end;
            self.ends.insert(session, end);
            if end != sent {
                // The server knows better how much it has.
                break;
            }
        }
        self.ends.insert(session, end);
        if over && end == log.end() && self.is_complete(session, &log).await? {
            let _ = std::fs::write(directory.join(SENT), b"");
            self.ends.remove(&session);
        }
        Ok(())
    }

    async fn kept(&self, session: SessionId) -> Result<AnswerOutput, RemoteError> {
        self.connection.get(&format!("{}/{session}", self.base)).await
    }

    /// Has the server just what was printed? If not it is sent again.
    async fn is_complete(&mut self, session: SessionId, log: &SessionLog) -> Result<bool, RemoteError> {
        let kept = self.kept(session).await?;
        let from = kept.oldest.max(log.oldest());
        if from > kept.oldest {
            // The server has more than is left here.
            return Ok(kept.end == log.end());
        }
        let own = log.read_on(from, usize::MAX);
        if own.end() == kept.end && blake3::hash(&own.bytes).to_hex().as_str() == kept.blake3 {
            return Ok(true);
        }
        tracing::warn!(%session, "the server has other output than was printed; it is sent again");
        let path = format!("{}/{session}?at={}&anew=true", self.base, log.oldest());
        let first = log.read_on(log.oldest(), PIECE);
        let answer: AnswerPiece = self.connection.put(&path, first.bytes.into()).await?;
        self.ends.insert(session, answer.end);
        Ok(false)
    }
}

/// The sessions whose output the server does not have yet, as far as is known.
fn sessions(directory: &Path) -> Vec<(SessionId, PathBuf)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let unsent = entries.filter(|path| !path.join(SENT).exists());
    unsent.filter_map(|path| Some((path.file_name()?.to_str()?.parse().ok()?, path))).collect()
}
