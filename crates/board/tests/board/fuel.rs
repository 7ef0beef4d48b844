//! What happens when an allowance is spent (G1 to G3)?

use board::{
    Actor, Block, Code, Command, EndReason, Event, EventKind, Fuel, Interrupt, NextAction, Party, ProcessEnd, Reason,
    RemainingFuel, Span, Status, StopCause, TaskId, left,
};

use crate::team::{Team, assigning, creating, saving, writing};
use crate::world::{World, owner};
use Status::{Blocked, InProgress, Todo};

fn spent(events: &[Event]) -> Vec<Fuel> {
    events
        .iter()
        .filter_map(|event| if let EventKind::FuelSpent { fuel, .. } = event.what { Some(fuel) } else { None })
        .collect()
}

fn block(reason: &str) -> Option<Block> {
    Some(Block { by: Party::System, reason: reason.into(), before: InProgress })
}

/// G1, G3: the last call is accepted and blocks the task; the reason names the limit; nothing goes on.
#[test]
fn last_call_blocks_the_task_with_the_limit_as_reason() {
    let mut team = Team::of(World::with(|settings, _| settings.limits.max_calls = 10));
    team.give("w1", team.a);
    let worker = team.world.enter("w1", team.a);
    let me = Actor::Session(worker);
    let mut last = Vec::new();
    while team.world.session(worker).calls < 10 {
        last = team.world.must(&me, saving());
    }
    assert_eq!(spent(&last), [Fuel::Calls]);
    assert_eq!(team.world.task(team.a).block, block("fuel_spent: max_calls"));
    assert_eq!(team.world.ask(worker).0, NextAction::Stop(Interrupt::Stopped(StopCause::FuelSpent)));
    assert_eq!(team.world.cannot(worker, saving()), Code::FuelSpent);
    assert_eq!(team.world.cannot(worker, creating(&["one"])), Code::Interrupted);
    team.world.leave(worker);
    team.world.pass(Span::minutes(10));
    assert_eq!(team.world.staff("w1").reason, Reason::BlockedWithoutInProgress);
}

/// G1: a call costs one call, whatever it leads to.
#[test]
fn call_with_several_effects_costs_one_call() {
    let mut team = Team::of(World::new());
    let lead = Actor::Session(team.lead);
    let child = team.world.create(&lead, &["one more"])[0];
    let before = team.world.session(team.lead).calls;
    let events = team.world.must(&lead, assigning(child, "w1"));
    assert_eq!(
        events.iter().map(|event| (event.name(), event.continues)).collect::<Vec<_>>(),
        [("task_assigned", false), ("task_moved", true)]
    );
    assert_eq!(team.world.session(team.lead).calls, before + 1);
}

/// G1: calls that leave no event are counted too, however many at once.
#[test]
fn counted_calls_burn_fuel_without_bound_on_their_number() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let events = world.must(&Actor::Session(session), Command::CountCalls { calls: u32::MAX, repeated: None });
    assert_eq!((spent(&events), world.task(task).status), (vec![Fuel::Calls], Blocked));
    world.must(&Actor::Session(session), Command::Logout);
}

/// G1, G3: the same for messages; a chat is only stopped.
#[test]
fn last_message_blocks_the_task_and_stops_the_chat() {
    let mut world = World::with(|settings, _| settings.limits.max_messages = 2);
    let task = world.started("w1");
    let (session, chat) = (world.enter("w1", task), world.chat("w1"));
    for speaker in [session, chat] {
        let answer = || Command::SendMessage { to: Party::Owner, content: "well".into(), related_task: None };
        world.must(&Actor::Session(speaker), answer());
        let last = world.must(&Actor::Session(speaker), answer());
        assert_eq!(spent(&last), [Fuel::Messages]);
        assert_eq!(world.session(speaker).stop, Some(StopCause::FuelSpent));
    }
    assert_eq!(world.task(task).block, block("fuel_spent: max_messages"));
}

/// N9: twenty refused calls in a row stop the session; nineteen do not, and an end that was reported is not disturbed.
#[test]
fn twenty_refusals_in_a_row_are_no_progress() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let refused = |in_a_row| Command::CountRefusals { in_a_row };
    assert!(world.must(&Actor::Session(session), refused(19)).is_empty());
    let last = world.must(&Actor::Session(session), refused(20));
    assert_eq!((spent(&last), world.task(task).block.clone()), (vec![Fuel::Repeats], block("no_progress")));
    assert_eq!(world.ask(session).0, NextAction::Stop(Interrupt::Stopped(StopCause::NoProgress)));
    assert!(world.must(&Actor::Session(session), refused(21)).is_empty());
}

/// G2: the same answer eight times without a new fact → stop, `no_progress`.
#[test]
fn same_answer_eight_times_is_no_progress() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    for _ in 0..7 {
        assert_eq!(world.ask(session).1, "N2.9");
    }
    let last = world.must(&Actor::Session(session), Command::NextAction);
    assert_eq!((spent(&last), world.task(task).block.clone()), (vec![Fuel::Repeats], block("no_progress")));
    assert_eq!(world.ask(session).0, NextAction::Stop(Interrupt::Stopped(StopCause::NoProgress)));
}

