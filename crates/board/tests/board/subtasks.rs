//! Who splits, assigns, changes and ties together which tasks (L2, L5 to L8)?

use board::{
    Actor, Audience, Code, Command, DependsOn, EventKind, Kind, Language, NewTask, Party, RefusalReason, Status,
    TaskEdit, TaskId,
};

use crate::team::{Team, assigning, creating, depending, forced, merged, moving};
use crate::world::{World, agent, owner, runner};
use Status::{Backlog, Cancelled, Done, InProgress, Todo};

fn below(parent: TaskId, task: NewTask) -> Command {
    Command::CreateTasks { parent: Some(parent), tasks: vec![task], key: None }
}

/// L1, L6, F12, F14: a manager's children are tasks in the backlog, a worker's are steps in `todo`.
#[test]
fn managers_create_tasks_and_workers_create_steps() {
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    let step = team.world.create(&Actor::Session(worker), &["one"])[0];
    let made = |world: &World, id| {
        let task = world.task(id);
        (task.kind, task.status, task.parent, task.depth, task.assignee.clone(), task.creator.clone())
    };
    let by = |id: &str| Party::Agent(agent(id));
    assert_eq!(made(&team.world, team.b), (Kind::Task, Backlog, Some(team.top), 1, None, by("lead")));
    assert_eq!(made(&team.world, step), (Kind::Step, Todo, Some(team.a), 1, None, by("w1")));
}

/// L1: who may create: owner and mover; neither runners nor a worker's chat.
#[test]
fn only_owner_and_mover_create_tasks() {
    let mut team = Team::new();
    let chats = [team.world.chat("lead"), team.world.chat("w1")].map(Actor::Session);
    let child = |title: &str| below(team.top, NewTask::titled(title));
    team.world.must(&owner(), child("c"));
    team.world.must(&team.lead(), child("d"));
    assert_eq!(team.world.refused(&chats[0], child("e")), Code::NotAllowed);
    for actor in [&chats[1], &runner(), &Actor::System] {
        assert_eq!(team.world.refused(actor, creating(&["f"])), Code::NotAllowed, "{actor:?}");
    }
    // In its chat a manager may create a task for itself, which the owner starts.
    team.world.must(&chats[0], creating(&["mine"]));
    let mine = team.world.board.tasks.values().next_back().unwrap().clone();
    assert_eq!((mine.status, &mine.assignee, mine.parent), (Backlog, &Some(agent("lead")), None));
    assert_eq!(team.world.refused(&chats[0], moving(mine.id, InProgress)), Code::NotAllowed);
    team.world.go(&owner(), mine.id, InProgress);
}

/// L2, F18: whoever takes the parent over takes its children over, and the former mover lets go.
#[test]
fn whoever_takes_the_parent_over_moves_the_children() {
    let mut team = Team::new();
    team.world.go(&owner(), team.top, Todo);
    team.world.leave(team.lead);
    team.world.assign(&owner(), team.top, "sub");
    team.world.go(&owner(), team.top, InProgress);
    let sub = Actor::Session(team.world.enter("sub", team.top));
    assert_eq!(team.world.board.mover(team.world.task(team.a)), Party::Agent(agent("sub")));
    team.world.assign(&sub, team.a, "w3");
    team.world.go(&sub, team.a, InProgress);
    let chat = Actor::Session(team.world.chat("lead"));
    assert_eq!(team.world.refused(&chat, moving(team.b, Todo)), Code::NotAllowed);
}

/// L2, F16: the owner leaves tasks inside a tree to their mover, unless it insists; agents cannot insist.
#[test]
fn owner_insists_inside_a_tree_and_agents_never() {
    let mut team = Team::new();
    let edit = |forced| {
        let edit = TaskEdit { title: Some("better".into()), ..TaskEdit::default() };
        Command::EditTask { task: team.a, edit, forced }
    };
    assert_eq!(team.world.refused(&owner(), edit(false)), Code::NotAllowed);
    assert_eq!(team.world.refused(&owner(), assigning(team.a, "w1")), Code::NotAllowed);
    assert_eq!(team.world.refused(&owner(), moving(team.a, InProgress)), Code::NotAllowed);
    assert_eq!(*team.world.refusal(&team.lead(), &edit(true)).0, RefusalReason::ForceIsTheOwners);
    assert_eq!(*team.world.refusal(&team.lead(), &forced(team.a, Todo)).0, RefusalReason::ForceIsTheOwners);
    team.world.must(&owner(), edit(true));
    team.world.must(&owner(), Command::AssignTask { task: team.a, assignee: Some(agent("w1")), forced: true });
    let started = team.world.must(&owner(), forced(team.a, InProgress));
    assert!(matches!(started[0].what, EventKind::TaskMoved { forced: true, .. }));
}

