//! What does a verdict do to its task (V3, V7)?

use board::{
    Actor, AgentSpec, CheckOutcome, Command, Completion, Conclusion, DodResult, Driver, EndReason, Merge, Mode,
    NewTask, Outcome, Party, ProcessEnd, Purpose, Rejection, SessionStatus, Settings, Span, Status, TaskType, Verdict,
    WorkspaceFacts,
};

use crate::team::{Team, check, failing_check, merged};
use crate::world::{World, agent, owner, spec};
use Status::{Blocked, Done, Failed, InProgress, Todo};

/// V3: a rejected task stays in progress with one attempt more and the reason.
#[test]
fn rejected_task_stays_in_progress_with_attempt_and_feedback() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.deliver(session, failing_check());
    let why = Rejection::Check { failed: vec![check(CheckOutcome::Fail)] };
    let found = world.task(task);
    assert_eq!((found.status, found.used.attempts, found.feedback.as_ref()), (InProgress, 1, Some(&why)));
    let session = world.session(session);
    assert_eq!((session.status, session.dod_result), (SessionStatus::Ended, Some(DodResult::Failed)));
    assert_eq!(session.verdict, Some(Verdict::Rejected(why)));
}

/// V3, G3: after three attempts the task is failed, its manager is woken, and nothing is thrown away.
#[test]
fn task_fails_after_three_attempts_and_wakes_its_manager() {
    let mut team = Team::with_a_started();
    let record = Command::RecordBranch { task: team.a, branch: "task-2-a".into(), base: "ba5e".into() };
    team.world.must(&crate::world::runner(), record);
    team.world.go(&team.lead(), team.b, Status::Cancelled);
    team.leave_waiting();
    for attempt in 1..=3 {
        assert_eq!(team.world.task(team.a).status, InProgress);
        let session = team.world.enter("w1", team.a);
        team.world.deliver(session, failing_check());
        assert_eq!(team.world.task(team.a).used.attempts, attempt);
    }
    let task = team.world.task(team.a);
    let conclusion = Conclusion { by: Party::System, reason: "attempts_spent: check".into() };
    assert_eq!((task.status, task.conclusion.as_ref()), (Failed, Some(&conclusion)));
    assert_eq!((task.branch.as_deref(), task.base_commit.as_deref()), (Some("task-2-a"), Some("ba5e")));
    assert_eq!(team.world.staff("lead").reason, board::Reason::WorkerBlocked);
}

/// R13: the first time that a session uses too much of the machine costs no attempt, and its agent is told; the second
/// time in a row the task fails.
#[test]
fn a_limit_of_the_machine_is_excused_once() {
    let mut world = World::new();
    let task = world.started("w1");
    let why = "it ran 4096 processes and threads at once".to_owned();
    let end = ProcessEnd { error: Some(why.clone()), ..ProcessEnd::because(EndReason::LimitReached) };
    let fill = |world: &mut World| {
        world.pass(Span::minutes(1));
        let session = world.enter("w1", task);
        world.end(session, end.clone());
        world.session(session).verdict.clone()
    };
    let rejection = Rejection::LimitReached { reason: why.clone() };
    assert_eq!(fill(&mut world), Some(Verdict::Rejected(rejection.clone())));
    let found = world.task(task);
    assert_eq!((found.status, found.used.attempts, found.feedback.as_ref()), (InProgress, 0, Some(&rejection)));
    assert_eq!(fill(&mut world), Some(Verdict::Failed { reason: why }));
    assert_eq!(world.task(task).status, Failed);
}

/// L1, V3: attempts start again after a retry.
#[test]
fn retry_starts_the_attempts_again() {
    let mut world = World::new();
    let task = world.started("w1");
    for _ in 0..3 {
        let session = world.enter("w1", task);
        world.deliver(session, failing_check());
    }
    assert_eq!(world.task(task).status, Failed);
    world.go(&owner(), task, Todo);
    world.go(&owner(), task, InProgress);
    assert_eq!((world.task(task).used.attempts, world.task(task).status), (0, InProgress));
    let session = world.enter("w1", task);
    world.deliver(session, failing_check());
    assert_eq!((world.task(task).used.attempts, world.task(task).status), (1, InProgress));
}

