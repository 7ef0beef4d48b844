//! What do the facts about a session mean? Every row of V2, on the pure function.

use board::{
    Check, CheckOutcome, CheckResult, Children, Completion, CompletionReport, DodResult, EndReason, Evidence,
    Hierarchy, Inconclusive, Merge, Mode, Outcome, Policy, ProcessEnd, Rejection, Timestamp, VendorTrouble, Verdict,
    WorkspaceFacts, judge, judge_by_hand,
};

use crate::team::{failing_check, merged};

const WORKER: Policy<'static> = Policy {
    hierarchy: Hierarchy::Worker,
    mode: Mode::Guided,
    completion: Completion::Merged,
    may_be_empty: false,
    checks: &[],
};
const ONE_SHOT: Policy<'static> = Policy { mode: Mode::OneShot, ..WORKER };
const MANAGER: Policy<'static> = Policy { hierarchy: Hierarchy::Manager, ..WORKER };
const REPORTED: Policy<'static> = Policy { completion: Completion::Reported, ..WORKER };

fn report(result: Outcome) -> CompletionReport {
    CompletionReport { result, summary: "it is so".into(), next_steps: None, at: Timestamp(0) }
}

/// The verdict on an end, a claim and a workspace.
fn verdict(
    policy: Policy<'_>,
    end: &ProcessEnd,
    reported: Option<Outcome>,
    work: Option<&WorkspaceFacts>,
) -> Option<Verdict> {
    let report = reported.map(report);
    let evidence =
        Evidence { end, report: report.as_ref(), left_waiting: false, children: Children::None, workspace: work };
    judge(&evidence, &policy)
}

/// The verdict on work that was reported as a success by a process that ended well.
fn on_work(policy: Policy, facts: &WorkspaceFacts) -> Option<Verdict> {
    verdict(policy, &ProcessEnd::exited(0), Some(Outcome::Success), Some(facts))
}

fn failed(reason: &str) -> Option<Verdict> {
    Some(Verdict::Failed { reason: reason.into() })
}

fn signaled(signal: &str) -> ProcessEnd {
    ProcessEnd { signal: Some(signal.into()), ..ProcessEnd::because(EndReason::Signaled) }
}

/// V2.1, F33: nothing is concluded from these ends, whatever was claimed and whatever the exit code.
#[test]
fn v2_1_no_verdict_on_what_was_stopped_lost_or_never_began() {
    let vendor = |trouble| ProcessEnd { vendor: Some(trouble), ..ProcessEnd::exited(1) };
    let ends = [
        (ProcessEnd::because(EndReason::Stopped), Inconclusive::Stopped),
        (ProcessEnd::because(EndReason::Lost), Inconclusive::Lost),
        (ProcessEnd::because(EndReason::LaunchFailed), Inconclusive::LaunchFailed),
        (vendor(VendorTrouble::RateLimited { until: Timestamp(9) }), Inconclusive::RateLimited),
        (vendor(VendorTrouble::Unavailable), Inconclusive::VendorUnavailable),
        (ProcessEnd { exit_code: Some(143), ..ProcessEnd::because(EndReason::Stopped) }, Inconclusive::Stopped),
    ];
    for policy in [WORKER, ONE_SHOT, MANAGER, REPORTED] {
        for (end, why) in &ends {
            for reported in [None, Some(Outcome::Success), Some(Outcome::Failed)] {
                let none = Some(Verdict::None(*why));
                assert_eq!(verdict(policy, end, reported, Some(&merged())), none, "{end:?}");
            }
        }
    }
}

/// V2.1: logging out after a delivered `wait` is no verdict, also with a bad exit afterwards.
#[test]
fn v2_1_no_verdict_on_a_manager_that_left_waiting() {
    for end in [ProcessEnd::exited(0), ProcessEnd::exited(1)] {
        let evidence =
            Evidence { end: &end, report: None, left_waiting: true, children: Children::None, workspace: None };
        assert_eq!(judge(&evidence, &MANAGER), Some(Verdict::None(Inconclusive::Waiting)));
    }
}

/// V2.2, F71: exit code, signal, time-out and stall fail; the end reason counts, not a magic code.
#[test]
fn v2_2_bad_ends_fail_whatever_was_claimed() {
    let ends = [
        (ProcessEnd::exited(1), "exit code 1"),
        (ProcessEnd::exited(124), "exit code 124"),
        (ProcessEnd::exited(-1), "exit code -1"),
        (signaled("SIGKILL"), "signal SIGKILL"),
        (ProcessEnd::because(EndReason::Signaled), "signal"),
        (ProcessEnd::because(EndReason::TimedOut), "timed_out"),
        (ProcessEnd { exit_code: Some(0), ..ProcessEnd::because(EndReason::TimedOut) }, "timed_out"),
        (ProcessEnd { exit_code: Some(0), ..ProcessEnd::because(EndReason::Stalled) }, "stalled"),
        (ProcessEnd { error: Some("out of memory".into()), ..ProcessEnd::exited(0) }, "out of memory"),
    ];
    for policy in [WORKER, ONE_SHOT, REPORTED] {
        for (end, reason) in &ends {
            for reported in [None, Some(Outcome::Success), Some(Outcome::Blocked)] {
                assert_eq!(verdict(policy, end, reported, Some(&merged())), failed(reason), "{end:?}");
            }
        }
    }
}

