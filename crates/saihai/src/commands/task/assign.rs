//! `saihai task assign`

use board::{AgentId, Command, TaskId};
use clap::Args;

use super::print_changed;
use crate::context::Context;
use crate::failure::Failure;

/// Give a task to an agent, or to nobody
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  saihai task assign 3 coder\n  saihai task assign 3 --nobody")]
pub(crate) struct Assign {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// Who does it
    #[arg(required_unless_present = "nobody")]
    agent: Option<AgentId>,
    /// Take it away from its assignee
    #[arg(long, conflicts_with = "agent")]
    nobody: bool,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Assign {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let command = Command::AssignTask { task: self.id, assignee: self.agent, forced: self.force };
        let receipt = opened.submit(command).await?;
        print_changed(context, &opened, &receipt, self.id)
    }
}
