//! What happens next with work that has ended? The one decision to merge (V10).
//!
//! Whoever examines work asks again after every finding, on the newest board: settings, blocks and rights of way are
//! those of that moment. `admit` asks the same function what a finding means, so nobody else judges work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::board::Board;
use crate::evidence::{
    CheckOutcome, CheckResult, EndReason, Examination, Inconclusive, Merge, ProcessEnd, Rejection, TargetChecks,
    Verdict, WorkspaceFacts,
};
use crate::interrupt::interrupt;
use crate::right_of_way;
use crate::session::{Driver, Session, SessionStatus};
use crate::settings::{Check, Dod};
use crate::task::{Repairs, Status, Task};
use crate::verdict::{BadEnd, Children, Evidence, Policy, finished, judge};
use crate::{Mode, TaskId, TaskType, Timestamp};

/// The name of the setup among the results of checks.
pub const SETUP: &str = "setup";

/// What is run on a commit: the setup, and if it passes each check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    pub setup: Option<String>,
    pub checks: Vec<Check>,
    /// Files that are taken from the target meanwhile, as patterns.
    pub protect: Vec<String>,
}

impl CheckRun {
    /// What is run on a candidate.
    pub fn of(dod: &Dod) -> Self {
        Self { setup: dod.setup.clone(), checks: dod.checks.clone(), protect: dod.protect.clone() }
    }

    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.setup.as_deref().into_iter().chain(self.checks.iter().map(|check| check.command.as_str()))
    }
}

/// What happens next with ended work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub enum ExaminationStep {
    /// Nothing is known of it yet: look at its workspace and make a candidate.
    Look,
    /// Run these on the candidate.
    RunChecks(CheckRun),
    /// These failed on the candidate. Run them on the target alone: is the work at fault (V9)?
    CheckTarget(CheckRun),
    /// Move the target to the candidate.
    Merge,
    /// It steps aside, and the others go on (V11).
    Wait(Waiting),
    Conclude(Verdict),
}

/// What ended work waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Waiting {
    /// Its task is not in progress: blocked, or put back.
    NotInProgress { status: Status },
    /// A task above it is not in progress.
    Held { by: TaskId },
    /// Uncommitted changes of the user are in the way.
    Files { reason: String, files: Vec<String> },
    /// Another task has the right of way on files that it changes.
    RightOfWay { task: TaskId, files: Vec<String> },
    /// Another runner tests and merges this task.
    Turn { task: TaskId },
    /// The checks fail on the target too (V9).
    TargetRed { commit: String, checks: Vec<String> },
    /// Trouble of our own. It is tried again.
    Trouble { reason: String },
    /// Its turn comes after this one.
    Behind { task: TaskId },
}

/// The step that follows from what is known of a session's work.
pub fn examination_step(
    board: &Board,
    session: &Session,
    known: Option<&Examination>,
    now: Timestamp,
) -> ExaminationStep {
    let (Some(task), Some(end)) = (session.task().and_then(|id| board.tasks.get(&id)), &session.end) else {
        return ExaminationStep::Conclude(Verdict::None(Inconclusive::Stopped));
    };
    // The target may have been moved: whatever happened to the task meanwhile, that has to be known first.
    let untold = session.merging.is_some() && matches!(known, None | Some(Examination::Failed { .. }));
    let merged = matches!(known, Some(Examination::Found(facts)) if facts.is_merged());
    if !untold && let Some(waiting) = not_now(board, task) {
        return ExaminationStep::Wait(waiting);
    }
    // Decided by its end, and only put off because its task was blocked.
    if !untold
        && !merged
        && let Some(verdict) = verdict_by_end(board, session, task, end)
    {
        return ExaminationStep::Conclude(verdict);
    }
    match known {
        None | Some(Examination::NotNeeded) => ExaminationStep::Look,
        Some(Examination::Failed { reason }) => ExaminationStep::Wait(Waiting::Trouble { reason: reason.clone() }),
        Some(Examination::Unreadable { reason }) => {
            ExaminationStep::Conclude(Verdict::Rejected(Rejection::Unreadable { reason: reason.clone() }))
        }
        Some(Examination::Gone) => ExaminationStep::Conclude(Verdict::None(Inconclusive::Lost)),
        Some(Examination::Found(facts)) => {
            let step = step_for_work(board, task, facts, now);
            match turn_of_another(board, session).filter(|_| step.needs_turn()) {
                Some(task) => ExaminationStep::Wait(Waiting::Turn { task }),
                None => step,
            }
        }
    }
}

impl ExaminationStep {
    /// Is it part of testing and merging, of which there is one at a time?
    fn needs_turn(&self) -> bool {
        matches!(self, Self::RunChecks(_) | Self::CheckTarget(_) | Self::Merge)
    }
}

/// The task that another runner tests and merges. Among its own a runner keeps order by itself.
fn turn_of_another(board: &Board, session: &Session) -> Option<TaskId> {
    let turn = board.merge_turn.filter(|turn| turn.session != session.id)?;
    let holder = board.sessions.get(&turn.session)?;
    holder.task().filter(|_| !is_same_runner(holder, session))
}

