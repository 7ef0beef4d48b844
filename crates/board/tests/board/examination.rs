//! What happens next with ended work? Every row of V2.5 to V2.9, and what work waits for (V9 to V12).

use board::{
    AgentSpec, Check, CheckOutcome, CheckResult, CheckRun, Command, Completion, Destination, EndReason, Examination,
    ExaminationStep, Fact, Inconclusive, Merge, Mode, NewTask, Outcome, ProcessEnd, Rejection, Repairs, SessionId,
    SessionStatus, Settings, Span, Status, TaskId, TaskType, Usage, Verdict, Waiting, WorkspaceFacts, examination_step,
    lifecycle::Move, target_red, waiting,
};

use crate::team::{TARGET, Team, check, failing_check, merged};
use crate::world::{World, agent, owner, runner, spec};
use ExaminationStep::{CheckTarget, Conclude, Look, RunChecks, Wait};

/// A clean candidate whose checks passed, and that is not merged yet.
fn clean() -> WorkspaceFacts {
    WorkspaceFacts { merge: Merge::NotTried, ..merged() }
}

fn conflict(file: &str) -> WorkspaceFacts {
    WorkspaceFacts { merge: Merge::Conflict { files: vec![file.into()] }, changed: vec![file.into()], ..clean() }
}

/// A task of `w1` whose agent has reported success and left.
fn ended(world: &mut World) -> (TaskId, SessionId) {
    let task = world.started("w1");
    (task, run(world, "w1", task))
}

/// One session of an agent, to its good end.
fn run(world: &mut World, who: &str, task: TaskId) -> SessionId {
    let session = world.enter(who, task);
    world.report(session, Outcome::Success);
    world.leave(session);
    session
}

fn step(world: &World, session: SessionId, facts: WorkspaceFacts) -> ExaminationStep {
    let found = Examination::Found(Box::new(facts));
    examination_step(&world.board, world.session(session), Some(&found), world.now)
}

fn rejected(why: Rejection) -> ExaminationStep {
    Conclude(Verdict::Rejected(why))
}

/// V2.5 to V2.9, V10: the rows in their order, on the candidate as it was found.
#[test]
fn v2_rows_about_the_work() {
    let mut world = World::new();
    let (_, session) = ended(&mut world);
    world.target_is(CheckOutcome::Pass);
    let files = || vec![".env".to_owned()];
    let table = [
        (
            WorkspaceFacts { outside_scope: files(), ..failing_check() },
            rejected(Rejection::ScopeViolation { files: files() }),
        ),
        (WorkspaceFacts { commits: 0, changed: vec![], ..failing_check() }, rejected(Rejection::NoChange)),
        (WorkspaceFacts { checks: vec![], ..conflict(".env") }, rejected(Rejection::Conflict { files: files() })),
        (failing_check(), rejected(Rejection::Check { failed: vec![check(CheckOutcome::Fail)] })),
        (
            WorkspaceFacts { checks: vec![check(CheckOutcome::DidNotRun)], ..clean() },
            rejected(Rejection::Check { failed: vec![check(CheckOutcome::DidNotRun)] }),
        ),
        (WorkspaceFacts { goals_unmet: files(), ..clean() }, rejected(Rejection::Goal { unmet: files() })),
        (clean(), ExaminationStep::Merge),
        (merged(), Conclude(Verdict::Done)),
    ];
    for (facts, expected) in table {
        assert_eq!(step(&world, session, facts.clone()), expected, "{facts:?}");
    }
    assert_eq!(examination_step(&world.board, world.session(session), None, world.now), Look);
}

/// V2.6, F61, F65, F66: no difference is no work, unless the task may be empty; then there are no checks.
#[test]
fn v2_6_task_that_may_be_empty_is_done_without_checks() {
    for (task_type, allow_empty) in [(TaskType::Research, false), (TaskType::Task, true)] {
        let mut world = World::new();
        let assignee = Some(agent("w1"));
        let new = NewTask { task_type, allow_empty, assignee, ..NewTask::titled("look") };
        let task = world.new_task(&owner(), None, new);
        world.go(&owner(), task, Status::InProgress);
        let session = run(&mut world, "w1", task);
        let nothing = WorkspaceFacts { changed: vec![], checks: vec![], ..clean() };
        assert_eq!(step(&world, session, nothing), Conclude(Verdict::Done));
    }
}

