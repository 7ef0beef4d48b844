//! Which status may follow which, by whom (L1)? The specification's table, written again, against every pair.

use board::{Actor, Command, Destination, Status, TaskId, lifecycle};

use crate::team::{Team, merged, moving};
use crate::world::{World, owner, runner};
use Status::{Backlog, Blocked, Cancelled, Done, Failed, InProgress, Todo};

/// What somebody is to the task under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskRole {
    Owner,
    OwnerWhoSawTheMerge,
    OwnerWithForce,
    /// In the session of the parent.
    Mover,
    /// In the chat of a manager that is the mover.
    MoverInChat,
    /// In the session of the task itself.
    Assignee,
    AssigneeInChat,
    /// Another worker, in a session of a task of its own.
    Stranger,
    Runner,
    System,
}

const OWNER: &[TaskRole] = &[TaskRole::Owner, TaskRole::OwnerWhoSawTheMerge, TaskRole::OwnerWithForce];
const MOVER: &[TaskRole] = &[TaskRole::Mover, TaskRole::MoverInChat];
const EVERYBODY: &[TaskRole] = &[
    TaskRole::Owner,
    TaskRole::OwnerWhoSawTheMerge,
    TaskRole::OwnerWithForce,
    TaskRole::Mover,
    TaskRole::MoverInChat,
    TaskRole::Assignee,
    TaskRole::AssigneeInChat,
    TaskRole::Stranger,
    TaskRole::Runner,
    TaskRole::System,
];

/// L1 for a task below another one, as the specification words it. A session of the task itself
/// exists only while it is in progress; `blocked` was set by the mover, from `in_progress`.
fn subtask_may(from: Status, to: Status, who: TaskRole) -> bool {
    let (owner, mover) = (OWNER.contains(&who), MOVER.contains(&who));
    let force = who == TaskRole::OwnerWithForce;
    match (from, to) {
        (Backlog, Todo) | (Todo, Backlog) | (InProgress | Failed, Todo) => owner || mover,
        (Backlog | Todo, InProgress) => mover || force,
        (Todo, Blocked) => owner || mover,
        (InProgress, Blocked) => owner || mover || who == TaskRole::Assignee,
        (Blocked, InProgress | Todo) => mover || force,
        (InProgress, Done) => who == TaskRole::OwnerWhoSawTheMerge || force,
        (InProgress, Failed) => force,
        (Backlog | Todo | InProgress | Blocked | Failed, Cancelled) => owner || mover,
        (Done, Todo) => owner,
        _ => false,
    }
}

/// L1 for a task without parent: its mover is the owner.
fn top_may(from: Status, to: Status, who: TaskRole) -> bool {
    let owner = OWNER.contains(&who);
    match (from, to) {
        (Backlog | Todo | Blocked, InProgress) | (Blocked, Todo) => owner,
        _ if MOVER.contains(&who) => false,
        _ => subtask_may(from, to, who),
    }
}

/// L1 for a step, whose mover, assignee and doer is the session of its task.
fn step_may(from: Status, to: Status, who: TaskRole) -> bool {
    let doer = who == TaskRole::Mover;
    match (from, to) {
        (InProgress, Done | Failed) if doer => true,
        // Whoever blocked it lifts it, also from a chat.
        (Blocked, InProgress | Todo) if who == TaskRole::MoverInChat => true,
        _ if who == TaskRole::MoverInChat => false,
        _ => subtask_may(from, to, who),
    }
}

/// A task in each status, with everybody who might want to move it.
struct Stage {
    world: World,
    task: TaskId,
    actors: Vec<(TaskRole, Actor)>,
}

impl Stage {
    fn of(world: World, task: TaskId, sessions: &[(TaskRole, Option<board::SessionId>)]) -> Self {
        let sessions = sessions.iter().filter_map(|(who, id)| Some((*who, Actor::Session((*id)?))));
        let others = [(TaskRole::Runner, runner()), (TaskRole::System, Actor::System)];
        let actors = OWNER.iter().map(|who| (*who, owner())).chain(others).chain(sessions).collect();
        Self { world, task, actors }
    }

    /// A child of `lead`'s task that is `w1`'s.
    fn subtask(status: Status) -> Self {
        let mut team = Team::new();
        let (lead, task) = (team.lead(), team.a);
        team.give("w2", team.b);
        let stranger = team.world.enter("w2", team.b);
        let chats = [team.world.chat("lead"), team.world.chat("w1")];
        team.world.assign(&lead, task, "w1");
        if !matches!(status, Backlog | Todo) {
            team.world.go(&lead, task, InProgress);
        }
        let mut assignee = None;
        match status {
            Todo => {}
            InProgress => assignee = Some(team.world.enter("w1", task)),
            Backlog | Blocked | Cancelled => {
                team.world.go(&lead, task, status);
            }
            Done => {
                team.world.complete("w1", task);
            }
            Failed => {
                team.world.crash("w1", task);
            }
        }
        let sessions = [
            (TaskRole::Mover, Some(team.lead)),
            (TaskRole::MoverInChat, Some(chats[0])),
            (TaskRole::Assignee, assignee),
            (TaskRole::AssigneeInChat, Some(chats[1])),
            (TaskRole::Stranger, Some(stranger)),
        ];
        Self::of(team.world, task, &sessions)
    }

