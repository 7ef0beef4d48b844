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
pub use init::{become_confined_client, init};
pub use log::{LogChunk, SessionLog};
pub use plan::{Durability, ExitRecord, GRACE, ShimPlan, StopReason};
pub use supervise::supervise;

pub(crate) use plan::{last_call_file, write_whole};
