//! The contract of the decision log: what agents and runners were told, and why (E6). Kept for a
//! while, beside the streams and not part of them.

use async_trait::async_trait;

use crate::{Seq, StoreError, StreamName};

/// How many decisions of a stream are kept at least; older ones are forgotten now and then.
pub const DECISIONS_KEPT: u64 = 100_000;

/// One decision that an agent or runner was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Milliseconds since 1970 UTC.
    pub at: i64,
    /// The last event the decision was made on.
    pub seq: Seq,
    /// What was asked: `next_action`, `staffing`, `verdict`.
    pub kind: String,
    /// The session or agent it is about.
    pub subject: String,
    /// JSON text with the answer and its reason.
    pub body: String,
}

/// A decision with the number that the store gave it. Numbers of a stream grow in the order in
/// which decisions were recorded; they may have gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDecision {
    pub number: u64,
    pub decision: Decision,
}

#[async_trait]
pub trait DecisionLog: Send + Sync + 'static {
    /// Records decisions, and forgets now and then those older than the newest
    /// [`DECISIONS_KEPT`] of the stream.
    async fn record(&self, stream: &StreamName, decisions: Vec<Decision>) -> Result<(), StoreError>;

    /// The newest `limit` decisions about `subject` with a number below `before`, newest first.
    async fn decisions(
        &self,
        stream: &StreamName,
        subject: &str,
        before: u64,
        limit: usize,
    ) -> Result<Vec<RecordedDecision>, StoreError>;
}
