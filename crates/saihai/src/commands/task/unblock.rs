//! `saihai task unblock`

use board::TaskId;
use board::lifecycle::Move;
use clap::Args;

use super::{change_each, owner_move, text_or_stdin};
use crate::context::Context;
use crate::failure::Failure;

/// Lift blocks; each task goes back to what it was
#[derive(Debug, Args)]
pub(crate) struct Unblock {
    /// Their ids, such as tsk_12 or 12
    #[arg(required = true, value_name = "ID")]
    ids: Vec<TaskId>,
    /// Your answer to what it was blocked for; a comment for the agent, or - for stdin [also: --answer]
    #[arg(long, short, alias = "answer")]
    reason: Option<String>,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Unblock {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let reason = self.reason.map(|text| text_or_stdin(opened.language, text)).transpose()?;
        let unblock = |id| owner_move(id, Move::Unblock, reason.as_deref(), self.force);
        change_each(context, &opened, &self.ids, unblock).await
    }
}
