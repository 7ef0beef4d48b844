//! What can go wrong with a store, and what the user does about it.

use std::path::PathBuf;

use crate::Seq;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Another writer was first. Nothing was written; judge again on the new events.
    #[error("the stream is at event {actual}, not at {expected}")]
    Conflict { expected: Seq, actual: Seq },

    #[error("the store was written by a newer saihai (schema {found}; this binary knows {known})")]
    NewerSchema { found: i64, known: i64 },

    /// The content is not what was written.
    #[error("the log is damaged: {0}")]
    Damaged(String),

    /// The disk is full. Nothing of the refused append was kept.
    #[error("the disk that holds {path} is full")]
    DiskFull { path: PathBuf },

    #[error("cannot open the store {path}: {reason}")]
    Open { path: PathBuf, reason: String },

    /// Somebody else held the write lock for longer than we are willing to wait.
    #[error("the store was busy for {seconds} s")]
    Busy { seconds: u64 },

    #[error("the store failed: {0}")]
    Failed(String),
}

impl StoreError {
    /// What to do next, as one sentence. Never a destructive command.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => "Run the command again; it will be judged on the new state.",
            Self::NewerSchema { .. } => {
                "Use the newer saihai that wrote it, or point SAIHAI_HOME to another directory."
            }
            Self::Damaged(_) => "Run `saihai log verify` to see what is damaged; restore that file from a backup.",
            Self::DiskFull { .. } => "Free some space and run the command again; nothing was lost.",
            Self::Open { .. } => {
                "Check the path and its permissions, or set SAIHAI_HOME to a directory you can write to."
            }
            Self::Busy { .. } => {
                "Run the command again; if it repeats, see which process holds the store with `saihai doctor`."
            }
            Self::Failed(_) => "Run `saihai doctor`.",
        }
    }
}