/// V2.2, F41: an exit whose code nobody has seen is no success.
#[test]
fn v2_2_exit_without_a_code_is_a_failure() {
    let unseen = ProcessEnd::because(EndReason::Exited);
    for policy in [WORKER, ONE_SHOT, REPORTED] {
        let verdict = verdict(policy, &unseen, Some(Outcome::Success), Some(&merged()));
        assert!(matches!(verdict, Some(Verdict::Failed { .. })), "{verdict:?}");
    }
    assert!(matches!(judge_by_hand(&unseen, DodResult::Merged), Verdict::Failed { .. }));
}

/// V2: a manager's bad exit falls under A3.
#[test]
fn v2_2_bad_exit_of_a_manager_is_inconclusive() {
    for end in [ProcessEnd::exited(1), signaled("SIGSEGV"), ProcessEnd::because(EndReason::Stalled)] {
        let none = Some(Verdict::None(Inconclusive::ManagerExit));
        assert_eq!(verdict(MANAGER, &end, Some(Outcome::Success), None), none);
    }
}

/// V2.3
#[test]
fn v2_3_claimed_blocked_and_failed_are_taken_at_their_word() {
    for policy in [WORKER, MANAGER, REPORTED] {
        let of = |reported| verdict(policy, &ProcessEnd::exited(0), Some(reported), Some(&merged()));
        assert_eq!(of(Outcome::Blocked), Some(Verdict::Blocked { reason: "it is so".into() }));
        assert_eq!(of(Outcome::Failed), failed("it is so"));
    }
}

/// V2.4: a guided agent reports; for a one-shot agent exit 0 is the report.
#[test]
fn v2_4_guided_agent_without_a_report_is_rejected() {
    let of = |policy| verdict(policy, &ProcessEnd::exited(0), None, Some(&merged()));
    assert_eq!([WORKER, MANAGER, REPORTED].map(of), [0; 3].map(|_| Some(Verdict::Rejected(Rejection::NoReport))));
    assert_eq!(of(ONE_SHOT), Some(Verdict::Done));
}

/// V2.5: comes before everything else about the work, also if nothing else is wrong.
#[test]
fn v2_5_change_outside_the_scope_is_rejected() {
    let facts = WorkspaceFacts { outside_scope: vec![".env".into()], ..failing_check() };
    let rejected = Rejection::ScopeViolation { files: vec![".env".into()] };
    assert_eq!(on_work(WORKER, &facts), Some(Verdict::Rejected(rejected)));
}

/// V2.6, F61, F65, F66: no difference is no work, unless the task may be empty; then there are no checks.
#[test]
fn v2_6_no_change_is_rejected_unless_the_task_may_be_empty() {
    let facts = WorkspaceFacts { commits: 0, changed: vec![], ..failing_check() };
    assert_eq!(on_work(WORKER, &facts), Some(Verdict::Rejected(Rejection::NoChange)));
    assert_eq!(on_work(Policy { may_be_empty: true, ..WORKER }, &facts), Some(Verdict::Done));
    let merged = WorkspaceFacts { changed: vec![], ..merged() };
    assert_eq!(on_work(WORKER, &merged), Some(Verdict::Rejected(Rejection::NoChange)));
}

/// V2.7
#[test]
fn v2_7_work_that_does_not_merge_is_rejected() {
    let conflict = Merge::Conflict { files: vec!["src/a.rs".into()] };
    let facts = WorkspaceFacts { merge: conflict, ..failing_check() };
    let rejected = Rejection::Conflict { files: vec!["src/a.rs".into()] };
    assert_eq!(on_work(WORKER, &facts), Some(Verdict::Rejected(rejected)));
}

/// V2.8, V5, F66: a check that failed, timed out or did not run is named, and never excused.
#[test]
fn v2_8_check_that_did_not_pass_is_rejected() {
    let check = |outcome| CheckResult { name: "tests_pass".into(), outcome, output: "end".into() };
    for outcome in [CheckOutcome::Fail, CheckOutcome::TimedOut, CheckOutcome::DidNotRun] {
        for merge in [Merge::NotTried, Merge::Merged { commit: "c0ffee".into() }] {
            let facts = WorkspaceFacts { checks: vec![check(CheckOutcome::Pass), check(outcome)], merge, ..merged() };
            let rejected = Rejection::Check { failed: vec![check(outcome)] };
            assert_eq!(on_work(WORKER, &facts), Some(Verdict::Rejected(rejected)));
        }
    }
}

