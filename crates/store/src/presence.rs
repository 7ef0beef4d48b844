//! The contract of presence: who has been heard of lately (R10). Kept beside the streams and never part of them: whoever is
//! there says so again soon.

use async_trait::async_trait;

use crate::StoreError;

/// Somebody who was there, such as a runner on another host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    /// Who. One row is kept for each, in the whole installation.
    pub key: String,
    /// When, in milliseconds since 1970 UTC, as the writer saw it.
    pub at: i64,
    /// What else is known of them, as JSON text.
    pub body: String,
}

#[async_trait]
pub trait Presence: Send + Sync + 'static {
    /// Replaces what is kept of its key, unless that is newer. What was put last may be lost with the power.
    async fn put_presence(&self, present: Present) -> Result<(), StoreError>;

    /// Everybody who was not removed, by key.
    async fn presence(&self) -> Result<Vec<Present>, StoreError>;

    async fn remove_presence(&self, key: &str) -> Result<(), StoreError>;
}