/// Does the step begin the session's turn to test and merge? While one runner is alone there are no turns (R10).
pub fn begins_turn(board: &Board, session: &Session, step: &ExaminationStep) -> bool {
    let has_it = board.merge_turn.is_some_and(|turn| turn.session == session.id);
    step.needs_turn() && !has_it && merge_queue(board).any(|other| !is_same_runner(other, session))
}

/// Work of attached agents is examined by the runner beside the server.
fn is_same_runner(one: &Session, other: &Session) -> bool {
    let runner = |session: &Session| match &session.driver {
        Driver::Runner { runner, .. } if runner.is_on_another_host() => Some(runner.clone()),
        Driver::Runner { .. } | Driver::Attached | Driver::Hand => None,
    };
    runner(one) == runner(other)
}

/// Its task may not go on now. Ended work keeps its place until it may (V12); a pause holds nothing up (L11).
fn not_now(board: &Board, task: &Task) -> Option<Waiting> {
    match task.status {
        Status::Backlog | Status::Todo | Status::Blocked => Some(Waiting::NotInProgress { status: task.status }),
        Status::InProgress => board.held_by(task).map(|by| Waiting::Held { by }),
        // It will not go on.
        Status::Done | Status::Failed | Status::Cancelled => None,
    }
}

/// V2.5 to V2.9, in this order.
fn step_for_work(board: &Board, task: &Task, facts: &WorkspaceFacts, now: Timestamp) -> ExaminationStep {
    use ExaminationStep::{CheckTarget, Conclude, RunChecks, Wait};
    let rejected = |why| Conclude(Verdict::Rejected(why));
    if let Merge::Merged { .. } = facts.merge {
        return Conclude(Verdict::Done);
    }
    if !facts.outside_scope.is_empty() {
        return rejected(Rejection::ScopeViolation { files: facts.outside_scope.clone() });
    }
    if facts.changed.is_empty() {
        // Somebody may have undone it by hand. An agent that was needed, and did nothing, has undone nothing.
        let nothing_left = task.reverts.is_none() || facts.undone_by_git;
        let may_be_empty = nothing_left && (task.allow_empty || task.task_type == TaskType::Research);
        return if may_be_empty { Conclude(Verdict::Done) } else { rejected(Rejection::NoChange) };
    }
    if let Merge::Conflict { files } = &facts.merge {
        return rejected(Rejection::Conflict { files: files.clone() });
    }
    if let Some((holder, files)) = right_of_way::in_the_way(board, task, &facts.changed, now) {
        return Wait(Waiting::RightOfWay { task: holder, files });
    }
    let repairs = task.repairs == Some(Repairs::Target);
    if let (Some(red), false) = (target_red(board), repairs) {
        return Wait(Waiting::TargetRed {
            commit: red.commit.to_owned(),
            checks: red.failed.iter().map(|check| check.name.clone()).collect(),
        });
    }
    let dod = &board.settings.dod;
    let (failed, missing) = outcome(dod, &facts.checks);
    let protected = facts.checks.is_empty() || facts.judge_changes.protect == dod.protect;
    if missing || !protected {
        return RunChecks(CheckRun::of(dod));
    }
    if !failed.is_empty() {
        let on_target = |check: &CheckResult| target_result(board, facts.target.as_deref(), check);
        if failed.iter().any(|check| on_target(check).is_none()) {
            let checks = dod.checks.iter().filter(|check| failed.iter().any(|failed| is_of(failed, check)));
            return CheckTarget(CheckRun {
                setup: dod.setup.clone(),
                checks: checks.cloned().collect(),
                protect: Vec::new(),
            });
        }
        // It passes on the target, so the work is at fault; or the work was meant to repair it, and does not.
        return rejected(Rejection::Check { failed: failed.into_iter().cloned().collect() });
    }
    // What undoes work adds no test.
    if !facts.goals_unmet.is_empty() && task.reverts.is_none() {
        return rejected(Rejection::Goal { unmet: facts.goals_unmet.clone() });
    }
    match &facts.merge {
        Merge::Waiting { reason, files } => Wait(Waiting::Files { reason: reason.clone(), files: files.clone() }),
        Merge::NotTried | Merge::Conflict { .. } | Merge::Merged { .. } => ExaminationStep::Merge,
    }
}

/// Everything that has to pass, in the order in which it runs.
fn asked_for(dod: &Dod) -> Vec<Check> {
    let setup = dod.setup.iter().map(|command| Check { name: SETUP.into(), command: command.clone() });
    setup.chain(dod.checks.iter().cloned()).collect()
}

fn is_of(result: &CheckResult, check: &Check) -> bool {
    result.name == check.name && result.command == check.command
}

/// The results that did not pass, and whether one is missing. Only what is asked for now counts: a check that was
/// changed or added meanwhile has not run. What follows a setup that failed is not asked for.
fn outcome<'a>(dod: &Dod, results: &'a [CheckResult]) -> (Vec<&'a CheckResult>, bool) {
    let mut failed = Vec::new();
    for check in asked_for(dod) {
        match results.iter().find(|result| is_of(result, &check)) {
            None => return (failed, true),
            Some(result) if result.outcome == CheckOutcome::Pass => {}
            Some(result) => {
                failed.push(result);
                if check.name == SETUP {
                    break;
                }
            }
        }
    }
    (failed, false)
}

