//! `saihai task block`

use board::TaskId;
use board::lifecycle::Move;
use clap::Args;

use super::{change_each, owner_move};
use crate::context::Context;
use crate::failure::Failure;

/// Block tasks; their sessions are stopped, and what has ended waits
#[derive(Debug, Args)]
pub(crate) struct Block {
    /// Their ids, such as tsk_12 or 12
    #[arg(required = true, value_name = "ID")]
    ids: Vec<TaskId>,
    /// Why
    #[arg(long, short)]
    reason: String,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Block {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let block = |id| owner_move(id, Move::Block, Some(&self.reason), self.force);
        change_each(context, &opened, &self.ids, block).await
    }
}
