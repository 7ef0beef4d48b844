//! `saihai task start`

use board::{Destination, Status, TaskId};
use clap::Args;

use super::{MoveRequest, print_changed, submit_move};
use crate::context::Context;
use crate::failure::Failure;

/// Start a task: its agent may begin
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Start {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let to = Destination::Status(Status::InProgress);
        let receipt = submit_move(&opened, MoveRequest { task: self.id, to, reason: None, forced: self.force }).await?;
        print_changed(context, &opened, &receipt, self.id)
    }
}
