//! How does the server learn where agents work? From the runner in the same process.

use std::path::PathBuf;

use async_trait::async_trait;
use board::{Actor, AgentId, Command, Driver, Hierarchy, ProjectId, Session, TaskId};
use control::Project;
use runner::Runner;
use server::WorkspaceProvider;

#[derive(Debug)]
pub(crate) struct RunnerWorkspaces {
    pub(crate) runner: Runner,
    pub(crate) project: Project,
}

#[async_trait]
impl WorkspaceProvider for RunnerWorkspaces {
    fn of(&self, project: &ProjectId, session: &Session) -> Option<PathBuf> {
        let board = self.project.board();
        if *project != board.settings.id {
            return None;
        }
        let agent = board.agents.get(&session.agent)?;
        let worker = session.task().filter(|_| agent.spec.hierarchy == Hierarchy::Worker);
        let tree = |task| self.runner.task_tree(task, board.settings.isolation);
        match (&session.driver, worker) {
            // It works on that host.
            (Driver::Runner { runner, .. }, _) if runner.is_on_another_host() => None,
            (Driver::Runner { .. }, Some(task)) => Some(tree(task)),
            (Driver::Runner { .. }, None) => Some(self.runner.view_tree(session.id)),
            (Driver::Attached, Some(task)) => {
                board::needs_workspace(&board, agent, board.task(task).ok()?).then(|| tree(task))
            }
            (Driver::Attached, None) | (Driver::Hand, _) => None,
        }
    }

    async fn prepare(&self, project: &ProjectId, agent: &AgentId, task: TaskId) -> Option<Result<PathBuf, String>> {
        let board = self.project.board();
        if *project != board.settings.id {
            return None;
        }
        let order = dispatch::workspace_order(&board, &board.agents.get(agent)?.spec, board.task(task).ok()?);
        let made = match self.runner.prepare_workspace(order).await {
            Ok(made) => made,
            Err(reason) => return Some(Err(reason)),
        };
        let record = Command::RecordBranch { task, branch: made.branch, base: made.base };
        let recorded = self.project.submit(Actor::System, record).await;
        Some(recorded.map(|_| made.tree).map_err(|error| error.to_string()))
    }
}
