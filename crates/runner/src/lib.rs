//! The runner: starts agents in sandboxed workspaces, watches and ends them, checks and merges their work.

pub mod clients;
pub mod gc;
mod host;
mod paths;
mod process;
mod prompt;
mod runner;
pub mod sandbox;
pub mod scope;
pub mod shim;
mod verify;
mod workspace;
mod workspace_git;

pub use host::{RunnerHost, try_sandbox};
pub use paths::RunnerPaths;
pub use runner::{Notice, Options, Runner, prompt_for};
pub use verify::VerifyError;
pub use workspace::{Workspace, WorkspaceError, WorkspaceSpec};
pub use workspace_git::run_workspace_request;
