//! Why is a task (not) running, what must happen, and who must do it (L9)?

use serde::Serialize;

use crate::action::Interrupt;
use crate::agent::{AgentSpec, Client};
use crate::board::Board;
use crate::coordination::{Action, Reason, Staffing};
use crate::evidence::{EndReason, ProcessEnd, Rejection};
use crate::examination::{Waiting, ended_work, waiting};
use crate::interrupt::interrupt;
use crate::obstacle::Obstacle;
use crate::readiness::obstacles;
use crate::right_of_way;
use crate::runner_view::{RUNNER_SILENT, RunnerStatus, RunnerView};
use crate::session::{Driver, SessionStatus};
use crate::staffing::staff_task;
use crate::task::{Status, Task};
use crate::{AgentId, Party, Refusal, RunnerId, SessionId, Span, TaskId, Timestamp};

/// One line of the explanation. Its wording is in `text/why.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    Running {
        session: SessionId,
        agent: AgentId,
        since: Span,
        last_call: Span,
    },
    /// Its work is being verified; `waiting` says what keeps it from being merged.
    Verifying {
        session: SessionId,
        waiting: Option<Waiting>,
    },
    /// It may start, and there is no runner to start it.
    NoRunner {
        /// Work is merged into a remote, which `saihai up` does not do.
        remote: bool,
    },
    /// It may start, and the runner that could start it cannot work for the project.
    RunnerInTrouble {
        trouble: String,
    },
    /// It may start, and no runner that is there has what its agent needs.
    NoSuitableRunner {
        labels: Vec<String>,
        client: Client,
        /// One that is there begins nothing any more.
        draining: bool,
    },
    /// The runner of its session is on another host, and was not heard of for a while.
    RunnerSilent {
        runner: RunnerId,
        silence: Span,
        /// When the session is given up.
        remaining: Span,
    },
    /// It may start, and the runner has no slot for it.
    NoFreeSlot {
        slots: u32,
        busy: Vec<SessionId>,
    },
    /// It may start, and the runner's disk is too full.
    DiskFull {
        free: u64,
        floor: u64,
    },
    /// How the last session ended, if not well.
    LastSession {
        session: SessionId,
        reason: EndReason,
        exit_code: Option<i32>,
        error: Option<String>,
    },
    /// Its session has to end before another starts.
    Stopping {
        session: SessionId,
        interrupt: Interrupt,
    },
    ByHand,
    /// A parent in progress that nobody is assigned to.
    NobodyRuns,
    /// In progress, and staffing says this.
    Staffing {
        agent: AgentId,
        reason: Reason,
        until: Option<Timestamp>,
        /// How long that is from now.
        remaining: Option<Span>,
    },
    /// Ready; its mover has to start it.
    ReadyFor {
        mover: Party,
        waiting: Option<Span>,
    },
    Obstacle(Obstacle),
    Blocked {
        by: Party,
        reason: String,
        lifted_by: Vec<Party>,
    },
    Failed {
        by: Party,
        reason: String,
        mover: Party,
        retries_left: u32,
    },
    /// Another task has the right of way on the files in conflict, so its next session does not start.
    StandsInLine {
        holder: TaskId,
        files: Vec<String>,
        /// What the holder's own work waits for.
        holder_waits: Option<Waiting>,
        remaining: Span,
    },
    SentBack {
        why: Rejection,
        attempts: u32,
        most: u32,
        /// Its last session ended badly since, and said nothing of the work.
        ended_badly: bool,
    },
    Children {
        open: Vec<TaskId>,
    },
    Done,
    Cancelled {
        by: Party,
        reason: String,
    },
    /// Cancelled, and its work is in the target: it was merged in that moment, or before the task was reopened.
    InTarget {
        commit: String,
    },
    /// Put back or blocked, and its work was merged in that moment.
    MergedMeanwhile {
        commit: String,
    },
    /// A step, done in the session of its task.
    StepOf {
        task: TaskId,
    },
}

/// The explanation, from the same functions that decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    pub task: TaskId,
    pub status: Status,
    pub lines: Vec<Line>,
}

pub fn why(board: &Board, id: TaskId, now: Timestamp, runner: &RunnerView) -> Result<Why, Refusal> {
    let task = board.task(id)?;
    let mut lines = match task.status {
        Status::Done => vec![Line::Done],
        Status::Cancelled => cancelled(board, task),
        Status::Failed => vec![failed(board, task)],
        Status::Blocked => blocked(board, task),
        Status::Backlog | Status::Todo => unstarted(board, task, now),
        Status::InProgress => in_progress(board, task, now, runner),
    };
    lines.extend(merged_meanwhile(board, task));
    lines.extend(last_session(board, task));
    if let (Some(why), Status::InProgress | Status::Blocked | Status::Failed) = (&task.feedback, task.status) {
        let (attempts, most) = (task.used.attempts, board.settings.limits.max_attempts);
        // Work that has ended since is another: whether that is in conflict is not known yet.
        let superseded = matches!(why, Rejection::Conflict { .. }) && ended_work(board, task).is_some();
        if !superseded {
            let ended_badly = task.used.bad_ends > 0;
            lines.push(Line::SentBack { why: why.clone(), attempts, most, ended_badly });
        }
    }
    Ok(Why { task: id, status: task.status, lines })
}