/// V2.8, V5
#[test]
fn v2_8_goal_that_is_not_met_is_rejected() {
    let facts = WorkspaceFacts { goals_unmet: vec!["test_added".into()], ..merged() };
    let rejected = Rejection::Goal { unmet: vec!["test_added".into()] };
    assert_eq!(on_work(WORKER, &facts), Some(Verdict::Rejected(rejected)));
}

/// V2.9, V6: done is merged; a clean candidate that is not merged yet has no verdict yet.
#[test]
fn v2_9_done_is_merged() {
    for policy in [WORKER, ONE_SHOT] {
        assert_eq!(on_work(policy, &merged()), Some(Verdict::Done));
        assert_eq!(on_work(policy, &WorkspaceFacts { merge: Merge::NotTried, ..merged() }), None);
        assert_eq!(verdict(policy, &ProcessEnd::exited(0), Some(Outcome::Success), None), None);
    }
}

/// V2: a manager's task is done when it reported success, every child is settled and one is done.
#[test]
fn manager_is_done_when_its_children_are() {
    let end = ProcessEnd::exited(0);
    let report = report(Outcome::Success);
    for completion in [Completion::Merged, Completion::Reported] {
        let of = |children| {
            let evidence =
                Evidence { end: &end, report: Some(&report), left_waiting: false, children, workspace: None };
            judge(&evidence, &Policy { completion, ..MANAGER })
        };
        assert_eq!(of(Children::Done), Some(Verdict::Done));
        for children in [Children::Open, Children::None] {
            assert_eq!(of(children), Some(Verdict::Rejected(Rejection::ChildrenOpen)));
        }
    }
}

/// L1, F15: no worker's task is done, nor merged, before its steps are settled.
#[test]
fn a_worker_with_open_steps_is_sent_back() {
    let end = ProcessEnd::exited(0);
    for policy in [ONE_SHOT, Policy { completion: Completion::Reported, ..ONE_SHOT }] {
        let evidence =
            Evidence { end: &end, report: None, left_waiting: false, children: Children::Open, workspace: None };
        assert_eq!(judge(&evidence, &policy), Some(Verdict::Rejected(Rejection::ChildrenOpen)));
    }
}

/// V2.8, F41, F66: a check that was asked for and left no trace did not run, and is not excused.
#[test]
fn v2_8_a_check_without_a_result_did_not_run() {
    let checks = [Check { name: "tests_pass".into(), command: "make test".into() }];
    let facts = WorkspaceFacts { checks: Vec::new(), ..merged() };
    let missing = CheckResult { name: "tests_pass".into(), outcome: CheckOutcome::DidNotRun, output: String::new() };
    let rejected = Verdict::Rejected(Rejection::Check { failed: vec![missing] });
    assert_eq!(on_work(Policy { checks: &checks, ..WORKER }, &facts), Some(rejected));
}

/// V7: where completion is reported, success and a good end are enough; nothing else is looked at.
#[test]
fn v7_reported_completion_needs_report_and_good_end() {
    let of = |end: &ProcessEnd, reported| verdict(REPORTED, end, reported, None);
    assert_eq!(of(&ProcessEnd::exited(0), Some(Outcome::Success)), Some(Verdict::Done));
    assert_eq!(of(&ProcessEnd::exited(2), Some(Outcome::Success)), failed("exit code 2"));
    assert_eq!(of(&ProcessEnd::exited(0), None), Some(Verdict::Rejected(Rejection::NoReport)));
    let one_shot = Policy { mode: Mode::OneShot, ..REPORTED };
    assert_eq!(verdict(one_shot, &ProcessEnd::exited(0), None, None), Some(Verdict::Done));
}

/// C2: by hand, a bad end fails, merged is done, pending and not needed stay.
#[test]
fn c2_verdict_by_hand_follows_end_and_dod_result() {
    let well = ProcessEnd::exited(0);
    let pending = Verdict::None(Inconclusive::Pending);
    let failed = |reason: &str| Verdict::Failed { reason: reason.into() };
    let table = [
        (DodResult::Merged, Verdict::Done),
        (DodResult::Pending, pending.clone()),
        (DodResult::NotNeeded, pending),
        (DodResult::Failed, failed("checks failed")),
        (DodResult::Timeout, failed("timed_out")),
        (DodResult::Error, failed("error")),
    ];
    assert_eq!(table.len(), DodResult::ALL.len());
    for (dod, expected) in table {
        assert_eq!(judge_by_hand(&well, dod), expected);
        assert_eq!(judge_by_hand(&ProcessEnd::exited(3), dod), failed("exit code 3"));
        assert_eq!(judge_by_hand(&signaled("SIGTERM"), dod), failed("signal SIGTERM"));
        assert_eq!(judge_by_hand(&ProcessEnd::because(EndReason::TimedOut), dod), failed("timed_out"));
    }
}
