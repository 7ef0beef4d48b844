//! `saihai task comment`

use board::{Command, Mode, TaskId, wire};
use clap::Args;

use super::text_or_stdin;
use crate::context::Context;
use crate::failure::Failure;

/// Tell whoever works on a task something
///
/// A running agent reads it with its next call, and cannot finish before. A one-shot agent, and one that is not running,
/// reads it when it is next started.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  saihai task comment 12 \"Use the name want_integer\"\n  saihai task comment 12 - < notes.txt"
)]
pub(crate) struct Comment {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// The text, or - to read it from stdin
    text: String,
}

impl Comment {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let text = text_or_stdin(opened.language, self.text)?;
        let receipt = opened.submit(Command::CommentTask { task: self.id, text }).await?;
        let board = &receipt.after;
        let task = board.task(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let comment = task.comments.last().map(|comment| wire::Comment::of(board, task, comment));
        // The steps of a task are in the hands of its session.
        let of =
            task.parent.filter(|_| task.is_step()).and_then(|id| board.tasks.get(&id)).map_or(task, |parent| parent);
        let live = of.live.and_then(|session| board.sessions.get(&session));
        let running = live.filter(|session| session.can_call());
        let listens =
            |agent: &board::AgentId| board.agents.get(agent).is_some_and(|agent| agent.spec.mode == Mode::Guided);
        context.format.print(
            &comment,
            || vec![self.id.to_string()],
            || match running.filter(|session| listens(&session.agent)) {
                Some(session) => opened.say(
                    format!("{}: {} reads it with its next call ({}).", self.id, session.agent, session.id),
                    format!("{}: {} が次の呼び出しで読みます（{}）。", self.id, session.agent, session.id),
                ),
                None => match live {
                    Some(session) => opened.say(
                        format!(
                            "{}: {} cannot hear it while it runs ({}). It is read with the next start, if there is one; \
                             `saihai session stop {} --restart` starts it again now.",
                            self.id, session.agent, session.id, session.id
                        ),
                        format!(
                            "{}: {} は実行中には読めません（{}）。次に起動すれば読まれます。今すぐやり直すには \
                             `saihai session stop {} --restart` を実行してください。",
                            self.id, session.agent, session.id, session.id
                        ),
                    ),
                    None => opened.say(
                        format!("{}: it is read with the next start of the task.", self.id),
                        format!("{}: 次の起動時に読まれます。", self.id),
                    ),
                },
            },
        )
    }
}
