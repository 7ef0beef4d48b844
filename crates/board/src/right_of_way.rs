//! Whose turn is it to change a file on which work keeps colliding (V11)?
//!
//! Work that was sent back twice for a conflict stands in line for the right of way on the files in conflict. It has
//! it from the start of its next session, which begins on the target of that moment, until it is merged or its time is
//! up. Until then candidates that touch these files wait, so it cannot collide with them again.

use crate::board::Board;
use crate::task::{RightOfWay, Status, Task};
use crate::{TaskId, Timestamp};

/// After so many conflicts in a row work stands in line.
pub(crate) const CONFLICTS: u32 = 2;

/// Since when a task has the right of way, if it has it now.
fn held_since(board: &Board, task: &Task, now: Timestamp) -> Option<Timestamp> {
    let since = task.right_of_way.as_ref()?.granted?;
    (task.status == Status::InProgress && now < since + board.settings.limits.right_of_way).then_some(since)
}

/// The task that has the right of way on one of these files before `task` has it, and which files those are.
pub(crate) fn in_the_way(
    board: &Board,
    task: &Task,
    files: &[String],
    now: Timestamp,
) -> Option<(TaskId, Vec<String>)> {
    // Of two that have it, the earlier goes first: they must not wait for each other.
    let own = held_since(board, task, now).map(|since| (since, task.id));
    let others = board.index.in_line.iter().filter(|id| **id != task.id).filter_map(|id| board.tasks.get(id));
    others.filter_map(|other| Some((held_since(board, other, now)?, other))).find_map(|(since, other)| {
        if own.is_some_and(|own| own < (since, other.id)) {
            return None;
        }
        let wanted = &other.right_of_way.as_ref()?.files;
        let both: Vec<_> = files.iter().filter(|file| wanted.contains(file)).cloned().collect();
        (!both.is_empty()).then_some((other.id, both))
    })
}

/// The task that keeps `task` from starting its next session, and until when at the latest.
pub(crate) fn must_wait_for(board: &Board, task: &Task, now: Timestamp) -> Option<(TaskId, Timestamp)> {
    let RightOfWay { files, .. } = task.right_of_way.as_ref()?;
    if held_since(board, task, now).is_some() {
        return None;
    }
    let (holder, _) = in_the_way(board, task, files, now)?;
    let since = held_since(board, board.tasks.get(&holder)?, now)?;
    Some((holder, since + board.settings.limits.right_of_way))
}
