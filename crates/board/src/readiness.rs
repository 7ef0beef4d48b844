//! What keeps a task from starting? The one readiness function (F11).

use crate::actor::Party;
use crate::board::Board;
use crate::obstacle::Obstacle;
use crate::settings::Fuel;
use crate::task::{Kind, Status, Task};
use crate::time::Span;
use crate::time::Timestamp;
use crate::{Agent, AgentId};

/// Everything that keeps `task` from starting; empty when it is ready.
pub fn obstacles(board: &Board, task: &Task) -> Vec<Obstacle> {
    let mut found = Vec::new();
    if board.paused {
        found.push(Obstacle::ProjectPaused);
    }
    if task.kind == Kind::Task {
        match &task.assignee {
            // Only its owner goes without; a manager assigns what it splits (L3, C7).
            None if task.has_no_runner() && board.mover(task) == Party::Owner => {}
            None => found.push(Obstacle::Unassigned),
            Some(agent) if board.active_agent(agent).is_none() => {
                found.push(Obstacle::AssigneeInactive(agent.clone()));
            }
            Some(_) => {}
        }
        if task.used.sessions >= board.settings.limits.max_task_sessions {
            found.push(Obstacle::FuelSpent(Fuel::TaskSessions));
        }
        if task.used.spent.uses_up(&board.settings.budget.task) {
            found.push(Obstacle::FuelSpent(Fuel::TaskBudget));
        }
    }
    found.extend(unmet_dependencies(board, task));
    found.extend(board.held_by(task).map(|by| Obstacle::Held { by }));
    found
}

fn unmet_dependencies<'a>(board: &'a Board, task: &'a Task) -> impl Iterator<Item = Obstacle> + 'a {
    task.dependencies.iter().filter_map(|id| board.tasks.get(id)).filter_map(|dependency| match dependency.status {
        Status::Done => None,
        Status::Cancelled => Some(Obstacle::DependencyCancelled(dependency.id)),
        status @ (Status::Backlog | Status::Todo | Status::InProgress | Status::Blocked | Status::Failed) => {
            Some(Obstacle::Waiting { on: dependency.id, status })
        }
    })
}

fn is_unstarted(task: &Task) -> bool {
    matches!(task.status, Status::Backlog | Status::Todo)
}

/// It could be started now.
pub fn can_start(board: &Board, task: &Task) -> bool {
    is_unstarted(task) && obstacles(board, task).is_empty()
}

/// The child has no active assignee, and the manager has a subordinate who could take it.
pub(crate) fn can_assign(board: &Board, manager: &AgentId, child: &Task) -> bool {
    let free = child.assignee.as_ref().is_none_or(|agent| board.active_agent(agent).is_none());
    is_unstarted(child)
        && child.kind == Kind::Task
        && free
        && board.subordinates(manager).any(|candidate| suits(board, child, candidate))
}

/// Does the agent's rank suit the task? At the depth limit a task is not a manager's (L6), and
/// what has steps is a worker's, what has subtasks a manager's.
pub(crate) fn suits(board: &Board, task: &Task, agent: &Agent) -> bool {
    let may_split = task.depth < board.settings.limits.max_depth;
    match board.kind_of_children(task) {
        Some(Kind::Task) => agent.is_manager() && may_split,
        Some(Kind::Step) => !agent.is_manager(),
        None => may_split || !agent.is_manager(),
    }
}

/// Can the manager of `task` assign or start a child (N4)?
pub(crate) fn starting_helps(board: &Board, task: &Task) -> bool {
    board.live_children(task).any(|child| {
        can_start(board, child) || task.assignee.as_ref().is_some_and(|manager| can_assign(board, manager, child))
    })
}

/// The step a worker starts next: ready, most urgent, then oldest.
pub(crate) fn next_ready_step<'a>(board: &'a Board, task: &'a Task) -> Option<&'a Task> {
    board
        .live_children(task)
        .filter(|step| can_start(board, step))
        .min_by_key(|step| (std::cmp::Reverse(step.priority), step.id))
}

/// A task that is ready but was not started for a while (L2): whom it waits for, and how long.
pub fn waiting_to_start(board: &Board, task: &Task, now: Timestamp) -> Option<(Party, Span)> {
    let waited = now - task.status_at;
    let reminded = task.assignee.is_some() && waited >= board.settings.limits.start_reminder;
    (reminded && can_start(board, task)).then(|| (board.mover(task), waited))
}
