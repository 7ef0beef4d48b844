//! The contract of secret values: kept beside the streams and never part of them, so that they can be replaced and
//! removed (E8).

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::{StoreError, StreamName};

/// Names with their values.
pub type SecretValues = BTreeMap<String, String>;

#[async_trait]
pub trait Secrets: Send + Sync + 'static {
    /// Replaces all values of `owner`; what is not among them is gone.
    async fn put_secrets(&self, stream: &StreamName, owner: &str, values: SecretValues) -> Result<(), StoreError>;

    async fn secrets(&self, stream: &StreamName, owner: &str) -> Result<SecretValues, StoreError>;

    /// The values of every owner that has any, to be copied to another store.
    async fn all_secrets(&self, stream: &StreamName) -> Result<BTreeMap<String, SecretValues>, StoreError>;
}
