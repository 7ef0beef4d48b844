//! What may an agent that a person attached by hand begin, and whose place may it take (S3, S7)?

use crate::board::Board;
use crate::coordination::Action;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::{Driver, Purpose, Session};
use crate::staffing::{staff_chat, staff_task, staffing};
use crate::task::{Completion, Task};
use crate::{Agent, Timestamp};

/// Work that is merged is done in a workspace, which only a runner can make. A manager needs none.
pub fn needs_workspace(board: &Board, agent: &Agent, task: &Task) -> bool {
    match task.completion.unwrap_or(board.settings.completion) {
        Completion::Merged => !agent.is_manager(),
        Completion::Reported => false,
    }
}

/// A session of an attached agent that has been silent for a while. If the agent authenticates again, its
/// client went away: the session is ended, so that its work does not wait for the lease.
pub fn silent_session<'a>(board: &'a Board, agent: &Agent, now: Timestamp) -> Option<&'a Session> {
    board.live_sessions(agent.id()).find(|session| {
        session.driver == Driver::Attached && session.can_call() && now - session.last_call_at > Session::SILENT
    })
}

/// What the agent begins: its most urgent work, if that needs no workspace or one can be made; otherwise
/// the most urgent of its work that needs none.
pub fn attachable(board: &Board, agent: &Agent, can_make_workspace: bool, now: Timestamp) -> Result<Purpose, Refusal> {
    let answer = staffing(board, agent.id(), now)?;
    let first = match (answer.action, answer.purpose) {
        (Action::Start, Some(purpose)) => purpose,
        (Action::Start | Action::NoChange | Action::Stop, _) => {
            return Err(RefusalReason::NotStaffed { agent: agent.id().clone(), reason: answer.reason }.into());
        }
    };
    let task = match first {
        Purpose::Task(id) => board.task(id)?,
        Purpose::Chat => return Ok(first),
    };
    if can_make_workspace || !needs_workspace(board, agent, task) {
        return Ok(first);
    }
    let others = board.open_tasks(agent.id()).into_iter().filter(|task| !needs_workspace(board, agent, task));
    let others = others.map(|task| staff_task(board, agent, task, now)).chain(staff_chat(board, agent, now));
    let startable = others.filter(|other| other.action == Action::Start).find_map(|other| other.purpose);
    startable.ok_or_else(|| RefusalReason::NeedsWorkspace { task: task.id }.into())
}
