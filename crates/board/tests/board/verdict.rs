//! What do the facts about a session mean? Every row of V2, on the pure function.

use board::{
    BadEnd, Children, Completion, CompletionReport, DodResult, EndReason, Evidence, Hierarchy, Inconclusive, Mode,
    Outcome, Policy, ProcessEnd, Rejection, Timestamp, VendorTrouble, Verdict, judge, judge_by_hand,
};

const WORKER: Policy =
    Policy { hierarchy: Hierarchy::Worker, mode: Mode::Guided, completion: Completion::Merged, bad_end: BadEnd::Fails };
const ONE_SHOT: Policy = Policy { mode: Mode::OneShot, ..WORKER };
const MANAGER: Policy = Policy { hierarchy: Hierarchy::Manager, ..WORKER };
const REPORTED: Policy = Policy { completion: Completion::Reported, ..WORKER };

fn report(result: Outcome) -> CompletionReport {
    CompletionReport { result, summary: "it is so".into(), next_steps: None, at: Timestamp(0) }
}

/// The verdict on an end and a claim.
fn verdict(policy: Policy, end: &ProcessEnd, reported: Option<Outcome>) -> Option<Verdict> {
    let report = reported.map(report);
    let evidence = Evidence { end, report: report.as_ref(), left_waiting: false, children: Children::None };
    judge(&evidence, &policy)
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
                assert_eq!(verdict(policy, end, reported), none, "{end:?}");
            }
        }
    }
}

/// V2.1: logging out after a delivered `wait` is no verdict, also with a bad exit afterwards.
#[test]
fn v2_1_no_verdict_on_a_manager_that_left_waiting() {
    for end in [ProcessEnd::exited(0), ProcessEnd::exited(1)] {
        let evidence = Evidence { end: &end, report: None, left_waiting: true, children: Children::None };
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
                assert_eq!(verdict(policy, end, reported), failed(reason), "{end:?}");
            }
        }
    }
}

/// V2.2, F41: an exit whose code nobody has seen is no success.
#[test]
fn v2_2_exit_without_a_code_is_a_failure() {
    let unseen = ProcessEnd::because(EndReason::Exited);
    for policy in [WORKER, ONE_SHOT, REPORTED] {
        let verdict = verdict(policy, &unseen, Some(Outcome::Success));
        assert!(matches!(verdict, Some(Verdict::Failed { .. })), "{verdict:?}");
    }
    assert!(matches!(judge_by_hand(&unseen, DodResult::Merged), Verdict::Failed { .. }));
}

/// V2: a manager's bad exit falls under A3.
#[test]
fn v2_2_bad_exit_of_a_manager_is_inconclusive() {
    for end in [ProcessEnd::exited(1), signaled("SIGSEGV"), ProcessEnd::because(EndReason::Stalled)] {
        let none = Some(Verdict::None(Inconclusive::ManagerExit));
        assert_eq!(verdict(MANAGER, &end, Some(Outcome::Success)), none);
    }
}

/// V2.3
#[test]
fn v2_3_claimed_blocked_and_failed_are_taken_at_their_word() {
    for policy in [WORKER, MANAGER, REPORTED] {
        let of = |reported| verdict(policy, &ProcessEnd::exited(0), Some(reported));
        assert_eq!(of(Outcome::Blocked), Some(Verdict::Blocked { reason: "it is so".into() }));
        assert_eq!(of(Outcome::Failed), failed("it is so"));
    }
}

/// V2.4: a guided agent reports; for a one-shot agent exit 0 is the report.
#[test]
fn v2_4_guided_agent_without_a_report_is_rejected() {
    let of = |policy| verdict(policy, &ProcessEnd::exited(0), None);
    assert_eq!([WORKER, MANAGER, REPORTED].map(of), [0; 3].map(|_| Some(Verdict::Rejected(Rejection::NoReport))));
    assert_eq!(of(ONE_SHOT), None, "its work is to be examined");
}

/// V2: a manager's task is done when it reported success, every child is settled and one is done.
#[test]
fn manager_is_done_when_its_children_are() {
    let end = ProcessEnd::exited(0);
    let report = report(Outcome::Success);
    for completion in [Completion::Merged, Completion::Reported] {
        let of = |children| {
            let evidence = Evidence { end: &end, report: Some(&report), left_waiting: false, children };
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
        let evidence = Evidence { end: &end, report: None, left_waiting: false, children: Children::Open };
        assert_eq!(judge(&evidence, &policy), Some(Verdict::Rejected(Rejection::ChildrenOpen)));
    }
}

/// V7: where completion is reported, success and a good end are enough; nothing else is looked at.
#[test]
fn v7_reported_completion_needs_report_and_good_end() {
    let of = |end: &ProcessEnd, reported| verdict(REPORTED, end, reported);
    assert_eq!(of(&ProcessEnd::exited(0), Some(Outcome::Success)), Some(Verdict::Done));
    assert_eq!(of(&ProcessEnd::exited(2), Some(Outcome::Success)), failed("exit code 2"));
    assert_eq!(of(&ProcessEnd::exited(0), None), Some(Verdict::Rejected(Rejection::NoReport)));
    let one_shot = Policy { mode: Mode::OneShot, ..REPORTED };
    assert_eq!(verdict(one_shot, &ProcessEnd::exited(0), None), Some(Verdict::Done));
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
