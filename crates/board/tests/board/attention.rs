//! What needs the owner, and what does not (W7)?

use board::{CheckOutcome, Examination, Fact, Merge, Need, Outcome, Status, TaskId, WorkspaceFacts, attention};

use crate::team::{Team, failing_check, merged, moving};
use crate::world::{World, owner};

fn needs(world: &World) -> Vec<(Need, TaskId)> {
    attention(&world.board, world.now).into_iter().map(|found| (found.need, found.task)).collect()
}

/// W7: what the owner starts, retries and unblocks; not what they parked themselves, and not what nobody has.
#[test]
fn what_only_the_owner_moves() {
    let mut world = World::with(|settings, _| settings.limits.max_attempts = 1);
    let ready = world.top("w1");
    assert_eq!(needs(&world), [(Need::Start, ready)]);
    let failing = world.started("w2");
    let session = world.enter("w2", failing);
    world.deliver(session, failing_check());
    assert_eq!(needs(&world), [(Need::Failed, failing), (Need::Start, ready)]);
    world.must(&owner(), moving(ready, Status::Backlog));
    assert_eq!(needs(&world), [(Need::Failed, failing), (Need::Start, ready)], "it still has somebody to do it");
    world.go(&owner(), ready, Status::InProgress);
    let session = world.enter("w1", ready);
    world.no_progress(session);
    assert_eq!(needs(&world), [(Need::Failed, failing), (Need::Blocked, ready)]);
    world.go(&owner(), ready, Status::InProgress);
    world.must(&owner(), moving(ready, Status::Blocked));
    assert_eq!(needs(&world), [(Need::Failed, failing)], "what the owner has blocked waits by intent");
}

/// W7, L2: what a manager moves is the manager's; the owner is asked when that one cannot go on.
#[test]
fn what_a_manager_moves_is_not_the_owners() {
    let team = Team::with_a_started();
    assert_eq!(needs(&team.world), [], "it is the manager who starts the other one");
}

/// W7, V6, V9: finished work that waits for the owner's files, and a red target once.
#[test]
fn merges_that_wait_for_a_person() {
    let mut world = World::new();
    let (one, two) = (world.started("w1"), world.started("w2"));
    let sessions = [("w1", one), ("w2", two)].map(|(agent, task)| {
        let session = world.enter(agent, task);
        world.report(session, Outcome::Success);
        world.leave(session);
        session
    });
    assert_eq!(needs(&world), []);
    let waits = Merge::Waiting { reason: "your changes are in the way".into(), files: vec!["a.rs".into()] };
    world.examine(sessions[0], WorkspaceFacts { merge: waits, ..merged() });
    assert_eq!(needs(&world), [(Need::Files, one)]);
    world.target_is(CheckOutcome::Fail);
    for session in sessions {
        world.fact(session, Fact::Examined(Examination::Found(Box::new(failing_check()))));
    }
    assert_eq!(needs(&world), [(Need::TargetRed, one)]);
}
