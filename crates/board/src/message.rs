//! What was said between the owner and the agents?

use serde::{Deserialize, Serialize};

use crate::{MessageId, Party, Seq, TaskId, Timestamp};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub from: Party,
    pub to: Party,
    pub content: String,
    pub related_task: Option<TaskId>,
    pub at: Timestamp,
    /// The event that sent it.
    pub seq: Seq,
    /// The tasks that were made of it.
    pub tasks: Vec<TaskId>,
    /// It waited longer than its time to live, and its sender was told.
    pub expired: bool,
}
