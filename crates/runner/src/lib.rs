//! The runner: workspace, sandbox, shim, client, evidence, checks, merge.

pub mod clients;
pub mod gc;
mod git;
mod host;
mod inside;
mod paths;
mod process;
mod prompt;
mod runner;
pub mod sandbox;
pub mod scope;
pub mod shim;
mod verify;
mod workspace;

pub use git::{Git, GitError};
pub use host::{RunnerHost, try_sandbox};
pub use inside::inside;
pub use paths::RunnerPaths;
pub use runner::{Notice, Options, Runner, brief_for};
pub use verify::VerifyError;
pub use workspace::{Order, Workspace, WorkspaceError};
