//! What may an actor do with a task now? `admit` itself is asked.

use crate::admit::admit;
use crate::board::Board;
use crate::command::{Command, Destination};
use crate::event::TaskEdit;
use crate::lifecycle::{Guard, Move, Rule, TABLE, leads_to};
use crate::refusal::Refusal;
use crate::task::{Status, Task};
use crate::{Actor, TaskId, Timestamp};

/// A move that would be admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegalMove {
    pub name: Move,
    pub to: Status,
    /// It must be said why.
    pub needs_reason: bool,
}

/// The moves that are open to an actor. `merged` says that its branch was seen in the target.
pub fn legal_moves(board: &Board, actor: &Actor, task: &Task, merged: bool, now: Timestamp) -> Vec<LegalMove> {
    let before = task.block.as_ref().map(|block| block.before);
    let open = |rule: &Rule| {
        let to = leads_to(rule.name, task.status, before)?;
        let reason = Some("because".to_owned());
        let by = Destination::By(rule.name);
        let command = Command::MoveTask { task: task.id, to: by, reason, forced: false, merged };
        admit(board, actor, &command, now).ok()?;
        Some(LegalMove { name: rule.name, to, needs_reason: rule.guards.contains(&Guard::Reason) })
    };
    TABLE.iter().filter_map(open).collect()
}

/// May an actor have the task's merged work undone?
pub fn may_revert(board: &Board, actor: &Actor, task: TaskId, now: Timestamp) -> bool {
    let revert = Command::RevertTask { task, title: "undo".into(), description: String::new() };
    admit(board, actor, &revert, now).is_ok()
}

/// May an actor change the task's content? The refusal says who may (L2).
pub fn may_edit(board: &Board, actor: &Actor, task: &Task, now: Timestamp) -> Result<(), Refusal> {
    let nothing = Command::EditTask { task: task.id, edit: TaskEdit::default(), forced: false };
    admit(board, actor, &nothing, now).map(drop)
}
