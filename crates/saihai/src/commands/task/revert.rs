//! `saihai task revert`

use board::replies::revert;
use board::{EventKind, TaskId, wire};
use clap::Args;

use super::text_or_stdin;
use crate::context::Context;
use crate::failure::Failure;

/// Undo the merged work of a task, through the same checks and queue
///
/// A new task undoes it. Where git can do that alone, no agent is started; where it cannot, whoever did the work resolves
/// the conflicts.
#[derive(Debug, Args)]
#[command(after_help = "\
What somebody merged by hand is not known to the queue: undo that with `git revert`.

Examples:
  saihai task revert 7
  saihai task revert 7 --reason \"It doubles the start-up time\"")]
pub(crate) struct Revert {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// Why, or - for stdin; whoever has to resolve conflicts reads it
    #[arg(long, short)]
    reason: Option<String>,
}

impl Revert {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let reason = self.reason.map(|text| text_or_stdin(opened.language, text)).transpose()?;
        let board = opened.board();
        let task = board.task(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let commits = board::merges(&board, task);
        let command = revert(task, &commits, reason.as_deref(), board.settings.language);
        let receipt = opened.submit(command).await?;
        let made = receipt.events.iter().find_map(|event| match &event.what {
            EventKind::TasksCreated { tasks, .. } => tasks.first().map(|task| task.id),
            _ => None,
        });
        let made = receipt.after.task(made.expect("a task was made")).map_err(|refusal| opened.refusal(refusal))?;
        context.format.print(
            &wire::Task::from(made),
            || vec![made.id.to_string()],
            || {
                let next = if made.assignee.is_some() {
                    format!("saihai task why {}", made.id)
                } else {
                    format!("saihai task assign {} AGENT", made.id)
                };
                let line = format!("{} {}: {}", made.id, made.status, crate::show::clean(&made.title));
                opened.say(format!("{line}\nNext: {next}"), format!("{line}\n次: {next}"))
            },
        )
    }
}
