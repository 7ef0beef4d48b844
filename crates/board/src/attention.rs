//! What needs the owner (W7)? What only a person can move, and nothing that goes on by itself.

use schemars::JsonSchema;
use serde::Serialize;

use crate::board::Board;
use crate::examination::{Waiting, merge_queue, waiting};
use crate::readiness::can_start;
use crate::task::{Status, Task};
use crate::words::words;
use crate::{Party, TaskId, Timestamp};

words! {
    /// The more others wait for it, the earlier it stands.
    Need {
        /// The target itself fails its checks, so nothing is merged.
        TargetRed = "target_red",
        /// Finished work waits for files that the owner is editing.
        Files = "files",
        /// Finished work cannot be looked at or merged: a disk, git, the sandbox.
        Trouble = "trouble",
        Failed = "failed",
        Blocked = "blocked",
        /// An agent proposes something for the memory bank.
        Proposal = "proposal",
        /// It is ready, and the owner starts it.
        Start = "start",
    }
}

/// Something that needs the owner, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Attention {
    pub need: Need,
    pub since: Timestamp,
    pub task: TaskId,
}

/// All of it, the most pressing first, and the longest waiting of that.
pub fn attention(board: &Board, now: Timestamp) -> Vec<Attention> {
    let of_task =
        |task: &Task| need_of(board, task).map(|need| Attention { need, since: task.status_at, task: task.id });
    let proposed = |task: &Task| {
        let open = task.proposals.iter().find(|proposal| proposal.answer.is_none())?;
        Some(Attention { need: Need::Proposal, since: open.at, task: task.id })
    };
    let tasks = board.tasks.values().map(AsRef::as_ref).filter(|task: &&Task| !task.is_step());
    let mut found: Vec<_> = tasks.flat_map(|task| [of_task(task), proposed(task)]).flatten().collect();
    found.extend(merges(board, now));
    found.sort_unstable();
    found
}

fn need_of(board: &Board, task: &Task) -> Option<Need> {
    let owns = || board.mover(task) == Party::Owner;
    match task.status {
        Status::Failed => owns().then_some(Need::Failed),
        Status::Blocked => {
            // What the owner has blocked waits by intent; what a manager moves is the manager's to lift.
            let by = &task.block.as_ref()?.by;
            let asks = *by == Party::System || (*by != Party::Owner && owns());
            asks.then_some(Need::Blocked)
        }
        Status::Backlog | Status::Todo => {
            (task.assignee.is_some() && owns() && can_start(board, task)).then_some(Need::Start)
        }
        Status::InProgress | Status::Done | Status::Cancelled => None,
    }
}

/// Finished work that waits for a person. A red target stands once, however much waits for it.
fn merges(board: &Board, now: Timestamp) -> Vec<Attention> {
    let mut found: Vec<Attention> = Vec::new();
    for session in merge_queue(board) {
        let need = match waiting(board, session, now) {
            Some(Waiting::Files { .. }) => Need::Files,
            Some(Waiting::Trouble { .. }) => Need::Trouble,
            Some(Waiting::TargetRed { .. }) if found.iter().all(|known| known.need != Need::TargetRed) => {
                Need::TargetRed
            }
            Some(
                Waiting::TargetRed { .. }
                | Waiting::NotInProgress { .. }
                | Waiting::Held { .. }
                | Waiting::Turn { .. }
                | Waiting::RightOfWay { .. }
                | Waiting::Behind { .. },
            )
            | None => continue,
        };
        if let (Some(task), Some((_, since))) = (session.task(), session.process_ended) {
            found.push(Attention { need, since, task });
        }
    }
    found
}
