//! What may those do who orchestrate by hand (C2)?

use board::{
    Code, Command, DodResult, Driver, EndReason, Inconclusive, NewTask, ProcessEnd, Purpose, Reason, SessionId, Status,
    TaskId, Verdict,
};

use crate::team::{Team, claiming};
use crate::world::{World, agent, owner, runner};
use Status::{Done, Failed, InProgress, Todo};

fn by_hand(id: &str, task: TaskId) -> Command {
    let purpose = Purpose::Task(task);
    Command::Claim { agent: agent(id), purpose, driver: Driver::Hand, credential: None, forced: false }
}

fn ending(session: SessionId, end: ProcessEnd, dod_result: DodResult, merged: bool) -> Command {
    Command::EndByHand { session, end, dod_result, merged, artifacts: vec!["src/a.rs".into()] }
}

fn begun() -> (World, TaskId, SessionId) {
    let mut world = World::new();
    let task = world.top("w2");
    world.must(&owner(), by_hand("w1", task));
    let session = world.task(task).live.unwrap();
    (world, task, session)
}

/// C2: claims the task, assigns it and moves it to `in_progress`; runners keep off, time does not end it.
#[test]
fn hand_driven_session_claims_and_starts_the_task() {
    let (mut world, task, session) = begun();
    assert_eq!((world.task(task).status, world.task(task).assignee.clone()), (InProgress, Some(agent("w1"))));
    assert_eq!(world.staff("w1").reason, Reason::AlreadyRunning);
    assert_eq!(world.refused(&runner(), claiming("w1", task)), Code::AlreadyClaimed);
    assert_eq!(world.refused(&owner(), by_hand("w1", task)), Code::AlreadyClaimed);
    world.pass(board::Span::minutes(600));
    world.must(&board::Actor::System, Command::Sweep);
    assert!(world.session(session).is_live());
}

/// C2: exit ≠ 0, signal, timeout or error → failed.
#[test]
fn bad_ends_by_hand_fail_the_task() {
    let signal = ProcessEnd { signal: Some("SIGINT".into()), ..ProcessEnd::because(EndReason::Signaled) };
    let error = ProcessEnd { error: Some("broken".into()), ..ProcessEnd::exited(0) };
    let cases = [
        (ProcessEnd::exited(1), DodResult::Merged, "exit code 1"),
        (signal, DodResult::Pending, "signal SIGINT"),
        (ProcessEnd::because(EndReason::TimedOut), DodResult::Pending, "timed_out"),
        (error, DodResult::Pending, "broken"),
        (ProcessEnd::exited(0), DodResult::Timeout, "timed_out"),
        (ProcessEnd::exited(0), DodResult::Error, "error"),
    ];
    for (end, dod, reason) in cases {
        let (mut world, task, session) = begun();
        world.must(&owner(), ending(session, end, dod, true));
        assert_eq!((world.task(task).status, world.task(task).live), (Failed, None));
        assert_eq!(world.task(task).conclusion.as_ref().unwrap().reason, reason);
        assert_eq!(world.session(session).dod_result, Some(dod));
    }
}

/// C2, F65: merged is done only if the branch is in the target; otherwise nothing happens.
#[test]
fn merged_by_hand_is_done_only_if_it_is() {
    let (mut world, task, session) = begun();
    let merged = |seen| ending(session, ProcessEnd::exited(0), DodResult::Merged, seen);
    let before = world.board.clone();
    assert_eq!(world.refused(&owner(), merged(false)), Code::NotMerged);
    assert_eq!(world.board, before);
    world.must(&owner(), merged(true));
    assert_eq!(
        (world.task(task).status, world.session(session).artifacts.as_slice()),
        (Done, ["src/a.rs".into()].as_slice())
    );
    assert_eq!(world.refused(&owner(), merged(true)), Code::StaleSession);
}

/// C2, F15: nor while children are open.
#[test]
fn merged_by_hand_is_not_done_while_children_are_open() {
    let (mut world, task, session) = begun();
    let step = board::NewTask::titled("one");
    world.new_task(&owner(), Some(task), step);
    let merged = ending(session, ProcessEnd::exited(0), DodResult::Merged, true);
    assert_eq!(world.refused(&owner(), merged), Code::ChildrenUnsettled);
}

/// C2: pending stays in progress, and stays off the runners until it is given back.
#[test]
fn pending_by_hand_stays_in_progress() {
    let (mut world, task, session) = begun();
    world.must(&owner(), ending(session, ProcessEnd::exited(0), DodResult::Pending, false));
    assert_eq!(world.session(session).verdict, Some(Verdict::None(Inconclusive::Pending)));
    let found = world.task(task);
    assert_eq!((found.status, found.live, found.by_hand, found.used.attempts), (InProgress, None, true, 0));
    assert_eq!(world.refused(&runner(), claiming("w1", task)), Code::AlreadyClaimed);
    let mut again = world.clone();
    again.must(&owner(), by_hand("w1", task));
    world.go(&owner(), task, Todo);
    world.go(&owner(), task, InProgress);
    world.claim("w1", task);
}