/// V3: each rejection is kept as the next session's feedback.
#[test]
fn each_rejection_becomes_the_feedback() {
    let files = || vec!["x".to_owned()];
    let clean = || WorkspaceFacts { merge: Merge::NotTried, ..merged() };
    let cases = [
        (WorkspaceFacts { outside_scope: files(), ..clean() }, Rejection::ScopeViolation { files: files() }),
        (WorkspaceFacts { changed: vec![], ..clean() }, Rejection::NoChange),
        (
            WorkspaceFacts { merge: Merge::Conflict { files: files() }, ..clean() },
            Rejection::Conflict { files: files() },
        ),
        (WorkspaceFacts { goals_unmet: files(), ..clean() }, Rejection::Goal { unmet: files() }),
    ];
    for (facts, why) in cases {
        let mut world = World::new();
        let task = world.started("w1");
        let session = world.enter("w1", task);
        world.deliver(session, facts);
        assert_eq!(world.task(task).feedback, Some(why));
    }
}

/// V2, V6: a clean candidate waits for the merge; the second look decides.
#[test]
fn clean_candidate_is_done_only_when_it_is_merged() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.deliver(session, WorkspaceFacts { merge: Merge::NotTried, ..merged() });
    assert_eq!((world.task(task).status, world.session(session).status), (InProgress, SessionStatus::Verifying));
    world.examine(session, merged());
    assert_eq!((world.task(task).status, world.session(session).dod_result), (Done, Some(DodResult::Merged)));
}

/// V2.6: research, and what may be empty, is done without a change.
#[test]
fn research_is_done_without_a_change() {
    for (task_type, allow_empty) in [(TaskType::Research, false), (TaskType::Task, true)] {
        let mut world = World::new();
        let assignee = Some(agent("w1"));
        let new = NewTask { task_type, allow_empty, assignee, ..NewTask::titled("look") };
        let task = world.new_task(&owner(), None, new);
        world.go(&owner(), task, InProgress);
        let session = world.enter("w1", task);
        world.deliver(session, WorkspaceFacts { changed: vec![], merge: Merge::NotTried, ..failing_check() });
        assert_eq!(world.task(task).status, Done);
    }
}

/// V7: `completion: reported`, of the project or of the task, needs no workspace.
#[test]
fn v7_reported_completion_is_done_without_a_workspace() {
    let projects: [fn(&mut Settings, &mut Vec<AgentSpec>); 2] =
        [|settings, _| settings.completion = Completion::Reported, |_, _| {}];
    for (project, of_task) in projects.into_iter().zip([None, Some(Completion::Reported)]) {
        let mut world = World::with(project);
        let new = NewTask { completion: of_task, assignee: Some(agent("w1")), ..NewTask::titled("write") };
        let task = world.new_task(&owner(), None, new);
        world.go(&owner(), task, InProgress);
        let session = world.enter("w1", task);
        world.report(session, Outcome::Success);
        world.leave(session);
        assert_eq!((world.task(task).status, world.session(session).is_live()), (Done, false));
    }
}

/// V7, S3: an agent attached by hand has no process: its report and its logout are the facts.
#[test]
fn v7_attached_agent_is_judged_by_report_and_logout() {
    let mut world = World::with(|settings, _| settings.completion = Completion::Reported);
    let attach = |world: &mut World, task| {
        let purpose = Purpose::Task(task);
        let driver = Driver::Attached;
        world.must(
            &Actor::System,
            Command::Claim { agent: agent("w1"), purpose, driver, credential: None, forced: false },
        );
        world.task(task).live.unwrap()
    };
    let task = world.started("w1");
    let silent = attach(&mut world, task);
    world.must(&Actor::Session(silent), Command::Logout);
    assert_eq!(world.session(silent).verdict, Some(Verdict::Rejected(Rejection::NoReport)));
    world.now = world.staff("w1").until.unwrap();
    let session = attach(&mut world, task);
    world.must(&Actor::Session(session), Command::FetchTask);
    world.report(session, Outcome::Success);
    world.must(&Actor::Session(session), Command::Logout);
    assert_eq!((world.task(task).status, world.session(session).end.clone()), (Done, Some(ProcessEnd::exited(0))));
}

