//! What does a session that brought nothing new cost (A2, A3)?

use board::{
    Actor, Command, EndReason, Inconclusive, Outcome, Party, ProcessEnd, Reason, SessionId, Span, Status, TaskId,
    VendorTrouble, Verdict,
};

use crate::team::{Team, claiming, commenting, moving, saving};
use crate::world::{World, owner, runner};
use Status::{Blocked, Failed, InProgress};

/// A session that only looks, and ends like this as soon as it may start.
fn idle(world: &mut World, agent: &str, task: TaskId, end: ProcessEnd) -> SessionId {
    world.now = world.staff(agent).until.unwrap_or(world.now);
    let session = world.enter(agent, task);
    world.end(session, end);
    session
}

fn pause_of(world: &World, task: TaskId) -> Option<Span> {
    world.task(task).not_before.map(|until| until - world.now)
}

/// A3, F33: whatever its exit code, each idle session doubles the delay, from 5 s to 5 min.
#[test]
fn idle_sessions_double_the_delay_up_to_five_minutes() {
    let mut world = World::with(|settings, _| {
        settings.limits.max_idle_sessions = 100;
        settings.limits.max_attempts = 20;
    });
    let task = world.started("w1");
    for seconds in [5, 10, 20, 40, 80, 160, 300, 300] {
        idle(&mut world, "w1", task, ProcessEnd::exited(0));
        assert_eq!(pause_of(&world, task), Some(Span::seconds(seconds)));
        assert_eq!(world.refused(&runner(), claiming("w1", task)), board::Code::StateConflict);
    }
}

/// A3, G3, F26: three idle sessions in a row block the task with `no_progress`, by Saihai.
#[test]
fn three_idle_sessions_in_a_row_block_the_task() {
    // D22: a client that cannot be started is named as the reason.
    for (end, reason) in [(EndReason::Lost, "no_progress"), (EndReason::LaunchFailed, "launch_failed")] {
        let mut world = World::new();
        let task = world.started("w1");
        for _ in 0..3 {
            assert_eq!(world.task(task).status, InProgress);
            idle(&mut world, "w1", task, ProcessEnd::because(end));
        }
        let block = board::Block { by: Party::System, reason: reason.into(), before: InProgress };
        assert_eq!((world.task(task).block.as_ref(), world.task(task).used.attempts), (Some(&block), 0));
        assert_eq!(world.log.iter().rev().nth(1).unwrap().name(), "fuel_spent");
        world.pass(Span::minutes(60));
        assert_eq!(world.staff("w1").reason, Reason::BlockedWithoutInProgress);
    }
}

/// A3: a new fact sets the count back; reads and deliveries are none.
#[test]
fn new_fact_ends_the_row_of_idle_sessions() {
    let mut world = World::new();
    let task = world.started("w1");
    idle(&mut world, "w1", task, ProcessEnd::because(EndReason::Lost));
    idle(&mut world, "w1", task, ProcessEnd::because(EndReason::Lost));
    assert_eq!(world.task(task).used.idle_sessions, 2);
    world.now = world.staff("w1").until.unwrap();
    let session = world.enter("w1", task);
    world.ask(session);
    world.must(&Actor::Session(session), saving());
    world.end(session, ProcessEnd::because(EndReason::Lost));
    assert_eq!((world.task(task).used.idle_sessions, world.task(task).not_before), (0, None));
    assert_eq!(world.staff("w1").reason, Reason::HasInProgressTask);
}

/// A3, V2, F33, F34: a rate limit parks the account until the time it names, and charges nothing.
#[test]
fn rate_limit_parks_the_account_and_charges_nothing() {
    let mut world = World::new();
    let (mine, other) = (world.started("w1"), world.started("w2"));
    for _ in 0..5 {
        world.now = world.staff("w1").until.unwrap_or(world.now);
        let until = world.now + Span::seconds(63);
        let limited = VendorTrouble::RateLimited { until };
        let session = idle(&mut world, "w1", mine, ProcessEnd { vendor: Some(limited), ..ProcessEnd::exited(1) });
        assert_eq!(world.session(session).verdict, Some(Verdict::None(Inconclusive::RateLimited)));
        let task = world.task(mine);
        assert_eq!((task.status, task.used.attempts, task.used.idle_sessions), (InProgress, 0, 0));
        for agent in ["w1", "w2"] {
            assert_eq!((world.staff(agent).reason, world.staff(agent).until), (Reason::CoolingDown, Some(until)));
        }
    }
    world.now = world.staff("w2").until.unwrap();
    assert_eq!(world.staff("w2").task(), Some(other));
}

