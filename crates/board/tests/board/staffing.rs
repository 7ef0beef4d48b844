//! Which agents should be running? One test for every row of A1, with the whole answer.

use board::{
    Action, Actor, Client, Code, Command, NewTask, Outcome, Priority, ProcessEnd, Purpose, Reason, SessionId, Span,
    Staffing, Status, TaskId, Timestamp,
};

use crate::team::{INTERRUPTIONS, Team, claiming, commenting, depending, writing};
use crate::world::{World, agent, owner, roster, runner, spec};
use Status::{Blocked, Cancelled, InProgress};

fn start(reason: Reason, purpose: Purpose) -> Staffing {
    Staffing { action: Action::Start, reason, purpose: Some(purpose), session: None, until: None }
}

fn hold(reason: Reason, purpose: Option<Purpose>) -> Staffing {
    Staffing { action: Action::NoChange, reason, purpose, session: None, until: None }
}

fn stop(reason: Reason, purpose: Purpose, session: SessionId) -> Staffing {
    Staffing { action: Action::Stop, reason, purpose: Some(purpose), session: Some(session), until: None }
}

fn on(task: TaskId) -> Purpose {
    Purpose::Task(task)
}

/// A1.1, L11, F25
#[test]
fn a1_1_paused_project_stops_or_holds_work_and_lets_chat_go_on() {
    let mut world = World::new();
    let (running, waiting) = (world.started("w1"), world.started("w2"));
    let session = world.claim("w1", running);
    world.must(&owner(), Command::Pause { now: false });
    assert_eq!(world.staff("w1"), hold(Reason::ProjectPaused, Some(on(running))), "it goes on");
    world.must(&owner(), Command::Pause { now: true });
    assert_eq!(world.staff("w1"), stop(Reason::ProjectPaused, on(running), session));
    assert_eq!(world.staff("w2"), hold(Reason::ProjectPaused, Some(on(waiting))));
    assert_eq!(world.refused(&runner(), claiming("w2", waiting)), board::Code::StateConflict);
    world.must(&owner(), writing("w2"));
    assert_eq!(world.staff("w2"), start(Reason::HasPendingPurpose, Purpose::Chat));
}

/// A1.2
#[test]
fn a1_2_agent_off_the_roster_is_held() {
    let mut world = World::new();
    let task = world.top("w1");
    world.must(&owner(), writing("w2"));
    let others = roster().into_iter().filter(|spec| !["w1", "w2", "w3"].contains(&spec.id.as_str())).collect();
    world.must(&owner(), Command::ApplyRoster { agents: others });
    assert_eq!(world.staff("w1"), hold(Reason::AgentNotAssigned, Some(on(task))));
    assert_eq!(world.staff("w2"), hold(Reason::AgentNotAssigned, Some(Purpose::Chat)));
    assert_eq!(world.staff("w3"), hold(Reason::AgentNotAssigned, None));
    assert!(board::staffing(&world.board, &agent("nobody"), world.now).is_err());
}

/// A1.3: cancelled, blocked, held, unstarted, reassigned, or stopped by the owner.
#[test]
fn a1_3_session_whose_task_went_away_is_stopped_with_the_reason() {
    for (happens, _, reason) in INTERRUPTIONS {
        let mut team = Team::with_a_started();
        let worker = team.world.enter("w1", team.a);
        happens(&mut team);
        assert_eq!(team.world.staff("w1"), stop(reason, on(team.a), worker));
    }
}

/// A1.4, F30, F32: a live session, one under verification, or all that the agent may have.
#[test]
fn a1_4_running_verifying_and_full_agents_are_held() {
    let mut world = World::new();
    let (first, second) = (world.started("w1"), world.started("w1"));
    let session = world.enter("w1", first);
    assert_eq!(world.staff("w1"), hold(Reason::AlreadyRunning, Some(on(first))));
    assert_eq!(world.refused(&runner(), claiming("w1", second)), board::Code::AlreadyClaimed);
    world.report(session, Outcome::Success);
    world.leave(session);
    // Its work waits to be merged: that task is not started again, and the agent is free for the other.
    assert_eq!(world.refused(&runner(), claiming("w1", first)), board::Code::AlreadyClaimed);
    assert_eq!(world.staff("w1"), start(Reason::HasInProgressTask, on(second)));
    world.enter("w1", second);
    assert_eq!(world.staff("w1"), hold(Reason::AlreadyRunning, Some(on(first))));
    // A chat beside it is allowed, and is one.
    world.must(&owner(), writing("w1"));
    assert_eq!(world.staff("w1"), start(Reason::HasPendingPurpose, Purpose::Chat));
    world.must(&runner(), crate::team::claiming_chat("w1"));
    assert_eq!(world.refused(&runner(), crate::team::claiming_chat("w1")), board::Code::AlreadyClaimed);
}

