//! What takes a change to a task back? Only what `admit` would accept now (W13).

use crate::admit::admit;
use crate::board::Board;
use crate::command::{Command, Destination};
use crate::event::TaskEdit;
use crate::legal_moves::{LegalMove, legal_moves};
use crate::task::{Status, Task};
use crate::{Actor, TaskId, Timestamp};

/// The command that takes back what happened to a task between two boards: nothing, where no way leads back for this
/// actor.
pub fn undo(before: &Board, after: &Board, actor: &Actor, id: TaskId, now: Timestamp) -> Option<Command> {
    let (was, is) = (before.tasks.get(&id)?, after.tasks.get(&id)?);
    let back = if was.assignee != is.assignee {
        Command::AssignTask { task: id, assignee: was.assignee.clone(), forced: false }
    } else if was.status != is.status {
        let offers = legal_moves(after, actor, is, false, now);
        move_back(was, is, &offers)?
    } else if was.dependencies != is.dependencies {
        let (add, remove) =
            (missing(&was.dependencies, &is.dependencies), missing(&is.dependencies, &was.dependencies));
        Command::ChangeDependencies { task: id, add, remove, forced: false }
    } else {
        Command::EditTask { task: id, edit: edit_back(was, is)?, forced: false }
    };
    admit(after, actor, &back, now).is_ok_and(|events| !events.is_empty()).then_some(back)
}

/// The move to the status of before. What was blocked is blocked again for the same reason, and as what it was then.
fn move_back(was: &Task, is: &Task, offers: &[LegalMove]) -> Option<Command> {
    if was.block.as_ref().is_some_and(|block| was.status == Status::Blocked && block.before != is.status) {
        return None;
    }
    let reason = was.block.as_ref().map(|block| block.reason.clone());
    let offer = offers.iter().find(|offer| offer.to == was.status && (reason.is_some() || !offer.needs_reason))?;
    let reason = reason.filter(|_| offer.needs_reason);
    Some(Command::MoveTask { task: is.id, to: Destination::By(offer.name), reason, forced: false, merged: false })
}

/// What one list has and the other has not.
fn missing(these: &[TaskId], those: &[TaskId]) -> Vec<TaskId> {
    these.iter().filter(|id| !those.contains(id)).copied().collect()
}

/// What was written before, where something else is written now.
fn edit_back(was: &Task, is: &Task) -> Option<TaskEdit> {
    let edit = TaskEdit {
        title: (was.title != is.title).then(|| was.title.clone()),
        description: (was.description != is.description).then(|| was.description.clone()),
        priority: (was.priority != is.priority).then_some(was.priority),
        task_type: (was.task_type != is.task_type).then_some(was.task_type),
        labels: (was.labels != is.labels).then(|| was.labels.clone()),
    };
    (edit != TaskEdit::default()).then_some(edit)
}