/// V2, A3: a vendor that is away costs no attempt, but the agent backs off.
#[test]
fn vendor_that_is_away_costs_no_attempt_but_backs_off() {
    let mut world = World::new();
    let task = world.started("w1");
    let away = ProcessEnd { vendor: Some(VendorTrouble::Unavailable), ..ProcessEnd::exited(1) };
    idle(&mut world, "w1", task, away);
    assert_eq!((world.task(task).status, world.task(task).used.attempts), (InProgress, 0));
    assert_eq!(pause_of(&world, task), Some(Span::seconds(5)));
}

/// V2: being stopped is nobody's fault: no attempt, no back-off.
#[test]
fn stopped_session_neither_counts_nor_backs_off() {
    let mut world = World::new();
    let task = world.started("w1");
    for _ in 0..4 {
        let session = world.enter("w1", task);
        world.must(&owner(), Command::StopSession { session, restart: true });
        world.end(session, ProcessEnd::because(EndReason::Stopped));
        assert_eq!(world.task(task).used.idle_sessions, 0);
    }
    assert_eq!(world.staff("w1").reason, Reason::HasInProgressTask);
}

/// V2, A3: a manager's bad exit never fails its task at once; it backs off, then blocks.
#[test]
fn bad_exit_of_a_manager_backs_off_and_blocks_but_never_fails_at_once() {
    for end in [ProcessEnd::exited(1), ProcessEnd::because(EndReason::TimedOut)] {
        let mut world = World::new();
        let top = world.started("lead");
        for _ in 0..3 {
            assert_eq!(world.task(top).status, InProgress);
            idle(&mut world, "lead", top, end.clone());
        }
        assert_eq!((world.task(top).status, world.task(top).used.attempts), (Blocked, 0));
    }
}

/// A2, F4: a manager that waits is not started again while nothing changes, however long it takes.
#[test]
fn waiting_manager_is_not_started_again_while_nothing_changes() {
    let mut team = Team::with_a_started();
    team.world.go(&team.lead(), team.b, Status::Cancelled);
    team.leave_waiting();
    let worker = team.world.enter("w1", team.a);
    for _ in 0..20 {
        team.world.tend(Span::minutes(1));
        team.world.ask(worker);
        team.world.must(&Actor::Session(worker), saving());
        assert_eq!(team.world.staff("lead").reason, Reason::WaitingForWorkers);
    }
    assert_eq!(team.world.refused(&runner(), claiming("lead", team.top)), board::Code::StateConflict);
}

/// A2, A1.7, L10: the watermark is a sequence number: the same comment wakes the manager once, in the session that can
/// act on it.
#[test]
fn same_comment_wakes_a_waiting_manager_once() {
    let mut team = Team::with_a_started();
    team.world.go(&team.lead(), team.b, Status::Cancelled);
    team.leave_waiting();
    team.world.must(&owner(), commenting(team.top));
    assert_eq!(team.world.staff("lead").reason, Reason::WorkersProgressed);
    team.back();
    team.leave_waiting();
    team.world.pass(Span::minutes(5));
    assert_eq!(
        board::staff_task(
            &team.world.board,
            team.world.board.agent(&crate::world::agent("lead")).unwrap(),
            team.world.task(team.top),
            team.world.now,
        )
        .reason,
        Reason::WaitingForWorkers
    );
}

/// A3: whoever starts the work again grants patience again; the owner also grants sessions.
#[test]
fn unblocking_grants_patience_and_the_owner_grants_sessions() {
    let mut team = Team::with_a_started();
    for _ in 0..3 {
        idle(&mut team.world, "w1", team.a, ProcessEnd::because(EndReason::Lost));
        team.world.tend(Span::seconds(1));
    }
    assert_eq!(team.world.task(team.a).status, Blocked);
    let mut by_owner = team.world.clone();
    team.world.go(&team.lead(), team.a, InProgress);
    by_owner.must(&owner(), moving(team.a, InProgress));
    let used = |world: &World| (world.task(team.a).used.idle_sessions, world.task(team.a).used.sessions);
    assert_eq!((used(&team.world), used(&by_owner)), ((0, 3), (0, 0)));
    assert_eq!(team.world.staff("w1").reason, Reason::HasInProgressTask);
}

/// A3, V2: failing and being blocked are facts of their own; nobody backs off for them.
#[test]
fn reported_failure_is_no_idle_session() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.report(session, Outcome::Failed);
    world.leave(session);
    assert_eq!((world.task(task).status, world.task(task).used.idle_sessions), (Failed, 0));
}
