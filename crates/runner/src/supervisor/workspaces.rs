//! Where does each session work? For the server, which tells agents.

use std::path::PathBuf;
use std::sync::Arc;

use board::{Isolation, SessionId, TaskId};
use dispatch::WorkspaceOrder;
use tokio_util::sync::CancellationToken;

use super::Runner;
use super::launch::{Launching, TaskWorkspace};
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

    /// Makes the workspace of a task for an agent that was attached by hand; `Err` says why it cannot be made. It is made
    /// whether or not the caller still waits, and by one at a time: a setup may take long, and the agent asks again.
    pub async fn prepare_workspace(&self, order: WorkspaceOrder) -> Result<PreparedWorkspace, String> {
        let inner = Arc::clone(&self.inner);
        let made = tokio::spawn(async move {
            let _turn = inner.attaching.lock().await;
            let run = inner.host.paths.workspace(order.task.id).with_extension("attached");
            let launching = Launching {
                run: &run,
                spawn: &inner.host.spawn_marker(order.task.id),
                cancellation: &CancellationToken::new(),
            };
            inner.task_workspace(&order, &launching).await
        });
        let made = made.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let TaskWorkspace { workspace, branch, base, .. } = made;
        Ok(PreparedWorkspace { tree: workspace.tree, branch, base })
    }
}