/// V10, F66: the checks are those of the moment of merging. One that was added, or is defined otherwise now, is run;
/// one that is not asked for any more does not count.
#[test]
fn v10_a_check_that_was_added_meanwhile_is_run() {
    let mut world = World::new();
    let (_, session) = ended(&mut world);
    let mut settings: Settings = (*world.board.settings).clone();
    let mut configure = |world: &mut World, checks: &[(&str, &str)], setup: Option<&str>| {
        settings.dod.checks =
            checks.iter().map(|(name, command)| Check { name: (*name).into(), command: (*command).into() }).collect();
        settings.dod.setup = setup.map(str::to_owned);
        world.must(&owner(), Command::Configure { settings: Box::new(settings.clone()) });
        RunChecks(CheckRun {
            setup: settings.dod.setup.clone(),
            checks: settings.dod.checks.clone(),
            protect: Vec::new(),
        })
    };
    for checks in [[("tests_pass", "make test"), ("lint", "make lint")].as_slice(), &[("tests_pass", "make all")]] {
        let all = configure(&mut world, checks, None);
        assert_eq!(step(&world, session, clean()), all);
    }
    let all = configure(&mut world, &[("tests_pass", "make test")], Some("npm ci"));
    assert_eq!(step(&world, session, clean()), all);
    let _ = configure(&mut world, &[], None);
    assert_eq!(step(&world, session, failing_check()), ExaminationStep::Merge);
}

/// V9, F104: a check that fails on the candidate is run on the target. If it fails there too, the work is not at
/// fault: no attempt is charged, the queue stops, and only work that repairs the target goes through.
#[test]
fn v9_a_red_target_is_not_the_works_fault() {
    let mut world = World::new();
    let (task, session) = ended(&mut world);
    let run_there = CheckRun { setup: None, checks: world.board.settings.dod.checks.clone(), protect: Vec::new() };
    assert_eq!(step(&world, session, failing_check()), CheckTarget(run_there));
    world.target_is(CheckOutcome::Fail);
    let red = Waiting::TargetRed { commit: TARGET.into(), checks: vec!["tests_pass".into()] };
    for facts in [failing_check(), WorkspaceFacts { checks: vec![], ..clean() }] {
        assert_eq!(step(&world, session, facts), Wait(red.clone()));
    }
    world.fact(session, Fact::Examined(Examination::Found(Box::new(failing_check()))));
    let found = world.task(task);
    assert_eq!((found.status, found.used.attempts, found.live), (Status::InProgress, 0, Some(session)));
    assert_eq!(waiting(&world.board, world.session(session), world.now), Some(red));

    let repair = NewTask { repairs: Some(Repairs::Target), assignee: Some(agent("w2")), ..NewTask::titled("mend") };
    let repair = world.new_task(&owner(), None, repair);
    world.go(&owner(), repair, Status::InProgress);
    let mending = run(&mut world, "w2", repair);
    assert!(matches!(step(&world, mending, WorkspaceFacts { checks: vec![], ..clean() }), RunChecks(_)));
    let failed = vec![check(CheckOutcome::Fail)];
    assert_eq!(step(&world, mending, failing_check()), rejected(Rejection::Check { failed }), "it repairs nothing");
    world.examine(mending, merged());
    assert_eq!((world.task(repair).status, target_red(&world.board)), (Status::Done, None));
    let after = WorkspaceFacts { target: Some("c0ffee".into()), checks: vec![], ..clean() };
    assert!(matches!(step(&world, session, after), RunChecks(_)), "the queue goes on");
}