/// C2, S4: only the owner drives by hand, only such sessions, and only work that it moves.
#[test]
fn only_the_owner_drives_by_hand() {
    let mut team = Team::new();
    let lead = team.lead();
    assert_eq!(team.world.refused(&owner(), by_hand("w1", team.a)), Code::NotAllowed);
    assert_eq!(team.world.refused(&lead, by_hand("w1", team.a)), Code::NotAllowed);
    assert_eq!(team.world.refused(&runner(), by_hand("w1", team.a)), Code::NotAllowed);
    let end = ending(team.lead, ProcessEnd::exited(0), DodResult::Pending, false);
    assert_eq!(team.world.refused(&owner(), end.clone()), Code::StateConflict);
    assert_eq!(team.world.refused(&lead, end), Code::NotAllowed);
    let top = team.world.top("w1");
    team.world.must(&owner(), by_hand("w1", top));
    let session = team.world.task(top).live.unwrap();
    assert_eq!(team.world.refused(&owner(), Command::StopSession { session, restart: true }), Code::StateConflict);
    let chat = Command::Claim {
        agent: agent("w1"),
        purpose: Purpose::Chat,
        driver: Driver::Hand,
        credential: None,
        forced: false,
    };
    assert_eq!(team.world.refused(&owner(), chat), Code::NotAllowed);
}

/// C2, L3: what is not ready is not begun by hand either.
#[test]
fn unready_task_is_not_begun_by_hand() {
    let mut world = World::new();
    let (first, second) = (world.top("w1"), world.top("w1"));
    world.must(&owner(), crate::team::depending(second, first));
    assert_eq!(world.refused(&owner(), by_hand("w1", second)), Code::NotReady);
}

/// C7: a parent that nobody is assigned to is started and ended by the owner, who also moves what is below it.
#[test]
fn a_parent_that_nobody_runs_is_the_owners() {
    let mut world = World::new();
    let parent = world.new_task(&owner(), None, board::NewTask::titled("top"));
    assert_eq!(world.refused(&owner(), moving(parent, InProgress)), Code::NotReady, "a task needs an assignee");
    let child = world.new_task(&owner(), Some(parent), board::NewTask::titled("part"));
    assert_eq!(world.refused(&owner(), by_hand("w1", child)), Code::NotReady, "it is held");
    world.go(&owner(), parent, InProgress);
    assert_eq!(board::startable_work(&world.board, world.now).len(), 0);
    world.must(&owner(), by_hand("w1", child));
    assert_eq!(world.refused(&owner(), moving(parent, Done)), Code::ChildrenUnsettled);
    let session = world.task(child).live.unwrap();
    world.must(&owner(), ending(session, ProcessEnd::exited(0), DodResult::Merged, true));
    let mut failed = world.clone();
    world.go(&owner(), parent, Done);
    failed.must(&owner(), moving(parent, Failed));
    let why = board::why(&failed.board, parent, failed.now, &board::RunnerView::Unknown).unwrap();
    assert!(format!("{why:?}").contains("Failed"), "{why:?}");
}

/// C7, L2: a parent with an assignee is judged as every task is.
#[test]
fn a_parent_that_somebody_runs_is_not() {
    let mut team = Team::new();
    for child in [team.a, team.b] {
        team.world.must(&owner(), moving(child, Status::Cancelled));
    }
    assert_eq!(team.world.refused(&owner(), moving(team.top, Done)), Code::NotMerged);
    assert_eq!(team.world.refused(&owner(), moving(team.top, Failed)), Code::NotAllowed);
}

/// L3, C7: a manager cannot start a subtask that nobody is assigned to, also when that is a parent.
#[test]
fn a_manager_assigns_what_it_starts() {
    let mut team = Team::new();
    team.world.new_task(&owner(), Some(team.a), NewTask::titled("below"));
    let lead = team.lead();
    assert_eq!(team.world.refused(&lead, moving(team.a, InProgress)), Code::NotReady);
}

/// C7: what ended as pending fails by the owner's word, or is merged when the merge is seen; the record says which.
#[test]
fn pending_by_hand_is_ended_by_the_owner() {
    let (mut world, task, session) = begun();
    world.must(&owner(), ending(session, ProcessEnd::exited(0), DodResult::Pending, false));
    let mut merged = world.clone();
    world.must(&owner(), moving(task, Failed));
    assert_eq!((world.task(task).status, world.session(session).dod_result), (Failed, Some(DodResult::Pending)));
    let mut forced = merged.clone();
    let done =
        |merged, forced| Command::MoveTask { task, to: board::Destination::Status(Done), reason: None, forced, merged };
    assert_eq!(merged.refused(&owner(), done(false, false)), Code::NotMerged);
    merged.must(&owner(), done(true, false));
    assert_eq!((merged.task(task).status, merged.session(session).dod_result), (Done, Some(DodResult::Merged)));
    forced.must(&owner(), done(false, true));
    assert_eq!(forced.session(session).dod_result, Some(DodResult::Pending), "nobody has seen it");
}

fn moving(task: TaskId, to: Status) -> Command {
    let to = board::Destination::Status(to);
    Command::MoveTask { task, to, reason: Some("that is how it is".into()), forced: false, merged: false }
}
