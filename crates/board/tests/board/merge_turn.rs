//! Do several runners test and merge one at a time, and does nobody wait for one that is gone (R10, V6)?

use std::collections::BTreeMap;

use board::{
    Actor, Command, EndReason, Examination, ExaminationStep, Fact, Merge, Outcome, SessionId, SessionStatus, Span,
    Status, Verdict, Waiting, WorkspaceFacts, begins_turn, examination_step,
};

use crate::team::merged;
use crate::world::{World, owner, runner};

fn elsewhere() -> Actor {
    Actor::Runner("tok_1a2b3c4d".parse().unwrap())
}

/// Work that was looked at, and whose checks have not run.
fn untested() -> WorkspaceFacts {
    WorkspaceFacts { merge: Merge::NotTried, checks: Vec::new(), ..merged() }
}

fn ended(world: &mut World, who: &str) -> SessionId {
    let task = world.started(who);
    let session = world.enter(who, task);
    world.report(session, Outcome::Success);
    world.leave(session);
    session
}

/// Ended work of a runner on another host, and of the one beside the server.
fn two_runners() -> (World, SessionId, SessionId) {
    let mut world = World::new();
    let far = ended(&mut world, "w1");
    let (from, to) = ("r".parse().unwrap(), "tok_1a2b3c4d".parse().unwrap());
    world.must(&Actor::System, Command::TakeOver { from, to });
    let near = ended(&mut world, "w2");
    (world, far, near)
}

fn step(world: &World, session: SessionId) -> ExaminationStep {
    let found = Examination::Found(Box::new(untested()));
    examination_step(&world.board, world.session(session), Some(&found), world.now)
}

fn tell(world: &mut World, who: &Actor, session: SessionId, facts: WorkspaceFacts) {
    let report = world.reporting(session, Fact::Examined(Examination::Found(Box::new(facts))));
    world.must(who, report);
}

fn waits_for(world: &World, session: SessionId, other: SessionId) -> bool {
    let task = world.session(other).task().unwrap();
    step(world, session) == ExaminationStep::Wait(Waiting::Turn { task })
}

/// R10: whoever runs checks first has the turn, and the others wait until its work is merged.
#[test]
fn one_runner_tests_and_merges_at_a_time() {
    let (mut world, far, near) = two_runners();
    let first = step(&world, far);
    assert!(matches!(first, ExaminationStep::RunChecks(_)) && begins_turn(&world.board, world.session(far), &first));
    tell(&mut world, &elsewhere(), far, untested());
    assert!(waits_for(&world, near, far));
    assert!(!begins_turn(&world.board, world.session(far), &first), "it has it");
    tell(&mut world, &runner(), near, untested());
    assert_eq!(world.board.merge_turn.unwrap().session, far);
    tell(&mut world, &elsewhere(), far, merged());
    assert_eq!(world.session(far).verdict, Some(Verdict::Done));
    assert!(matches!(step(&world, near), ExaminationStep::RunChecks(_)));
    assert!(world.board.merge_turn.is_none() && !begins_turn(&world.board, world.session(near), &step(&world, near)));
}

/// V11: work that has to wait gives its turn away.
#[test]
fn work_that_steps_aside_gives_its_turn_away() {
    let (mut world, far, near) = two_runners();
    tell(&mut world, &elsewhere(), far, untested());
    let files = Merge::Waiting { reason: "a.rs has changes".into(), files: vec!["a.rs".into()] };
    tell(&mut world, &elsewhere(), far, WorkspaceFacts { merge: files, ..merged() });
    assert!(world.board.merge_turn.is_none());
    assert!(matches!(step(&world, near), ExaminationStep::RunChecks(_)));
}

/// R10, S2: a turn is renewed with the leases, and ends by itself if its runner is not heard of.
#[test]
fn nobody_waits_for_a_silent_runner() {
    let (mut world, far, near) = two_runners();
    tell(&mut world, &elsewhere(), far, untested());
    let renew = |world: &World| Command::RenewLeases {
        sessions: vec![(far, world.session(far).generation)],
        quiet: BTreeMap::new(),
    };
    world.pass(Span::seconds(50));
    let renewing = renew(&world);
    world.must(&elsewhere(), renewing);
    world.pass(Span::seconds(50));
    world.must(&Actor::System, Command::Sweep);
    assert!(waits_for(&world, near, far), "it was heard of");
    world.pass(Span::seconds(11));
    world.must(&Actor::System, Command::Sweep);
    assert!(matches!(step(&world, near), ExaminationStep::RunChecks(_)));
    assert_eq!(world.session(far).status, SessionStatus::Verifying, "its work keeps its place");
}

/// R10, V12: what a removed runner runs is lost and may start elsewhere; what it had ended keeps its place, without a turn.
#[test]
fn a_removed_runner_leaves_its_ended_work() {
    let (mut world, far, near) = two_runners();
    tell(&mut world, &elsewhere(), far, untested());
    let task = world.started("w1");
    let running = world.enter("w1", task);
    for runner in ["tok_1a2b3c4d", "r"] {
        world.must(&owner(), Command::DropRunner { runner: runner.parse().unwrap() });
    }
    assert_eq!(world.session(running).end.as_ref().unwrap().reason, EndReason::Lost);
    assert_eq!((world.task(task).status, world.task(task).used.attempts), (Status::InProgress, 0));
    assert!(world.board.merge_turn.is_none());
    assert!(matches!(step(&world, near), ExaminationStep::RunChecks(_)));
    assert_eq!(world.session(far).status, SessionStatus::Verifying);
    assert!(!world.allows(&runner(), &Command::DropRunner { runner: "r".parse().unwrap() }), "owners only");
}
