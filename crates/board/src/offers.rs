//! What may somebody do with a task now? Asked of the same function that would judge it.

use crate::admit::admit;
use crate::board::Board;
use crate::command::{Command, Destination};
use crate::event::TaskEdit;
use crate::lifecycle::{Guard, Move, Rule, TABLE, To};
use crate::refusal::Refusal;
use crate::task::{Status, Task};
use crate::{Actor, Timestamp};

/// A move that would be admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub name: Move,
    pub to: Status,
    /// It must be said why.
    pub needs_reason: bool,
}

impl Rule {
    /// Where a command sends a task that is to follow this row; `None` for new ones.
    pub fn destination(&self) -> Option<Destination> {
        match (self.name, self.to) {
            (Move::Create, _) => None,
            (Move::Retry, _) => Some(Destination::Retry),
            (_, To::Status(status)) => Some(Destination::Status(status)),
            (_, To::StatusBefore) => Some(Destination::StatusBefore),
        }
    }
}

/// The moves that are open to an actor. `merged` says that its branch was seen in the target.
pub fn offers(board: &Board, actor: &Actor, task: &Task, merged: bool, now: Timestamp) -> Vec<Offer> {
    let open = |rule: &Rule| {
        let to = rule.destination()?;
        let reason = Some("because".to_owned());
        let command = Command::MoveTask { task: task.id, to, reason, forced: false, merged };
        admit(board, actor, &command, now).ok()?;
        let to = match to {
            Destination::Status(status) => status,
            Destination::StatusBefore => task.block.as_ref()?.before,
            Destination::Retry => Status::Todo,
        };
        Some(Offer { name: rule.name, to, needs_reason: rule.guards.contains(&Guard::Reason) })
    };
    TABLE.iter().filter(|rule| rule.from.contains(&task.status)).filter_map(open).collect()
}

/// May an actor change the task's content? The refusal says who may (L2).
pub fn may_edit(board: &Board, actor: &Actor, task: &Task, now: Timestamp) -> Result<(), Refusal> {
    let nothing = Command::EditTask { task: task.id, edit: TaskEdit::default(), forced: false };
    admit(board, actor, &nothing, now).map(drop)
}