/// A1.4: `max_sessions` counts task sessions.
#[test]
fn a1_4_agent_with_two_sessions_gets_a_second_task() {
    let mut world = World::with(|_, agents| spec(agents, "w1").max_sessions = 2);
    let (first, second) = (world.started("w1"), world.started("w1"));
    world.claim("w1", first);
    assert_eq!(world.staff("w1"), start(Reason::HasInProgressTask, on(second)));
}

/// A1.4, G1: the project's own limit holds everybody.
#[test]
fn a1_4_full_project_holds_everybody() {
    let mut world = World::with(|settings, _| settings.limits.max_sessions = 1);
    let (first, second) = (world.started("w1"), world.started("w2"));
    world.claim("w1", first);
    assert_eq!(world.staff("w2"), hold(Reason::ProjectFull, Some(on(second))));
}

/// A1.5, A3, F34: back-off, or the account's parking, whichever ends later; per account, for chats too.
#[test]
fn a1_5_cooling_agent_is_held_until_the_later_instant() {
    let mut world = World::with(|_, agents| spec(agents, "w2").client = Client::Codex);
    let (mine, other) = (world.started("w1"), world.started("w2"));
    let session = world.enter("w1", mine);
    world.end(session, ProcessEnd::exited(0));
    let cooling = |until| Staffing { until: Some(until), ..hold(Reason::CoolingDown, Some(on(mine))) };
    let backing_off = world.now + Span::seconds(5);
    assert_eq!(world.staff("w1"), cooling(backing_off));
    let parked = world.now + Span::seconds(63);
    world.must(&runner(), Command::ParkAccount { account: "claude-code".into(), until: parked });
    assert_eq!(world.staff("w1"), cooling(parked));
    assert_eq!(world.staff("w2"), start(Reason::HasInProgressTask, on(other)));
    world.must(&owner(), writing("w3"));
    assert_eq!(world.staff("w3").reason, Reason::CoolingDown);
    world.now = parked;
    assert_eq!(world.staff("w1"), start(Reason::HasInProgressTask, on(mine)));
}

/// A team whose manager has left with `wait` while `a` runs.
fn waiting() -> Team {
    let mut team = Team::with_a_started();
    team.world.go(&team.lead(), team.b, Cancelled);
    team.leave_waiting();
    team
}

/// A1.6, F6: a child that became blocked or failed since wakes the manager.
#[test]
fn a1_6_blocked_or_failed_child_wakes_the_manager() {
    let mut team = waiting();
    assert_eq!(team.world.staff("lead"), hold(Reason::WaitingForWorkers, Some(on(team.top))));
    let mut failed = team.clone();
    failed.world.crash("w1", failed.a);
    assert_eq!(failed.world.staff("lead"), start(Reason::WorkerBlocked, on(team.top)));
    team.world.go(&owner(), team.a, Blocked);
    assert_eq!(team.world.staff("lead"), start(Reason::WorkerBlocked, on(team.top)));
}

/// A1.6, L5: a cancelled dependency keeps a child from ever starting, and only the mover can remove it: it is woken,
/// although another child is still in progress.
#[test]
fn a1_6_cancelled_dependency_wakes_the_manager() {
    let mut team = Team::with_a_started();
    let needed = team.world.create(&team.lead(), &["needed"])[0];
    team.world.must(&team.lead(), depending(team.b, needed));
    team.leave_waiting();
    assert_eq!(team.world.staff("lead"), hold(Reason::WaitingForWorkers, Some(on(team.top))));
    team.world.go(&owner(), needed, Cancelled);
    assert_eq!(team.world.staff("lead"), start(Reason::WorkerBlocked, on(team.top)));
}

