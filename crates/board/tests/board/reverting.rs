//! Who may have merged work undone, and how is that judged (V14)?

use board::{
    Code, Command, Examination, ExaminationStep, NewTask, Outcome, Repairs, Status, TaskId, examination_step, merges,
};

use crate::team::merged;
use crate::world::{World, agent, owner};

fn revert(task: TaskId) -> Command {
    Command::RevertTask { task, title: "Undo it".into(), description: "Undo what it brought".into() }
}

/// A task of `w1` whose work was merged.
fn done(world: &mut World) -> TaskId {
    let task = world.started("w1");
    world.complete("w1", task);
    assert_eq!(world.task(task).status, Status::Done);
    task
}

/// V14: it is a task like any other, for whoever did the work, and starts at once; it is made once.
#[test]
fn merged_work_is_undone_by_a_task_of_its_own() {
    let mut world = World::new();
    let task = done(&mut world);
    let receipt = world.must(&owner(), revert(task));
    let undo = world.board.tasks.keys().next_back().copied().unwrap();
    assert!(receipt.len() >= 2, "{receipt:?}");
    let made = world.task(undo);
    assert_eq!((made.status, made.assignee.clone()), (Status::InProgress, Some(agent("w1"))));
    assert_eq!(
        made.reverts.as_ref().map(|reverts| (reverts.task, reverts.commits.clone())),
        Some((task, vec!["c0ffee".into()]))
    );
    assert_eq!(made.repairs, Some(Repairs::Target), "it goes through although the target fails");
    assert_eq!(world.refused(&owner(), revert(task)), Code::Duplicate);
}

/// V14, S7: nobody has to attach an agent for what git can do alone.
#[test]
fn what_an_attached_agent_did_is_undone_by_one_that_a_runner_starts() {
    let mut world = World::new();
    let task = done(&mut world);
    let mut agents: Vec<_> = world.board.agents.values().map(|agent| agent.spec.clone()).collect();
    agents.iter_mut().filter(|spec| spec.id == agent("w1")).for_each(|spec| spec.client = board::Client::Attached);
    world.must(&owner(), Command::ApplyRoster { agents });
    world.must(&owner(), revert(task));
    let undo = world.board.tasks.keys().next_back().copied().unwrap();
    let assignee = world.task(undo).assignee.clone().unwrap();
    assert_ne!(world.board.agent(&assignee).unwrap().spec.client, board::Client::Attached);
}

/// V14: only the owner, and only what the queue merged.
#[test]
fn what_was_not_merged_by_the_queue_is_not_undone() {
    let mut world = World::new();
    let task = world.started("w1");
    assert_eq!(world.refused(&owner(), revert(task)), Code::NotMerged);
    let task = done(&mut world);
    let session = world.task(task).last_session.unwrap();
    assert_eq!(world.refused(&board::Actor::Session(session), revert(task)), Code::StaleSession);
    let other = world.started("w1");
    let session = world.enter("w1", other);
    assert_eq!(world.refused(&board::Actor::Session(session), revert(task)), Code::NotAllowed);
    // Where somebody merged it by hand, it is not known where the work begins.
    world.report(session, Outcome::Success);
    world.leave(session);
    world.examine(session, board::WorkspaceFacts { candidate: None, ..merged() });
    assert_eq!(merges(&world.board, world.task(other)), Vec::<String>::new());
    assert_eq!(world.refused(&owner(), revert(other)), Code::NotMerged);
}

/// V14: where git undoes it alone nobody reports, and the goals of its type do not apply; everything else does.
#[test]
fn undoing_is_judged_by_its_work_alone() {
    let mut world = World::new();
    let task = done(&mut world);
    world.must(&owner(), revert(task));
    let undo = world.board.tasks.keys().next_back().copied().unwrap();
    let session = world.enter("w1", undo);
    world.leave(session);
    let unmet = board::WorkspaceFacts { merge: board::Merge::NotTried, goals_unmet: vec!["a test".into()], ..merged() };
    let step = |world: &World, facts| {
        let found = Examination::Found(Box::new(facts));
        examination_step(&world.board, world.session(session), Some(&found), world.now)
    };
    assert_eq!(step(&world, unmet), ExaminationStep::Merge);
    world.examine(
        session,
        board::WorkspaceFacts {
            candidate: Some("beef".into()),
            merge: board::Merge::Merged { commit: "beef".into() },
            ..merged()
        },
    );
    assert_eq!(world.task(undo).status, Status::Done);
    // What was undone can come back the same way.
    world.must(&owner(), revert(undo));
}

/// V14: without anybody who could resolve conflicts it waits to be assigned.
#[test]
fn without_a_worker_it_waits_to_be_assigned() {
    let mut world = World::new();
    let task = done(&mut world);
    let managers: Vec<_> = world
        .board
        .agents
        .values()
        .map(|agent| agent.spec.clone())
        .filter(|spec| spec.hierarchy == board::Hierarchy::Manager)
        .collect();
    world.must(&owner(), Command::ApplyRoster { agents: managers });
    world.must(&owner(), revert(task));
    let made = world.board.tasks.values().next_back().unwrap();
    assert_eq!((made.status, made.assignee.clone()), (Status::Backlog, None));
}

/// V14: an agent cannot pass its work off as the undoing of other work.
#[test]
fn only_the_command_makes_such_tasks() {
    let mut world = World::new();
    let task = done(&mut world);
    let parent = world.started("lead");
    let session = world.enter("lead", parent);
    let reverts = Some(board::Reverts { task, commits: vec!["c0ffee".into()] });
    let tasks = vec![NewTask { reverts, ..NewTask::titled("sly") }];
    assert_eq!(
        world.refused(&board::Actor::Session(session), Command::CreateTasks { parent: None, tasks, key: None }),
        Code::NotAllowed
    );
}
