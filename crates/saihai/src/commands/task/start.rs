//! `saihai task start`

use board::TaskId;
use board::lifecycle::Move;
use clap::Args;

use super::{change_each, owner_move};
use crate::context::Context;
use crate::failure::Failure;

/// Start tasks: their agents may begin
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// Their ids, such as tsk_12 or 12
    #[arg(required = true, value_name = "ID")]
    ids: Vec<TaskId>,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Start {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        change_each(context, &opened, &self.ids, |id| owner_move(id, Move::Start, None, self.force)).await
    }
}