/// A1.6, A2, F6: what became blocked after the manager chose to wait is new to it, also if it
/// happened before the choice was delivered.
#[test]
fn a1_6_block_between_choosing_and_leaving_is_not_slept_through() {
    let mut team = Team::with_a_started();
    team.world.go(&team.lead(), team.b, Cancelled);
    team.world.select(team.lead, board::Choice::Wait);
    team.world.crash("w1", team.a);
    assert_eq!(team.world.ask(team.lead).1, "N2.17");
}

/// A1.7: everything done, a child that can be started, or a word from the owner.
#[test]
fn a1_7_progress_wakes_the_manager_when_there_is_something_to_do() {
    let mut team = waiting();
    let mut written = team.clone();
    written.world.must(&owner(), commenting(team.top));
    assert_eq!(written.world.staff("lead"), start(Reason::WorkersProgressed, on(team.top)));
    team.world.complete("w1", team.a);
    assert_eq!(team.world.staff("lead"), start(Reason::WorkersProgressed, on(team.top)));

    let mut team = Team::with_a_started();
    team.world.must(&team.lead(), depending(team.b, team.a));
    team.world.assign(&team.lead(), team.b, "w2");
    team.leave_waiting();
    team.world.complete("w1", team.a);
    assert_eq!(team.world.staff("lead"), start(Reason::WorkersProgressed, on(team.top)));
}

/// A1.8, A2, F4: a change with which the manager can do nothing does not wake it.
#[test]
fn a1_8_manager_sleeps_while_there_is_nothing_to_do() {
    let mut team = Team::new();
    team.give("w1", team.a);
    team.give("w2", team.b);
    team.leave_waiting();
    team.world.complete("w1", team.a);
    assert_eq!(team.world.staff("lead"), hold(Reason::WaitingForWorkers, Some(on(team.top))));
    team.world.complete("w2", team.b);
    assert_eq!(team.world.staff("lead").reason, Reason::WorkersProgressed);
}

/// N4, A1.7, F6: a sub-manager that sleeps until its manager acts is no work in progress to wait for. `d` below `a`
/// waits for `b`, and `b` can never start, because what it depends on was cancelled.
#[test]
fn a1_7_two_managers_do_not_wait_for_each_other() {
    let mut team = Team::new();
    let needed = team.world.create(&team.lead(), &["needed"])[0];
    team.world.must(&team.lead(), depending(team.b, needed));
    team.world.go(&owner(), needed, Cancelled);
    team.give("sub", team.a);
    let sub = team.world.enter("sub", team.a);
    let d = team.world.create(&Actor::Session(sub), &["d"])[0];
    team.world.assign(&Actor::Session(sub), d, "w3");
    team.world.must(&Actor::Session(sub), depending(d, team.b));
    let mut late = team.clone();

    team.leave_waiting();
    assert_eq!(team.world.staff("lead"), hold(Reason::WaitingForWorkers, Some(on(team.top))));
    team.world.leave_waiting(sub);
    assert_eq!(team.world.staff("sub"), hold(Reason::WaitingForWorkers, Some(on(team.a))));
    assert_eq!(team.world.staff("lead"), start(Reason::WorkersProgressed, on(team.top)));

    late.world.leave_waiting(sub);
    let wait = Command::SelectAction { choice: board::Choice::Wait, reason: None };
    assert_eq!(late.world.attempt(&late.lead(), &wait).unwrap_err().code(), Code::CannotHelp);
    late.world.must(&owner(), commenting(late.a));
    late.leave_waiting();
    assert_eq!(late.world.staff("lead"), hold(Reason::WaitingForWorkers, Some(on(late.top))), "sub will look");
}

/// N4, A1.7, F6: what is in progress below a blocked task does not go on, whoever waits for it. `b` waits for `d`, which is
/// below `a`, and `a` is blocked.
#[test]
fn a1_7_what_a_blocked_task_holds_is_nothing_to_wait_for() {
    let mut team = Team::new();
    team.give("sub", team.a);
    let sub = team.world.enter("sub", team.a);
    let d = team.world.create(&Actor::Session(sub), &["d"])[0];
    team.world.assign(&Actor::Session(sub), d, "w3");
    team.world.go(&Actor::Session(sub), d, InProgress);
    team.world.must(&team.lead(), depending(team.b, d));
    team.world.assign(&team.lead(), team.b, "w2");
    let going = team.world.create(&team.lead(), &["going"])[0];
    team.give("w1", going);
    team.world.go(&owner(), team.a, Blocked);
    let wait = Command::SelectAction { choice: board::Choice::Wait, reason: None };
    assert!(team.world.allows(&team.lead(), &wait), "`going` goes on");
    team.world.complete("w1", going);
    assert_eq!(team.world.attempt(&team.lead(), &wait).unwrap_err().code(), Code::CannotHelp);
}

