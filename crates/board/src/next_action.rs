//! What does an agent do next (N2)? A table of questions; the first that answers, decides.

use crate::action::Choice;
use crate::action::NextAction;
use crate::board::Board;
use crate::comments;
use crate::interrupt::interrupt;
use crate::readiness;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::{Purpose, Session};
use crate::task::{Status, Task};
use crate::waiting;
use crate::{Agent, Decompose, SessionId, Timestamp};

/// What the rows look at.
struct View<'a> {
    board: &'a Board,
    session: &'a Session,
    agent: &'a Agent,
    /// The session's task; a chat has none.
    task: Option<&'a Task>,
    now: Timestamp,
}

type Row = (&'static str, fn(&View<'_>) -> Option<NextAction>);

/// N2.2 to N2.18 in their order, which is their meaning (F10).
const TABLE: [Row; 17] = [
    ("N2.2", interrupted),
    ("N2.3", model_unknown),
    ("N2.4", unread_messages),
    ("N2.5", chat_is_open),
    ("N2.6", chat_is_over),
    ("N2.7", nothing_left_to_do),
    ("N2.8", task_not_fetched),
    ("N2.9", must_split),
    ("N2.10", works_itself),
    ("N2.11", sent_back),
    ("N2.12", chose_to_act),
    ("N2.13", chose_to_wait),
    ("N2.14", everything_done),
    ("N2.15", step_in_progress),
    ("N2.16", step_is_ready),
    ("N2.17", nothing_can_move),
    ("N2.18", manager_decides),
];

/// The next action of a session, and the row of N2 that gave it. The same board always gives the
/// same answer (N6); a session that is over is refused (N2.1).
pub fn next_action(board: &Board, session: SessionId, now: Timestamp) -> Result<(NextAction, &'static str), Refusal> {
    let session = board.session(session)?;
    if !session.can_call() {
        return Err(RefusalReason::StaleSession(session.id).into());
    }
    let view = View {
        board,
        session,
        agent: board.agent(&session.agent)?,
        task: session.task().and_then(|id| board.tasks.get(&id)).map(AsRef::as_ref),
        now,
    };
    let found = TABLE.iter().find_map(|(id, row)| row(&view).map(|action| (action, *id)));
    Ok(found.unwrap_or((NextAction::LogOut, "N2.7")))
}

fn interrupted(view: &View<'_>) -> Option<NextAction> {
    interrupt(view.board, view.session).map(NextAction::Stop)
}

/// Not asked of a session that has reported: its calls are over (F8).
fn model_unknown(view: &View<'_>) -> Option<NextAction> {
    (view.session.model.is_none() && view.session.report.is_none()).then_some(NextAction::ReportModel)
}

fn is_chat(view: &View<'_>) -> bool {
    view.session.purpose == Purpose::Chat
}

fn unread_messages(view: &View<'_>) -> Option<NextAction> {
    let unread = || {
        let shown = view.session.shown_upto;
        view.board.unread(view.agent).any(|message| shown.is_none_or(|shown| message.id > shown))
    };
    (is_chat(view) && unread()).then_some(NextAction::GetPendingMessages)
}

fn chat_is_open(view: &View<'_>) -> Option<NextAction> {
    let idle = view.now - last_heard(view);
    (is_chat(view) && idle <= view.board.settings.limits.chat_idle).then_some(NextAction::WaitForMessages)
}

fn chat_is_over(view: &View<'_>) -> Option<NextAction> {
    is_chat(view).then_some(NextAction::LeaveChat)
}

/// When the chat last moved: the last message to or from its agent, or its beginning.
fn last_heard(view: &View<'_>) -> Timestamp {
    let last = view.board.last_message_with(&view.session.agent);
    last.filter(|message| message.seq > view.session.claimed_seq).map_or(view.session.claimed_at, |message| message.at)
}

fn nothing_left_to_do(view: &View<'_>) -> Option<NextAction> {
    let in_progress = view.task.is_some_and(|task| task.status == Status::InProgress);
    (view.session.report.is_some() || !in_progress).then_some(NextAction::LogOut)
}

fn task_not_fetched(view: &View<'_>) -> Option<NextAction> {
    (!view.session.fetched).then_some(NextAction::GetTask)
}

fn has_live_child(view: &View<'_>, task: &Task) -> bool {
    view.board.live_children(task).next().is_some()
}

/// N3, and only while a subtask would be accepted: what is asked for must be possible (F8).
fn splitting_applies(view: &View<'_>, task: &Task) -> bool {
    let limits = &view.board.settings.limits;
    let wanted = view.agent.is_manager() || view.agent.spec.decompose == Decompose::Auto;
    let deep = view.agent.is_manager() && task.depth >= limits.max_depth;
    let spent = task.children.len() >= limits.max_children_ever as usize;
    wanted && !deep && !spent
}

fn must_split(view: &View<'_>) -> Option<NextAction> {
    let task = view.task?;
    (!has_live_child(view, task) && splitting_applies(view, task)).then_some(NextAction::CreateSubtasks)
}

fn works_itself(view: &View<'_>) -> Option<NextAction> {
    let task = view.task?;
    (!view.agent.is_manager() && !has_live_child(view, task)).then_some(NextAction::Work)
}

/// Only when every step is settled: what is still open is gone on with first (N6).
fn sent_back(view: &View<'_>) -> Option<NextAction> {
    let task = view.task?;
    let marks = task.marks;
    let since = marks.sent_back > marks.reported && marks.sent_back > marks.step_added;
    let open = view.board.unsettled_children(task).next().is_some();
    (!view.agent.is_manager() && since && !open).then_some(NextAction::Rework)
}

fn chose_to_act(view: &View<'_>) -> Option<NextAction> {
    match view.session.choice? {
        Choice::Start => Some(NextAction::Start),
        Choice::Adjust => Some(NextAction::Adjust),
        Choice::Wait => None,
    }
}

/// Not after something moved: then it looks and chooses again (N10).
fn chose_to_wait(view: &View<'_>) -> Option<NextAction> {
    let task = view.task?;
    let moved = task.marks.children > view.session.chosen
        || comments::written_since(task, &view.session.agent, view.session.chosen);
    (view.session.choice == Some(Choice::Wait) && !moved).then_some(NextAction::Wait)
}

fn everything_done(view: &View<'_>) -> Option<NextAction> {
    let mut live = view.board.live_children(view.task?).peekable();
    (live.peek().is_some() && live.all(|child| child.status == Status::Done)).then_some(NextAction::ReportCompletion)
}

fn step_in_progress(view: &View<'_>) -> Option<NextAction> {
    if view.agent.is_manager() {
        return None;
    }
    let running = view.board.live_children(view.task?).find(|step| step.status == Status::InProgress);
    running.map(|step| NextAction::ExecuteSubtask(step.id))
}

fn step_is_ready(view: &View<'_>) -> Option<NextAction> {
    if view.agent.is_manager() {
        return None;
    }
    readiness::next_ready_step(view.board, view.task?).map(|step| NextAction::StartSubtask(step.id))
}

fn nothing_can_move(view: &View<'_>) -> Option<NextAction> {
    let task = view.task?;
    let stuck = !waiting::waiting_helps(view.board, task) && !readiness::starting_helps(view.board, task);
    stuck.then_some(NextAction::ReviewBlocks)
}

fn manager_decides(view: &View<'_>) -> Option<NextAction> {
    view.agent.is_manager().then_some(NextAction::SituationalAwareness)
}
