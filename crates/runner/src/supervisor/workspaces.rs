//! Where does each session work? For the server, which tells agents.

use std::path::PathBuf;

use board::{Isolation, SessionId, TaskId};
use dispatch::WorkspaceOrder;

use super::Runner;
use super::launch::TaskWorkspace;
use crate::workspace::Workspace;

/// A workspace that was made for an agent that no runner starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedWorkspace {
    pub tree: PathBuf,
    pub branch: String,
    pub base: String,
}

impl Runner {
    /// The files of a task's workspace.
    pub fn task_tree(&self, task: TaskId, isolation: Isolation) -> PathBuf {
        let host = &self.inner.host;
        Workspace::at(&host.paths.workspace(task), &host.repository, isolation).tree
    }

    /// The copy that a session got to look at.
    pub fn view_tree(&self, session: SessionId) -> PathBuf {
        self.inner.host.paths.session(session).join("view/work")
    }

    /// Makes the workspace of a task for an agent that was attached by hand; `Err` says why it cannot be made.
    pub async fn prepare_workspace(&self, order: &WorkspaceOrder) -> Result<PreparedWorkspace, String> {
        let run = self.inner.host.paths.workspace(order.task.id).with_extension("attached");
        let made = self.inner.task_workspace(order, &run).await.map_err(|error| error.to_string())?;
        let TaskWorkspace { workspace, branch, base } = made;
        Ok(PreparedWorkspace { tree: workspace.tree, branch, base })
    }
}