/// L2: a task that is ready and not started after ten minutes waits for its mover, and says so.
#[test]
fn ready_task_is_shown_as_waiting_for_its_mover_after_ten_minutes() {
    let mut team = Team::new();
    let lead = team.lead();
    team.world.assign(&lead, team.a, "w1");
    let shown = |team: &Team| board::waiting_to_start(&team.world.board, team.world.task(team.a), team.world.now);
    team.world.tend(board::Span(10 * 60_000 - 1));
    assert_eq!(shown(&team), None);
    team.world.tend(board::Span(1));
    assert_eq!(shown(&team), Some((Party::Agent(agent("lead")), board::Span::minutes(10))));
}

/// L5: a step depends only on its siblings, a task on no step, nothing on what is cancelled.
#[test]
fn dependencies_stay_among_siblings_for_steps_and_off_what_is_cancelled() {
    let mut team = Team::with_a_started();
    let lead = team.lead();
    let worker = Actor::Session(team.world.enter("w1", team.a));
    let steps = team.world.create(&worker, &["one", "two"]);
    team.world.must(&worker, depending(steps[1], steps[0]));
    let apart = |task, dependency| RefusalReason::StepsDependOnSiblings { task, dependency };
    assert_eq!(*team.world.refusal(&worker, &depending(steps[0], team.b)).0, apart(steps[0], team.b));
    assert_eq!(*team.world.refusal(&lead, &depending(team.b, steps[0])).0, apart(team.b, steps[0]));
    team.world.go(&worker, steps[0], Cancelled);
    let three = NewTask { dependencies: vec![DependsOn::Task(steps[0])], ..NewTask::titled("three") };
    let never = RefusalReason::DependencyCancelled { task: TaskId(6), dependency: steps[0] };
    assert_eq!(*team.world.refusal(&worker, &below(team.a, three)).0, never);
    assert_eq!(team.world.refused(&lead, depending(team.b, TaskId(99))), Code::NotFound);
}

/// L5: a task that runs gets no new dependency.
#[test]
fn task_in_progress_gets_no_new_dependency() {
    let team = Team::with_a_started();
    assert_eq!(team.world.refused(&team.lead(), depending(team.a, team.b)), Code::StateConflict);
}

/// L6, F1: five unsettled children at once and thirty ever, and the sixth is refused to everybody.
#[test]
fn children_are_limited_at_once_and_ever() {
    let mut team = Team::new();
    let lead = team.lead();
    team.world.create(&lead, &["c", "d", "e"]);
    let full = RefusalReason::TooManyChildren { parent: team.top, limit: 5, unsettled: 5, more: 1 };
    assert_eq!(*team.world.refusal(&lead, &creating(&["f"])).0, full);
    assert_eq!(*team.world.refusal(&owner(), &below(team.top, NewTask::titled("f"))).0, full);
    // D16: a list that is too long for the room there is says so, and what to do about it.
    team.world.go(&lead, team.a, Cancelled);
    let refusal = team.world.refusal(&lead, &creating(&["f", "g"]));
    assert_eq!(*refusal.0, RefusalReason::TooManyChildren { parent: team.top, limit: 5, unsettled: 4, more: 2 });
    assert!(refusal.hint(Language::En, Audience::Agent).contains("shorter list"));
    team.world.create(&lead, &["f"]);
    for n in 6..30 {
        let oldest = team.world.board.unsettled_children(team.world.task(team.top)).next().unwrap().id;
        team.world.go(&lead, oldest, Cancelled);
        team.world.create(&lead, &[&format!("child {n}")]);
    }
    team.world.go(&lead, TaskId(31), Cancelled);
    let spent = RefusalReason::TooManyChildrenEver { parent: team.top, limit: 30 };
    assert_eq!(*team.world.refusal(&lead, &creating(&["one more"])).0, spent);
}

