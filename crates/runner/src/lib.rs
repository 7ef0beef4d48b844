//! The runner: workspace, sandbox, shim, client, evidence, checks, merge.

pub mod clients;
pub mod gc;
mod git;
mod inside;
mod places;
mod process;
mod prompt;
mod runner;
pub mod sandbox;
pub mod scope;
pub mod shim;
mod verify;
mod workspace;
mod yard;

pub use git::{Git, GitError};
pub use inside::inside;
pub use places::Places;
pub use runner::{Notice, Options, Runner, brief_for};
pub use verify::VerifyError;
pub use workspace::{Order, Workspace, WorkspaceError};
pub use yard::{Yard, try_sandbox};