/// A client that is missing or was killed explains why a task pauses, is blocked or has failed.
fn last_session(board: &Board, task: &Task) -> Option<Line> {
    let concerned = matches!(task.status, Status::InProgress | Status::Blocked | Status::Failed) && task.live.is_none();
    let session = task.last_session.filter(|_| concerned).and_then(|id| board.sessions.get(&id))?;
    let bad = |end: &&ProcessEnd| {
        end.reason != EndReason::Exited || end.error.is_some() || end.exit_code.is_some_and(|code| code != 0)
    };
    let end = session.end.as_ref().filter(bad)?;
    let (reason, exit_code) = (end.reason, end.exit_code.filter(|code| *code != 0));
    Some(Line::LastSession { session: session.id, reason, exit_code, error: end.error.clone() })
}

/// Its work was merged in the moment in which the task was put back or blocked. It is done when it goes on.
fn merged_meanwhile(board: &Board, task: &Task) -> Option<Line> {
    let moved = matches!(task.status, Status::Backlog | Status::Todo | Status::Blocked);
    let work = ended_work(board, task).filter(|_| moved)?.workspace.as_ref()?;
    Some(Line::MergedMeanwhile { commit: work.merged_as()?.to_owned() })
}

fn cancelled(board: &Board, task: &Task) -> Vec<Line> {
    let work = task.last_session.and_then(|id| board.sessions.get(&id)?.workspace.as_ref());
    let in_target = work.and_then(|work| work.merged_as()).map(|commit| Line::InTarget { commit: commit.to_owned() });
    let cancelled = closing(task, |by, reason| Line::Cancelled { by, reason });
    [Some(cancelled), in_target].into_iter().flatten().collect()
}

fn closing(task: &Task, line: impl FnOnce(Party, String) -> Line) -> Line {
    let (by, reason) =
        task.conclusion.clone().map_or((Party::System, String::new()), |conclusion| (conclusion.by, conclusion.reason));
    line(by, reason)
}

fn failed(board: &Board, task: &Task) -> Line {
    let mover = board.mover(task);
    let retries_left = board.settings.limits.max_retries.saturating_sub(task.used.retries_by_agents);
    closing(task, |by, reason| Line::Failed { by, reason, mover, retries_left })
}

/// Who may lift the block, and what would still be in the way then.
fn blocked(board: &Board, task: &Task) -> Vec<Line> {
    let Some(block) = &task.block else { return Vec::new() };
    let lifted_by = match &block.by {
        Party::Owner => vec![Party::Owner],
        Party::Agent(_) => dedup(vec![board.mover(task), block.by.clone()]),
        Party::System => dedup(vec![board.mover(task), Party::Owner]),
    };
    let mut lines = vec![Line::Blocked { by: block.by.clone(), reason: block.reason.clone(), lifted_by }];
    if block.before == Status::InProgress {
        lines.extend(obstacles(board, task).into_iter().map(Line::Obstacle));
    }
    lines
}

fn dedup(mut parties: Vec<Party>) -> Vec<Party> {
    parties.dedup();
    parties
}

fn unstarted(board: &Board, task: &Task, now: Timestamp) -> Vec<Line> {
    let obstacles = obstacles(board, task);
    if !obstacles.is_empty() {
        return obstacles.into_iter().map(Line::Obstacle).collect();
    }
    let waiting = now - task.status_at;
    let reminder = board.settings.limits.start_reminder;
    vec![Line::ReadyFor { mover: board.mover(task), waiting: (waiting >= reminder).then_some(waiting) }]
}

