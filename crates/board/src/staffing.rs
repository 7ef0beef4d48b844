//! Which agents should be running (A1)?

use std::collections::BTreeSet;

use crate::action::Interrupt;
use crate::action::StopCause;
use crate::board::Board;
use crate::coordination::Action;
use crate::coordination::Reason;
use crate::coordination::Staffing;
use crate::fuel;
use crate::interrupt::interrupt;
use crate::right_of_way;
use crate::session::{Driver, Purpose, Session, SessionStatus};
use crate::spending::{day_of, end_of_day};
use crate::task::{Status, Task};
use crate::waiting;
use crate::{Agent, AgentId, Client, Mode, Party, Refusal, Timestamp};

/// The answer for one agent: the first stop, else the first start, else the hold of its most
/// urgent task. Its cost is that of the agent's own work, not of the board.
pub fn staffing(board: &Board, agent: &AgentId, now: Timestamp) -> Result<Staffing, Refusal> {
    let agent = board.agent(agent)?;
    let stop = board.live_sessions(agent.id()).find_map(|session| must_stop(board, agent, session));
    if let Some(stop) = stop {
        return Ok(stop);
    }
    let tasks = board.open_tasks(agent.id());
    let answers: Vec<_> = tasks.iter().map(|task| staff_task(board, agent, task, now)).collect();
    let chat = staff_chat(board, agent, now);
    let start = answers.iter().chain(&chat).find(|answer| answer.action == Action::Start);
    let unused = if agent.active { nothing_in_progress(board, agent) } else { Reason::AgentNotAssigned };
    let idle = Staffing::no_change(unused, None);
    Ok(*start.or(answers.first()).or(chat.as_ref()).unwrap_or(&idle))
}

/// Work that could be started, and what staffing says about it.
#[derive(Clone, Copy, Debug)]
pub struct StartableWork<'a> {
    pub agent: &'a Agent,
    /// `None`: its chat.
    pub task: Option<&'a Task>,
    pub answer: Staffing,
}

/// Everything that could be started now or later: tasks in progress without a session, and chats that the owner
/// waits for. It costs as much as there is to start, however large the board is (P7).
pub fn startable_work(board: &Board, now: Timestamp) -> Vec<StartableWork<'_>> {
    let of_task = |task| -> Option<StartableWork<'_>> {
        let task: &Task = task;
        let agent = board.agents.get(task.assignee.as_ref()?)?;
        Some(StartableWork { agent, task: Some(task), answer: staff_task(board, agent, task, now) })
    };
    let asked: BTreeSet<&AgentId> = board
        .unread_from_owner()
        .filter_map(|message| match &message.to {
            Party::Agent(agent) => Some(agent),
            Party::Owner | Party::System => None,
        })
        .collect();
    let of_chat = |id: &AgentId| -> Option<StartableWork<'_>> {
        let agent = board.agents.get(id)?;
        Some(StartableWork { agent, task: None, answer: staff_chat(board, agent, now)? })
    };
    board.unattended_tasks().filter_map(of_task).chain(asked.into_iter().filter_map(of_chat)).collect()
}

/// The answer for a session that should end; `None` while it may go on.
pub fn must_stop(board: &Board, agent: &Agent, session: &Session) -> Option<Staffing> {
    // A session that is driven by hand is ended by the person who drives it, and one whose process is over has
    // nothing left to stop: what it did is kept and judged when it may be (V12).
    if session.driver == Driver::Hand || session.status == SessionStatus::Verifying {
        return None;
    }
    if !agent.active {
        return Some(Staffing::stop(Reason::AgentNotAssigned, session));
    }
    let reason = match interrupt(board, session) {
        Some(Interrupt::ProjectPaused) => Reason::ProjectPaused,
        Some(Interrupt::Cancelled) => Reason::Cancelled,
        Some(Interrupt::Blocked) => Reason::Blocked,
        Some(Interrupt::Reassigned) => Reason::Reassigned,
        Some(Interrupt::Held { .. }) => Reason::Held,
        Some(Interrupt::Stopped(cause)) => match cause {
            StopCause::Owner => Reason::StoppedByOwner,
            StopCause::Unstarted => Reason::Unstarted,
            StopCause::Reassigned => Reason::Reassigned,
            StopCause::NoProgress => Reason::NoProgress,
            StopCause::FuelSpent => Reason::FuelSpent,
            StopCause::Paused => Reason::ProjectPaused,
        },
        None => return unstarted(board, session).then(|| Staffing::stop(Reason::Unstarted, session)),
    };
    Some(Staffing::stop(reason, session))
}

/// Its task was settled, failed or put back without it.
fn unstarted(board: &Board, session: &Session) -> bool {
    let task = session.task().and_then(|id| board.tasks.get(&id));
    task.is_some_and(|task| task.status != Status::InProgress)
}

