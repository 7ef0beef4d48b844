//! Does a whole piece of work come to its end by doing nothing but what is told (N3 to N7)?

use board::{
    Actor, Choice, Code, Command, EndReason, Inconclusive, NextAction, Outcome, ProcessEnd, Reason, Rejection,
    SessionId, Status, TaskId, Verdict,
};

use crate::team::{Team, creating, depending, failing_check, merged, moving};
use crate::world::{World, owner};
use Status::{Blocked, Cancelled, Done, Failed, InProgress, Todo};

/// An obedient worker: does what it is told until it is told to leave, and returns the rows.
fn obey_as_worker(world: &mut World, session: SessionId) -> Vec<&'static str> {
    let me = Actor::Session(session);
    let mut rows = Vec::new();
    loop {
        let (step, row) = world.ask(session);
        rows.push(row);
        match step {
            NextAction::ReportModel => world.report_model(session),
            NextAction::GetTask => drop(world.must(&me, Command::FetchTask)),
            NextAction::CreateSubtasks => drop(world.must(&me, creating(&["one", "two"]))),
            NextAction::StartSubtask(step) => drop(world.go(&me, step, InProgress)),
            NextAction::ExecuteSubtask(step) => drop(world.go(&me, step, Done)),
            NextAction::ReportCompletion | NextAction::Rework | NextAction::Work => {
                drop(world.report(session, Outcome::Success))
            }
            NextAction::LogOut => return rows,
            step => panic!("a worker is told {step:?}"),
        }
    }
}

/// An obedient manager: assigns and starts whatever it can, waits when it can, reports at the end.
fn obey_as_manager(world: &mut World, session: SessionId, team: &[&str]) -> Vec<&'static str> {
    let me = Actor::Session(session);
    let mut rows = Vec::new();
    loop {
        let (step, row) = world.ask(session);
        rows.push(row);
        match step {
            NextAction::ReportModel => world.report_model(session),
            NextAction::GetTask => drop(world.must(&me, Command::FetchTask)),
            NextAction::CreateSubtasks => {
                let children = world.create(&me, &["a", "b"]);
                world.must(&me, depending(children[1], children[0]));
            }
            NextAction::SituationalAwareness => {
                let choices =
                    [Choice::Start, Choice::Wait].map(|choice| Command::SelectAction { choice, reason: None });
                assert!(choices.iter().any(|choice| world.attempt(&me, choice).is_ok()));
            }
            NextAction::Start => start_what_is_ready(world, &me, team),
            NextAction::ReportCompletion => drop(world.report(session, Outcome::Success)),
            NextAction::Wait | NextAction::LogOut => return rows,
            step => panic!("a manager is told {step:?}"),
        }
    }
}

fn start_what_is_ready(world: &mut World, me: &Actor, team: &[&str]) {
    let Actor::Session(session) = me else { panic!("{me:?}") };
    let task = world.task(world.session(*session).task().unwrap()).clone();
    for (child, to) in task.children.iter().zip(team) {
        if world.task(*child).assignee.is_none() {
            world.assign(me, *child, to);
        }
        let _ = world.attempt(me, &moving(*child, InProgress));
    }
}

fn work(world: &mut World, agent: &str, task: TaskId) {
    let session = world.claim(agent, task);
    obey_as_worker(world, session);
    world.leave(session);
    world.examine(session, merged());
}

/// N2, N3, V2: the whole loop of a worker, in one session.
#[test]
fn worker_loop_ends_in_done() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.claim("w1", task);
    let rows = obey_as_worker(&mut world, session);
    assert_eq!(rows, ["N2.3", "N2.8", "N2.9", "N2.16", "N2.15", "N2.16", "N2.15", "N2.14", "N2.7"]);
    world.leave(session);
    world.examine(session, merged());
    assert_eq!(world.task(task).status, Done);
    assert_eq!(world.staff("w1").reason, Reason::NoInProgressTask);
}

