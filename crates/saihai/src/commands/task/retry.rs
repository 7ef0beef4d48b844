//! `saihai task retry`

use board::TaskId;
use clap::Args;

use super::change_each;
use crate::context::Context;
use crate::failure::Failure;

/// Try failed tasks again, with all their attempts
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// Their ids, such as tsk_12 or 12
    #[arg(required = true, value_name = "ID")]
    ids: Vec<TaskId>,
    /// Only put them back to todo, and do not start them
    #[arg(long)]
    later: bool,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Retry {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let retry = |task| board::Command::RetryTask { task, forced: self.force, later: self.later };
        change_each(context, &opened, &self.ids, retry).await
    }
}
