//! Where is a project's target, if not in the runner's own repository (R10)? A runner on another host works in a mirror,
//! and the target moves where everybody sees it.

mod git_remote;
mod mirror;

use std::fmt::Debug;

use async_trait::async_trait;
use board::{Generation, Merge, SessionId, TaskId};
use serde::{Deserialize, Serialize};

pub use self::git_remote::GitRemote;
pub use self::mirror::Mirror;

/// What became of moving the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MoveOutcome {
    /// The target has the commit, and that was verified.
    Moved,
    /// The target is not what it was.
    TargetChanged,
    /// Uncommitted changes of the user are in the way.
    LocalChanges { reason: String, files: Vec<String> },
}

/// The target is to be moved, for a session whose work was tested on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetMove {
    pub session: SessionId,
    pub generation: Generation,
    pub branch: String,
    /// Where the target must be.
    pub from: String,
    /// The commit that it is moved to. The mirror has it.
    pub to: String,
}

/// A task's work, as it was handed over to the mirror. Others can go on with it, if this runner does not come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOver {
    pub session: SessionId,
    pub generation: Generation,
    /// The ref under which everybody finds it.
    pub reference: String,
    /// The last commit. The mirror has it.
    pub head: String,
    /// Commits that everybody has: where the work began, and the target.
    pub known: Vec<String>,
}

/// The repository that a mirror follows.
#[async_trait]
pub trait Upstream: Send + Sync + Debug {
    /// Brings the mirror's branch up to date.
    async fn fetch_branch(&self, branch: &str) -> Result<(), String>;

    /// Fetches the work of a task that another host's runner has published, if there is any.
    async fn fetch_work(&self, task: TaskId, reference: &str) -> Result<(), String>;

    /// Publishes the work of a task.
    async fn publish_work(&self, work: &HandedOver) -> Result<(), String>;

    /// Nobody needs the published work of a task any more: it is in the target.
    async fn withdraw_work(&self, reference: &str) -> Result<(), String>;

    /// Moves the target by compare-and-swap.
    async fn move_target(&self, target: &TargetMove) -> Result<MoveOutcome, String>;

    /// What keeps the target from being moved, after `files` were in the way; `None` if it is worth trying again.
    async fn still_waiting(&self, target: &TargetMove, files: &[String]) -> Result<Option<Merge>, String>;
}