/// N2, N4, A1, A2: a manager with two workers and a dependency: splits, starts, waits, is woken, reports.
#[test]
fn manager_loop_with_a_dependency_ends_in_done() {
    let mut world = World::new();
    let top = world.started("lead");
    let team = ["w1", "w2"];
    let first = world.claim("lead", top);
    let rows = obey_as_manager(&mut world, first, &team);
    assert_eq!(rows, ["N2.3", "N2.8", "N2.9", "N2.18", "N2.12", "N2.18", "N2.13"]);
    world.leave(first);
    let [a, b] = [TaskId(2), TaskId(3)];
    assert_eq!([a, b].map(|id| world.task(id).status), [InProgress, Todo]);
    assert_eq!(world.staff("lead").reason, Reason::WaitingForWorkers);

    work(&mut world, "w1", a);
    assert_eq!(world.staff("lead").reason, Reason::WorkersProgressed);
    let second = world.claim("lead", top);
    let rows = obey_as_manager(&mut world, second, &team);
    assert_eq!(rows, ["N2.3", "N2.8", "N2.18", "N2.12", "N2.18", "N2.13"]);
    world.leave(second);

    work(&mut world, "w2", b);
    let third = world.claim("lead", top);
    assert_eq!(obey_as_manager(&mut world, third, &team), ["N2.3", "N2.8", "N2.14", "N2.7"]);
    world.leave(third);
    assert_eq!(world.task(top).status, Done);
    assert_eq!(world.session(third).verdict, Some(Verdict::Done));
}

/// L6, F14: a sub-manager splits its own task and reports to the manager above.
#[test]
fn sub_manager_completes_its_part() {
    let mut world = World::new();
    let top = world.started("lead");
    let lead = world.claim("lead", top);
    obey_as_manager(&mut world, lead, &["sub", "w2"]);
    world.leave(lead);
    let (a, b) = (TaskId(2), TaskId(3));
    let sub = world.claim("sub", a);
    obey_as_manager(&mut world, sub, &["w3", "w3"]);
    world.leave(sub);
    for deep in [TaskId(4), TaskId(5)] {
        assert_eq!(world.task(deep).depth, 2);
        work(&mut world, "w3", deep);
        let sub = world.claim("sub", a);
        obey_as_manager(&mut world, sub, &["w3", "w3"]);
        world.leave(sub);
    }
    assert_eq!(world.task(a).status, Done);
    assert_eq!(world.task(b).status, Todo);
    assert_eq!(world.staff("lead").reason, Reason::WorkersProgressed);
}

/// F6, F8, A1.6: a blocked child wakes the manager, who lifts the block; the worker goes on.
#[test]
fn blocked_child_is_resolved_by_its_manager() {
    let mut team = Team::with_a_started();
    team.world.go(&team.lead(), team.b, Cancelled);
    team.leave_waiting();
    let worker = team.world.enter("w1", team.a);
    team.world.report(worker, Outcome::Blocked);
    team.world.leave(worker);
    assert_eq!(team.world.staff("lead").reason, Reason::WorkerBlocked);
    let lead = team.back();
    assert_eq!(team.world.ask(lead), (NextAction::ReviewBlocks, "N2.17"));
    team.world.go(&team.lead(), team.a, InProgress);
    assert_eq!(team.world.ask(lead).1, "N2.18");
    team.leave_waiting();
    team.world.complete("w1", team.a);
}

/// V2, A1.6: a failed child wakes the manager, who retries or gives it up.
#[test]
fn failed_child_is_retried_or_given_up_by_its_manager() {
    let mut team = Team::with_a_started();
    team.leave_waiting();
    team.world.crash("w1", team.a);
    assert_eq!(team.world.task(team.a).status, Failed);
    assert_eq!(team.world.staff("lead").reason, Reason::WorkerBlocked);
    team.back();
    team.world.go(&team.lead(), team.a, Todo);
    team.world.select(team.lead, Choice::Start);
    assert_eq!(team.world.ask(team.lead).0, NextAction::Start);
    team.give("w2", team.b);
    team.world.go(&team.lead(), team.a, Cancelled);
    team.world.complete("w2", team.b);
    assert_eq!(team.world.ask(team.lead).0, NextAction::ReportCompletion);
    team.world.deliver(team.lead, merged());
    assert_eq!(team.world.task(team.top).status, Done);
}

/// V3, N2.11: a rejected task goes back to its worker with the feedback, and is mended.
#[test]
fn rejected_work_is_reworked_to_done() {
    let mut world = World::new();
    let task = world.started("w1");
    let first = world.claim("w1", task);
    obey_as_worker(&mut world, first);
    world.leave(first);
    world.examine(first, failing_check());
    assert_eq!(world.task(task).status, InProgress);
    assert!(matches!(world.task(task).feedback, Some(Rejection::Check { .. })));
    let second = world.claim("w1", task);
    assert_eq!(obey_as_worker(&mut world, second), ["N2.3", "N2.8", "N2.11", "N2.7"]);
    world.leave(second);
    world.examine(second, merged());
    assert_eq!((world.task(task).status, &world.task(task).feedback), (Done, &None));
}