/// G2: a new fact between them starts the count again; other answers between them do not.
#[test]
fn new_fact_starts_the_count_of_answers_again() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    for _ in 0..4 {
        for _ in 0..7 {
            world.ask(session);
        }
        world.must(&Actor::Session(session), saving());
    }
    assert_eq!(world.task(task).status, InProgress);

    let mut team = Team::new();
    let adjust = Command::SelectAction { choice: board::Choice::Adjust, reason: None };
    for round in 0.. {
        match team.world.ask(team.lead).1 {
            "N2.18" => drop(team.world.attempt(&team.lead(), &adjust)),
            "N2.12" => {}
            row => {
                assert_eq!((row, round), ("N2.2", 15));
                break;
            }
        }
    }
}

/// G2: waiting for messages is exempt; asking for messages that are never fetched is not.
#[test]
fn waiting_for_messages_is_exempt_from_repeats() {
    let mut world = World::new();
    let chat = world.chat("w1");
    world.report_model(chat);
    world.must(&Actor::Session(chat), Command::ShowMessages);
    for _ in 0..50 {
        assert_eq!(world.ask(chat).0, NextAction::WaitForMessages);
    }
    world.must(&owner(), writing("w1"));
    world.no_progress(chat);
    assert_eq!(world.ask(chat).0, NextAction::Stop(Interrupt::Stopped(StopCause::NoProgress)));
}

/// G1, G3: sessions in all: the task is blocked, agents cannot start it again, the owner grants more.
#[test]
fn sessions_of_a_task_are_limited_until_the_owner_grants_more() {
    let mut team = Team::of(World::with(|settings, _| settings.limits.max_task_sessions = 2));
    team.give("w1", team.a);
    for _ in 0..2 {
        assert_eq!(team.world.task(team.a).status, InProgress);
        let worker = team.world.enter("w1", team.a);
        team.world.must(&Actor::Session(worker), saving());
        team.world.end(worker, ProcessEnd::because(EndReason::Lost));
    }
    assert_eq!(team.world.task(team.a).block, block("fuel_spent: max_task_sessions"));
    let lift = crate::team::moving(team.a, InProgress);
    assert_eq!(team.world.refused(&team.lead(), lift.clone()), Code::NotReady);
    team.world.must(&owner(), lift);
    assert_eq!(team.world.task(team.a).used.sessions, 0);
    team.world.claim("w1", team.a);
}

/// G1, A3: sessions without a new fact.
#[test]
fn idle_sessions_are_fuel() {
    let mut world = World::with(|settings, _| settings.limits.max_idle_sessions = 1);
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let events = world.end(session, ProcessEnd::because(EndReason::Lost));
    assert_eq!((spent(&events), world.task(task).block.clone()), (vec![Fuel::IdleSessions], block("no_progress")));
}

/// G3: whatever blocks a child wakes its manager.
#[test]
fn blocked_child_wakes_its_manager() {
    let mut team = Team::with_a_started();
    team.world.go(&team.lead(), team.b, Status::Cancelled);
    team.leave_waiting();
    let worker = team.world.enter("w1", team.a);
    team.world.no_progress(worker);
    assert_eq!(team.world.staff("lead").reason, Reason::WorkerBlocked);
}

/// G1: what is left is shown.
#[test]
fn what_is_left_is_counted_down() {
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    team.world.deliver(worker, crate::team::failing_check());
    let shown = |id: TaskId| left(&team.world.board, team.world.task(id));
    let full = RemainingFuel { attempts: 3, retries_by_agents: 3, idle_sessions: 3, sessions: 50, children: 30 };
    assert_eq!(shown(team.b), full);
    assert_eq!(shown(team.a), RemainingFuel { attempts: 2, sessions: 49, ..full });
    assert_eq!(shown(team.top), RemainingFuel { sessions: 49, children: 28, ..full });
}

/// G1: every fuel has a name and a reason; those that mean no progress say so.
#[test]
fn every_fuel_has_a_reason() {
    let reasons: Vec<_> = Fuel::ALL.iter().map(|fuel| fuel.reason()).collect();
    let named = [
        "fuel_spent: max_calls",
        "fuel_spent: max_messages",
        "no_progress",
        "no_progress",
        "fuel_spent: max_task_sessions",
        "fuel_spent: max_conflicts",
        "budget: session",
        "budget: task",
        "budget: day",
    ];
    assert_eq!(reasons, named);
}

/// G3: attempts spent fail; they do not block, and a manager's retry is needed.
#[test]
fn spent_attempts_fail_instead_of_blocking() {
    let mut world = World::with(|settings, _| settings.limits.max_attempts = 1);
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.deliver(session, crate::team::failing_check());
    assert_eq!(world.task(task).status, Status::Failed);
    assert_eq!(world.staff("w1").reason, Reason::NoInProgressTask);
    world.go(&owner(), task, Todo);
}

/// G2: how often an answer may be given again, before the next one blocks the work.
#[test]
fn repeats_are_counted_down_to_the_one_that_blocks() {
    let mut world = World::with(|settings, _| settings.limits.max_repeats = 4);
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let left = |world: &World, action| board::repeats_left(&world.board, world.session(session), action);
    let (action, _) = world.peek(session);
    assert_eq!(left(&world, action), None, "this would be the first time");
    for expected in [2, 1, 0] {
        world.ask(session);
        assert_eq!(left(&world, action), Some(expected));
    }
    world.ask(session);
    assert_eq!(world.task(task).status, Blocked);
}