/// A1.9, F86: an unread message from the owner, younger than five minutes.
#[test]
fn a1_9_young_message_starts_a_chat_and_an_old_one_expires() {
    let mut world = World::new();
    assert_eq!(world.staff("w1"), hold(Reason::NoInProgressTask, None));
    world.must(&owner(), writing("w1"));
    world.pass(Span::seconds(300));
    assert_eq!(world.staff("w1"), start(Reason::HasPendingPurpose, Purpose::Chat));
    world.pass(Span(1));
    assert_eq!(world.staff("w1"), hold(Reason::MessageExpired, Some(Purpose::Chat)));
    let told = world.must(&Actor::System, Command::Sweep);
    assert_eq!(told[0].name(), "message_expired");
}

/// A1.10, A2
#[test]
fn a1_10_task_in_progress_starts_its_agent() {
    let mut world = World::new();
    let task = world.top("w1");
    assert_eq!(world.staff("w1"), hold(Reason::NoInProgressTask, Some(on(task))));
    world.go(&owner(), task, InProgress);
    assert_eq!(world.staff("w1"), start(Reason::HasInProgressTask, on(task)));
}

/// A1.11
#[test]
fn a1_11_agent_with_only_blocked_tasks_is_held() {
    let mut world = World::new();
    let task = world.started("w1");
    world.go(&owner(), task, Blocked);
    assert_eq!(world.staff("w1"), hold(Reason::BlockedWithoutInProgress, Some(on(task))));
}

/// A1.12, A2: `todo` never starts anyone.
#[test]
fn a1_12_todo_starts_nobody() {
    let mut world = World::new();
    let task = world.top("w1");
    assert_eq!(world.staff("w1"), hold(Reason::NoInProgressTask, Some(on(task))));
    assert_eq!(world.refused(&runner(), claiming("w1", task)), board::Code::StateConflict);
}

/// A1, F20: the first stop, else the first start by priority and age, else the most urgent hold.
#[test]
fn a1_stop_comes_before_start_and_the_urgent_before_the_old() {
    let mut world = World::with(|_, agents| spec(agents, "w1").max_sessions = 3);
    let tasks: Vec<_> = [Priority::Low, Priority::High, Priority::High, Priority::Critical]
        .into_iter()
        .enumerate()
        .map(|(n, priority)| {
            let title = format!("task {n}");
            let task = NewTask { priority, assignee: Some(agent("w1")), ..NewTask::titled(title) };
            world.new_task(&owner(), None, task)
        })
        .collect();
    assert_eq!(world.staff("w1"), hold(Reason::NoInProgressTask, Some(on(tasks[3]))));
    for task in &tasks[..3] {
        world.go(&owner(), *task, InProgress);
    }
    assert_eq!(world.staff("w1"), start(Reason::HasInProgressTask, on(tasks[1])));
    let session = world.claim("w1", tasks[0]);
    world.must(&owner(), Command::StopSession { session, restart: true });
    assert_eq!(world.staff("w1"), stop(Reason::StoppedByOwner, on(tasks[0]), session));
}

/// A4, S2: nobody polls: the next instant at which time alone changes something is known.
#[test]
fn next_due_is_the_first_lease_or_message_to_end() {
    let mut world = World::new();
    assert_eq!(board::next_due(&world.board), None);
    world.must(&owner(), writing("w2"));
    let message = Timestamp(world.now.0 + 300_001);
    assert_eq!(board::next_due(&world.board), Some(message));
    let task = world.started("w1");
    world.claim("w1", task);
    assert_eq!(board::next_due(&world.board), Some(Timestamp(world.now.0 + 60_001)));
    world.now = board::next_due(&world.board).unwrap();
    assert_eq!(world.must(&Actor::System, Command::Sweep).len(), 2);
    assert_eq!(board::next_due(&world.board), Some(message));
}
