//! What do the observed facts about a session mean for its task (V2)?

use crate::evidence::{
    CheckOutcome, DodResult, EndReason, Inconclusive, Merge, ProcessEnd, Rejection, VendorTrouble, Verdict,
    WorkspaceFacts,
};
use crate::session::{CompletionReport, Outcome};
use crate::{Completion, Hierarchy, Mode};

/// The facts about one session, as far as they are known.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    pub end: &'a ProcessEnd,
    pub report: Option<&'a CompletionReport>,
    /// It was told to `wait`, and has reported nothing.
    pub left_waiting: bool,
    pub children: Children,
}

/// How the children of the session's task stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    /// There are none, or all were cancelled.
    None,
    /// At least one is not settled.
    Open,
    /// Every one is settled, and at least one done.
    Done,
}

/// What the task asks of its evidence.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    pub hierarchy: Hierarchy,
    pub mode: Mode,
    pub completion: Completion,
    /// What follows a bad end.
    pub bad_end: BadEnd,
}

/// What follows when a worker's process ends badly (A5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadEnd {
    /// It is started once more.
    StartsAgain,
    /// Its task fails.
    Fails,
}

/// The verdict by how the session ended, or `None` if its work has to be examined: then
/// [`crate::examination_step`] decides.
///
/// The order of the questions is V2's, and it is the meaning: a process that was stopped is not
/// failed, one that failed is not asked what it claims, and so on.
#[must_use]
pub fn judge(evidence: &Evidence<'_>, policy: &Policy) -> Option<Verdict> {
    let verdict = ended_without_meaning(evidence, policy)
        .or_else(|| bad_end(evidence.end, policy))
        .or_else(|| reported_otherwise(evidence, policy));
    if verdict.is_some() {
        return verdict;
    }
    match (policy.hierarchy, evidence.children, policy.completion) {
        (Hierarchy::Manager, Children::Done, _) => Some(Verdict::Done),
        (Hierarchy::Manager, Children::None | Children::Open, _) | (Hierarchy::Worker, Children::Open, _) => {
            Some(Verdict::Rejected(Rejection::ChildrenOpen))
        }
        (Hierarchy::Worker, Children::None | Children::Done, Completion::Reported) => Some(Verdict::Done),
        (Hierarchy::Worker, Children::None | Children::Done, Completion::Merged) => None,
    }
}

/// Did it end well, and say so? Then there is work that must not be done again, whatever happens to its task (V12).
#[must_use]
pub(crate) fn finished(evidence: &Evidence<'_>, policy: &Policy) -> bool {
    let well = evidence.end.reason == EndReason::Exited
        && evidence.end.exit_code == Some(0)
        && evidence.end.vendor.is_none()
        && evidence.end.error.is_none();
    let reported = match (evidence.report, policy.mode) {
        (Some(report), Mode::Guided | Mode::OneShot) => report.result == Outcome::Success,
        (None, mode) => mode == Mode::OneShot,
    };
    well && reported
}

/// V2.2: a worker that ends badly may be started once more (A5).
fn bad_end(end: &ProcessEnd, policy: &Policy) -> Option<Verdict> {
    let verdict = ended_badly(end)?;
    Some(match (verdict, policy.bad_end) {
        (Verdict::Failed { reason }, BadEnd::StartsAgain) if end.reason == EndReason::LimitReached => {
            Verdict::Rejected(Rejection::LimitReached { reason })
        }
        // It had all the time there is.
        (Verdict::Failed { reason }, BadEnd::StartsAgain) if end.reason != EndReason::TimedOut => {
            Verdict::Rejected(Rejection::EndedBadly { reason })
        }
        (verdict, BadEnd::StartsAgain | BadEnd::Fails) => verdict,
    })
}

