//! What do the observed facts about a session mean for its task (V2)?

use crate::evidence::CheckOutcome;
use crate::evidence::CheckResult;
use crate::evidence::Inconclusive;
use crate::evidence::Merge;
use crate::evidence::Rejection;
use crate::evidence::Verdict;
use crate::evidence::WorkspaceFacts;
use crate::evidence::{DodResult, EndReason, ProcessEnd, VendorTrouble};
use crate::session::{CompletionReport, Outcome};
use crate::{Check, Completion, Hierarchy, Mode};

/// The facts about one session, as far as they are known.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    pub end: &'a ProcessEnd,
    pub report: Option<&'a CompletionReport>,
    /// It was told to `wait`, and has reported nothing.
    pub left_waiting: bool,
    pub children: Children,
    pub workspace: Option<&'a WorkspaceFacts>,
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
pub struct Policy<'a> {
    pub hierarchy: Hierarchy,
    pub mode: Mode,
    pub completion: Completion,
    /// Type `research`, or `allow_empty`.
    pub may_be_empty: bool,
    /// The checks that must have run and passed.
    pub checks: &'a [Check],
}

/// The verdict, or `None` while the workspace has to be looked at first.
///
/// The order of the questions is V2's, and it is the meaning: a process that was stopped is not
/// failed, one that failed is not asked what it claims, and so on.
#[must_use]
pub fn judge(evidence: &Evidence<'_>, policy: &Policy<'_>) -> Option<Verdict> {
    let verdict = ended_without_meaning(evidence, policy)
        .or_else(|| ended_badly(evidence.end))
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
        (Hierarchy::Worker, Children::None | Children::Done, Completion::Merged) => {
            evidence.workspace.and_then(|facts| judge_work(facts, policy))
        }
    }
}

/// V2.1: nothing can be concluded from it.
fn ended_without_meaning(evidence: &Evidence<'_>, policy: &Policy<'_>) -> Option<Verdict> {
    let vendor = evidence.end.vendor.map(|trouble| match trouble {
        VendorTrouble::RateLimited { .. } => Inconclusive::RateLimited,
        VendorTrouble::Unavailable => Inconclusive::VendorUnavailable,
    });
    let end = match evidence.end.reason {
        EndReason::Stopped => Some(Inconclusive::Stopped),
        EndReason::Lost => Some(Inconclusive::Lost),
        EndReason::LaunchFailed => Some(Inconclusive::LaunchFailed),
        EndReason::Exited | EndReason::Signaled | EndReason::TimedOut | EndReason::Stalled => None,
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
fn reported_otherwise(evidence: &Evidence<'_>, policy: &Policy<'_>) -> Option<Verdict> {
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

/// V2.5 to V2.9: the work itself. `None` while a clean candidate has not been merged.
fn judge_work(facts: &WorkspaceFacts, policy: &Policy<'_>) -> Option<Verdict> {
    if !facts.outside_scope.is_empty() {
        return Some(Verdict::Rejected(Rejection::ScopeViolation { files: facts.outside_scope.clone() }));
    }
    if facts.changed.is_empty() {
        return Some(if policy.may_be_empty { Verdict::Done } else { Verdict::Rejected(Rejection::NoChange) });
    }
    if let Merge::Conflict { files } = &facts.merge {
        return Some(Verdict::Rejected(Rejection::Conflict { files: files.clone() }));
    }
    let failed = failed_checks(facts, policy.checks);
    if !failed.is_empty() {
        return Some(Verdict::Rejected(Rejection::Check { failed }));
    }
    if !facts.goals_unmet.is_empty() {
        return Some(Verdict::Rejected(Rejection::Goal { unmet: facts.goals_unmet.clone() }));
    }
    match facts.merge {
        Merge::Merged { .. } => Some(Verdict::Done),
        Merge::NotTried | Merge::Conflict { .. } | Merge::Waiting { .. } => None,
    }
}

/// The checks that did not pass. One that was asked for and left no trace did not run.
fn failed_checks(facts: &WorkspaceFacts, wanted: &[Check]) -> Vec<CheckResult> {
    let failed = facts.checks.iter().filter(|check| check.outcome != CheckOutcome::Pass).cloned();
    let missing = wanted.iter().filter(|check| facts.checks.iter().all(|result| result.name != check.name));
    let missing = missing.map(|check| CheckResult {
        name: check.name.clone(),
        outcome: CheckOutcome::DidNotRun,
        output: String::new(),
    });
    failed.chain(missing).collect()
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