/// A1.1 to A1.12 for one task of the agent.
pub fn staff_task(board: &Board, agent: &Agent, task: &Task, now: Timestamp) -> Staffing {
    let purpose = Purpose::Task(task.id);
    let no_change = |reason| Staffing::no_change(reason, Some(purpose));
    if board.paused {
        return no_change(Reason::ProjectPaused);
    }
    if !agent.active {
        return no_change(Reason::AgentNotAssigned);
    }
    let at_limit = board.task_sessions(agent.id()) >= agent.spec.max_sessions as usize;
    if task.live.is_some() || task.by_hand || at_limit {
        return no_change(Reason::AlreadyRunning);
    }
    if task.status != Status::InProgress || board.held_by(task).is_some() {
        return no_change(not_in_progress(board, agent, task));
    }
    if task.used.sessions >= board.settings.limits.max_task_sessions {
        return no_change(Reason::FuelSpent);
    }
    if task.used.spent.uses_up(&board.settings.budget.task) {
        return no_change(Reason::BudgetSpent);
    }
    if fuel::day_is_spent(board, now) {
        return no_change(Reason::BudgetSpent).until(end_of_day(day_of(now)));
    }
    if let Some(until) = cooling_until(board, agent, task.not_before, now) {
        return no_change(Reason::CoolingDown).until(until);
    }
    if board.index.working_task_sessions >= board.settings.limits.max_sessions {
        return no_change(Reason::ProjectFull);
    }
    if let Some((_, until)) = right_of_way::must_wait_for(board, task, now) {
        return no_change(Reason::RightOfWay).until(until);
    }
    let answer = match task.waiting_since {
        Some(since) => staff_waiting_manager(board, agent, task, since),
        None => Staffing::start(Reason::HasInProgressTask, purpose),
    };
    only_attached(agent, answer)
}

/// An agent that joins by itself is never started (S7).
fn only_attached(agent: &Agent, answer: Staffing) -> Staffing {
    match answer.action {
        Action::Start if agent.spec.client == Client::Attached => {
            Staffing::no_change(Reason::AttachedOnly, answer.purpose)
        }
        Action::Start | Action::NoChange | Action::Stop => answer,
    }
}

/// A1.6 to A1.8.
fn staff_waiting_manager(board: &Board, agent: &Agent, task: &Task, since: u64) -> Staffing {
    let purpose = Purpose::Task(task.id);
    match waiting::woken(board, agent, task, since) {
        Some(reason) => Staffing::start(reason, purpose),
        None => Staffing::no_change(Reason::WaitingForWorkers, Some(purpose)),
    }
}

/// The answer for the agent's chat; `None` if there is no message for it, or it could not read one:
/// a one-shot agent never reaches the board.
pub fn staff_chat(board: &Board, agent: &Agent, now: Timestamp) -> Option<Staffing> {
    if agent.spec.mode == Mode::OneShot {
        return None;
    }
    let newest = board.unread(agent).filter(|message| message.from == Party::Owner).last();
    let no_change = |reason| Some(Staffing::no_change(reason, Some(Purpose::Chat)));
    if agent.chat.live.is_some() {
        return no_change(Reason::AlreadyRunning);
    }
    let message = newest?;
    if !agent.active {
        return no_change(Reason::AgentNotAssigned);
    }
    if message.expired || now - message.at > board.settings.limits.message_ttl {
        return no_change(Reason::MessageExpired);
    }
    if fuel::day_is_spent(board, now) {
        let until = end_of_day(day_of(now));
        return no_change(Reason::BudgetSpent).map(|no_change| no_change.until(until));
    }
    if let Some(until) = cooling_until(board, agent, agent.chat.not_before, now) {
        return no_change(Reason::CoolingDown).map(|no_change| no_change.until(until));
    }
    Some(only_attached(agent, Staffing::start(Reason::HasPendingPurpose, Purpose::Chat)))
}

/// A1.5: the later of the task's back-off and the account's parking.
fn cooling_until(board: &Board, agent: &Agent, not_before: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let parked = board.parked.get(agent.spec.account()).copied();
    not_before.max(parked).filter(|until| *until > now)
}

fn not_in_progress(board: &Board, agent: &Agent, task: &Task) -> Reason {
    match task.status {
        Status::Blocked => nothing_in_progress(board, agent),
        Status::InProgress => Reason::Held,
        Status::Backlog | Status::Todo | Status::Done | Status::Failed | Status::Cancelled => Reason::NoInProgressTask,
    }
}

/// A1.11 and A1.12, which look at all of the agent's tasks.
fn nothing_in_progress(board: &Board, agent: &Agent) -> Reason {
    let tasks = board.open_tasks(agent.id());
    let any = |status| tasks.iter().any(|task| task.status == status);
    if any(Status::Blocked) && !any(Status::InProgress) {
        Reason::BlockedWithoutInProgress
    } else {
        Reason::NoInProgressTask
    }
}