/// V2.1: nothing can be concluded from it.
fn ended_without_meaning(evidence: &Evidence<'_>, policy: &Policy) -> Option<Verdict> {
    let vendor = evidence.end.vendor.map(|trouble| match trouble {
        VendorTrouble::RateLimited { .. } => Inconclusive::RateLimited,
        VendorTrouble::Unavailable => Inconclusive::VendorUnavailable,
    });
    let end = match evidence.end.reason {
        EndReason::Stopped => Some(Inconclusive::Stopped),
        EndReason::Lost => Some(Inconclusive::Lost),
        EndReason::LaunchFailed => Some(Inconclusive::LaunchFailed),
        EndReason::Exited
        | EndReason::Signaled
        | EndReason::TimedOut
        | EndReason::Stalled
        | EndReason::LimitReached => None,
    };
    let waiting = evidence.left_waiting.then_some(Inconclusive::Waiting);
    let manager = (policy.hierarchy == Hierarchy::Manager && ended_badly(evidence.end).is_some())
        .then_some(Inconclusive::ManagerExit);
    end.or(vendor).or(waiting).or(manager).map(Verdict::None)
}

/// V2.2: exit code, signal, time-out, stall. The end reason counts, not a magic exit code (F71).
fn ended_badly(end: &ProcessEnd) -> Option<Verdict> {
    let reason = match (end.reason, end.exit_code, &end.signal) {
        (EndReason::TimedOut, _, _) => "timed_out".into(),
        (EndReason::Stalled, _, _) => "stalled".into(),
        (EndReason::LimitReached, _, _) => end.error.clone().unwrap_or_else(|| "limit_reached".into()),
        (EndReason::Signaled, _, None) => "signal".into(),
        (_, _, Some(signal)) => format!("signal {signal}"),
        // The code was not observed, and a missing code is no success (F41).
        (EndReason::Exited, None, None) => end.error.clone().unwrap_or_else(|| "exit code unknown".into()),
        (_, Some(0) | None, None) => match &end.error {
            Some(error) => error.clone(),
            None => return None,
        },
        (_, Some(code), None) => format!("exit code {code}"),
    };
    Some(Verdict::Failed { reason })
}

/// V2.3 and V2.4: what was claimed, if it was anything but success.
fn reported_otherwise(evidence: &Evidence<'_>, policy: &Policy) -> Option<Verdict> {
    match (evidence.report, policy.mode) {
        (Some(report), Mode::Guided | Mode::OneShot) => match report.result {
            Outcome::Success => None,
            Outcome::Blocked => Some(Verdict::Blocked { reason: report.summary.clone() }),
            Outcome::Failed => Some(Verdict::Failed { reason: report.summary.clone() }),
        },
        (None, Mode::Guided) => Some(Verdict::Rejected(Rejection::NoReport)),
        (None, Mode::OneShot) => None,
    }
}

/// The verdict on a session that was driven by hand (C2). `Done` needs the branch in the target,
/// which the caller has checked before it says `Merged`.
#[must_use]
pub fn judge_by_hand(end: &ProcessEnd, dod: DodResult) -> Verdict {
    if let Some(failed) = ended_badly(end) {
        return failed;
    }
    match dod {
        DodResult::Merged => Verdict::Done,
        DodResult::Pending | DodResult::NotNeeded => Verdict::None(Inconclusive::Pending),
        DodResult::Failed => Verdict::Failed { reason: "checks failed".into() },
        DodResult::Timeout => Verdict::Failed { reason: "timed_out".into() },
        DodResult::Error => Verdict::Failed { reason: "error".into() },
    }
}

/// What the checks and the merge came to, as one word (S5).
#[must_use]
pub(crate) fn dod_result(facts: &WorkspaceFacts) -> DodResult {
    let worst = |outcome| facts.checks.iter().any(|check| check.outcome == outcome);
    match facts.merge {
        Merge::Merged { .. } => DodResult::Merged,
        Merge::Conflict { .. } => DodResult::Failed,
        Merge::Waiting { .. } => DodResult::Pending,
        Merge::NotTried if worst(CheckOutcome::DidNotRun) => DodResult::Error,
        Merge::NotTried if worst(CheckOutcome::TimedOut) => DodResult::Timeout,
        Merge::NotTried if worst(CheckOutcome::Fail) || !facts.goals_unmet.is_empty() => DodResult::Failed,
        Merge::NotTried if !facts.outside_scope.is_empty() => DodResult::Failed,
        Merge::NotTried => DodResult::NotNeeded,
    }
}
