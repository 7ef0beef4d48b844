//! What can go wrong when git is run?

use std::io;
use std::time::Duration;

/// Why there is no answer from git. `command` is git's own name for it, such as `fetch`.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("cannot run git: {0}")]
    Run(#[from] io::Error),
    #[error("git {command} failed: {message}")]
    Failed { command: String, message: String },
    /// It was ended, with everything that it had started.
    #[error("git {command} took longer than {} s and was ended", limit.as_secs())]
    TimedOut { command: String, limit: Duration },
    #[error("git {command} printed more than {limit} bytes and was ended")]
    TooMuchOutput { command: String, limit: usize },
    /// The caller does not wait for the answer any more.
    #[error("git {command} was cancelled")]
    Cancelled { command: String },
}
