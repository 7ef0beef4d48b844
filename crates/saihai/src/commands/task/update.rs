//! `saihai task update`

use board::{Command, Destination, Priority, Status, TaskEdit, TaskId, TaskType};
use clap::Args;

use super::{MoveRequest, print_changed, submit_move, text_or_stdin};
use crate::context::{Context, OpenProject, owner};
use crate::failure::Failure;

/// Change a task's content or status
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  saihai task update 3 --title \"Better title\" --priority high
  saihai task update 3 --status todo          set it back, or reopen it
  saihai task update 3 --status done          if its branch is in the target
  saihai task update 3 --status done --force  in any case; this is recorded")]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true)
    .args(["title", "description", "priority", "task_type", "label", "status"]))]
pub(crate) struct Update {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// What should be done, in one line
    #[arg(long)]
    title: Option<String>,
    /// The text, or - to read it from stdin
    #[arg(long, short, allow_hyphen_values = true)]
    description: Option<String>,
    /// low, medium, high or critical
    #[arg(long, short)]
    priority: Option<Priority>,
    /// task, feature, bug, refactor, docs, test or research
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    task_type: Option<TaskType>,
    /// The labels it should have; an empty one removes all
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    label: Option<Vec<String>>,
    /// Move it; `open` means todo
    #[arg(long, value_parser = Status::parse)]
    status: Option<Status>,
    /// Why, where the move needs a reason
    #[arg(long)]
    reason: Option<String>,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Update {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        if let Some(status) = self.status {
            self.judge_move(&opened, status)?;
        }
        let edit = TaskEdit {
            title: self.title,
            description: self.description.map(|text| text_or_stdin(opened.language, text)).transpose()?,
            priority: self.priority,
            task_type: self.task_type,
            labels: self.label.map(|labels| labels.into_iter().filter(|label| !label.is_empty()).collect()),
        };
        let mut receipt = None;
        if edit != TaskEdit::default() {
            receipt = Some(opened.submit(Command::EditTask { task: self.id, edit, forced: self.force }).await?);
        }
        if let Some(status) = self.status {
            let to = Destination::Status(status);
            receipt = Some(
                submit_move(&opened, MoveRequest { task: self.id, to, reason: self.reason, forced: self.force })
                    .await?,
            );
        }
        let receipt = receipt.expect("clap asks for at least one change");
        print_changed(context, &opened, &receipt, self.id)
    }

    /// A move that would be refused is refused before the content is changed: all or nothing.
    fn judge_move(&self, opened: &OpenProject, status: Status) -> Result<(), Failure> {
        let to = Destination::Status(status);
        let merged = status == Status::Done && super::is_merged(opened, self.id);
        let command = Command::MoveTask { task: self.id, to, reason: self.reason.clone(), forced: self.force, merged };
        let judged = board::admit(&opened.board(), &owner(), &command, opened.now());
        judged.map(drop).map_err(|refusal| opened.refusal(refusal))
    }
}