/// L6, F13: a step is not split, by its doer or by the owner.
#[test]
fn step_cannot_be_split() {
    let mut world = World::new();
    let task = world.started("w1");
    let worker = Actor::Session(world.enter("w1", task));
    let step = world.create(&worker, &["one"])[0];
    let split = below(step, NewTask::titled("deeper"));
    assert_eq!(*world.refusal(&owner(), &split).0, RefusalReason::StepsCannotSplit { task: step });
    assert_eq!(*world.refusal(&worker, &split).0, RefusalReason::ForeignParent { parent: step, own: task });
}

/// L6: at the depth limit a task is neither split into tasks nor given to a manager; steps do not count.
#[test]
fn depth_limit_stops_tasks_and_managers_but_not_steps() {
    let mut team = Team::of(World::with(|settings, _| settings.limits.max_depth = 1));
    let lead = team.lead();
    assert_eq!(team.world.refused(&lead, assigning(team.a, "sub")), Code::NotAllowed);
    let deep = RefusalReason::TooDeep { parent: team.a, limit: 1 };
    assert_eq!(*team.world.refusal(&owner(), &below(team.a, NewTask::titled("deep"))).0, deep);
    team.give("w1", team.a);
    let worker = Actor::Session(team.world.enter("w1", team.a));
    let step = team.world.create(&worker, &["one"])[0];
    assert_eq!(team.world.task(step).depth, 1);

    // Nor do they when the owner lowers the limit below the task they are of.
    let mut settings = (*team.world.board.settings).clone();
    settings.limits.max_depth = 0;
    team.world.must(&owner(), Command::Configure { settings: Box::new(settings) });
    team.world.create(&worker, &["two"]);
}

/// L6, F3: a child that equals an unsettled sibling is refused, which names the sibling.
#[test]
fn twin_of_an_unsettled_sibling_is_refused_by_name() {
    let mut team = Team::new();
    let lead = team.lead();
    let twin = |world: &World, command| match *world.refusal(&lead, &command).0 {
        RefusalReason::Twin { sibling, .. } => sibling,
        because => panic!("{because:?}"),
    };
    assert_eq!(twin(&team.world, creating(&["  A "])), team.a);
    assert_eq!(twin(&team.world, creating(&["c", "C"])), TaskId(4));
    let rename = TaskEdit { title: Some("B".into()), ..TaskEdit::default() };
    assert_eq!(twin(&team.world, Command::EditTask { task: team.a, edit: rename, forced: false }), team.b);
    team.world.go(&lead, team.a, Cancelled);
    team.world.create(&lead, &["a"]);
}

/// L6, F22: a batch is all or nothing, ties its tasks together, and a key makes it once.
#[test]
fn batch_is_atomic_and_idempotent() {
    let mut team = Team::new();
    let lead = team.lead();
    let batch = |last: NewTask| Command::CreateTasks {
        parent: None,
        tasks: vec![NewTask::titled("c"), last],
        key: Some("k".into()),
    };
    let bad = NewTask { dependencies: vec![DependsOn::New(7)], ..NewTask::titled("d") };
    assert_eq!(team.world.refused(&lead, batch(bad)), Code::InvalidArgument);
    assert_eq!(team.world.board.tasks.len(), 3);
    let good = NewTask { dependencies: vec![DependsOn::New(0)], ..NewTask::titled("d") };
    team.world.must(&lead, batch(good.clone()));
    assert_eq!(team.world.task(TaskId(5)).dependencies, [TaskId(4)]);
    assert_eq!(team.world.task(TaskId(4)).dependents, [TaskId(5)]);
    assert_eq!(team.world.must(&lead, batch(good)), []);
    assert_eq!(team.world.refused(&lead, batch(NewTask::titled("another"))), Code::Duplicate);
    let party = Party::Agent(agent("lead"));
    assert_eq!(team.world.board.created_by_key(&party, Some(TaskId(1)), "k"), Some([TaskId(4), TaskId(5)].as_slice()));
    assert_eq!(team.world.refused(&lead, creating(&[])), Code::InvalidArgument);
}

