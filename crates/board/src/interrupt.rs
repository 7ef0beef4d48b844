//! Must this session stop, whatever it was about to do (N2.2, N7)?

use serde::{Deserialize, Serialize};

use crate::TaskId;
use crate::board::Board;
use crate::session::{Session, StopCause};
use crate::task::Status;

/// Why a session is interrupted. Derived from the board, and addressed to one session (F24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interrupt {
    Stopped(StopCause),
    Cancelled,
    Blocked,
    Reassigned,
    Held { by: TaskId },
    ProjectPaused,
}

impl Interrupt {
    /// The word that answers and traces carry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stopped(cause) => cause.as_str(),
            Self::Cancelled => "cancelled",
            Self::Blocked => "blocked",
            Self::Reassigned => "reassigned",
            Self::Held { .. } => "held",
            Self::ProjectPaused => "project_paused",
        }
    }
}

/// Why `session` must stop, if it must.
pub fn interrupt(board: &Board, session: &Session) -> Option<Interrupt> {
    if let Some(cause) = session.stop {
        return Some(Interrupt::Stopped(cause));
    }
    let task = session.task().and_then(|id| board.tasks.get(&id))?;
    match task.status {
        Status::Cancelled => return Some(Interrupt::Cancelled),
        Status::Blocked => return Some(Interrupt::Blocked),
        Status::Backlog | Status::Todo | Status::InProgress | Status::Done | Status::Failed => {}
    }
    if task.assignee.as_ref() != Some(&session.agent) {
        return Some(Interrupt::Reassigned);
    }
    if let Some(by) = board.held_by(task) {
        return Some(Interrupt::Held { by });
    }
    board.paused.then_some(Interrupt::ProjectPaused)
}
