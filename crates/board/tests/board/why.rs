//! Is every task explained, from the same functions that decide (L9)?

use Status::{Blocked, Cancelled, InProgress, Todo};
use board::{Actor, Command, Line, Obstacle, Party, ProcessEnd, Reason, Rejection, Span, Status, TaskId, why};

use crate::team::{Team, moving};
use crate::world::{World, agent, owner};

fn lines(world: &World, task: TaskId) -> Vec<Line> {
    why(&world.board, task, world.now, &board::RunnerView::Unknown).unwrap().lines
}

/// L9, L3: what keeps a task from starting is told, every bit of it.
#[test]
fn an_unstarted_task_names_its_obstacles() {
    let mut team = Team::new();
    team.world.must(
        &team.lead(),
        Command::ChangeDependencies { task: team.b, add: vec![team.a], remove: vec![], forced: false },
    );
    let waiting = Obstacle::Waiting { on: team.a, status: Status::Backlog };
    assert_eq!(lines(&team.world, team.b), [Line::Obstacle(Obstacle::Unassigned), Line::Obstacle(waiting)]);
    team.world.go(&owner(), team.top, Blocked);
    assert_eq!(lines(&team.world, team.a)[1], Line::Obstacle(Obstacle::Held { by: team.top }));
}

/// L9, L2: a ready task names its mover and, after ten minutes, how long it has waited.
#[test]
fn a_ready_task_names_who_has_to_start_it() {
    let mut team = Team::new();
    team.world.assign(&team.lead(), team.a, "w1");
    let mover = Party::Agent(agent("lead"));
    assert_eq!(lines(&team.world, team.a), [Line::ReadyFor { mover: mover.clone(), waiting: None }]);
    team.world.tend(Span::minutes(11));
    assert_eq!(lines(&team.world, team.a), [Line::ReadyFor { mover, waiting: Some(Span::minutes(11)) }]);
}

/// L9, F48: a running task names its session and since when it was heard; a stopping one says so.
#[test]
fn a_running_task_names_its_session() {
    let mut world = World::new();
    let task = world.started("w1");
    let staffing =
        Line::Staffing { agent: agent("w1"), reason: Reason::HasInProgressTask, until: None, remaining: None };
    assert_eq!(lines(&world, task), [staffing]);
    let session = world.enter("w1", task);
    world.pass(Span::seconds(4));
    let running = Line::Running { session, agent: agent("w1"), since: Span::seconds(4), last_call: Span::seconds(4) };
    assert_eq!(lines(&world, task), [running]);
    world.must(&owner(), Command::StopSession { session, restart: true });
    assert!(matches!(lines(&world, task)[..], [Line::Stopping { .. }]));
}

/// L9, G3: who may lift a block depends on who set it.
#[test]
fn a_blocked_task_names_who_may_lift_it() {
    let mut team = Team::with_a_started();
    let lead = Party::Agent(agent("lead"));
    let blocked = |by: &Party, lifted_by: &[Party]| Line::Blocked {
        by: by.clone(),
        reason: team_reason(by),
        lifted_by: lifted_by.to_vec(),
    };
    let session = team.world.enter("w1", team.a);
    let mut by_agent = team.world.clone();
    by_agent.must(&Actor::Session(session), moving(team.a, Blocked));
    let worker = Party::Agent(agent("w1"));
    assert_eq!(lines(&by_agent, team.a), [blocked(&worker, &[lead.clone(), worker.clone()])]);
    let mut by_owner = team.world.clone();
    by_owner.go(&owner(), team.a, Blocked);
    assert_eq!(lines(&by_owner, team.a), [blocked(&Party::Owner, &[Party::Owner])]);
    team.world.no_progress(session);
    assert_eq!(lines(&team.world, team.a), [blocked(&Party::System, &[lead, Party::Owner])]);
}

fn team_reason(by: &Party) -> String {
    match by {
        Party::System => "no_progress".into(),
        Party::Owner | Party::Agent(_) => REASON.into(),
    }
}

/// The reason that `moving` gives.
const REASON: &str = "because";

/// L9, V3: a rejected attempt, a failure and a cancellation tell their reasons.
#[test]
fn what_went_wrong_is_told() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.end(session, ProcessEnd::exited(0));
    let sent_back = Line::SentBack { why: Rejection::NoReport, attempts: 1, most: 3, ended_badly: false };
    assert_eq!(lines(&world, task).last(), Some(&sent_back));
    world.pass(Span::minutes(1));
    world.crash("w1", task);
    let told = lines(&world, task);
    assert!(matches!(&told[0], Line::Failed { mover: Party::Owner, retries_left: 3, .. }));
    assert!(matches!(&told[1..], [Line::LastSession { .. }, Line::SentBack { .. }]));
    world.go(&owner(), task, Todo);
    world.go(&owner(), task, Cancelled);
    assert!(matches!(&lines(&world, task)[..], [Line::Cancelled { by: Party::Owner, .. }]));
    let fresh = world.started("w1");
    assert_eq!(world.task(fresh).status, InProgress);
}

/// L9, L4: a task in progress below one that is not says so.
#[test]
fn task_below_one_that_stands_still_says_which() {
    let mut team = Team::with_a_started();
    team.leave_waiting();
    team.world.go(&owner(), team.top, Blocked);
    let held = Line::Obstacle(Obstacle::Held { by: team.top });
    assert!(lines(&team.world, team.a).contains(&held), "{:?}", lines(&team.world, team.a));
    team.world.go(&owner(), team.top, InProgress);
    assert!(!lines(&team.world, team.a).contains(&held));
}
