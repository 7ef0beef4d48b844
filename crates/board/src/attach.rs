//! What may an agent that a person attached by hand begin, and whose place may it take (S3, S7)?

use crate::board::Board;
use crate::coordination::{Action, Reason, Staffing};
use crate::evidence::EndReason;
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

/// Does this answer let an attached agent begin? Also where no runner would start it, or one that tried found no client:
/// that says nothing about a client that is there (S7).
pub(crate) fn lets_begin(board: &Board, answer: &Staffing) -> bool {
    match (answer.action, answer.reason) {
        (Action::Start, _) | (Action::NoChange, Reason::AttachedOnly) => true,
        (Action::NoChange, Reason::CoolingDown) => {
            let task = answer.task().and_then(|id| board.tasks.get(&id));
            let last = task.and_then(|task| board.sessions.get(&task.last_session?)?.end.as_ref());
            last.is_some_and(|end| end.reason == EndReason::LaunchFailed)
        }
        (Action::NoChange | Action::Stop, _) => false,
    }
}

/// What the agent begins: its most urgent work, if that needs no workspace or one can be made; otherwise
/// the most urgent of its work that needs none.
pub fn attachable(board: &Board, agent: &Agent, can_make_workspace: bool, now: Timestamp) -> Result<Purpose, Refusal> {
    let answer = staffing(board, agent.id(), now)?;
    let not_staffed = || RefusalReason::NotStaffed { agent: agent.id().clone(), reason: answer.reason };
    if answer.action == Action::Stop {
        return Err(not_staffed().into());
    }
    let tasks = board.open_tasks(agent.id());
    let answers = tasks.iter().map(|task| staff_task(board, agent, task, now)).chain(staff_chat(board, agent, now));
    let open: Vec<Purpose> =
        answers.filter(|answer| lets_begin(board, answer)).filter_map(|answer| answer.purpose).collect();
    let works = |purpose: &&Purpose| {
        let task = purpose.task().and_then(|id| board.tasks.get(&id));
        can_make_workspace || task.is_none_or(|task| !needs_workspace(board, agent, task))
    };
    match (open.iter().find(works), open.first()) {
        (Some(purpose), _) => Ok(*purpose),
        (None, Some(Purpose::Task(task))) => Err(RefusalReason::NeedsWorkspace { task: *task }.into()),
        (None, Some(Purpose::Chat) | None) => Err(not_staffed().into()),
    }
}
