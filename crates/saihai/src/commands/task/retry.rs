//! `saihai task retry`

use board::TaskId;
use clap::Args;

use super::{change_each, text_or_stdin};
use crate::context::Context;
use crate::failure::Failure;

/// Try failed tasks again, with all their attempts
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// Their ids, such as tsk_12 or 12
    #[arg(required = true, value_name = "ID")]
    ids: Vec<TaskId>,
    /// What to do differently; a comment for the agent, or - for stdin
    #[arg(long, short)]
    reason: Option<String>,
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
        let reason = self.reason.map(|text| text_or_stdin(opened.language, text)).transpose()?;
        let retry = |task| {
            let reason = reason.clone();
            board::Command::RetryTask { task, reason, forced: self.force, later: self.later }
        };
        change_each(context, &opened, &self.ids, retry).await
    }
}
