//! The shim: a small process around each client, which goes on when the runner ends (R3).
//!
//! ```text
//! runner ─ plan through a pipe ─► shim (own session; log, limits, exit record)
//!                                  └─ init (pid 1 of its own namespace; reaps; out of the client's reach)
//!                                      └─ confines itself and becomes the client, with all that starts
//! ```
//!
//! The end of `init` ends everything below it, and the end of the shim ends `init` (R4). Where there
//! are no namespaces, the shim walks its descendants instead.

mod handle;
mod init;
mod log;
mod plan;
mod resources;
mod supervise;
mod time_limits;

pub use handle::{Shim, ShimState, Started, kill_marked};
pub use log::{LogChunk, SessionLog};
pub use plan::{Durability, ExitRecord, GRACE, ShimPlan, StopReason};

pub(crate) use plan::{last_call_file, write_whole};

use std::process::ExitCode;

/// Becomes what the runner starts its own program as, if that is what the arguments say. Every program with a runner asks
/// first: a shim must stay small and have one thread.
pub fn internal_command(arguments: &[&str]) -> Option<ExitCode> {
    match arguments {
        ["shim"] => Some(supervise::supervise()),
        ["shim", "--init"] => Some(init::init()),
        ["shim", "--client"] => Some(init::become_confined_client()),
        ["workspace-git"] => Some(crate::run_workspace_request()),
        _ => None,
    }
}
