//! What is left of each bounded allowance, and what happens when one is spent (G1, G2)?

use schemars::JsonSchema;
use serde::Serialize;

use crate::action::NextAction;
use crate::board::Board;
use crate::evidence::{Inconclusive, Usage, Verdict, WorkspaceFacts};
use crate::session::Session;
use crate::settings::Fuel;
use crate::spending::{Budget, Spent, day_of};
use crate::task::Task;
use crate::{Agent, AgentId, Client, Seq, Span, Timestamp};

/// What is left, for people to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RemainingFuel {
    pub attempts: u32,
    pub retries_by_agents: u32,
    pub idle_sessions: u32,
    pub sessions: u32,
    pub children: u32,
}

pub fn left(board: &Board, task: &Task) -> RemainingFuel {
    let limits = &board.settings.limits;
    RemainingFuel {
        attempts: limits.max_attempts.saturating_sub(task.used.attempts),
        retries_by_agents: limits.max_retries.saturating_sub(task.used.retries_by_agents),
        idle_sessions: limits.max_idle_sessions.saturating_sub(task.used.idle_sessions),
        sessions: limits.max_task_sessions.saturating_sub(task.used.sessions),
        children: limits.max_children_ever.saturating_sub(task.children.len() as u32),
    }
}

/// So many refused calls in a row, without an accepted one between them, stop a session (N9).
pub const MOST_REFUSALS: u32 = 20;

/// How many calls a session has left (G1). The one definition: the decider, the counter of calls that are not
/// on the board yet, and the MCP server ask it.
pub fn calls_left(board: &Board, session: &Session) -> u32 {
    board.settings.limits.max_calls.saturating_sub(session.calls)
}

/// What a session's usage comes to: by its client's own word, or by the price of its model (G5).
pub(crate) fn spent(board: &Board, session: &Session, usage: &Usage) -> Spent {
    let reported = session.model.as_ref().map(|model| model.model_id.as_str());
    let defined = || board.agents.get(&session.agent).and_then(|agent| agent.spec.model.as_deref());
    let price =
        reported.or_else(defined).and_then(|model| board.settings.prices.iter().find(|price| price.is_of(model)));
    Spent::of(usage, price)
}

/// The agents for which a budget cannot hold: their clients do not tell what they use, or what it costs, and no price says it.
pub fn unmetered(board: &Board) -> Vec<&AgentId> {
    let budget = &board.settings.budget;
    let priced = |agent: &Agent| {
        let model = agent.spec.model.as_deref().unwrap_or_default();
        board.settings.prices.iter().any(|price| price.is_of(model))
    };
    let missed = |agent: &&Agent| match agent.spec.client {
        Client::Command | Client::Attached => true,
        Client::Codex | Client::Gemini => budget.limits_money() && !priced(agent),
        Client::ClaudeCode | Client::Opencode => false,
    };
    let active = board.agents.values().map(AsRef::as_ref).filter(|agent| agent.active && *budget != Budget::default());
    active.filter(missed).map(Agent::id).collect()
}

/// The budget that a session has used up, if any (G5).
pub(crate) fn budget_spent(board: &Board, session: &Session, now: Timestamp) -> Option<Fuel> {
    let budget = &board.settings.budget;
    let task = session.task().and_then(|id| board.tasks.get(&id));
    if session.spent.uses_up(&budget.session) {
        Some(Fuel::SessionBudget)
    } else if task.is_some_and(|task| task.used.spent.uses_up(&budget.task)) {
        Some(Fuel::TaskBudget)
    } else {
        day_is_spent(board, now).then_some(Fuel::DayBudget)
    }
}

/// Is all used that the project may in a day? Nothing starts then until the day is over.
pub(crate) fn day_is_spent(board: &Board, now: Timestamp) -> bool {
    let today = board.days.get(&day_of(now)).copied().unwrap_or_default();
    today.uses_up(&board.settings.budget.day)
}

/// The last new fact that concerns a session: about its task, or in its chat (A3, G2).
pub(crate) fn last_fact(board: &Board, session: &Session) -> Seq {
    match session.task().and_then(|id| board.tasks.get(&id)) {
        Some(task) => task.marks.fact,
        None => {
            let newest = board.messages.last().map_or(0, |message| message.seq);
            newest + session.shown_upto.map_or(0, |shown| Seq::from(shown.0))
        }
    }
}

/// How often `action` has been given to the session since the last new fact.
pub(crate) fn times_given(board: &Board, session: &Session, action: &NextAction) -> u32 {
    if session.answers_given.since_fact != last_fact(board, session) {
        return 0;
    }
    session.answers_given.counts.iter().find(|(given, _)| given == action).map_or(0, |(_, times)| *times)
}

/// How often `action` may be given again before the work is blocked (G2); `None` if this would be
/// the first time since the last new fact, or if the session is a chat, which has no such limit.
pub fn repeats_left(board: &Board, session: &Session, action: NextAction) -> Option<u32> {
    let times = times_given(board, session, &action);
    let repeats = times > 0 && session.task().is_some();
    repeats.then(|| board.settings.limits.max_repeats.saturating_sub(times + 1))
}

/// Did the session bring its task a new fact?
pub(crate) fn brought_a_fact(board: &Board, session: &Session) -> bool {
    session.task().and_then(|id| board.tasks.get(&id)).is_some_and(|task| task.marks.fact > session.claimed_seq)
}

/// Did the session leave its branch with another tree than it found? Then it has made progress, whatever became of
/// it (A5).
pub(crate) fn left_another_tree(task: &Task, facts: &WorkspaceFacts) -> bool {
    match (&facts.tree, &task.work_tree) {
        (Some(now), Some(before)) => now != before,
        (Some(_), None) => !facts.changed.is_empty(),
        (None, _) => false,
    }
}

/// Does a session that ended like this, without a new fact, count against the task (A3)? One that
/// was stopped from outside, or whose vendor had no room, does not.
pub(crate) fn counts_as_idle(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::None(reason) => match reason {
            // A manager that looked and chose to wait again has done its work; its pause is in `apply`.
            Inconclusive::Stopped | Inconclusive::RateLimited | Inconclusive::Pending | Inconclusive::Waiting => false,
            Inconclusive::Lost
            | Inconclusive::LaunchFailed
            | Inconclusive::VendorUnavailable
            | Inconclusive::ManagerExit => true,
        },
        Verdict::Rejected(_) => true,
        Verdict::Failed { .. } | Verdict::Blocked { .. } | Verdict::Done => false,
    }
}

/// The pause after the `idle`-th session in a row without a new fact: doubled each time.
pub(crate) fn backoff(board: &Board, idle: u32) -> Span {
    let limits = &board.settings.limits;
    let doubled = limits.backoff_first.0.saturating_mul(1 << idle.saturating_sub(1).min(30));
    Span(doubled.min(limits.backoff_most.0))
}
