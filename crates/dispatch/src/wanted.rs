//! What should a runner do now? Told whole every time, so that a lost word heals.

use board::{
    Action, AgentId, Board, Driver, Generation, Priority, Purpose, Reason, RunnerId, RunnerOffer, Seq, Session,
    SessionId, SessionStatus, Span, SpawnId, Staffing, StartableWork, Timestamp, Waiting, merge_queue, must_stop,
    startable_work, target_red, waiting,
};
use serde::{Deserialize, Serialize};

/// What a runner should do, as of one board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The board's last event: to be named when asking again.
    pub revision: Seq,
    /// The server's time.
    pub now: Timestamp,
    /// What may be claimed, most urgent first.
    pub offers: Vec<Offer>,
    /// How long until something that is held back may be offered.
    pub next_offer: Option<Span>,
    /// The runner's own sessions, as long as the board waits for them. It has nothing else to do with any other.
    pub sessions: Vec<SessionState>,
    /// Ended work, in the order of the merge queue.
    pub examine: Vec<ExamineItem>,
    /// How many clients the project wants at once; `None`: as many as the runner likes.
    pub slots: Option<u32>,
    pub target_branch: String,
    /// The commit of the target on which checks fail, if they do (V9).
    pub target_red: Option<String>,
}

/// Something that may be claimed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Offer {
    pub agent: AgentId,
    pub task: Option<board::TaskId>,
}

impl Offer {
    pub fn purpose(&self) -> Purpose {
        self.task.map_or(Purpose::Chat, Purpose::Task)
    }
}

/// How a session of the runner stands on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionState {
    pub session: SessionId,
    pub generation: Generation,
    pub purpose: Purpose,
    pub spawn: SpawnId,
    pub status: SessionStatus,
    /// Why it has to end, if it has to.
    pub stop: Option<Reason>,
    /// It has reported or logged out: its client has nothing left to do (V2).
    pub finished: bool,
    pub last_call_at: Timestamp,
    /// The number of the last fact about it.
    pub facts: u32,
}

/// Work that waits to be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExamineItem {
    pub session: SessionId,
    pub generation: Generation,
    /// What it waits for. Nothing of it can be moved on by examining it, except for files of the user and trouble.
    pub waiting: Option<Waiting>,
}

/// What a runner that has this for agents should do, from the board.
pub fn wanted(board: &Board, runner: &RunnerId, has: &RunnerOffer, now: Timestamp) -> Wanted {
    let (offers, next_offer) = offers(board, has, now);
    let own = board.all_live_sessions().filter_map(|session| state(board, runner, session)).collect();
    let mine = |session: &&Session| match &session.driver {
        Driver::Runner { runner: of, .. } => of == runner,
        // An attached agent has no runner of its own; its workspace was made beside the server.
        Driver::Attached => !runner.is_on_another_host(),
        Driver::Hand => false,
    };
    let examine = merge_queue(board).filter(mine).map(|session| ExamineItem {
        session: session.id,
        generation: session.generation,
        waiting: waiting(board, session, now).filter(|waiting| !matches!(waiting, Waiting::Behind { .. })),
    });
    Wanted {
        revision: board.seq,
        now,
        offers,
        next_offer,
        sessions: own,
        examine: examine.collect(),
        slots: board.settings.max_parallel,
        target_branch: board.settings.target_branch.clone(),
        target_red: target_red(board).map(|red| red.commit.to_owned()),
    }
}

fn state(board: &Board, runner: &RunnerId, session: &Session) -> Option<SessionState> {
    let Driver::Runner { runner: of, spawn } = &session.driver else { return None };
    if of != runner {
        return None;
    }
    let agent = board.agents.get(&session.agent);
    let stop = agent.and_then(|agent| must_stop(board, agent, session)).map(|Staffing { reason, .. }| reason);
    Some(SessionState {
        session: session.id,
        generation: session.generation,
        purpose: session.purpose,
        spawn: spawn.clone(),
        status: session.status,
        stop,
        finished: session.report.is_some() || session.logged_out,
        last_call_at: session.last_call_at,
        facts: session.facts,
    })
}

/// What may be claimed now, most urgent first, and how long until something else may be.
fn offers(board: &Board, has: &RunnerOffer, now: Timestamp) -> (Vec<Offer>, Option<Span>) {
    let (mut found, mut until) = (Vec::new(), None::<Timestamp>);
    for StartableWork { agent, task, answer } in startable_work(board, now) {
        if !has.suits(&agent.spec) {
            continue;
        }
        match answer.action {
            Action::Start => {
                // A person waits for the answer, so a chat goes first; then whoever has waited for the right of way.
                let order = task.map_or((true, true, Priority::Critical, std::cmp::Reverse(Timestamp(0))), |task| {
                    (false, task.right_of_way.is_some(), task.priority, std::cmp::Reverse(task.created_at))
                });
                found.push((order, Offer { agent: agent.id().clone(), task: task.map(|task| task.id) }));
            }
            Action::NoChange | Action::Stop => until = until.into_iter().chain(answer.until).min(),
        }
    }
    found.sort_by(|(a, _), (b, _)| b.cmp(a));
    (found.into_iter().map(|(_, offer)| offer).collect(), until.map(|until| until - now))
}
