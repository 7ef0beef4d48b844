//! `saihai task block`

use board::{Destination, Status, TaskId};
use clap::Args;

use super::{MoveRequest, print_changed, submit_move};
use crate::context::Context;
use crate::failure::Failure;

/// Block a task; its session is stopped
#[derive(Debug, Args)]
pub(crate) struct Block {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
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
        let to = Destination::Status(Status::Blocked);
        let receipt =
            submit_move(&opened, MoveRequest { task: self.id, to, reason: Some(self.reason), forced: self.force })
                .await?;
        print_changed(context, &opened, &receipt, self.id)
    }
}