/// V9: what is known of the target is known once, and told once.
#[test]
fn v9_results_are_kept_per_commit_and_definition() {
    let mut world = World::new();
    world.target_is(CheckOutcome::Fail);
    let again = Command::ReportTarget { commit: TARGET.into(), results: vec![check(CheckOutcome::Fail)] };
    assert!(world.must(&runner(), again).is_empty());
    assert_eq!(target_red(&world.board).unwrap().commit, TARGET);
    let green = CheckResult { output: String::new(), ..check(CheckOutcome::Pass) };
    world.must(&runner(), Command::ReportTarget { commit: "fixed".into(), results: vec![green] });
    assert_eq!(target_red(&world.board), None);
    world.target_is(CheckOutcome::Fail);
    let mut settings: Settings = (*world.board.settings).clone();
    settings.dod.checks[0].command = "make other".into();
    world.must(&owner(), Command::Configure { settings: Box::new(settings) });
    assert_eq!(target_red(&world.board), None, "it is another check now");
}

/// V10, F104: trouble of our own is told, charged to nobody, and over when the work can be looked at again.
#[test]
fn v10_trouble_of_our_own_is_charged_to_nobody() {
    let mut world = World::new();
    let (task, session) = ended(&mut world);
    world.fact(session, Fact::Examined(Examination::Failed { reason: "no space left".into() }));
    let trouble = Waiting::Trouble { reason: "no space left".into() };
    assert_eq!(waiting(&world.board, world.session(session), world.now), Some(trouble));
    assert_eq!((world.task(task).used.attempts, world.task(task).status), (0, Status::InProgress));
    world.examine(session, merged());
    assert_eq!(world.task(task).status, Status::Done);
}

/// V2, V8: a workspace that its agent destroyed is an attempt; one that is gone is nobody's fault.
#[test]
fn v10_a_destroyed_workspace_is_an_attempt_and_a_missing_one_is_not() {
    let unreadable = Verdict::Rejected(Rejection::Unreadable { reason: "no HEAD".into() });
    for (examination, verdict, attempts) in [
        (Examination::Unreadable { reason: "no HEAD".into() }, unreadable, 1),
        (Examination::Gone, Verdict::None(Inconclusive::Lost), 0),
    ] {
        let mut world = World::new();
        let (task, session) = ended(&mut world);
        world.fact(session, Fact::Examined(examination));
        assert_eq!(world.session(session).verdict, Some(verdict));
        assert_eq!((world.task(task).used.attempts, world.task(task).status), (attempts, Status::InProgress));
    }
}

/// V12, F103: blocked, put back, or below something that is blocked: ended work keeps its place and is judged when
/// that is over.
#[test]
fn v12_ended_work_keeps_its_place() {
    type Change = fn(&mut Team);
    let table: [(Change, Change); 3] = [
        (
            |team| drop(team.world.go(&owner(), team.a, Status::Blocked)),
            |team| drop(team.world.go(&owner(), team.a, Status::InProgress)),
        ),
        (
            |team| drop(team.world.go(&owner(), team.top, Status::Blocked)),
            |team| drop(team.world.go(&owner(), team.top, Status::InProgress)),
        ),
        (
            |team| drop(team.world.go(&team.lead(), team.a, Status::Todo)),
            |team| drop(team.world.go(&team.lead(), team.a, Status::InProgress)),
        ),
    ];
    for (before, after) in table {
        let mut team = Team::with_a_started();
        let session = run(&mut team.world, "w1", team.a);
        before(&mut team);
        assert_eq!(team.world.session(session).status, SessionStatus::Verifying);
        assert!(matches!(step(&team.world, session, clean()), Wait(_)));
        // A merge that happened in the same moment is not forgotten.
        team.world.examine(session, merged());
        assert_ne!(team.world.task(team.a).status, Status::Done);
        after(&mut team);
        assert_eq!(team.world.task(team.a).live, Some(session), "no other session starts");
        assert_eq!(step(&team.world, session, merged()), Conclude(Verdict::Done));
        team.world.examine(session, merged());
        assert_eq!(team.world.task(team.a).status, Status::Done);
    }
}

