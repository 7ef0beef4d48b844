//! How much of what was observed is kept? The end of long outputs, the beginning of long lists.

use crate::evidence::{CheckResult, Examination, JudgeChanges, Merge, ProcessEnd, VendorTrouble, WorkspaceFacts};

const MAX_FILES: usize = 1_000;
const MAX_TEXT: usize = 8_000;

fn facts(facts: &WorkspaceFacts) -> WorkspaceFacts {
    WorkspaceFacts {
        commits: facts.commits,
        changed: files(&facts.changed),
        outside_scope: files(&facts.outside_scope),
        checks: checks(&facts.checks),
        goals_unmet: files(&facts.goals_unmet),
        merge: match &facts.merge {
            Merge::Conflict { files: conflicts } => Merge::Conflict { files: files(conflicts) },
            Merge::Waiting { reason, files: waiting } => Merge::Waiting { reason: tail(reason), files: files(waiting) },
            Merge::NotTried | Merge::Merged { .. } => facts.merge.clone(),
        },
        target: facts.target.clone(),
        candidate: facts.candidate.clone(),
        judge_changes: JudgeChanges {
            protect: files(&facts.judge_changes.protect),
            protected: files(&facts.judge_changes.protected),
            trusted: files(&facts.judge_changes.trusted),
        },
        tree: facts.tree.clone(),
        undone_by_git: facts.undone_by_git,
    }
}

pub(super) fn checks(results: &[CheckResult]) -> Vec<CheckResult> {
    let bounded = |check: &CheckResult| CheckResult { output: tail(&check.output), ..check.clone() };
    results.iter().take(MAX_FILES).map(bounded).collect()
}

pub(super) fn examination(examination: &Examination) -> Examination {
    match examination {
        Examination::NotNeeded | Examination::Gone => examination.clone(),
        Examination::Failed { reason } => Examination::Failed { reason: tail(reason) },
        Examination::Unreadable { reason } => Examination::Unreadable { reason: tail(reason) },
        Examination::Found(found) => Examination::Found(Box::new(facts(found))),
    }
}

pub(super) fn end(end: &ProcessEnd) -> ProcessEnd {
    let vendor = end.vendor.map(|trouble| match trouble {
        VendorTrouble::RateLimited { until } => VendorTrouble::RateLimited { until: until.in_range() },
        VendorTrouble::Unavailable => VendorTrouble::Unavailable,
    });
    ProcessEnd { signal: end.signal.as_deref().map(tail), error: end.error.as_deref().map(tail), vendor, ..end.clone() }
}

pub(super) fn files(files: &[String]) -> Vec<String> {
    files.iter().take(MAX_FILES).map(|file| tail(file)).collect()
}

/// The last characters of a text.
fn tail(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(MAX_TEXT);
    text.chars().skip(skip).collect()
}
