//! `saihai worker command`

use board::{AgentId, AgentSpec, Mode, TaskId};
use clap::Args;
use dispatch::TaskBrief;
use serde_json::json;

use super::worker;
use crate::context::Context;
use crate::failure::Failure;

/// Print the whole prompt for a task, for any agent
///
/// It needs no server and no MCP: whoever reads it knows the task, the rules and what the work is judged by.
#[derive(Debug, Args)]
pub(crate) struct Command {
    /// The task, such as tsk_12 or 12
    task: TaskId,
    /// For this agent [default: its assignee, or the only worker]
    #[arg(long)]
    agent: Option<AgentId>,
    /// Print what a runner gives a guided agent, which is told the rest by the MCP server
    #[arg(long)]
    guided: bool,
}

impl Command {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let (task, agent) = worker(&opened, self.task, self.agent.as_ref())?;
        let mode = if self.guided { agent.spec.mode } else { Mode::OneShot };
        let spec = AgentSpec { mode, ..agent.spec.clone() };
        let prompt = runner::prompt_for(&opened.board().settings, &opened.path, &spec, Some(&TaskBrief::from(&task)));
        let json = json!({ "task_id": task.id, "agent_id": agent.id(), "mode": mode, "prompt": prompt });
        context.format.print(&json, || vec![task.id.to_string()], || prompt.clone())
    }
}