/// V12: work that ends well in the moment in which its task is blocked is kept; what was broken off is not judged.
#[test]
fn v12_work_that_ends_well_while_it_is_blocked_is_kept() {
    let one_shot = |_: &mut Settings, agents: &mut Vec<AgentSpec>| spec(agents, "w1").mode = Mode::OneShot;
    for (end, kept) in [
        (ProcessEnd::exited(0), true),
        (ProcessEnd::exited(1), false),
        (ProcessEnd::because(EndReason::Stopped), false),
    ] {
        let mut world = World::with(one_shot);
        let task = world.started("w1");
        let session = world.claim("w1", task);
        world.fact(session, Fact::Running);
        world.go(&owner(), task, Status::Blocked);
        world.end(session, end);
        assert_eq!(world.session(session).is_live(), kept);
        world.go(&owner(), task, Status::InProgress);
        assert_eq!(matches!(step(&world, session, clean()), ExaminationStep::Merge), kept);
        assert_eq!(world.task(task).used.attempts, 0);
    }
}

/// V7, V12: so is what only has to be reported: it is judged when its task goes on.
#[test]
fn v12_reported_work_that_was_blocked_is_judged_later() {
    let mut world = World::with(|settings, _| settings.completion = Completion::Reported);
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.report(session, Outcome::Success);
    world.go(&owner(), task, Status::Blocked);
    world.leave(session);
    assert_eq!(world.session(session).status, SessionStatus::Verifying);
    world.go(&owner(), task, Status::InProgress);
    world.fact(session, Fact::Examined(Examination::NotNeeded));
    assert_eq!(world.task(task).status, Status::Done);
}

/// V12: a cancelled task, and one that is given to another, has no use for the work.
#[test]
fn v12_work_of_a_cancelled_or_reassigned_task_is_dropped() {
    let mut world = World::new();
    let (task, session) = ended(&mut world);
    world.go(&owner(), task, Status::Cancelled);
    assert_eq!(world.session(session).status, SessionStatus::Ended);
    let (task, session) = ended(&mut world);
    world.go(&owner(), task, Status::Todo);
    world.assign(&owner(), task, "w2");
    assert_eq!(world.session(session).verdict, Some(Verdict::None(Inconclusive::Stopped)));
    // Merged in the moment in which it was put back: it is done when it is started again.
    let (task, session) = ended(&mut world);
    world.go(&owner(), task, Status::Todo);
    world.examine(session, merged());
    let refusal = world.refusal(&owner(), &crate::team::assigning(task, "w2"));
    assert_eq!(*refusal.0, board::RefusalReason::WorkMerged { task });
}

