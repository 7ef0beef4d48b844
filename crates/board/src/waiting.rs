//! Does it help a manager to wait, and what wakes one that waits (N4, A1.6 to A1.8)?

use std::collections::BTreeMap;

use crate::board::Board;
use crate::comments;
use crate::coordination::Reason;
use crate::obstacle::Obstacle;
use crate::readiness::{self, obstacles};
use crate::task::{Status, Task};
use crate::{Agent, TaskId};

/// Would waiting help the manager of `task` (N4): will one of its children go on without it?
pub(crate) fn waiting_helps(board: &Board, task: &Task) -> bool {
    let mut known = BTreeMap::new();
    board.live_children(task).any(|child| goes_on(board, task, child, &mut known))
}

/// Will `task` go on without the manager of `top`, which is above it? Work in progress does, unless its own manager
/// sleeps and nothing below it goes on; work that waits does if all it waits for does. What is not below `top` is
/// moved by others. `known` holds the answers so far, and ends a circle.
fn goes_on(board: &Board, top: &Task, task: &Task, known: &mut BTreeMap<TaskId, bool>) -> bool {
    if let Some(known) = known.get(&task.id) {
        return *known;
    }
    known.insert(task.id, false);
    let goes_on = match task.status {
        Status::InProgress => {
            // What is below a task that does not go on is held with it.
            let above = board.ancestors(task).take_while(|above| above.id != top.id);
            let holder = above.filter(|above| above.status != Status::InProgress).last();
            holder.is_none_or(|holder| goes_on(board, top, holder, known))
                && (!sleeps(board, task) || board.live_children(task).any(|child| goes_on(board, top, child, known)))
        }
        Status::Backlog | Status::Todo => {
            let obstacles = obstacles(board, task);
            let finishes = |obstacle: &Obstacle, known: &mut _| match obstacle {
                Obstacle::Waiting { on, .. } => board.tasks.get(on).is_some_and(|on| {
                    let below_top = board.ancestors(on).any(|above| above.id == top.id);
                    !below_top || goes_on(board, top, on, known)
                }),
                Obstacle::ProjectPaused
                | Obstacle::Unassigned
                | Obstacle::AssigneeInactive(_)
                | Obstacle::DependencyCancelled(_)
                | Obstacle::Held { .. }
                | Obstacle::FuelSpent(_) => false,
            };
            !obstacles.is_empty() && obstacles.iter().all(|obstacle| finishes(obstacle, known))
        }
        Status::Blocked | Status::Done | Status::Failed | Status::Cancelled => false,
    };
    known.insert(task.id, goes_on);
    goes_on
}

/// Why a manager that left with `wait` is started again: only if the board has changed since it looked (A2), so that
/// it neither spins (F4) nor sleeps through a blocked worker (F6). Waiting helped when it left, so it is a change that
/// waiting helps no longer.
pub(crate) fn woken(board: &Board, agent: &Agent, task: &Task, since: u64) -> Option<Reason> {
    // A child whose dependency was cancelled can never start: only its mover can remove that dependency (L5).
    let cancelled = |id: &TaskId| {
        board.tasks.get(id).is_some_and(|task| task.status == Status::Cancelled && task.marks.status > since)
    };
    let stuck = |child: &Task| match child.status {
        Status::Blocked | Status::Failed => child.marks.status > since,
        Status::Backlog | Status::Todo => child.dependencies.iter().any(cancelled),
        Status::InProgress | Status::Done | Status::Cancelled => false,
    };
    if board.children(task).any(stuck) {
        return Some(Reason::WorkerBlocked);
    }
    let owner_wrote = comments::written_since(task, agent.id(), since);
    let can_start = task.marks.children > since && readiness::starting_helps(board, task);
    (owner_wrote || can_start || !waiting_helps(board, task)).then_some(Reason::WorkersProgressed)
}

/// The task's manager left with `wait`, and nothing wakes it yet.
fn sleeps(board: &Board, task: &Task) -> bool {
    let manager = task.assignee.as_ref().and_then(|id| board.agents.get(id));
    match (task.waiting_since, manager) {
        (Some(since), Some(manager)) => woken(board, manager, task, since).is_none(),
        (None, _) | (_, None) => false,
    }
}