/// V2: for a one-shot agent, exit 0 is the report; it never calls.
#[test]
fn one_shot_agent_is_judged_by_its_exit_and_its_work() {
    for (code, status) in [(0, Done), (1, InProgress)] {
        let mut world = World::with(|_, agents| spec(agents, "w1").mode = Mode::OneShot);
        let task = world.started("w1");
        let session = world.claim("w1", task);
        world.end(session, ProcessEnd::exited(code));
        if world.session(session).is_live() {
            world.examine(session, merged());
        }
        assert_eq!(world.task(task).status, status);
    }
}

/// V2, V12: a task that somebody moved while its session was judged is left where it is, and judged when it goes on.
#[test]
fn verdict_does_not_move_what_somebody_else_has_moved() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.report(session, Outcome::Success);
    world.leave(session);
    world.go(&owner(), task, Blocked);
    world.examine(session, merged());
    assert_eq!((world.task(task).status, world.session(session).is_live()), (Blocked, true));
    world.go(&owner(), task, InProgress);
    world.examine(session, merged());
    assert_eq!((world.task(task).status, world.session(session).is_live()), (Done, false));
}

/// L11, V12, F103: a pause drains: work that has ended is judged, whatever it comes to.
#[test]
fn ended_work_is_judged_although_the_project_is_paused() {
    for (facts, status, attempts) in [(merged(), Done, 0), (failing_check(), InProgress, 1)] {
        let mut world = World::new();
        let task = world.started("w1");
        let session = world.enter("w1", task);
        world.report(session, Outcome::Success);
        world.leave(session);
        world.must(&owner(), Command::Pause { now: false });
        world.examine(session, facts);
        assert_eq!((world.task(task).status, world.task(task).used.attempts), (status, attempts));
    }
}

/// V2: the manager's verdict looks at its children as they are then.
#[test]
fn manager_whose_last_done_child_vanished_is_rejected() {
    let mut team = Team::with_a_started();
    let top = team.top;
    team.world.go(&team.lead(), team.b, Status::Cancelled);
    assert_eq!(team.world.cannot(team.lead, crate::team::reporting(Outcome::Success)), board::Code::ChildrenUnsettled);
    team.world.go(&team.lead(), team.a, Status::Cancelled);
    let nothing = team.world.refusal(&team.lead(), &crate::team::reporting(Outcome::Success));
    assert_eq!(*nothing.0, board::RefusalReason::NothingDone { task: top });
}

/// S5: what the checks and the merge came to is one word; the worst counts.
#[test]
fn checks_come_to_one_word() {
    for (outcomes, word) in [
        (vec![CheckOutcome::Pass], DodResult::NotNeeded),
        (vec![CheckOutcome::Pass, CheckOutcome::Fail], DodResult::Failed),
        (vec![CheckOutcome::Fail, CheckOutcome::TimedOut], DodResult::Timeout),
        (vec![CheckOutcome::TimedOut, CheckOutcome::DidNotRun], DodResult::Error),
    ] {
        let mut world = World::new();
        let task = world.started("w1");
        let session = world.enter("w1", task);
        let checks = outcomes.iter().map(|outcome| check(*outcome)).collect();
        world.deliver(session, WorkspaceFacts { checks, merge: Merge::NotTried, ..merged() });
        assert_eq!(world.session(session).dod_result, Some(word), "{outcomes:?}");
    }
}
