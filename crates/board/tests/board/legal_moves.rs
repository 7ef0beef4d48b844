//! What is offered to somebody: is it what would be admitted, and nothing else?

use board::lifecycle::TABLE;
use board::{Actor, Code, Command, Destination, LegalMove, Status, TaskId, legal_moves, may_edit};

use crate::team::Team;
use crate::world::{World, owner};

fn names(world: &World, actor: &Actor, task: TaskId, merged: bool) -> Vec<&'static str> {
    legal_moves(&world.board, actor, world.task(task), merged, world.now)
        .iter()
        .map(|legal| legal.name.as_str())
        .collect()
}

/// L1, W2: a task at the top is the owner's, in every status.
#[test]
fn a_top_level_task_is_the_owners() {
    let mut world = World::new();
    let task = world.top("w1");
    assert_eq!(names(&world, &owner(), task, false), ["shelve", "start", "block", "cancel"]);
    world.go(&owner(), task, Status::InProgress);
    assert_eq!(names(&world, &owner(), task, false), ["unstart", "block", "cancel"]);
    assert_eq!(names(&world, &owner(), task, true), ["unstart", "block", "finish", "cancel"]);
    assert_eq!(may_edit(&world.board, &owner(), world.task(task), world.now), Ok(()));
    world.go(&owner(), task, Status::Blocked);
    let back = LegalMove { name: board::lifecycle::Move::Unblock, to: Status::InProgress, needs_reason: false };
    assert!(legal_moves(&world.board, &owner(), world.task(task), false, world.now).contains(&back));
    world.go(&owner(), task, Status::Cancelled);
    assert_eq!(names(&world, &owner(), task, true), Vec::<&str>::new());
}

/// L1, F91: who meant one move never makes another that happens to lead to the same status.
#[test]
fn a_move_begins_where_its_row_does() {
    for name in board::lifecycle::Move::ALL {
        let mut world = World::new();
        let task = world.top("w1");
        world.go(&owner(), task, Status::InProgress);
        let command = Command::MoveTask {
            task,
            to: Destination::By(*name),
            reason: Some("because".into()),
            forced: true,
            merged: true,
        };
        let row = TABLE.iter().find(|rule| rule.name == *name).unwrap();
        let begins = row.from.contains(&Status::InProgress);
        let refused = board::admit(&world.board, &owner(), &command, world.now).map_err(|refusal| refusal.code());
        assert_eq!(refused.is_err_and(|code| code == Code::StateConflict), !begins, "{name}");
    }
}

/// L2, W2: inside a tree the owner may block and cancel, and is told whose the rest is.
#[test]
fn a_task_inside_a_tree_is_its_movers() {
    let team = Team::with_a_started();
    let (world, a) = (&team.world, team.a);
    assert_eq!(names(world, &owner(), a, false), ["unstart", "block", "cancel"]);
    assert_eq!(names(world, &team.lead(), a, false), ["unstart", "block", "cancel"]);
    assert_eq!(names(world, &owner(), team.b, false), ["queue", "cancel"], "the manager's to start");
    let refusal = may_edit(&world.board, &owner(), world.task(a), world.now).unwrap_err();
    assert_eq!(refusal.code(), Code::NotAllowed);
    assert!(refusal.to_string().contains("lead"), "{refusal}");
}