/// L7: a manager assigns to its direct subordinates only, and not what is in progress; steps follow.
#[test]
fn managers_assign_to_direct_subordinates_what_is_not_running() {
    let mut team = Team::with_a_started();
    let lead = team.lead();
    let stranger = RefusalReason::NotASubordinate { agent: agent("w3"), manager: agent("lead") };
    assert_eq!(*team.world.refusal(&lead, &assigning(team.b, "w3")).0, stranger);
    assert_eq!(team.world.refused(&lead, assigning(team.b, "nobody")), Code::NotFound);
    assert_eq!(
        *team.world.refusal(&lead, &assigning(team.a, "w2")).0,
        RefusalReason::AssignedInProgress { task: team.a }
    );
    let worker = Actor::Session(team.world.enter("w1", team.a));
    let step = team.world.create(&worker, &["one"])[0];
    assert_eq!(
        *team.world.refusal(&worker, &assigning(step, "w2")).0,
        RefusalReason::StepsFollowTheirTask { task: step }
    );
    team.world.go(&lead, team.a, Todo);
    team.world.assign(&lead, team.a, "w2");
    assert_eq!(team.world.board.mover(team.world.task(step)), Party::Agent(agent("w2")));
}

/// L7, L6: what has steps is a worker's, what has subtasks is a manager's.
#[test]
fn rank_of_the_assignee_suits_the_children() {
    let mut team = Team::with_a_started();
    let lead = team.lead();
    let worker = Actor::Session(team.world.enter("w1", team.a));
    team.world.create(&worker, &["one"]);
    team.world.go(&lead, team.a, Todo);
    assert_eq!(team.world.refused(&lead, assigning(team.a, "sub")), Code::NotAllowed);
    team.world.go(&owner(), team.top, Todo);
    assert_eq!(team.world.refused(&owner(), assigning(team.top, "w1")), Code::NotAllowed);
}

/// L8, F9: reporting and judging one task leaves the agent's other tasks as they are.
#[test]
fn nothing_is_completed_that_was_not_named() {
    let mut world = World::with(|_, agents| crate::world::spec(agents, "w1").max_sessions = 2);
    let (first, second) = (world.started("w1"), world.started("w1"));
    let (one, two) = (world.enter("w1", first), world.enter("w1", second));
    let before = (world.task(second).clone(), world.session(two).clone());
    world.deliver(one, merged());
    assert_eq!(world.task(first).status, Done);
    assert_eq!((world.task(second), world.session(two)), (&before.0, &before.1));
}

/// L1, L8: cancelling reaches the unsettled descendants, and nothing else.
#[test]
fn cancelling_reaches_descendants_that_are_not_settled() {
    let mut team = Team::with_a_started();
    let other = team.world.top("w2");
    team.world.complete("w1", team.a);
    let events = team.world.go(&owner(), team.top, Cancelled);
    let status = |id| team.world.task(id).status;
    assert_eq!([team.top, team.a, team.b, other].map(status), [Cancelled, Done, Cancelled, Todo]);
    assert_eq!(events.len(), 2);
    assert_eq!(team.world.task(team.b).conclusion.as_ref().unwrap().by, Party::Owner);
}

/// L5: a cancelled dependency can never be satisfied; the mover removes it.
#[test]
fn cancelled_dependency_is_removed_by_the_mover() {
    let mut team = Team::new();
    let lead = team.lead();
    team.world.must(&lead, depending(team.a, team.b));
    team.world.assign(&lead, team.a, "w1");
    team.world.go(&lead, team.b, Cancelled);
    assert_eq!(team.world.ask(team.lead).1, "N2.17");
    let off = Command::ChangeDependencies { task: team.a, add: vec![], remove: vec![team.b], forced: false };
    team.world.must(&lead, off.clone());
    team.world.go(&lead, team.a, InProgress);
    assert_eq!(team.world.refused(&lead, off), Code::StateConflict);
}
