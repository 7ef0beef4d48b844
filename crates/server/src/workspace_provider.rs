//! Where do agents work? The runner knows, if there is one in this process.

use std::path::PathBuf;

use async_trait::async_trait;
use board::{AgentId, ProjectId, Session, TaskId};

/// Makes workspaces for agents.
#[async_trait]
pub trait WorkspaceProvider: Send + Sync + std::fmt::Debug {
    /// Where a session works.
    fn of(&self, project: &ProjectId, session: &Session) -> Option<PathBuf>;

    /// Makes the workspace of a task for an agent that was attached by hand; `None` if the project is not
    /// one that is run here, `Err` says why it cannot be made.
    async fn prepare(&self, project: &ProjectId, agent: &AgentId, task: TaskId) -> Option<Result<PathBuf, String>>;
}