/// N6, S2: a session that is lost in the middle is followed by one that goes on where the facts are.
#[test]
fn new_session_goes_on_where_the_lost_one_was() {
    let mut world = World::new();
    let task = world.started("w1");
    let first = world.enter("w1", task);
    let steps = world.create(&Actor::Session(first), &["one", "two"]);
    world.go(&Actor::Session(first), steps[0], InProgress);
    world.go(&Actor::Session(first), steps[0], Done);
    world.go(&Actor::Session(first), steps[1], InProgress);
    world.pass(board::Span::seconds(61));
    world.must(&Actor::System, Command::Sweep);
    assert_eq!(world.session(first).verdict, Some(Verdict::None(Inconclusive::Lost)));
    let second = world.claim("w1", task);
    assert_eq!(obey_as_worker(&mut world, second), ["N2.3", "N2.8", "N2.15", "N2.14", "N2.7"]);
}

/// N6: the same board gives the same answer, also after a snapshot and after a replay.
#[test]
fn same_board_gives_the_same_answer_after_a_restart() {
    let team = Team::with_a_started();
    let decoded = board::snapshot::decode(&board::snapshot::encode(&team.world.board)).unwrap();
    let answer = |board| board::next_action(board, team.lead, team.world.now);
    assert_eq!(answer(&decoded), answer(&team.world.board));
}

/// N4, F5: a choice that cannot help is refused, with a hint that names another.
#[test]
fn choice_that_cannot_help_is_refused() {
    let mut team = Team::new();
    let select = |choice| Command::SelectAction { choice, reason: None };
    assert_eq!(team.world.cannot(team.lead, select(Choice::Wait)), Code::CannotHelp);
    team.give("w1", team.a);
    team.give("w2", team.b);
    assert_eq!(team.world.cannot(team.lead, select(Choice::Start)), Code::CannotHelp);
    team.world.select(team.lead, Choice::Wait);
    team.world.select(team.lead, Choice::Adjust);
    let worker = team.world.enter("w1", team.a);
    assert_eq!(team.world.cannot(worker, select(Choice::Adjust)), Code::NotAllowed);
}

/// N4: a child under verification is still worth waiting for.
#[test]
fn child_under_verification_is_worth_waiting_for() {
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    team.world.report(worker, Outcome::Success);
    team.world.leave(worker);
    assert_eq!(team.world.session(worker).status, board::SessionStatus::Verifying);
    team.world.select(team.lead, Choice::Wait);
}

/// N5: `tools` is advice; a call that the rules allow is accepted in any state.
#[test]
fn calls_that_the_rules_allow_are_accepted_though_not_offered() {
    let mut team = Team::new();
    assert_eq!(team.world.ask(team.lead).0, NextAction::SituationalAwareness);
    team.give("w1", team.a);
    let chat = team.world.chat("lead");
    team.world.go(&Actor::Session(chat), team.a, Blocked);
}

/// N7, F24: the interrupt comes before the tool, which then has no effect, and meets that session alone.
#[test]
fn interrupted_call_has_no_effect_and_other_sessions_go_on() {
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    let chat = team.world.chat("w1");
    team.world.go(&team.lead(), team.a, Blocked);
    let before = team.world.board.clone();
    let done = Command::ReportCompleted { result: Outcome::Success, summary: "done".into(), next_steps: None };
    assert_eq!(team.world.cannot(worker, done), Code::Interrupted);
    assert_eq!(team.world.board, before);
    team.world.must(&Actor::Session(worker), Command::FetchTask);
    team.world.report_model(chat);
    assert_eq!(team.world.ask(chat).1, "N2.4");
    assert_eq!(team.world.ask(team.lead).1, "N2.18");
}

/// F25, A1.1: a paused project stops work, not talk.
#[test]
fn paused_project_still_chats() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.must(&owner(), Command::Pause { now: true });
    assert_eq!(world.ask(session).1, "N2.2");
    world.end(session, ProcessEnd::because(EndReason::Stopped));
    let chat = world.chat("w1");
    world.report_model(chat);
    assert_eq!(world.ask(chat).1, "N2.4");
}