/// V10, V12: whatever is done to a task while its work is being merged, what became of that is known before anything
/// else happens with it, so nobody does the same work again.
#[test]
fn v12_what_is_being_merged_is_not_dropped() {
    let granted = |world: &mut World| {
        let (task, session) = ended(world);
        world.target_is(CheckOutcome::Pass);
        world.examine(session, clean());
        assert_eq!(world.session(session).merging, clean().candidate);
        (task, session)
    };
    let look = |world: &World, session| examination_step(&world.board, world.session(session), None, world.now);
    let mut world = World::new();
    // Cancelled: the merge is recorded, and the task stays cancelled.
    let (task, session) = granted(&mut world);
    world.go(&owner(), task, Status::Cancelled);
    assert_eq!(look(&world, session), Look);
    assert_eq!(waiting(&world.board, world.session(session), world.now), None);
    world.examine(session, merged());
    assert_eq!(world.session(session).verdict, Some(Verdict::Done));
    assert_eq!(world.task(task).status, Status::Cancelled);
    let lines = board::why(&world.board, task, world.now, &board::RunnerView::Unknown).unwrap().lines;
    assert!(matches!(&lines[..], [board::Line::Cancelled { .. }, board::Line::InTarget { .. }]), "{lines:?}");
    // Cancelled, and the target had moved: the work is not wanted any more.
    let (task, session) = granted(&mut world);
    world.go(&owner(), task, Status::Cancelled);
    world.examine(session, clean());
    assert_eq!(world.session(session).verdict, Some(Verdict::None(Inconclusive::Stopped)));
    // Put back: it is not given to another before that is known, and done when it goes on.
    let (task, session) = granted(&mut world);
    world.go(&owner(), task, Status::Todo);
    let refusal = world.refusal(&owner(), &crate::team::assigning(task, "w2"));
    assert_eq!(*refusal.0, board::RefusalReason::WorkBeingMerged { task });
    assert_eq!(look(&world, session), Look);
    world.examine(session, merged());
    let lines = board::why(&world.board, task, world.now, &board::RunnerView::Unknown).unwrap().lines;
    assert!(lines.iter().any(|line| matches!(line, board::Line::MergedMeanwhile { .. })), "{lines:?}");
    world.go(&owner(), task, Status::InProgress);
    world.fact(session, Fact::Examined(Examination::Found(Box::new(merged()))));
    assert_eq!(world.task(task).status, Status::Done);
    // Trouble on the way says nothing about it.
    let (task, session) = granted(&mut world);
    world.fact(session, Fact::Examined(Examination::Failed { reason: "no space left".into() }));
    world.go(&owner(), task, Status::Cancelled);
    assert_eq!(look(&world, session), Look);
    assert!(world.session(session).merging.is_some());
}

/// S2, V12, B6: work that has ended has no lease that could lapse, whoever did it.
#[test]
fn v12_ended_work_never_lapses() {
    let mut world = World::new();
    let (task, session) = ended(&mut world);
    world.pass(Span::minutes(24 * 60));
    assert!(world.must(&board::Actor::System, Command::Sweep).is_empty());
    world.examine(session, merged());
    assert_eq!(world.task(task).status, Status::Done);
}

/// A1.4: what only waits to be merged keeps its agent from nothing.
#[test]
fn ended_work_takes_no_session_of_its_agent() {
    let mut world = World::new();
    ended(&mut world);
    let other = world.started("w1");
    world.claim("w1", other);
}

/// V11, A5, F101: a conflict costs no attempt and is no lack of progress; ten in a row block the task.
#[test]
fn conflicts_charge_no_attempt_and_have_their_own_bound() {
    let mut world = World::new();
    let task = world.started("w1");
    for n in 1..=10 {
        assert_eq!(world.task(task).status, Status::InProgress, "conflict {n}");
        world.now = world.task(task).not_before.unwrap_or(world.now).max(world.now);
        let session = run(&mut world, "w1", task);
        world.examine(session, WorkspaceFacts { tree: Some(format!("tree {n}")), ..conflict("a.rs") });
        assert_eq!((world.task(task).used.attempts, world.task(task).used.conflicts), (0, n));
        assert_eq!(world.task(task).used.idle_sessions, 0, "it left another tree");
    }
    let block = world.task(task).block.clone().unwrap();
    assert_eq!(block.reason, "fuel_spent: max_conflicts");
}

/// A5: a session that left its branch with another tree has made progress, whatever became of it; one that left the
/// same has not.
#[test]
fn a5_another_tree_is_progress() {
    let one_shot = |_: &mut Settings, agents: &mut Vec<AgentSpec>| spec(agents, "w1").mode = Mode::OneShot;
    for (trees, idle) in [(["one", "two"], 0), (["one", "one"], 1)] {
        let mut world = World::with(one_shot);
        let task = world.started("w1");
        for tree in trees {
            world.now = world.task(task).not_before.unwrap_or(world.now).max(world.now);
            let session = world.claim("w1", task);
            world.fact(session, Fact::Running);
            world.end(session, ProcessEnd::exited(0));
            world.examine(session, WorkspaceFacts { tree: Some(tree.into()), ..failing_check() });
        }
        assert_eq!(world.task(task).used.idle_sessions, idle, "{trees:?}");
    }
}

