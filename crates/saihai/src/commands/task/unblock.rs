//! `saihai task unblock`

use board::{Destination, TaskId};
use clap::Args;

use super::{MoveRequest, print_changed, submit_move};
use crate::context::Context;
use crate::failure::Failure;

/// Lift a block; the task goes back to what it was
#[derive(Debug, Args)]
pub(crate) struct Unblock {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Unblock {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let to = Destination::By(board::lifecycle::Move::Unblock);
        let receipt = submit_move(&opened, MoveRequest { task: self.id, to, reason: None, forced: self.force }).await?;
        print_changed(context, &opened, &receipt, self.id)
    }
}
