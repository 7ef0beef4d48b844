//! One session from its claim to the end of its process.

use std::sync::Arc;
use std::time::Duration;

use board::{EndReason, Fact, SessionId};
use dispatch::{Claim, NewSecret, SessionState};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Inner;
use super::launch::Claimed;
use super::messages::Message;
use super::reporter::FactNumbers;
use crate::shim::{ExitRecord, Shim, ShimPlan, ShimState, Started, StopReason, kill_marked};

/// When it is looked again whether a client has used more: soon after it has, and ever more seldom while it has not.
const USAGE_SOON: Duration = Duration::from_secs(5);
const USAGE_SELDOM: Duration = Duration::from_secs(15);

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
}

/// Claims an offer, starts the client, and watches it until the board knows how it ended.
pub(super) async fn run(
    inner: Arc<Inner>,
    claim: Claim,
    credential: NewSecret,
    stop_handle: StopHandle,
    messages: mpsc::UnboundedSender<Message>,
) {
    let order = match inner.dispatch().claim(&claim).await {
        Ok(Some(order)) => order,
        Ok(None) => {
            let _ = messages.send(Message::NotClaimed { offer: claim.offer });
            return;
        }
        Err(error) => {
            // If it was admitted all the same, the session is found on the board and settled.
            inner.warn(format!("cannot claim: {error}"));
            let _ = messages.send(Message::NotClaimed { offer: claim.offer });
            return;
        }
    };
    let (session, generation, revision) = (order.session, order.generation, order.revision);
    let _ = messages.send(Message::Claimed { offer: claim.offer, session, generation, revision });
    let mut numbers = FactNumbers::after(session, generation, 0);
    let claimed = Claimed { spawn: claim.spawn, credential };
    // A launch is never broken off half-way: git would go on in the workspace, or the shim would start the client
    // although the session is over. What is stopped meanwhile does not start, or is stopped at once; only the setup of
    // a workspace is ended.
    // What a launch needs is not kept while the agent works.
    let prepared = Box::pin(inner.prepare(&order, &claimed, &mut numbers, &stop_handle.stopped)).await;
    drop((order, claimed));
    let launched = match prepared {
        _ if stop_handle.stopped.is_cancelled() => {
            Err(ExitRecord::because(EndReason::Stopped, "stopped before it ran"))
        }
        Ok(plan) => start(&plan).await,
        Err(exit) => Err(exit),
    };
    let exit = match launched {
        Ok(mut started) => {
            match started.client().await {
                Ok(()) => inner.reporter.report(&mut numbers, Fact::Running).await,
                Err(problem) => tracing::info!(%session, problem, "a client did not start"),
            }
            inner.watch(&started.shim, &stop_handle, &mut numbers).await
        }
        Err(exit) => exit,
    };
    inner.ended(&mut numbers, exit).await;
    let _ = messages.send(Message::Ended { session });
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

/// Takes over the shim of a session that the board waits for, collects what it left, or says that it is lost (R3). It
/// is lost only after its shim and its exit record were looked for (S2a).
pub(super) async fn adopt(
    inner: Arc<Inner>,
    state: SessionState,
    stop_handle: StopHandle,
    messages: mpsc::UnboundedSender<Message>,
) {
    let SessionState { session, generation, spawn, facts, .. } = state;
    let mut numbers = FactNumbers::after(session, generation, facts);
    let directory = inner.host.paths.session(session);
    let exit = match Shim::find(&directory, spawn.as_str()) {
        Ok(ShimState::Running(shim)) => {
            let _ = messages.send(Message::Adopted { session, running: true });
            inner.reporter.report(&mut numbers, Fact::Running).await;
            inner.watch(&shim, &stop_handle, &mut numbers).await
        }
        Ok(ShimState::Exited(exit)) => {
            let _ = messages.send(Message::Adopted { session, running: false });
            *exit
        }
        Ok(ShimState::Missing) | Err(_) => {
            let _ = messages.send(Message::Adopted { session, running: false });
            kill_marked(spawn.as_str()).await;
            ExitRecord::because(EndReason::Lost, "its process is gone and left no record")
        }
    };
    inner.ended(&mut numbers, exit).await;
    let _ = messages.send(Message::Ended { session });
}

impl Inner {
    /// Watches a process until it has ended, and reports what it uses meanwhile.
    async fn watch(&self, shim: &Shim, stop_handle: &StopHandle, numbers: &mut FactNumbers) -> ExitRecord {
        let (mut reported, mut pause) = (None, USAGE_SOON);
        loop {
            tokio::select! {
                exit = shim.ended() => return exit,
                () = stop_handle.stopped.cancelled() => break shim.stop(StopReason::Stopped),
                () = stop_handle.finished.cancelled() => break shim.stop(StopReason::Finished),
                () = tokio::time::sleep(pause) => {}
            }
            match shim.usage().filter(|usage| reported != Some(*usage)) {
                Some(usage) => {
                    self.reporter.report(numbers, Fact::UsageSoFar(usage)).await;
                    (reported, pause) = (Some(usage), USAGE_SOON);
                }
                None => pause = (2 * pause).min(USAGE_SELDOM),
            }
        }
        shim.ended().await
    }

    /// Reports how a process ended, and removes what only that process needed.
    async fn ended(&self, numbers: &mut FactNumbers, exit: ExitRecord) {
        let session: SessionId = numbers.session;
        let run = self.host.paths.session(session);
        let ExitRecord { end, output_summary, .. } = exit;
        self.reporter.report(numbers, Fact::Exit { end, usage: output_summary.usage }).await;
        super::logins::return_renewed(&run);
        // Its log and its record stay.
        for private in ["home", "tmp", "view"] {
            if let Err(error) = crate::workspace::remove_all(&run.join(private)) {
                self.warn(error.to_string());
            }
        }
    }
}