/// A5, D14: a worker that ends badly is started once more, and fails if it does so again; a time-out fails at once.
#[test]
fn a5_a_bad_end_is_tried_once_more() {
    let bad = [
        ProcessEnd::exited(1),
        ProcessEnd::because(EndReason::Stalled),
        ProcessEnd { signal: Some("SIGSEGV".into()), ..ProcessEnd::because(EndReason::Signaled) },
    ];
    for end in bad {
        let mut world = World::new();
        let task = world.started("w1");
        let session = world.enter("w1", task);
        world.end(session, end.clone());
        assert_eq!((world.task(task).status, world.task(task).used.attempts), (Status::InProgress, 1), "{end:?}");
        world.now = world.task(task).not_before.unwrap_or(world.now).max(world.now);
        let session = world.enter("w1", task);
        world.end(session, end);
        assert_eq!(world.task(task).status, Status::Failed);
    }
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.end(session, ProcessEnd::because(EndReason::TimedOut));
    assert_eq!(world.task(task).status, Status::Failed);
    // What was wrong with the work is not forgotten over it.
    let mut world = World::new();
    let task = world.started("w1");
    let session = run(&mut world, "w1", task);
    world.examine(session, conflict("a.rs"));
    let session = world.enter("w1", task);
    world.end(session, ProcessEnd::exited(1));
    assert_eq!(world.task(task).feedback, Some(Rejection::Conflict { files: vec!["a.rs".into()] }));
    let mut world = World::with(|settings, _| settings.limits.max_attempts = 1);
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.end(session, ProcessEnd::exited(3));
    assert_eq!(world.task(task).conclusion.as_ref().unwrap().reason, "exit code 3", "no attempt is left");
}

/// V11: after two conflicts a task has the right of way on the files in conflict from its next session on: others that
/// touch them wait, and it cannot collide with them again.
#[test]
fn v11_the_right_of_way_is_had_after_two_conflicts() {
    let mut world = World::new();
    let unlucky = world.started("w1");
    for n in 0..2 {
        let session = run(&mut world, "w1", unlucky);
        world.examine(session, WorkspaceFacts { tree: Some(format!("{n}")), ..conflict("a.rs") });
    }
    let other = world.started("w2");
    let ready = run(&mut world, "w2", other);
    let touching = WorkspaceFacts { changed: vec!["a.rs".into(), "b.rs".into()], ..clean() };
    assert_eq!(step(&world, ready, touching.clone()), ExaminationStep::Merge, "nobody has it yet");
    let session = run(&mut world, "w1", unlucky);
    let waits = Waiting::RightOfWay { task: unlucky, files: vec!["a.rs".into()] };
    assert_eq!(step(&world, ready, touching.clone()), Wait(waits.clone()));
    assert_eq!(step(&world, ready, clean()), ExaminationStep::Merge, "other files are free");
    // Once had it is kept from session to session.
    world.examine(session, failing_check());
    assert_eq!(step(&world, ready, touching.clone()), Wait(waits));
    let session = run(&mut world, "w1", unlucky);
    assert_eq!(
        step(&world, session, WorkspaceFacts { changed: vec!["a.rs".into()], ..clean() }),
        ExaminationStep::Merge
    );
    let mut late = world.clone();
    late.pass(late.board.settings.limits.right_of_way);
    assert_eq!(step(&late, ready, touching.clone()), ExaminationStep::Merge, "its time is up");
    world.examine(session, merged());
    assert_eq!(step(&world, ready, touching), ExaminationStep::Merge);
}

