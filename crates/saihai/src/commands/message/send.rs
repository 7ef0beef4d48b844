//! `saihai message send`

use board::wire;
use board::{AgentId, Command, EventKind, Party, TaskId};
use clap::Args;

use crate::commands::task::text_or_stdin;
use crate::context::Context;
use crate::failure::Failure;

/// Write to an agent; a runner starts it for a chat
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  saihai message send lead \"Please look at tsk_3 first\" --task 3\n  saihai message send lead - < notes.txt"
)]
pub(crate) struct Send {
    /// The agent's id
    to: AgentId,
    /// The text, or - to read it from stdin
    content: String,
    /// The task it is about; for the agent's own task this is a comment on it
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
}

impl Send {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let content = text_or_stdin(opened.language, self.content)?;
        let to = Party::Agent(self.to.clone());
        let receipt = opened.submit(Command::SendMessage { to, content, related_task: self.task }).await?;
        let commented = |event: &board::Event| matches!(event.what, EventKind::CommentAdded { .. });
        if let (Some(id), true) = (self.task, receipt.events.iter().any(commented)) {
            let task = receipt.after.task(id).map_err(|refusal| opened.refusal(refusal))?;
            let comment = task.comments.last().map(|comment| wire::Comment::of(&receipt.after, task, comment));
            return context.format.print(
                &comment,
                || vec![id.to_string()],
                || {
                    opened.say(
                        format!("It is a comment on {id}, which {} reads before it goes on.", self.to),
                        format!("{id} へのコメントとして {} に伝わります。", self.to),
                    )
                },
            );
        }
        let message = receipt.after.messages.last().expect("a message was just sent");
        let view = wire::Message::of(&receipt.after, message);
        context.format.print(
            &view,
            || vec![message.id.to_string()],
            || {
                let (id, to) = (message.id, &self.to);
                let ttl = board::say_span(receipt.after.settings.limits.message_ttl, opened.language);
                opened.say(
                    format!("{id} to {to}. It expires after {ttl} if the agent has not read it by then."),
                    format!("{to} への {id} を送りました。{ttl} 以内に読まれなければ期限切れになります。"),
                )
            },
        )
    }
}
