//! How does what a runner on another host has made come into the repository that the server keeps? As a bundle, which is
//! proved like an agent's (V16).

use std::path::Path;

use board::Merge;
use dispatch::ExamineOrder;
use tokio_util::sync::CancellationToken;

use super::{Examiner, VerifyError};
use crate::host::RunnerHost;
use crate::upstream::MoveOutcome;

/// The work of one session that is being examined elsewhere.
#[derive(Debug)]
pub struct IncomingWork<'a> {
    /// The server's own repository.
    pub host: &'a RunnerHost,
    /// As the board has it now.
    pub order: &'a ExamineOrder,
}

impl IncomingWork<'_> {
    fn with<'a>(&'a self, cancellation: &'a CancellationToken) -> Examiner<'a> {
        Examiner { host: self.host, order: self.order, cancellation }
    }

    /// Takes in the task's work, so that it is there if that host is not any more.
    pub async fn publish(&self, bundle: &Path, head: &str) -> Result<(), VerifyError> {
        let cancellation = CancellationToken::new();
        self.with(&cancellation).take_in_published(bundle, head).await
    }

    /// Moves the target to the candidate that the board wants to be merged, and to no other.
    pub async fn move_target(&self, bundle: &Path, from: &str, to: &str) -> Result<MoveOutcome, VerifyError> {
        if self.order.merging.as_deref() != Some(to) {
            return Err(VerifyError::trouble(format!("{to} is not what the board wants to be merged")));
        }
        let cancellation = CancellationToken::new();
        let examiner = self.with(&cancellation);
        // It was moved before, and whoever asked could not hear it.
        if examiner.is_in_target(to).await? {
            return Ok(MoveOutcome::Moved);
        }
        examiner.take_in_candidate(bundle, from, to).await?;
        // The work itself was published before, unless there was nothing in it that the target has not.
        let head = examiner.published_work().await.unwrap_or_else(|| to.to_owned());
        examiner.move_target(from, to, Some(&head)).await
    }

    /// What keeps the target from being moved, after that was tried and `files` were in the way.
    pub async fn still_waiting(&self, from: &str, to: &str, files: &[String]) -> Option<Merge> {
        let cancellation = CancellationToken::new();
        self.with(&cancellation).still_waiting(from, to, files).await
    }
}