/// V11: of two that collide on the same file only one starts; the other starts when the first is merged.
#[test]
fn v11_the_next_session_starts_when_it_has_the_right_of_way() {
    let mut world = World::new();
    let tasks = [("w1", world.started("w1")), ("w2", world.started("w2"))];
    for n in 0..2 {
        for (who, task) in tasks {
            let session = run(&mut world, who, task);
            world.examine(session, WorkspaceFacts { tree: Some(format!("{n}")), ..conflict("a.rs") });
        }
    }
    let first = run(&mut world, "w1", tasks[0].1);
    let held = world.staff("w2");
    assert_eq!((held.action, held.reason), (board::Action::NoChange, board::Reason::RightOfWay));
    assert_eq!(held.until, Some(world.now + world.board.settings.limits.right_of_way));
    // `why` names the task that it waits for, and what that one waits for itself (L9).
    let in_line = |world: &World, holder_waits: Option<Waiting>| {
        let remaining = world.board.settings.limits.right_of_way;
        let line =
            board::Line::StandsInLine { holder: tasks[0].1, files: vec!["a.rs".into()], holder_waits, remaining };
        let why = board::why(&world.board, tasks[1].1, world.now, &board::RunnerView::Unknown).unwrap();
        assert!(why.lines.contains(&line), "{:?}", why.lines);
    };
    in_line(&world, None);
    let reason = "b.rs has changes that are not committed".to_owned();
    let files = Merge::Waiting { reason: reason.clone(), files: vec!["b.rs".into()] };
    world.examine(first, WorkspaceFacts { merge: files, ..clean() });
    in_line(&world, Some(Waiting::Files { reason, files: vec!["b.rs".into()] }));
    world.examine(first, merged());
    let second = run(&mut world, "w2", tasks[1].1);
    world.examine(second, merged());
    assert_eq!(world.task(tasks[1].1).used.conflicts, 0);
    assert!(world.board.tasks.values().all(|task| task.status == Status::Done));
}

/// V11: two that have the right of way on different files never wait for each other.
#[test]
fn v11_the_earlier_right_of_way_goes_first() {
    let mut world = World::new();
    let tasks = [("w1", "a.rs", world.started("w1")), ("w2", "b.rs", world.started("w2"))];
    let mut sessions = Vec::new();
    for (who, file, task) in tasks {
        for n in 0..2 {
            let session = run(&mut world, who, task);
            world.examine(session, WorkspaceFacts { tree: Some(format!("{n}")), ..conflict(file) });
        }
        world.pass(Span::seconds(1));
        sessions.push(run(&mut world, who, task));
    }
    let both = WorkspaceFacts { changed: vec!["a.rs".into(), "b.rs".into()], ..clean() };
    assert_eq!(step(&world, sessions[0], both.clone()), ExaminationStep::Merge);
    assert!(matches!(step(&world, sessions[1], both), Wait(Waiting::RightOfWay { .. })));
}

/// V11, L9: what waits steps aside, and work says behind which task it stands.
#[test]
fn v11_work_stands_behind_what_does_not_wait_itself() {
    let mut world = World::with(|_, agents| spec(agents, "w1").max_sessions = 3);
    let all: Vec<_> = (0..3).map(|_| ended(&mut world)).collect();
    let behind = |world: &World, n: usize| waiting(&world.board, world.session(all[n].1), world.now);
    assert_eq!(behind(&world, 0), None);
    assert_eq!(behind(&world, 2), Some(Waiting::Behind { task: all[0].0 }));
    let merge = Merge::Waiting { reason: "a.rs has changes".into(), files: vec!["a.rs".into()] };
    world.examine(all[0].1, WorkspaceFacts { merge, ..clean() });
    assert!(matches!(behind(&world, 0), Some(Waiting::Files { .. })));
    assert_eq!(behind(&world, 1), None);
    assert_eq!(behind(&world, 2), Some(Waiting::Behind { task: all[1].0 }));
}

/// R12: facts are numbered, and one that is told again changes nothing.
#[test]
fn r12_a_fact_that_is_told_again_changes_nothing() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.claim("w1", task);
    let branch = world.reporting(session, Fact::Branch { branch: "task-1".into(), base: "ba5e".into() });
    assert_eq!(world.must(&runner(), branch.clone()).len(), 1);
    let running = world.reporting(session, Fact::Running);
    world.must(&runner(), running.clone());
    let exit = world.reporting(session, Fact::Exit { end: ProcessEnd::exited(0), usage: None });
    world.report_model(session);
    world.must(&board::Actor::Session(session), Command::FetchTask);
    world.report(session, Outcome::Success);
    world.must(&runner(), exit.clone());
    for told in [branch, running, exit] {
        assert!(world.must(&runner(), told).is_empty());
    }
}

