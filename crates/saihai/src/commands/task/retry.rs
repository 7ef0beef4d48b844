//! `saihai task retry`

use board::{Code, Destination, Status, TaskId};
use clap::Args;

use super::{Move, print_changed, submit_move};
use crate::context::{Context, Opened};
use crate::failure::{Exit, Failure};

/// Set a failed task back to todo; its attempts start again
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// Insist where the task is another's to move; it is recorded
    #[arg(long)]
    force: bool,
}

impl Retry {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        // Other statuses go back to todo too, but whoever says retry does not mean them.
        let status = opened.board().task(self.id).map_err(|refusal| opened.refusal(refusal))?.status;
        if status != Status::Failed {
            return Err(not_failed(&opened, self.id, status));
        }
        let to = Destination::Status(Status::Todo);
        let receipt = submit_move(&opened, Move { task: self.id, to, reason: None, forced: self.force }).await?;
        print_changed(context, &opened, &receipt, self.id)
    }
}

fn not_failed(opened: &Opened, id: TaskId, status: Status) -> Failure {
    Failure::new(
        Exit::Conflict,
        Code::StateConflict.as_str(),
        opened.say(
            format!("{id} is {status}; only a failed task is retried."),
            format!("{id} は {status} です。再試行できるのは failed のタスクだけです。"),
        ),
        opened.say(
            format!("`saihai task update {id} --status todo` sets a task back; `saihai task why {id}` tells more."),
            format!("todo に戻すには `saihai task update {id} --status todo`。詳しくは `saihai task why {id}`。"),
        ),
    )
}
