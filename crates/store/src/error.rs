//! What can go wrong with a store, and what the user does about it.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::Seq;

/// The error of the library or system below, kept whole and cheap to clone.
#[derive(Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into().into())
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Two causes are the same if they say the same.
impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

/// `location` is where the store is, as its user names it: a path or an address.
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

    /// There is no room. Nothing of the refused append was kept.
    #[error("there is no space left where {location} is kept")]
    Full { location: String, source: Cause },

    /// It cannot be opened or reached, or we may not use it.
    #[error("cannot open the store {location}: {source}")]
    Unavailable { location: String, source: Cause },

    /// The database does not answer now. What it was told last may have been written.
    #[error("cannot reach the database {location}: {source}")]
    Unreachable { location: String, source: Cause },

    /// Decisions hang on time, and this machine's is another than the database's.
    #[error("this machine's clock is {} s {} that of the database {location}", skew.abs() / 1000, if *skew > 0 { "ahead of" } else { "behind" })]
    ClockSkew { location: String, skew: i64 },

    /// The file is not the one that was opened any more. What was written since is in a file that nobody finds.
    #[error("the store {location} was removed or replaced while it was in use")]
    Replaced { location: String },

    /// Others kept the store for longer than we are willing to wait.
    #[error("the store was busy for {} s", waited.as_secs())]
    Busy { waited: Duration },

    /// The store is closing in this process.
    #[error("the store is closed")]
    Closed,

    #[error("the store failed: {0}")]
    Failed(#[source] Cause),
}

impl StoreError {
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(Cause::new(error))
    }

    /// What to do next, as one sentence. Never a destructive command.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => "Run the command again; it will be judged on the new state.",
            Self::NewerSchema { .. } => {
                "Use the newer saihai that wrote it, or point SAIHAI_HOME to another directory."
            }
            Self::Damaged(_) => "Run `saihai log verify` to see what is damaged; restore the store from a backup.",
            Self::Full { .. } => "Free some space and run the command again; nothing was lost.",
            Self::Unavailable { location, .. } if location.starts_with("postgres:") => {
                "Check the address, the user, its password, its rights and its schema; see docs/guide/many-machines.md."
            }
            Self::Unavailable { .. } => {
                "Check the path and its permissions, or set SAIHAI_HOME to a directory you can write to."
            }
            Self::Unreachable { .. } => {
                "Start the database or mend the way to it, then run the command again; what was acknowledged is kept."
            }
            Self::ClockSkew { .. } => "Set this machine's clock, for instance by NTP, and start again.",
            Self::Replaced { .. } => "Stop every saihai process, put the store back from a backup, and start again.",
            Self::Busy { .. } => {
                "Run the command again; if it repeats, see which process holds the store with `saihai doctor`."
            }
            Self::Closed => "Run the command again.",
            Self::Failed(_) => "Run `saihai doctor`.",
        }
    }
}
