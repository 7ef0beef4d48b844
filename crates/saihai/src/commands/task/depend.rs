//! `saihai task depend`

use board::{Command, TaskId};
use clap::Args;

use super::print_changed;
use crate::context::Context;
use crate::failure::Failure;

/// Make a task wait for another, or no longer
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  saihai task depend 3 --on 2      3 starts after 2 is done\n  saihai task depend 3 --off 2"
)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true).args(["on", "off"]))]
pub(crate) struct Depend {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// It starts after these are done
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    on: Vec<TaskId>,
    /// It does not wait for these any more
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    off: Vec<TaskId>,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Depend {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let command = Command::ChangeDependencies { task: self.id, add: self.on, remove: self.off, forced: self.force };
        let receipt = opened.submit(command).await?;
        print_changed(context, &opened, &receipt, self.id)
    }
}
