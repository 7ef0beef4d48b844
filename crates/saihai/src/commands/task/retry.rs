//! `saihai task retry`

use board::{Destination, TaskId};
use clap::Args;

use super::{MoveRequest, print_changed, submit_move};
use crate::context::Context;
use crate::failure::Failure;

/// Set a failed task back to todo; its attempts start again
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Retry {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let to = Destination::By(board::lifecycle::Move::Retry);
        let receipt = submit_move(&opened, MoveRequest { task: self.id, to, reason: None, forced: self.force }).await?;
        print_changed(context, &opened, &receipt, self.id)
    }
}
