//! Do the rules that were mended (docs/adr/0004) lead out of the places where they used to end?

use Status::{Cancelled, Done, Failed, InProgress, Todo};
use board::{
    Action, Actor, AgentSpec, Choice, Code, Command, Destination, EndReason, Inconclusive, NewTask, NextAction,
    Outcome, Party, ProcessEnd, Reason, Settings, Span, Status, TaskId, Verdict,
};

use crate::team::{Team, commenting, creating, depending, moving, writing};
use crate::world::{World, agent, owner, project, roster};

/// A2, F6, N10: what happens between the choice to wait and its delivery is not slept through.
#[test]
fn a_worker_that_finishes_before_wait_is_delivered_is_told_at_once() {
    let mut team = Team::with_a_started();
    team.world.go(&team.lead(), team.b, Cancelled);
    team.world.select(team.lead, Choice::Wait);
    team.world.complete("w1", team.a);
    assert_eq!(team.world.ask(team.lead).0, NextAction::ReportCompletion);
}

/// N2.11, N6: a task that came back in the middle of its steps is gone on with, not reworked.
#[test]
fn open_steps_come_before_rework() {
    let mut world = World::new();
    let task = world.started("w1");
    let first = world.enter("w1", task);
    let steps = world.create(&Actor::Session(first), &["one", "two"]);
    world.go(&Actor::Session(first), steps[0], InProgress);
    world.end(first, ProcessEnd::because(EndReason::TimedOut));
    assert_eq!(world.task(task).status, Failed);
    world.must(
        &owner(),
        Command::MoveTask {
            task,
            to: Destination::By(board::lifecycle::Move::Retry),
            reason: None,
            forced: false,
            merged: false,
        },
    );
    world.go(&owner(), task, InProgress);
    let second = world.enter("w1", task);
    assert_eq!(world.ask(second), (NextAction::ExecuteSubtask(steps[0]), "N2.15"));
}

/// L1: retry is for what has failed; nothing else is set back by it.
#[test]
fn retry_refuses_what_has_not_failed() {
    let mut world = World::new();
    let task = world.started("w1");
    let retry = Command::MoveTask {
        task,
        to: Destination::By(board::lifecycle::Move::Retry),
        reason: None,
        forced: true,
        merged: false,
    };
    assert_eq!(world.refused(&owner(), retry.clone()), Code::StateConflict);
    world.crash("w1", task);
    world.must(&owner(), retry);
    assert_eq!(world.task(task).status, Todo);
}

/// L6: an idempotency key is its creator's and its parent's, so that the next task may use it again.
#[test]
fn keys_of_one_task_do_not_hide_those_of_another() {
    let mut world = World::new();
    let batch = Command::CreateTasks { parent: None, tasks: vec![NewTask::titled("x")], key: Some("batch-1".into()) };
    for _ in 0..2 {
        let task = world.started("w1");
        let session = world.enter("w1", task);
        assert_eq!(world.must(&Actor::Session(session), batch.clone()).len(), 1);
        assert_eq!(world.must(&Actor::Session(session), batch.clone()), []);
        world.go(&owner(), task, Cancelled);
        world.end(session, ProcessEnd::exited(0));
    }
}

/// V2.1, V2.3: a manager that reports after all is heard, also if it was told to wait before.
#[test]
fn a_report_counts_more_than_a_wait() {
    let mut team = Team::with_a_started();
    team.world.select(team.lead, Choice::Wait);
    team.world.ask(team.lead);
    team.world.report(team.lead, Outcome::Blocked);
    team.world.leave(team.lead);
    let verdict = team.world.session(team.lead).verdict.clone();
    assert!(matches!(verdict, Some(Verdict::Blocked { .. })), "{verdict:?}");
}

/// A3: a manager that is woken, looks and waits again is not idle, however often the owner writes.
#[test]
fn waiting_again_never_blocks_a_manager() {
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    team.leave_waiting();
    for _ in 0..4 {
        team.world.must(&owner(), commenting(team.top));
        team.world.tend(Span::minutes(1));
        let lead = team.back();
        team.leave_waiting();
        let waited = Some(Verdict::None(Inconclusive::Waiting));
        assert_eq!(team.world.session(lead).verdict, waited);
    }
    assert_eq!((team.world.task(team.top).status, team.world.session(worker).is_live()), (InProgress, true));
}

