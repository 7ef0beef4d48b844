//! Which shape does a message have on the wire?

use schemars::JsonSchema;
use serde::Serialize;

use crate::board::Board;
use crate::message;
use crate::{MessageId, Party, TaskId, Timestamp};

/// A message between the owner and an agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Message {
    pub id: MessageId,
    pub from: String,
    pub to: String,
    pub content: String,
    pub related_task_id: Option<TaskId>,
    /// The tasks that were made of it.
    pub tasks: Vec<TaskId>,
    pub at: Timestamp,
    pub read: bool,
    /// It was not read in time.
    pub expired: bool,
}

impl Message {
    pub fn of(board: &Board, message: &message::Message) -> Self {
        let read = match &message.to {
            Party::Agent(agent) => board.agents.get(agent).is_some_and(|agent| agent.read_upto >= message.id),
            Party::Owner | Party::System => true,
        };
        Self {
            id: message.id,
            from: message.from.to_string(),
            to: message.to.to_string(),
            content: message.content.clone(),
            related_task_id: message.related_task,
            tasks: message.tasks.clone(),
            at: message.at,
            read,
            expired: message.expired,
        }
    }
}
