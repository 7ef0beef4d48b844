//! Where does each session work? For the server, which tells agents.

use std::path::PathBuf;

use board::{AgentId, Driver, Hierarchy, ProjectId, Session, TaskId};

use super::Runner;
use crate::workspace::Workspace;

impl Runner {
    /// Where a session works; `None` if it is not one of this runner's project, or has no workspace.
    pub fn workspace_of(&self, project: &ProjectId, session: &Session) -> Option<PathBuf> {
        let (inner, board) = (&self.inner, self.inner.project.board());
        if *project != board.settings.id {
            return None;
        }
        let agent = board.agents.get(&session.agent)?;
        let worker = session.task().filter(|_| agent.spec.hierarchy == Hierarchy::Worker);
        let tree = match (&session.driver, worker) {
            (Driver::Runner { .. }, Some(task)) => self.tree(task),
            (Driver::Runner { .. }, None) => inner.host.paths.session(session.id).join("view/work"),
            (Driver::Attached, Some(task)) => {
                let needed = board::needs_workspace(&board, agent, board.task(task).ok()?);
                Some(self.tree(task)).filter(|_| needed)?
            }
            (Driver::Attached, None) | (Driver::Hand, _) => return None,
        };
        Some(tree)
    }

    /// Makes the workspace of a task for an agent that was attached by hand; `None` if the project is
    /// another, `Err` says why it cannot be made.
    pub async fn prepare_workspace(
        &self,
        project: &ProjectId,
        agent: &AgentId,
        task: TaskId,
    ) -> Option<Result<PathBuf, String>> {
        let board = self.inner.project.board();
        if *project != board.settings.id {
            return None;
        }
        let (agent, task) = (board.agents.get(agent)?, board.task(task).ok()?);
        let run = self.inner.host.paths.workspace(task.id).with_extension("attached");
        let made = self.inner.task_workspace(&board, &agent.spec, task, &run).await;
        Some(made.map(|workspace| workspace.tree).map_err(|error| error.to_string()))
    }

    fn tree(&self, task: TaskId) -> PathBuf {
        let (host, isolation) = (&self.inner.host, self.inner.project.board().settings.isolation);
        Workspace::at(&host.paths.workspace(task), &host.repository, isolation).tree
    }
}