/// N4, A1.7: a manager may wait for work outside its own task, and is woken when that is done.
#[test]
fn waiting_for_work_outside_helps() {
    let mut team = Team::new();
    let outside = team.world.started("w3");
    for child in [team.a, team.b] {
        team.world.assign(&team.lead(), child, "w1");
        team.world.must(&team.lead(), depending(child, outside));
    }
    assert_eq!(team.world.ask(team.lead).0, NextAction::SituationalAwareness);
    team.leave_waiting();
    assert_eq!(team.world.staff("lead").reason, Reason::WaitingForWorkers);
    team.world.complete("w3", outside);
    assert_eq!(team.world.task(outside).status, Done);
    team.world.pass(Span::minutes(1));
    assert_eq!(team.world.staff("lead").reason, Reason::WorkersProgressed);
}

/// L5: what was cancelled makes nobody wait for ever.
#[test]
fn a_cancelled_child_is_no_part_of_a_cycle() {
    let mut world = World::new();
    let (parent, other) = (world.top("lead"), world.top("w1"));
    let child = world.new_task(&owner(), Some(parent), NewTask::titled("child"));
    world.must(&owner(), Command::ChangeDependencies { task: child, add: vec![other], remove: vec![], forced: true });
    assert_eq!(world.refused(&owner(), depending(other, parent)), Code::Cycle);
    world.go(&owner(), child, Cancelled);
    world.must(&owner(), depending(other, parent));
}

/// L6, G4: in its chat a manager proposes only so many tasks at once.
#[test]
fn a_managers_proposals_are_bounded() {
    let mut world = World::new();
    world.must(&owner(), writing("lead"));
    let chat = world.chat("lead");
    world.must(&Actor::Session(chat), creating(&["1", "2", "3", "4", "5"]));
    assert_eq!(world.cannot(chat, creating(&["6"])), Code::LimitReached);
}

/// F22: settings and roster are applied together, or neither.
#[test]
fn definitions_are_all_or_nothing() {
    let mut world = World::new();
    world.started("w1");
    let settings = Box::new(Settings { name: "renamed".into(), ..Settings::new(project()) });
    let without: Vec<AgentSpec> = roster().into_iter().filter(|spec| spec.id != agent("w1")).collect();
    let before = world.board.clone();
    assert_eq!(
        world.refused(&owner(), Command::Define { settings: settings.clone(), agents: without }),
        Code::StateConflict
    );
    assert_eq!(world.board, before);
    world.must(&owner(), Command::Define { settings, agents: roster() });
    assert_eq!(world.board.settings.name, "renamed");
}

/// A1.3: a session that somebody drives by hand is not a runner's to stop.
#[test]
fn hand_driven_sessions_are_left_to_their_driver() {
    let mut world = World::new();
    let task = world.top("w1");
    let claim = Command::Claim {
        agent: agent("w1"),
        purpose: board::Purpose::Task(task),
        driver: board::Driver::Hand,
        credential: None,
        forced: false,
    };
    world.must(&owner(), claim);
    world.must(&owner(), moving(task, Status::Blocked));
    assert_eq!(world.staff("w1").action, Action::NoChange);
    assert_eq!(world.board.mover(world.task(TaskId(1))), Party::Owner);
}

/// L6, V7: an agent neither loosens what done means, nor hands out what it proposed for itself.
#[test]
fn agents_do_not_loosen_what_done_means() {
    let mut team = Team::new();
    let new = |change: fn(&mut NewTask)| {
        let mut task = NewTask::titled("loose");
        change(&mut task);
        Command::CreateTasks { parent: None, tasks: vec![task], key: None }
    };
    let edit = board::TaskEdit { task_type: Some(board::TaskType::Research), ..board::TaskEdit::default() };
    for loose in [
        new(|task| task.completion = Some(board::Completion::Reported)),
        new(|task| task.allow_empty = true),
        Command::EditTask { task: team.a, edit, forced: false },
    ] {
        assert_eq!(team.world.cannot(team.lead, loose), Code::NotAllowed);
    }
    team.world.must(&owner(), writing("lead"));
    let chat = team.world.chat("lead");
    assert_eq!(team.world.cannot(chat, new(|task| task.assignee = Some(agent("w1")))), Code::NotAllowed);
}

