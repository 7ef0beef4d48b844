//! Must this session stop, whatever it was about to do (N2.2, N7)?

use crate::action::Interrupt;
use crate::board::Board;
use crate::session::Session;
use crate::task::Status;

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
    // A pause lets workers finish what they do (L11). A manager can only start and assign, which a pause forbids.
    let manager = board.agents.get(&session.agent).is_some_and(|agent| agent.is_manager());
    (board.paused && manager).then_some(Interrupt::ProjectPaused)
}