/// R12, G5: what a client has used is known while it runs, each report replaces the one before, and it is no progress.
#[test]
fn r12_usage_is_known_while_the_client_runs() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let usage = |input_tokens| Usage { input_tokens, output_tokens: 1, cost_micros: None };
    for input_tokens in [10, 25] {
        assert_eq!(world.fact(session, Fact::UsageSoFar(usage(input_tokens))).len(), 1);
        assert_eq!(world.session(session).usage, Some(usage(input_tokens)));
    }
    assert!(world.fact(session, Fact::UsageSoFar(usage(25))).is_empty(), "nothing is new");
    let late = world.reporting(session, Fact::UsageSoFar(usage(30)));
    // It ends without having done anything, so nobody must take its usage for a new fact about the task (A3).
    world.end(session, ProcessEnd::exited(0));
    assert_eq!(world.session(session).usage, Some(usage(25)), "a client that is ended need not tell again");
    assert!(world.task(task).not_before.is_some(), "it backs off");
    assert_eq!(world.refused(&runner(), late), board::Code::StaleSession, "its process is over");
}

/// L12, D9: stopping a session blocks its task, also while its work is verified; `restart` does not.
#[test]
fn l12_stopping_a_session_blocks_its_task() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.must(&owner(), Command::StopSession { session, restart: false });
    assert_eq!(world.task(task).block.as_ref().unwrap().reason, "stopped by owner");
    world.end(session, ProcessEnd::because(EndReason::Stopped));
    assert_eq!((world.task(task).status, world.task(task).used.attempts), (Status::Blocked, 0));
    let (task, session) = ended(&mut world);
    world.must(&owner(), Command::StopSession { session, restart: false });
    assert_eq!((world.task(task).status, world.session(session).is_live()), (Status::Blocked, true));
    world.must(
        &owner(),
        Command::MoveTask { task, to: Destination::By(Move::Unblock), reason: None, forced: false, merged: false },
    );
    world.examine(session, merged());
    assert_eq!(world.task(task).status, Status::Done);
}

/// L12: a retry starts at once where the one who retries may start, unless it is to be later.
#[test]
fn l12_a_retry_starts_at_once() {
    for (later, status) in [(false, Status::InProgress), (true, Status::Todo)] {
        let mut world = World::new();
        let task = world.started("w1");
        let session = world.enter("w1", task);
        world.end(session, ProcessEnd::because(EndReason::TimedOut));
        world.must(&owner(), Command::RetryTask { task, reason: None, forced: false, later });
        assert_eq!(world.task(task).status, status);
    }
    let mut team = Team::with_a_started();
    let session = team.world.enter("w1", team.a);
    team.world.end(session, ProcessEnd::because(EndReason::TimedOut));
    team.world.must(&owner(), Command::RetryTask { task: team.a, reason: None, forced: false, later: false });
    assert_eq!(team.world.task(team.a).status, Status::Todo, "its mover starts it");
}

/// L11, F103, F123: a pause lets workers finish and starts nothing; `now` stops them too.
#[test]
fn l11_a_pause_drains() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.must(&owner(), Command::Pause { now: false });
    assert_eq!(board::interrupt(&world.board, world.session(session)), None);
    let other = world.top("w2");
    assert!(world.refused(&owner(), crate::team::moving(other, Status::InProgress)) == board::Code::NotReady);
    world.must(&owner(), Command::Pause { now: true });
    assert_eq!(world.staff("w1").reason, board::Reason::ProjectPaused);
    world.end(session, ProcessEnd::because(EndReason::Stopped));
    assert_eq!((world.task(task).status, world.task(task).used.attempts), (Status::InProgress, 0));
    world.must(&owner(), Command::Resume);
    world.claim("w1", task);
}