/// A target on which checks fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRed<'a> {
    pub commit: &'a str,
    pub failed: Vec<&'a CheckResult>,
}

/// The target, if checks that are asked for now fail on it (V9).
pub fn target_red(board: &Board) -> Option<TargetRed<'_>> {
    let TargetChecks { commit, results } = board.target.as_deref()?;
    let asked = asked_for(&board.settings.dod);
    let fails =
        |result: &&CheckResult| result.outcome != CheckOutcome::Pass && asked.iter().any(|check| is_of(result, check));
    let failed: Vec<_> = results.iter().filter(fails).collect();
    (!failed.is_empty()).then_some(TargetRed { commit, failed })
}

/// What is known of a check on a commit of the target.
fn target_result<'a>(board: &'a Board, commit: Option<&str>, check: &CheckResult) -> Option<&'a CheckResult> {
    let known = board.target.as_deref().filter(|known| Some(known.commit.as_str()) == commit)?;
    known.results.iter().find(|result| result.name == check.name && result.command == check.command)
}

/// What is known of a session's work, as the board keeps it. While it is being merged nothing is: that may be over.
pub fn examination(session: &Session) -> Option<Examination> {
    match (&session.trouble, &session.workspace) {
        (Some(reason), _) => Some(Examination::Failed { reason: reason.clone() }),
        (None, Some(facts)) if session.merging.is_none() => Some(Examination::Found(Box::new(facts.clone()))),
        (None, _) => None,
    }
}

/// The work that waits to be judged, in the order in which it ended.
pub fn merge_queue(board: &Board) -> impl Iterator<Item = &Session> {
    board.index.verifying.iter().filter_map(|(_, id)| board.sessions.get(id)).map(AsRef::as_ref)
}

/// What a session's work waits for, while it is to be judged; `None` if its turn has come.
pub fn waiting(board: &Board, session: &Session, now: Timestamp) -> Option<Waiting> {
    if session.status != SessionStatus::Verifying {
        return None;
    }
    if let ExaminationStep::Wait(waiting) = examination_step(board, session, examination(session).as_ref(), now) {
        return Some(waiting);
    }
    let waits = |other: &Session| {
        let step = examination_step(board, other, examination(other).as_ref(), now);
        matches!(step, ExaminationStep::Wait(_))
    };
    let first = merge_queue(board).take_while(|other| other.id != session.id).find(|other| !waits(other));
    first.and_then(Session::task).map(|task| Waiting::Behind { task })
}

/// The session of a task whose work waits to be judged, if there is one.
pub(crate) fn ended_work<'a>(board: &'a Board, task: &Task) -> Option<&'a Session> {
    let session = task.live.and_then(|id| board.sessions.get(&id))?;
    (session.status == SessionStatus::Verifying).then_some(session)
}

/// What the end of a session means for its task; `None` if its work has to be examined, or its task cannot take a
/// verdict now.
pub(crate) fn verdict_by_end(board: &Board, session: &Session, task: &Task, end: &ProcessEnd) -> Option<Verdict> {
    let stopped = Some(Verdict::None(Inconclusive::Stopped));
    let Some(agent) = board.agents.get(&session.agent) else { return stopped };
    let report = session.report.as_ref();
    // A report given after all is what the session has to say.
    let left_waiting = session.wait_given.is_some() && report.is_none();
    let evidence = Evidence { end, report, left_waiting, children: children(board, task) };
    let limits = &board.settings.limits;
    // The first time that a limit of the machine is met costs no attempt.
    let attempt_left = task.used.attempts + 1 < limits.max_attempts || end.reason == EndReason::LimitReached;
    let again = attempt_left && task.used.bad_ends == 0;
    let policy = Policy {
        hierarchy: agent.spec.hierarchy,
        // Where git can undo work alone, nobody reports. The work is judged all the same.
        mode: if task.reverts.is_some() { Mode::OneShot } else { agent.spec.mode },
        completion: task.completion.unwrap_or(board.settings.completion),
        bad_end: if again { BadEnd::StartsAgain } else { BadEnd::Fails },
    };
    if task.status != Status::InProgress || interrupt(board, session).is_some() {
        // It was told to stop, so what it left half-done is not judged (L4). What it finished stays to be examined.
        let kept = finished(&evidence, &policy)
            && task.assignee.as_ref() == Some(&session.agent)
            && !task.is_settled()
            && task.status != Status::Failed;
        if !kept {
            return stopped;
        }
        if not_now(board, task).is_some() {
            return None;
        }
    }
    judge(&evidence, &policy)
}

fn children(board: &Board, task: &Task) -> Children {
    if board.unsettled_children(task).next().is_some() {
        Children::Open
    } else if board.children(task).any(|child| child.status == Status::Done) {
        Children::Done
    } else {
        Children::None
    }
}
