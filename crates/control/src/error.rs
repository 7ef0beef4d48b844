//! What can come back instead of an answer?

use board::{BadEvent, Refusal, Seq};
use store::StoreError;

#[derive(Clone, Debug, thiserror::Error)]
pub enum ControlError {
    /// The command was judged and refused. Nothing happened.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("event {seq} of {stream} cannot be read: {reason}")]
    Unreadable { stream: String, seq: Seq, reason: String },
    #[error("the project is closing")]
    Closed,
}

impl ControlError {
    pub(crate) fn unreadable(stream: &store::StreamName, seq: Seq, error: &BadEvent) -> Self {
        Self::Unreadable { stream: stream.to_string(), seq, reason: error.to_string() }
    }
}