fn in_progress(board: &Board, task: &Task, now: Timestamp, runner: &RunnerView) -> Vec<Line> {
    if let Some(parent) = task.parent.filter(|_| task.is_step()) {
        let held = board.held_by(task).map(|by| Line::Obstacle(Obstacle::Held { by }));
        return held.into_iter().chain([Line::StepOf { task: parent }]).collect();
    }
    let mut lines: Vec<_> = holder(board, task, now).into_iter().collect();
    lines.extend(silent_runner(board, task, now));
    if lines.is_empty() && task.by_hand {
        lines.push(Line::ByHand);
    }
    if lines.is_empty()
        && let Some(agent) = task.assignee.as_ref().and_then(|id| board.agents.get(id))
    {
        let Staffing { action, reason, until, .. } = staff_task(board, agent, task, now);
        let remaining = until.map(|until| until - now);
        let remote = board.settings.remote.is_some();
        let missing = runner_is_missing(runner, &agent.spec, remote, action == Action::Start);
        let agent = agent.id().clone();
        let in_line = (reason == Reason::RightOfWay).then(|| stands_in_line(board, task, now)).flatten();
        lines.push(missing.or(in_line).unwrap_or(Line::Staffing { agent, reason, until, remaining }));
        if action != Action::Start {
            lines.extend(board.held_by(task).map(|by| Line::Obstacle(Obstacle::Held { by })));
        }
    }
    if task.has_no_runner() {
        lines.push(Line::NobodyRuns);
    }
    let open: Vec<_> = board.unsettled_children(task).map(|child| child.id).collect();
    if !open.is_empty() {
        lines.push(Line::Children { open });
    }
    lines
}

/// Whom its next session waits for, and what that one waits for itself: perhaps for a person.
fn stands_in_line(board: &Board, task: &Task, now: Timestamp) -> Option<Line> {
    let (holder, until) = right_of_way::must_wait_for(board, task, now)?;
    let files = task.right_of_way.as_ref().map(|wanted| wanted.files.clone()).unwrap_or_default();
    let ended = board.tasks.get(&holder).and_then(|holder| ended_work(board, holder));
    let holder_waits = ended.and_then(|session| waiting(board, session, now));
    Some(Line::StandsInLine { holder, files, holder_waits, remaining: until - now })
}

/// Why no runner starts what may start.
fn runner_is_missing(runners: &RunnerView, agent: &AgentSpec, remote: bool, may_start: bool) -> Option<Line> {
    let present = match runners {
        RunnerView::Missing => return Some(Line::NoRunner { remote }),
        RunnerView::Present(_) | RunnerView::Unknown if !may_start => return None,
        RunnerView::Unknown => return None,
        RunnerView::Present(present) => present,
    };
    let suits: Vec<_> = present.iter().filter(|runner| runner.offer.suits(agent)).collect();
    let is_full = |runner: &&&RunnerStatus| runner.busy.len() >= runner.slots as usize;
    if suits.is_empty() {
        let draining = present.iter().any(|runner| runner.offer.draining);
        return Some(Line::NoSuitableRunner { labels: agent.runs_on.clone(), client: agent.client, draining });
    }
    let (suitable, in_trouble): (Vec<_>, Vec<_>) = suits.into_iter().partition(|runner| runner.trouble.is_none());
    if suitable.is_empty() {
        let trouble = in_trouble.into_iter().find_map(|runner| runner.trouble.clone())?;
        return Some(Line::RunnerInTrouble { trouble });
    }
    if suitable.iter().any(|runner| runner.disk.is_none() && !is_full(&runner)) {
        return None;
    }
    if let Some(disk) = suitable.iter().find_map(|runner| runner.disk) {
        return Some(Line::DiskFull { free: disk.free, floor: disk.floor });
    }
    let slots = suitable.iter().map(|runner| runner.slots).sum();
    Some(Line::NoFreeSlot { slots, busy: suitable.iter().flat_map(|runner| runner.busy.clone()).collect() })
}

/// Its runner is on another host, and was not heard of for a while.
fn silent_runner(board: &Board, task: &Task, now: Timestamp) -> Option<Line> {
    let session = task.live.and_then(|id| board.sessions.get(&id))?;
    let Driver::Runner { runner, .. } = &session.driver else { return None };
    let until = session.lease_until.filter(|_| runner.is_on_another_host())?;
    let silence = Span(board.settings.limits.lease_of(runner).0 - (until - now).0);
    (silence >= RUNNER_SILENT).then(|| Line::RunnerSilent { runner: runner.clone(), silence, remaining: until - now })
}

/// The session that has the task.
fn holder(board: &Board, task: &Task, now: Timestamp) -> Option<Line> {
    let session = task.live.and_then(|id| board.sessions.get(&id))?;
    let ended = matches!(session.status, SessionStatus::Verifying | SessionStatus::Ended);
    if let (Some(interrupt), false) = (interrupt(board, session), ended) {
        return Some(Line::Stopping { session: session.id, interrupt });
    }
    Some(match session.status {
        SessionStatus::Verifying | SessionStatus::Ended => {
            Line::Verifying { session: session.id, waiting: waiting(board, session, now) }
        }
        SessionStatus::Starting | SessionStatus::Running => Line::Running {
            session: session.id,
            agent: session.agent.clone(),
            since: now - session.claimed_at,
            last_call: now - session.heard_at(),
        },
    })
}
