//! How do agents and the owner talk? By messages in order, read up to a cursor.

use board::{Command, EventKind, MessageId, Party, RefusalReason, TaskId, Tool};
use control::ControlError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answers::refuse;
use crate::arguments::TaskRef;
use crate::call::Call;
use crate::phrase::{Phrase, phrase};
use crate::tool::{AllowedCaller, Effect, ToolHandler};
use board::wire::Message;

/// How much of what was said before comes with what is new.
const CONTEXT: usize = 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetPendingMessages {}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Pending {
    /// What was said before, oldest first.
    context: Vec<Message>,
    /// What is new, oldest first. Your next call acknowledges it.
    pending_messages: Vec<Message>,
    /// The newest of them.
    #[schemars(with = "Option<String>")]
    cursor: Option<MessageId>,
}

impl ToolHandler for GetPendingMessages {
    const TOOL: Tool = Tool::GetPendingMessages;
    const WHO: AllowedCaller = AllowedCaller::Chat;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "What the owner wrote that you have not read, with what was said before.",
        "オーナーからの未読メッセージを、それまでの会話とともに返します。",
    );
    type Answer = Pending;

    async fn run(self, call: Call) -> Result<Pending, ControlError> {
        let session = call.session()?;
        let receipt = session.submit(Command::ShowMessages).await?;
        let board = receipt.after;
        let agent = board.agent(&session.session()?.agent)?;
        let me = Party::Agent(agent.id().clone());
        let unread: Vec<_> = board.unread(agent).collect();
        let first = unread.first().map(|message| message.id);
        let before = board.messages.iter().rev().filter(|message| message.from == me || message.to == me);
        let before = before.filter(|message| first.is_none_or(|first| message.id < first)).take(CONTEXT);
        let mut context: Vec<_> = before.map(|message| Message::of(&board, message)).collect();
        context.reverse();
        let cursor = unread.last().map(|message| message.id);
        Ok(Pending {
            context,
            pending_messages: unread.into_iter().map(|message| Message::of(&board, message)).collect(),
            cursor,
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendMessage {
    /// `owner` or an agent's id
    to: String,
    content: String,
    related_task_id: Option<TaskRef>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Sent {
    success: bool,
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<MessageId>,
    /// It became a comment on this task.
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    comment_on: Option<TaskId>,
}

impl ToolHandler for SendMessage {
    const TOOL: Tool = Tool::SendMessage;
    const WHO: AllowedCaller = AllowedCaller::Session;
    const EFFECT: Effect = Effect::Add;
    const ABOUT: Phrase =
        phrase("Write to the owner, at most 4,000 characters.", "オーナーにメッセージを送ります（4,000 文字まで）。");
    type Answer = Sent;

    async fn run(self, call: Call) -> Result<Sent, ControlError> {
        let to = match self.to.as_str() {
            "owner" => Party::Owner,
            name => Party::Agent(name.parse().map_err(|_| {
                let shown: String = name.chars().take(80).collect();
                refuse(RefusalReason::BadArguments(format!("`{shown}` is neither `owner` nor an agent's id")))
            })?),
        };
        let related_task = self.related_task_id.map(|task| task.0);
        let command = Command::SendMessage { to, content: self.content, related_task };
        let receipt = call.session()?.submit(command).await?;
        let message_id = receipt.events.iter().find_map(|event| match event.what {
            EventKind::MessageSent { message, .. } => Some(message),
            _ => None,
        });
        let comment_on = receipt.events.iter().find_map(|event| match event.what {
            EventKind::CommentAdded { task, .. } => Some(task),
            _ => None,
        });
        Ok(Sent { success: true, message_id, comment_on })
    }
}