    /// A task of `w1` without parent.
    fn top(status: Status) -> Self {
        let mut world = World::new();
        let task = world.top("w1");
        let other = world.started("w2");
        let stranger = world.enter("w2", other);
        let chats = [world.chat("lead"), world.chat("w1")];
        if !matches!(status, Backlog | Todo) {
            world.go(&owner(), task, InProgress);
        }
        let mut assignee = None;
        match status {
            Todo => {}
            InProgress => assignee = Some(world.enter("w1", task)),
            Backlog | Blocked | Cancelled => {
                world.go(&owner(), task, status);
            }
            Done => {
                world.complete("w1", task);
            }
            Failed => {
                world.crash("w1", task);
            }
        }
        let sessions = [
            (TaskRole::MoverInChat, Some(chats[0])),
            (TaskRole::Assignee, assignee),
            (TaskRole::AssigneeInChat, Some(chats[1])),
            (TaskRole::Stranger, Some(stranger)),
        ];
        Self::of(world, task, &sessions)
    }

    /// A step of `w1`.
    fn step(status: Status) -> Self {
        let mut world = World::new();
        let task = world.started("w1");
        let other = world.started("w2");
        let (session, stranger) = (world.enter("w1", task), world.enter("w2", other));
        let doer = Actor::Session(session);
        let step = world.create(&doer, &["one"])[0];
        let chat = world.chat("w1");
        match status {
            Todo => {}
            Backlog | InProgress | Cancelled => {
                world.go(&doer, step, status);
            }
            Blocked | Done | Failed => {
                world.go(&doer, step, InProgress);
                world.go(&doer, step, status);
            }
        }
        let sessions = [
            (TaskRole::Mover, Some(session)),
            (TaskRole::MoverInChat, Some(chat)),
            (TaskRole::Stranger, Some(stranger)),
        ];
        Self::of(world, step, &sessions)
    }
}

fn command(task: TaskId, to: Status, who: TaskRole) -> Command {
    Command::MoveTask {
        task,
        to: Destination::Status(to),
        reason: Some("because".into()),
        forced: who == TaskRole::OwnerWithForce,
        merged: who == TaskRole::OwnerWhoSawTheMerge,
    }
}

/// Tries every status and every actor from every status, and compares with the specification.
fn compare(stage: impl Fn(Status) -> Stage, may: impl Fn(Status, Status, TaskRole) -> bool) {
    for from in Status::ALL {
        let Stage { world, task, actors } = stage(*from);
        assert_eq!(world.task(task).status, *from);
        assert!(actors.iter().all(|(who, _)| EVERYBODY.contains(who)));
        for to in Status::ALL {
            for (who, actor) in &actors {
                let mut after = world.clone();
                let moved = after.attempt(actor, &command(task, *to, *who)).is_ok();
                assert_eq!(moved, may(*from, *to, *who), "{who:?} moves {from} to {to}");
                let left = if moved { *to } else { *from };
                assert_eq!(after.task(task).status, left, "{who:?} moves {from} to {to}");
            }
        }
    }
}

/// L1, L2, F15, F16, F18: every pair of statuses, everybody who might ask, below another task.
#[test]
fn subtasks_are_moved_as_the_table_says_and_by_nobody_else() {
    compare(Stage::subtask, subtask_may);
}

/// L1, L2
#[test]
fn tasks_without_parent_are_moved_as_the_table_says_and_by_nobody_else() {
    compare(Stage::top, top_may);
}

/// L1, L6
#[test]
fn steps_are_moved_by_their_doer_as_the_table_says_and_by_nobody_else() {
    compare(Stage::step, step_may);
}

/// L1, G3: what Saihai blocked, no runner and nothing that runs by itself lifts.
#[test]
fn block_by_saihai_is_lifted_by_mover_or_owner_only() {
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    team.world.no_progress(worker);
    assert_eq!(team.world.task(team.a).block.as_ref().unwrap().by, board::Party::System);
    let lift = moving(team.a, InProgress);
    let may: Vec<_> = [owner(), team.lead(), runner(), Actor::System, Actor::Session(worker)]
        .iter()
        .map(|actor| team.world.allows(actor, &lift))
        .collect();
    assert_eq!(may, [true, true, false, false, false]);
}

/// L1: whoever blocked it may lift it; nobody but the owner lifts the owner's block.
#[test]
fn owners_block_is_lifted_by_the_owner_alone() {
    let mut team = Team::with_a_started();
    team.world.go(&owner(), team.a, Blocked);
    let lift = moving(team.a, InProgress);
    assert_eq!(team.world.refused(&team.lead(), lift.clone()), board::Code::NotAllowed);
    team.world.must(&owner(), lift);
    assert_eq!(team.world.task(team.a).status, InProgress);
}

/// L1, V2: the verdict finishes, fails and blocks a task; the guard on its children is the report's.
#[test]
fn verdict_finishes_fails_and_blocks() {
    let ends = [(board::Outcome::Success, Done), (board::Outcome::Failed, Failed), (board::Outcome::Blocked, Blocked)];
    for (claimed, status) in ends {
        let mut world = World::new();
        let task = world.started("w1");
        let session = world.enter("w1", task);
        world.report(session, claimed);
        world.leave(session);
        if world.session(session).is_live() {
            world.examine(session, merged());
        }
        assert_eq!(world.task(task).status, status);
    }
}

/// L1: the page is printed from the table. `SAIHAI_BLESS=1` writes it.
#[test]
fn lifecycle_page_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lifecycle.md");
    if std::env::var_os("SAIHAI_BLESS").is_some() {
        std::fs::write(path, lifecycle::markdown()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(page, lifecycle::markdown(), "run with SAIHAI_BLESS=1 to print docs/lifecycle.md again");
}