/// L5: a task waits for a bounded number of others.
#[test]
fn dependencies_are_bounded() {
    let mut world = World::new();
    let add: Vec<_> = (0..51).map(|_| world.top("w1")).collect();
    let task = world.top("w2");
    let depend =
        |add: &[TaskId]| Command::ChangeDependencies { task, add: add.to_vec(), remove: vec![], forced: false };
    assert_eq!(world.refused(&owner(), depend(&add)), Code::LimitReached);
    world.must(&owner(), depend(&add[..50]));
}

/// L7, R8: who reports to whom is judged by the board, whatever entrance the roster comes through.
#[test]
fn a_roster_whose_parents_are_no_managers_is_refused() {
    let world = World::new();
    for (id, parent) in [("w1", "w2"), ("w1", "nobody"), ("lead", "sub"), ("lead", "lead")] {
        let mut agents = roster();
        agents.iter_mut().find(|spec| spec.id == agent(id)).unwrap().parent = Some(agent(parent));
        assert_eq!(world.refused(&owner(), Command::ApplyRoster { agents }), Code::InvalidArgument, "{id} {parent}");
    }
}

/// L7: an agent that left with open tasks does not come back with another rank.
#[test]
fn rank_is_kept_across_leaving() {
    let mut world = World::new();
    world.top("w2");
    let without: Vec<_> = roster().into_iter().filter(|spec| spec.id != agent("w2")).collect();
    world.must(&owner(), Command::ApplyRoster { agents: without });
    let mut agents = roster();
    agents.iter_mut().find(|spec| spec.id == agent("w2")).unwrap().hierarchy = board::Hierarchy::Manager;
    assert_eq!(world.refused(&owner(), Command::ApplyRoster { agents }), Code::StateConflict);
}

/// A3, F34: a misread reset time parks an account for a week at most, and no report shortens another.
#[test]
fn parking_is_bounded_and_never_shortened_by_a_runner() {
    let mut world = World::new();
    let park = |until| Command::ParkAccount { account: "claude-code".into(), until };
    world.must(&crate::world::runner(), park(board::Timestamp(i64::MAX)));
    let week = world.now + Span::minutes(7 * 24 * 60);
    assert_eq!(world.board.parked.get("claude-code"), Some(&week));
    world.must(&crate::world::runner(), park(world.now));
    assert_eq!(world.board.parked.get("claude-code"), Some(&week));
    world.must(&owner(), park(world.now));
    assert_eq!(world.board.parked.get("claude-code"), Some(&world.now));
}

/// F21: two notes in one millisecond have an order, and reading the task again resets nothing.
#[test]
fn the_order_of_events_decides_not_their_time() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let worker = Actor::Session(session);
    let steps = world.create(&worker, &["one", "two"]);
    let note = |text: &str| board::Context { progress: Some(text.into()), ..board::Context::default() };
    for text in ["first", "second"] {
        world.must(&worker, Command::SaveContext { context: note(text), decision: None });
    }
    assert_eq!(world.task(task).context, Some(note("second")));
    let before = world.peek(session);
    world.must(&worker, Command::FetchTask);
    assert_eq!((world.peek(session), before.0), (before, NextAction::StartSubtask(steps[0])));
}

/// V1: a session keeps what was observed of it; what its agent claimed is kept for the record only.
#[test]
fn evidence_is_kept_beside_the_claim() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let facts = crate::team::failing_check();
    world.deliver(session, facts.clone());
    let record = world.session(session);
    assert_eq!(record.workspace, Some(facts));
    assert_eq!(record.end, Some(ProcessEnd::exited(0)));
    assert_eq!(record.report.as_ref().map(|report| report.result), Some(Outcome::Success));
    assert!(matches!(record.verdict, Some(Verdict::Rejected(board::Rejection::Check { .. }))));
    assert_eq!(world.task(task).status, InProgress);
}
