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
    /// The system gave no random numbers, so no secret could be made.
    #[error("no secret could be made: {0}")]
    Random(#[from] getrandom::Error),
    #[error("the project is closing")]
    Closed,
}

impl ControlError {
    /// One word for metrics: the code of a refusal, or that the store failed.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code().as_str(),
            Self::Store(_) | Self::Unreadable { .. } | Self::Random(_) | Self::Closed => "store",
        }
    }

    pub(crate) fn unreadable(stream: &store::StreamName, seq: Seq, error: &BadEvent) -> Self {
        Self::Unreadable { stream: stream.to_string(), seq, reason: error.to_string() }
    }
}
