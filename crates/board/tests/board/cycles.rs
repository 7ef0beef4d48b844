//! Is everything refused that would wait for itself, and nothing else (L5, F19)?

use std::collections::BTreeSet;

use board::{Actor, Code, Command, DependsOn, NewTask, RefusalReason, Status, TaskId};
use proptest::prelude::*;

use crate::team::{Team, depending};
use crate::world::{World, owner};

fn insisting(task: TaskId, on: TaskId) -> Command {
    Command::ChangeDependencies { task, add: vec![on], remove: Vec::new(), forced: true }
}

fn chain(world: &World, actor: &Actor, command: &Command) -> Vec<TaskId> {
    match *world.refusal(actor, command).0 {
        RefusalReason::Cycle { chain } => chain,
        because => panic!("{because:?}"),
    }
}

/// L5, F19: a cycle is refused at write, and named from the task back to itself.
#[test]
fn cycle_is_refused_and_named() {
    let mut team = Team::new();
    let lead = team.lead();
    let c = team.world.create(&lead, &["c"])[0];
    team.world.must(&lead, depending(team.b, team.a));
    team.world.must(&lead, depending(c, team.b));
    assert_eq!(chain(&team.world, &lead, &depending(team.a, c)), [team.a, c, team.b, team.a]);
    assert_eq!(chain(&team.world, &lead, &depending(team.a, team.a)), [team.a]);
}

/// L5: a parent ends after its children, so neither waits for the other.
#[test]
fn parent_and_child_do_not_wait_for_each_other() {
    let mut team = Team::new();
    assert_eq!(chain(&team.world, &team.lead(), &depending(team.a, team.top)), [team.a, team.top, team.a]);
    team.world.go(&owner(), team.top, Status::Todo);
    assert_eq!(chain(&team.world, &owner(), &depending(team.top, team.a)), [team.top, team.a, team.top]);
}

/// L5: what an ancestor waits for, its descendants wait for too.
#[test]
fn dependencies_of_ancestors_count() {
    let mut world = World::new();
    let (first, second) = (world.top("lead"), world.top("lead"));
    let child = world.new_task(&owner(), Some(second), NewTask::titled("child"));
    world.must(&owner(), depending(second, first));
    assert_eq!(chain(&world, &owner(), &depending(first, child)), [first, child, second, first]);
    assert_eq!(world.refused(&owner(), depending(first, second)), Code::Cycle);
    let below = world.new_task(&owner(), Some(first), NewTask::titled("below"));
    assert_eq!(world.refused(&owner(), insisting(below, child)), Code::Cycle);
}

/// L5, F22: a batch that waits for itself creates nothing.
#[test]
fn batch_that_waits_for_itself_creates_nothing() {
    let team = Team::new();
    let new = |title: &str, on| NewTask { dependencies: vec![on], ..NewTask::titled(title) };
    let batches = [
        vec![new("c", DependsOn::New(1)), new("d", DependsOn::New(0))],
        vec![new("c", DependsOn::New(0))],
        vec![new("c", DependsOn::Task(team.top))],
    ];
    for tasks in batches {
        let command = Command::CreateTasks { parent: None, tasks, key: None };
        assert_eq!(team.world.refused(&team.lead(), command), Code::Cycle);
    }
}

/// L5: removing what is in the way and adding the reverse is one step.
#[test]
fn dependency_can_be_turned_round() {
    let mut team = Team::new();
    let lead = team.lead();
    team.world.must(&lead, depending(team.a, team.b));
    assert_eq!(team.world.refused(&lead, depending(team.b, team.a)), Code::Cycle);
    let off = Command::ChangeDependencies { task: team.a, add: vec![], remove: vec![team.b], forced: false };
    team.world.must(&lead, off);
    team.world.must(&lead, depending(team.b, team.a));
    assert_eq!(
        (team.world.task(team.a).dependents.clone(), team.world.task(team.b).dependents.clone()),
        (vec![team.b], vec![])
    );
}

/// Can all of this work ever end? Plays it: what may start, starts; what may end, ends.
fn ends(world: &World, extra: &[(TaskId, TaskId)]) -> bool {
    let (mut started, mut ended) = (BTreeSet::new(), BTreeSet::new());
    loop {
        let before = (started.len(), ended.len());
        for task in world.board.tasks.values() {
            let more = extra.iter().filter(|(id, _)| *id == task.id).map(|(_, on)| *on);
            let ready = task.dependencies.iter().copied().chain(more).all(|on| ended.contains(&on));
            if ready && task.parent.is_none_or(|parent| started.contains(&parent)) {
                started.insert(task.id);
            }
            if started.contains(&task.id) && task.children.iter().all(|child| ended.contains(child)) {
                ended.insert(task.id);
            }
        }
        if (started.len(), ended.len()) == before {
            return ended.len() == world.board.tasks.len();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// L5: on small forests with any dependencies, exactly that is refused which could never end.
    #[test]
    fn exactly_what_could_never_end_is_refused(
        parents in prop::collection::vec(0u32..8, 2..9),
        edges in prop::collection::vec((1u32..9, 1u32..9), 1..24),
    ) {
        let mut world = World::with(|settings, _| settings.limits.max_children = 20);
        for (n, parent) in parents.iter().enumerate() {
            // 0 and what is not there yet: at the top.
            let parent = Some(TaskId(*parent)).filter(|id| world.board.tasks.contains_key(id));
            let task = NewTask::titled(format!("task {n}"));
            let create = Command::CreateTasks { parent, tasks: vec![task], key: None };
            if world.attempt(&owner(), &create).is_err() {
                world.must(&owner(), crate::team::creating(&[&format!("task {n}")]));
            }
        }
        for (task, on) in edges.into_iter().map(|(task, on)| (TaskId(task), TaskId(on))) {
            if !world.board.tasks.contains_key(&task) || !world.board.tasks.contains_key(&on) {
                continue;
            }
            let possible = ends(&world, &[(task, on)]);
            match world.attempt(&owner(), &insisting(task, on)) {
                Ok(_) => prop_assert!(possible, "{task} on {on} was accepted and never ends"),
                Err(refusal) => {
                    prop_assert!(!possible, "{task} on {on} was refused: {refusal}");
                    let RefusalReason::Cycle { chain } = *refusal.0 else { panic!("{refusal}") };
                    prop_assert_eq!((chain.first(), chain.last()), (Some(&task), Some(&task)));
                }
            }
        }
    }
}

/// L5: the tasks of one batch wait for each other by their places in it, and not in a circle.
#[test]
fn batch_may_be_a_chain_and_not_a_circle() {
    let world = World::new();
    let batch = |on: [Option<usize>; 3]| {
        let task = |(n, on): (usize, Option<usize>)| {
            let dependencies = on.map(DependsOn::New).into_iter().collect();
            NewTask { dependencies, ..NewTask::titled(format!("task {n}")) }
        };
        let tasks = on.into_iter().enumerate().map(task).collect();
        Command::CreateTasks { parent: None, tasks, key: None }
    };
    for chain in [[None, Some(0), Some(1)], [Some(1), Some(2), None], [Some(2), None, Some(1)]] {
        assert!(world.allows(&owner(), &batch(chain)), "{chain:?}");
    }
    for circle in [[Some(1), Some(2), Some(0)], [Some(1), Some(0), None], [None, Some(2), Some(1)]] {
        assert_eq!(world.refused(&owner(), batch(circle)), Code::Cycle, "{circle:?}");
    }
}
