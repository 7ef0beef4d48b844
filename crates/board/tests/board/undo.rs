//! What takes a change back: is it what would be admitted, and does it restore what was?

use board::lifecycle::Move;
use board::{Command, Destination, Status, TaskEdit, TaskId, undo};

use crate::world::{World, agent, owner};

fn by(task: TaskId, name: Move, reason: Option<&str>) -> Command {
    Command::MoveTask {
        task,
        to: Destination::By(name),
        reason: reason.map(str::to_owned),
        forced: false,
        merged: false,
    }
}

/// Does a command, and tells what takes it back.
fn way_back(world: &mut World, task: TaskId, command: Command) -> Option<Command> {
    let before = world.board.clone();
    world.must(&owner(), command);
    undo(&before, &world.board, &owner(), task, world.now)
}

/// W13: each move is taken back by the one that leads back, again and again; what was blocked keeps its reason.
#[test]
fn a_move_is_taken_back_by_a_legal_one() {
    let mut world = World::new();
    let task = world.top("w1");
    for (name, reason, back, back_reason) in [
        (Move::Shelve, None, Move::Queue, None),
        (Move::Queue, None, Move::Shelve, None),
        (Move::Start, None, Move::Unstart, None),
        (Move::Block, Some("wait for legal"), Move::Unblock, None),
        (Move::Unblock, None, Move::Block, Some("wait for legal")),
        (Move::Unstart, None, Move::Start, None),
    ] {
        let offered = way_back(&mut world, task, by(task, name, reason)).unwrap();
        assert_eq!(format!("{offered:?}"), format!("{:?}", by(task, back, back_reason)), "{name}");
        assert!(world.allows(&owner(), &offered), "{name}");
    }
}

/// W13: where nothing leads back, nothing is offered.
#[test]
fn what_cannot_be_taken_back_is_not_offered() {
    let mut world = World::new();
    let task = world.top("w1");
    world.go(&owner(), task, Status::InProgress);
    world.must(&owner(), by(task, Move::Block, Some("because")));
    // Blocked again, it would not be what it was: in progress before.
    assert_eq!(way_back(&mut world, task, by(task, Move::Requeue, None)).map(|_| ()), None);
    assert_eq!(way_back(&mut world, task, by(task, Move::Cancel, Some("no"))).map(|_| ()), None);
}

/// W13: who had a task has it again, and what was written is written again.
#[test]
fn an_assignment_and_an_edit_are_taken_back() {
    let mut world = World::new();
    let task = world.top("w1");
    let title = world.task(task).title.clone();
    let assign = Command::AssignTask { task, assignee: Some(agent("w2")), forced: false };
    let back = way_back(&mut world, task, assign).unwrap();
    world.must(&owner(), back);
    assert_eq!(world.task(task).assignee, Some(agent("w1")));
    let edit = TaskEdit { title: Some("another".into()), ..TaskEdit::default() };
    let back = way_back(&mut world, task, Command::EditTask { task, edit, forced: false }).unwrap();
    world.must(&owner(), back);
    assert_eq!(world.task(task).title, title);
}
