//! How does the server learn where agents work? From the runner in the same process.

use std::path::PathBuf;

use async_trait::async_trait;
use board::{AgentId, ProjectId, Session, TaskId};
use runner::Runner;
use server::WorkspaceProvider;

#[derive(Debug)]
pub(crate) struct RunnerWorkspaces(pub(crate) Runner);

#[async_trait]
impl WorkspaceProvider for RunnerWorkspaces {
    fn of(&self, project: &ProjectId, session: &Session) -> Option<PathBuf> {
        self.0.workspace_of(project, session)
    }

    async fn prepare(&self, project: &ProjectId, agent: &AgentId, task: TaskId) -> Option<Result<PathBuf, String>> {
        self.0.prepare_workspace(project, agent, task).await
    }
}
