//! `saihai task cancel`

use board::{Destination, Status, TaskId};
use clap::Args;

use super::{MoveRequest, print_changed, submit_move};
use crate::context::Context;
use crate::failure::Failure;

/// Cancel a task and everything below it
#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// Why
    #[arg(long, short)]
    reason: String,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Cancel {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let to = Destination::Status(Status::Cancelled);
        let receipt =
            submit_move(&opened, MoveRequest { task: self.id, to, reason: Some(self.reason), forced: self.force })
                .await?;
        print_changed(context, &opened, &receipt, self.id)
    }
}
