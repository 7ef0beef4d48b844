//! `saihai worker command`

use board::{AgentId, TaskId};
use clap::Args;
use dispatch::TaskBrief;
use serde_json::json;

use super::worker;
use crate::context::Context;
use crate::failure::Failure;

/// Print the prompt that a worker would get for a task
#[derive(Debug, Args)]
pub(crate) struct Command {
    /// The task, such as tsk_12 or 12
    task: TaskId,
    /// For this agent [default: its assignee]
    #[arg(long)]
    agent: Option<AgentId>,
}

impl Command {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let (task, agent) = worker(&opened, self.task, self.agent.as_ref())?;
        let prompt =
            runner::prompt_for(&opened.board().settings, &opened.path, &agent.spec, Some(&TaskBrief::from(&task)));
        let json = json!({ "task_id": task.id, "agent_id": agent.id(), "mode": agent.spec.mode, "prompt": prompt });
        context.format.print(&json, || vec![task.id.to_string()], || prompt.clone())
    }
}
