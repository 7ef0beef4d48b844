//! Does work stop when its budget is spent, and go on when the owner says so (G5)?

use std::collections::BTreeMap;

use board::{
    Action, Allowance, Budget, Command, EventKind, Fact, Interrupt, Price, ProcessEnd, Reason, SessionId, Span, Status,
    StopCause, TaskId, Timestamp, Usage,
};

use crate::world::{World, owner, runner, spec};

/// One-shot workers, whose clients tell what they cost.
fn world(budget: Budget) -> World {
    World::with(|settings, roster| {
        settings.budget = budget;
        spec(roster, "w1").model = Some("gpt-5.5".into());
    })
}

fn cents(cents: u64) -> Allowance {
    Allowance { cost_micros: Some(cents * 10_000), tokens: None }
}

fn uses(world: &mut World, session: SessionId, cents: u64) {
    let usage = Usage { input_tokens: 1_000, output_tokens: 100, cost_micros: Some(cents * 10_000) };
    world.fact(session, Fact::UsageSoFar(usage));
}

fn is_stopped(world: &World, session: SessionId) -> bool {
    let stopped = Some(Interrupt::Stopped(StopCause::FuelSpent));
    board::interrupt(&world.board, world.session(session)) == stopped
}

fn blocked(world: &World, task: TaskId) -> Option<&str> {
    world.task(task).block.as_ref().map(|block| block.reason.as_str())
}

/// G5, F127: a session that has used up what it may is stopped while it runs, and its task says which budget it was.
#[test]
fn a_session_that_spent_its_budget_is_stopped() {
    let mut world = world(Budget { session: cents(50), ..Budget::default() });
    let task = world.started("w1");
    let session = world.claim("w1", task);
    uses(&mut world, session, 49);
    assert!(!is_stopped(&world, session) && world.task(task).status == Status::InProgress);
    uses(&mut world, session, 50);
    assert!(is_stopped(&world, session));
    assert_eq!((world.task(task).status, blocked(&world, task)), (Status::Blocked, Some("budget: session")));
    // More of it changes nothing, and costs no second event.
    uses(&mut world, session, 51);
    let stops = world.log.iter().filter(|event| matches!(event.what, EventKind::FuelSpent { .. })).count();
    assert_eq!(stops, 1);
    world.end(session, ProcessEnd::because(board::EndReason::Stopped));
    assert_eq!(world.task(task).used.attempts, 0, "it is nobody's failed attempt");
}

/// G5: all sessions of a task count together, until the owner lets it go on.
#[test]
fn a_tasks_sessions_share_its_budget() {
    let mut world = world(Budget { task: cents(100), ..Budget::default() });
    let task = world.started("w1");
    for (number, spent) in [60, 60].into_iter().enumerate() {
        let session = world.claim("w1", task);
        uses(&mut world, session, spent);
        assert_eq!(is_stopped(&world, session), number == 1);
        world.end(session, ProcessEnd::because(board::EndReason::Stopped));
        world.now = world.staff("w1").until.unwrap_or(world.now);
    }
    assert_eq!(blocked(&world, task), Some("budget: task"));
    assert_eq!(world.task(task).spent.cost_micros, 1_200_000);
    world.go(&owner(), task, Status::InProgress);
    let session = world.claim("w1", task);
    uses(&mut world, session, 90);
    assert!(!is_stopped(&world, session), "unblocking grants it again");
    assert_eq!(world.task(task).spent.cost_micros, 2_100_000, "what it has cost in all is known");
}

/// G5: when the day's budget is spent nothing starts, and the next day it does.
#[test]
fn a_day_has_a_budget_and_an_end() {
    let mut world = world(Budget { day: cents(100), ..Budget::default() });
    let (first, second) = (world.started("w1"), world.started("w2"));
    let session = world.claim("w1", first);
    uses(&mut world, session, 100);
    assert_eq!(blocked(&world, first), Some("budget: day"));
    let staffing = world.staff("w2");
    assert_eq!((staffing.action, staffing.reason), (Action::NoChange, Reason::BudgetSpent));
    let tomorrow = staffing.until.unwrap();
    assert!(tomorrow > world.now && tomorrow - world.now <= Span::minutes(24 * 60));
    let claim = crate::team::claiming("w2", second);
    assert!(!world.allows(&runner(), &claim));
    world.now = tomorrow;
    assert_eq!(world.staff("w2").action, Action::Start);
    world.claim("w2", second);
}

/// G5: where a client does not tell what it costs its model's price counts, and without one only its tokens do.
#[test]
fn prices_stand_in_for_what_clients_do_not_tell() {
    let told_nothing = Usage { input_tokens: 900_000, output_tokens: 100_000, cost_micros: None };
    let spent = |prices: Vec<Price>| {
        let mut world = World::with(|settings, roster| {
            settings.prices = prices;
            settings.budget.task = Allowance { tokens: Some(2_000_000), cost_micros: Some(2_000_000) };
            spec(roster, "w1").model = Some("gpt-5.5".into());
        });
        let task = world.started("w1");
        let session = world.claim("w1", task);
        world.fact(session, Fact::UsageSoFar(told_nothing));
        (world.task(task).spent, world.task(task).status)
    };
    let (unknown, status) = spent(Vec::new());
    assert_eq!((unknown.cost_micros, unknown.unpriced_tokens, status), (0, 1_000_000, Status::InProgress));
    let price = Price { model: "gpt-5*".into(), input_micros: 1_000_000, output_micros: 20_000_000 };
    let (known, status) = spent(vec![price]);
    assert_eq!((known.cost_micros, known.estimated_micros, status), (2_900_000, 2_900_000, Status::Blocked));
}

/// G5: a usage that is told again, or lower, takes nothing away and counts nothing twice.
#[test]
fn usage_is_counted_once() {
    let mut world = world(Budget::default());
    let task = world.started("w1");
    let session = world.claim("w1", task);
    [10, 10, 30, 20].into_iter().for_each(|cents| uses(&mut world, session, cents));
    let usage = Usage { input_tokens: 1_000, output_tokens: 100, cost_micros: Some(350_000) };
    world.fact(session, Fact::Exit { end: ProcessEnd::exited(0), usage: Some(usage) });
    let total = world.board.days.values().fold(0, |sum, day| sum + day.cost_micros);
    assert_eq!((world.session(session).spent.cost_micros, total), (350_000, world.task(task).spent.cost_micros));
    assert!((350_000..=450_000).contains(&total), "{total}");
}

/// W8, F124: a runner says with each renewal how long an agent has printed nothing; whatever its clock says.
#[test]
fn what_prints_is_heard() {
    let mut world = world(Budget::default());
    let task = world.started("w1");
    let session = world.claim("w1", task);
    world.pass(Span::seconds(40));
    let generation = world.session(session).generation;
    let renew = |quiet: Span| Command::RenewLeases {
        sessions: vec![(session, generation)],
        quiet: BTreeMap::from([(session, quiet)]),
    };
    world.must(&runner(), renew(Span::seconds(3)));
    let heard = Timestamp(world.now.0 - 3_000);
    assert_eq!((world.session(session).last_output_at, world.session(session).heard_at()), (Some(heard), heard));
    // Older than what is known, in the future, before its beginning: nothing of that is believed.
    for quiet in [Span::minutes(60 * 24 * 365), Span(-5_000), Span(i64::MAX), Span::seconds(10)] {
        world.must(&runner(), renew(quiet));
        assert_eq!(world.session(session).last_output_at, Some(heard), "{quiet:?}");
    }
}
