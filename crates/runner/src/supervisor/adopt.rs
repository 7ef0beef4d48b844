//! What became of the sessions of an earlier runner (R3)?

use std::sync::Arc;

use board::{Driver, EndReason, Session, SessionId, SessionStatus};
use control::ControlError;

use super::{Notice, SupervisedSession, Supervisor, session};
use crate::shim::{ExitRecord, Shim, ShimState, StopReason, kill_marked};

impl Supervisor {
    /// Takes over the shims that run, collects those that have ended, and ends those that nobody
    /// waits for any more.
    pub(super) async fn adopt(&mut self) -> Result<(), ControlError> {
        let board = self.inner.project.newest().await?;
        let (mut running, mut ended) = (0, 0);
        for found in board.all_live_sessions().filter(|session| self.inner.is_ours(session)) {
            if found.status == SessionStatus::Verifying {
                continue;
            }
            let directory = self.inner.host.paths.session(found.id);
            let live = SupervisedSession { running: true, ..SupervisedSession::of(found) };
            let stop_handle = live.stop_handle.clone();
            match Shim::find(&directory, spawn_of(found)) {
                Ok(ShimState::Running(shim)) => {
                    running += 1;
                    self.live.insert(found.id, live);
                    let inner = Arc::clone(&self.inner);
                    session::supervise_adopted(
                        inner,
                        found.id,
                        found.generation,
                        shim,
                        stop_handle,
                        self.messages.clone(),
                    );
                }
                Ok(ShimState::Exited(exit)) => {
                    ended += 1;
                    self.inner.ended(found.id, found.generation, *exit).await;
                }
                Ok(ShimState::Missing) | Err(_) => {
                    ended += 1;
                    kill_marked(spawn_of(found)).await;
                    let exit = ExitRecord::because(EndReason::Lost, "its process is gone and left no record");
                    self.inner.ended(found.id, found.generation, exit).await;
                }
            }
        }
        self.stop_orphans().await;
        if running + ended > 0 {
            let _ = self.inner.notices.send(Notice::Adopted { running, ended });
        }
        Ok(())
    }

    /// Ends shims whose session is over on the board, or was never there.
    async fn stop_orphans(&self) {
        let board = self.inner.project.board();
        let entries = std::fs::read_dir(self.inner.host.paths.sessions()).into_iter().flatten().flatten();
        for entry in entries {
            let id = entry.file_name().to_str().and_then(|name| name.parse::<SessionId>().ok());
            let session = id.and_then(|id| board.session(id).ok());
            if session.is_some_and(Session::is_live) {
                continue;
            }
            if let Ok(ShimState::Running(shim)) = Shim::find(&entry.path(), session.map_or("", spawn_of)) {
                shim.stop(StopReason::Stopped);
                shim.ended().await;
            }
        }
    }
}

fn spawn_of(session: &Session) -> &str {
    match &session.driver {
        Driver::Runner { spawn, .. } => spawn.as_str(),
        Driver::Attached | Driver::Hand => "",
    }
}
