//! One session from its claim to the end of its process.

use std::sync::Arc;

use board::{AgentId, Command, Driver, EndReason, Generation, Purpose, Session, SessionId, SpawnId};
use control::{ControlError, NewSecret, token_hash};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Inner, SupervisorMessage};
use crate::shim::{ExitRecord, Shim, ShimPlan, Started, StopReason, kill_marked};

/// Ends a session: `stop` breaks it off, `finish` counts as a good end (V2).
#[derive(Clone, Debug, Default)]
pub(super) struct StopHandle {
    stopped: CancellationToken,
    finished: CancellationToken,
}

impl StopHandle {
    pub(super) fn stop(&self) {
        self.stopped.cancel();
    }

    pub(super) fn finish(&self) {
        self.finished.cancel();
    }

    pub(super) fn stopped(&self) -> &CancellationToken {
        &self.stopped
    }
}

/// What only the runner knows that has claimed the session.
pub(super) struct Claimed {
    pub(super) spawn: SpawnId,
    pub(super) credential: NewSecret,
}

/// Claims for this runner; `None` if another was first or the board changed meanwhile.
pub(super) async fn claim(
    inner: &Inner,
    agent: &AgentId,
    purpose: Purpose,
) -> Result<Option<(Claimed, Session)>, ControlError> {
    let project = &inner.project;
    let credential = NewSecret::for_session(&project.board().settings.id)?;
    let spawn = NewSecret::generate("spn")?;
    let spawn: SpawnId = spawn.reveal()[..28].parse().expect("letters and digits are a name");
    let hash = token_hash(credential.reveal());
    let driver = Driver::Runner { runner: inner.options.id.clone(), spawn: spawn.clone() };
    let claim = Command::Claim { agent: agent.clone(), purpose, driver, credential: Some(hash.clone()), forced: false };
    match project.submit(inner.actor(), claim).await {
        Ok(receipt) => {
            let session = receipt.after.session_with(&hash).cloned();
            Ok(session.map(|session| (Claimed { spawn, credential }, session)))
        }
        Err(ControlError::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Starts the client of a claimed session and watches it until the board knows how it ended.
pub(super) fn supervise_claimed(
    inner: Arc<Inner>,
    session: Session,
    claimed: Claimed,
    stop_handle: StopHandle,
    messages: mpsc::UnboundedSender<SupervisorMessage>,
) {
    tokio::spawn(async move {
        let (id, generation) = (session.id, session.generation);
        // A launch is never broken off half-way: git would go on in the workspace, or the shim would start the client
        // although the session is over. What is stopped meanwhile does not start, or is stopped at once.
        let launched = match inner.prepare(&session, &claimed).await {
            Ok(_) if stop_handle.stopped().is_cancelled() => {
                Err(ExitRecord::because(EndReason::Stopped, "stopped before it ran"))
            }
            Ok(plan) => start(&plan).await,
            Err(exit) => Err(exit),
        };
        let exit = match launched {
            Ok(mut started) => {
                match started.client().await {
                    Ok(()) => inner.report(Command::ReportRunning { session: id, generation }).await,
                    Err(problem) => tracing::info!(session = %id, problem, "a client did not start"),
                }
                watch(&started.shim, &stop_handle).await
            }
            Err(exit) => exit,
        };
        inner.ended(id, generation, exit).await;
        let _ = messages.send(SupervisorMessage::ProcessEnded(id));
    });
}

async fn start(plan: &ShimPlan) -> Result<Started, ExitRecord> {
    match Shim::start(plan).await {
        Ok(started) => Ok(started),
        Err(error) => {
            // It may run all the same.
            kill_marked(&plan.spawn).await;
            Err(ExitRecord::because(EndReason::LaunchFailed, error.to_string()))
        }
    }
}

/// The same for a session that ran already when this runner started.
pub(super) fn supervise_adopted(
    inner: Arc<Inner>,
    session: SessionId,
    generation: Generation,
    shim: Shim,
    stop_handle: StopHandle,
    messages: mpsc::UnboundedSender<SupervisorMessage>,
) {
    tokio::spawn(async move {
        inner.report(Command::ReportRunning { session, generation }).await;
        let exit = watch(&shim, &stop_handle).await;
        inner.ended(session, generation, exit).await;
        let _ = messages.send(SupervisorMessage::ProcessEnded(session));
    });
}

async fn watch(shim: &Shim, stop_handle: &StopHandle) -> ExitRecord {
    tokio::select! {
        exit = shim.ended() => return exit,
        () = stop_handle.stopped.cancelled() => shim.stop(StopReason::Stopped),
        () = stop_handle.finished.cancelled() => shim.stop(StopReason::Finished),
    }
    shim.ended().await
}

impl Inner {
    /// Reports how a process ended, and removes what only that process needed.
    pub(super) async fn ended(&self, session: SessionId, generation: Generation, exit: ExitRecord) {
        let run = self.host.paths.session(session);
        let ExitRecord { end, output_summary, .. } = exit;
        let command =
            Command::EndProcess { session, generation, end, artifacts: Vec::new(), usage: output_summary.usage };
        self.report(command).await;
        super::logins::return_renewed(&run);
        // Its log and its record stay.
        for private in ["home", "tmp", "view"] {
            if let Err(error) = crate::workspace::remove_all(&run.join(private)) {
                self.warn(error.to_string());
            }
        }
    }
}
