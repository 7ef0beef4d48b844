//! What must be known of tasks and sessions to tell what they left behind?

use std::collections::BTreeMap;

use board::{Board, SessionId, Settings, Status, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

/// Every task and session, as far as their leftovers are concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    pub settings: Settings,
    pub tasks: BTreeMap<TaskId, TaskRecord>,
    pub sessions: BTreeMap<SessionId, SessionRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRecord {
    pub status: Status,
    /// Since when it has its status.
    pub status_at: Timestamp,
    /// A session works on it, or waits to be judged.
    pub live: bool,
    pub branch: Option<String>,
    pub base: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    pub live: bool,
    pub ended_at: Option<Timestamp>,
}

impl From<&Board> for Inventory {
    fn from(board: &Board) -> Self {
        let tasks = board.tasks.values().map(|task| {
            let record = TaskRecord {
                status: task.status,
                status_at: task.status_at,
                live: task.live.is_some(),
                branch: task.branch.clone(),
                base: task.base_commit.clone(),
            };
            (task.id, record)
        });
        let sessions = board
            .sessions
            .values()
            .map(|session| (session.id, SessionRecord { live: session.is_live(), ended_at: session.ended_at }));
        Self { settings: (*board.settings).clone(), tasks: tasks.collect(), sessions: sessions.collect() }
    }
}
