//! The runner: starts agents in sandboxed workspaces, watches and ends them, checks and merges their work.

mod caches;
mod client_files;
pub mod clients;
pub mod gc;
mod host;
mod paths;
mod prepared;
mod process;
mod prompt;
mod remove;
pub mod sandbox;
pub mod scope;
mod setup;
pub mod shim;
mod supervisor;
mod toolchains;
mod transcript;
mod trial;
mod upstream;
mod verify;
mod workspace;
mod workspace_git;

pub use host::{RunnerHost, missing_layers};
pub use paths::RunnerPaths;
pub use setup::SetupError;
pub use supervisor::{
    AtShutdown, Message, Mine, Notice, Options, Outcome, Phase, Plan, PreparedWorkspace, Room, Runner, RunnerError,
    SharedSlots, Step, Supervised, prompt_for, reconcile,
};
pub use toolchains::Toolchains;
pub use trial::{Trial, TrialHost};
pub use upstream::{GitRemote, HandedOver, Mirror, MoveOutcome, TargetMove, Upstream};
pub use verify::{IncomingWork, VerifyError};
pub use workspace::{Workspace, WorkspaceError, WorkspaceSpec, exclude_worktrees, objects_moved};
use workspace_git::run_workspace_request;
