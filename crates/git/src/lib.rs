//! The one layer over git: how it is run, how our refs are named, and whether work is in the target.
//!
//! `command.rs` builds every command (whose configuration, which environment), `process.rs` runs it
//! within limits, `background.rs` is the same for async callers. The crate prints nothing.

mod background;
mod command;
mod error;
mod http_backend;
mod kill_switch;
pub mod merged;
mod process;
mod queries;
mod refs;

pub use background::AsyncGit;
pub use command::Git;
pub use error::GitError;
pub use http_backend::HttpRequest;
pub use queries::Layout;
pub use refs::{RefNamespace, TaskRefs, branch_ref};
