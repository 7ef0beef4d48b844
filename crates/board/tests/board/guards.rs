//! Does each guard of L1 hold, for everybody, and do readiness (L3) and holding (L4) too?

use board::{
    Code, Command, Destination, EventKind, Interrupt, NextAction, Obstacle, Party, ProcessEnd, RefusalReason, Status,
    lifecycle::Move, obstacles,
};

use crate::team::{Team, assigning, claiming, depending, forced, moving};
use crate::world::{World, agent, owner, roster};
use Status::{Backlog, Blocked, Cancelled, Done, Failed, InProgress, Todo};

fn silently(task: board::TaskId, to: Status) -> Command {
    Command::MoveTask { task, to: Destination::Status(to), reason: None, forced: false, merged: false }
}

/// L1: blocking, failing and cancelling need a reason; an empty one is none.
#[test]
fn block_fail_and_cancel_need_a_reason() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = board::Actor::Session(world.enter("w1", task));
    let step = world.create(&session, &["one"])[0];
    world.go(&session, step, InProgress);
    let named = |world: &World, actor: &board::Actor, task, to| *world.refusal(actor, &silently(task, to)).0;
    assert_eq!(named(&world, &owner(), task, Blocked), RefusalReason::ReasonNeeded(Move::Block));
    assert_eq!(named(&world, &owner(), task, Cancelled), RefusalReason::ReasonNeeded(Move::Cancel));
    assert_eq!(named(&world, &session, step, Failed), RefusalReason::ReasonNeeded(Move::Fail));
    let blank = Command::MoveTask {
        task,
        to: Destination::Status(Blocked),
        reason: Some(" \n".into()),
        forced: false,
        merged: false,
    };
    assert_eq!(world.refused(&owner(), blank), Code::InvalidArgument);
}

/// L1, F17: a block remembers who, why and the status before, and lifting leads back there.
#[test]
fn block_remembers_who_why_and_the_status_before() {
    for before in [Todo, InProgress] {
        let mut team = Team::with_a_started();
        let lead = team.lead();
        if before == Todo {
            team.world.go(&lead, team.a, Todo);
        }
        team.world.go(&lead, team.a, Blocked);
        let block = board::Block { by: Party::Agent(agent("lead")), reason: "because".into(), before };
        assert_eq!(team.world.task(team.a).block, Some(block));
        let lift = Command::MoveTask {
            task: team.a,
            to: Destination::By(board::lifecycle::Move::Unblock),
            reason: None,
            forced: false,
            merged: false,
        };
        team.world.must(&lead, lift.clone());
        assert_eq!((team.world.task(team.a).status, &team.world.task(team.a).block), (before, &None));
        assert_eq!(team.world.refused(&lead, lift), Code::StateConflict);
    }
}

/// L1: lifting needs L3 if the task was in progress.
#[test]
fn unblocking_work_that_was_running_needs_it_to_be_ready() {
    let mut team = Team::with_a_started();
    let lead = team.lead();
    team.world.go(&lead, team.a, Blocked);
    team.world.must(&lead, Command::AssignTask { task: team.a, assignee: None, forced: false });
    let refusal = team.world.refusal(&lead, &moving(team.a, InProgress));
    assert_eq!(*refusal.0, RefusalReason::NotReady { task: team.a, obstacles: vec![Obstacle::Unassigned] });
    team.world.assign(&lead, team.a, "w2");
    team.world.go(&lead, team.a, InProgress);
    assert_eq!(team.world.task(team.a).assignee, Some(agent("w2")));
}

/// L1, F15: nothing is done while a child is open, not by force either.
#[test]
fn parent_is_not_done_before_its_children() {
    let mut team = Team::with_a_started();
    let (lead, top) = (team.lead(), team.top);
    let open = RefusalReason::ChildrenOpen { task: top, open: vec![team.a, team.b] };
    assert_eq!(*team.world.refusal(&owner(), &forced(top, Done)).0, open);
    assert_eq!(*team.world.refusal(&lead, &crate::team::reporting(board::Outcome::Success)).0, open);
    team.world.go(&lead, team.a, Cancelled);
    team.world.go(&lead, team.b, Cancelled);
    team.world.must(&owner(), forced(top, Done));
    assert_eq!(team.world.task(top).status, Done);
}

/// L1, V6: the owner finishes a task if the branch is in the target, or insists; that is recorded.
#[test]
fn owner_finishes_what_is_merged_or_insists_on_record() {
    let mut world = World::new();
    let task = world.started("w1");
    assert_eq!(world.refused(&owner(), moving(task, Done)), Code::NotMerged);
    let events = world.must(&owner(), forced(task, Done));
    let moved = EventKind::TaskMoved {
        task,
        from: InProgress,
        to: Done,
        by: Party::Owner,
        reason: Some("because".into()),
        forced: true,
    };
    assert_eq!(events.into_iter().map(|event| event.what).collect::<Vec<_>>(), [moved]);
}

/// L1, G1: agents retry a task three times, the owner without limit; attempts start again.
#[test]
fn agents_retry_three_times_and_the_owner_for_ever() {
    let mut team = Team::with_a_started();
    let lead = team.lead();
    for retries in 1..=3 {
        team.world.crash("w1", team.a);
        team.world.go(&lead, team.a, Todo);
        assert_eq!(team.world.task(team.a).used.retries_by_agents, retries);
        team.world.go(&lead, team.a, InProgress);
    }
    team.world.crash("w1", team.a);
    assert_eq!(
        *team.world.refusal(&lead, &moving(team.a, Todo)).0,
        RefusalReason::RetriesSpent { task: team.a, limit: 3 }
    );
    for _ in 0..2 {
        team.world.go(&owner(), team.a, Todo);
        team.world.go(&lead, team.a, InProgress);
        team.world.crash("w1", team.a);
    }
    assert_eq!(team.world.task(team.a).used.retries_by_agents, 3);
}

/// L1, C2: a retry is for what failed; it is neither a reopening nor an unstarting by another name.
#[test]
fn retry_is_for_what_failed() {
    let mut world = World::new();
    let task = world.started("w1");
    let (to, reason) = (Destination::By(board::lifecycle::Move::Retry), None);
    let retry = Command::MoveTask { task, to, reason, forced: false, merged: false };
    assert_eq!(
        *world.refusal(&owner(), &retry).0,
        RefusalReason::NotThatMove { task, name: board::lifecycle::Move::Retry, status: InProgress }
    );
    world.crash("w1", task);
    world.must(&owner(), retry);
    assert_eq!(world.task(task).status, Todo);
}

/// L1: reopening below a settled task would leave work that nobody moves.
#[test]
fn done_task_is_not_reopened_below_a_settled_one() {
    let mut team = Team::with_a_started();
    let lead = team.lead();
    team.world.complete("w1", team.a);
    team.world.go(&lead, team.b, Cancelled);
    let done = team.a;
    team.world.deliver(team.lead, crate::team::merged());
    let refusal = team.world.refusal(&owner(), &moving(done, Todo));
    assert_eq!(*refusal.0, RefusalReason::ParentSettled { parent: team.top, status: Done });
    team.world.go(&owner(), team.top, Todo);
    team.world.go(&owner(), done, Todo);
}

/// L1: while its parent is being judged a child is neither added, retried nor reopened.
#[test]
fn children_stay_as_they_are_while_their_parent_is_judged() {
    let mut team = Team::with_a_started();
    let lead = team.lead();
    team.world.complete("w1", team.a);
    team.world.go(&lead, team.b, Cancelled);
    team.world.report(team.lead, board::Outcome::Success);
    let judged = RefusalReason::UnderJudgement { task: team.top };
    assert_eq!(*team.world.refusal(&owner(), &moving(team.a, Todo)).0, judged);
    let add = Command::CreateTasks { parent: Some(team.top), tasks: vec![board::NewTask::titled("c")], key: None };
    assert_eq!(*team.world.refusal(&owner(), &add).0, judged);
}

/// L3, F11, F23: each obstacle keeps a task from starting, by name.
#[test]
fn each_obstacle_keeps_a_task_from_starting() {
    let mut team = Team::new();
    let lead = team.lead();
    let start = moving(team.a, InProgress);
    let obstacle = |team: &Team| match *team.world.refusal(&team.lead(), &start).0 {
        RefusalReason::NotReady { obstacles, .. } => obstacles,
        because => panic!("{because:?}"),
    };
    assert_eq!(obstacle(&team), [Obstacle::Unassigned]);
    team.world.assign(&lead, team.a, "w1");
    team.world.must(&lead, depending(team.a, team.b));
    assert_eq!(obstacle(&team), [Obstacle::Waiting { on: team.b, status: Backlog }]);
    team.world.go(&lead, team.b, Cancelled);
    assert_eq!(obstacle(&team), [Obstacle::DependencyCancelled(team.b)]);
    let remove = Command::ChangeDependencies { task: team.a, add: vec![], remove: vec![team.b], forced: false };
    team.world.must(&lead, remove);
    let others = roster().into_iter().filter(|spec| spec.id != agent("w1")).collect();
    team.world.must(&owner(), Command::ApplyRoster { agents: others });
    assert_eq!(obstacle(&team), [Obstacle::AssigneeInactive(agent("w1"))]);
    team.world.must(&owner(), Command::ApplyRoster { agents: roster() });
    team.world.must(&owner(), Command::Pause { now: false });
    assert_eq!(obstacles(&team.world.board, team.world.task(team.a)), [Obstacle::ProjectPaused]);
    assert_eq!(team.world.refused(&owner(), forced(team.a, InProgress)), Code::NotReady);
    team.world.must(&owner(), Command::Resume);
    team.world.must(&lead, start.clone());
}

/// L4: an ancestor that is not in progress holds everything below it, and writes nothing into it.
#[test]
fn blocked_ancestor_holds_its_descendants_without_touching_them() {
    let mut team = Team::new();
    let lead = team.lead();
    team.give("sub", team.a);
    let sub = team.world.enter("sub", team.a);
    let below = team.world.create(&board::Actor::Session(sub), &["deep"])[0];
    team.world.assign(&board::Actor::Session(sub), below, "w3");
    team.world.go(&board::Actor::Session(sub), below, InProgress);
    let worker = team.world.enter("w3", below);
    let before = team.world.task(below).clone();
    team.world.go(&owner(), team.top, Blocked);

    assert_eq!(team.world.task(below), &before);
    let held = NextAction::Stop(Interrupt::Held { by: team.top });
    assert_eq!(team.world.peek(worker), (held, "N2.2"));
    assert_eq!(team.world.peek(sub), (held, "N2.2"));
    assert_eq!(team.world.refused(&lead, moving(team.b, InProgress)), Code::Interrupted);
    let start = team.world.refusal(&owner(), &forced(team.b, InProgress));
    assert!(
        matches!(&*start.0, RefusalReason::NotReady { obstacles, .. } if obstacles.contains(&Obstacle::Held { by: team.top }))
    );

    team.world.go(&owner(), team.top, InProgress);
    assert_eq!(team.world.ask(worker).1, "N2.9");
}

/// L4, V2, V3: a session that is stopped because its task is held has no verdict and costs no attempt,
/// also when its agent obeys, logs out and exits by itself.
#[test]
fn obedient_exit_of_a_held_session_costs_nothing() {
    for end in [ProcessEnd::exited(0), ProcessEnd::exited(1), ProcessEnd::because(board::EndReason::Stopped)] {
        let mut team = Team::with_a_started();
        let worker = team.world.enter("w1", team.a);
        team.world.go(&owner(), team.top, Blocked);
        team.world.ask(worker);
        team.world.must(&board::Actor::Session(worker), Command::Logout);
        team.world.end(worker, end);
        let task = team.world.task(team.a);
        assert_eq!((task.status, task.used.attempts, &task.feedback, task.live), (InProgress, 0, &None, None));
        let verdict = board::Verdict::None(board::Inconclusive::Stopped);
        assert_eq!(team.world.session(worker).verdict, Some(verdict));
        team.world.go(&owner(), team.top, InProgress);
        team.world.claim("w1", team.a);
    }
}

/// L1: unstarting is recorded at once; no other session starts before the stopped one has ended.
#[test]
fn unstarted_task_gets_no_second_session_before_the_first_has_ended() {
    let mut team = Team::with_a_started();
    let lead = team.lead();
    let worker = team.world.enter("w1", team.a);
    team.world.go(&lead, team.a, Todo);
    team.world.go(&lead, team.a, InProgress);
    assert_eq!(team.world.peek(worker).0, NextAction::Stop(Interrupt::Stopped(board::StopCause::Unstarted)));
    assert_eq!(team.world.refused(&crate::world::runner(), claiming("w1", team.a)), Code::AlreadyClaimed);
    team.world.leave(worker);
    assert_eq!((team.world.task(team.a).status, team.world.task(team.a).used.attempts), (InProgress, 0));
    team.world.claim("w1", team.a);
}

/// L1: assigning moves a task from the backlog to `todo`; so does creating it with an assignee.
#[test]
fn assigning_takes_a_task_out_of_the_backlog() {
    let mut team = Team::new();
    let lead = team.lead();
    let events = team.world.must(&lead, assigning(team.a, "w1"));
    let kinds: Vec<_> = events.iter().map(board::Event::name).collect();
    assert_eq!((kinds, team.world.task(team.a).status), (vec!["task_assigned", "task_moved"], Todo));
    let top = team.world.top("w1");
    assert_eq!(team.world.task(top).status, Todo);
}

/// L1, M4: a line is a line; a description may have several.
#[test]
fn titles_are_one_line_and_descriptions_are_not() {
    let world = World::new();
    let creating = |title: &str, description: &str| {
        let task = board::NewTask { description: description.into(), ..board::NewTask::titled(title) };
        Command::CreateTasks { parent: None, tasks: vec![task], key: None }
    };
    assert!(world.allows(&owner(), &creating("title", "one\n\ttwo\r\n")));
    assert_eq!(world.refused(&owner(), creating("one\ntwo", "")), Code::InvalidArgument);
    assert_eq!(world.refused(&owner(), creating("title", "\u{1b}[2J")), Code::InvalidArgument);
}

/// L1: that a block is the owner's is said to who would lift it; others are told that it is not theirs to move.
#[test]
fn refusal_names_the_owners_block_only_to_who_would_lift_it() {
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    let worker = board::Actor::Session(worker);
    team.world.go(&owner(), team.b, Todo);
    team.world.go(&owner(), team.b, Blocked);
    let refusal = |to| *team.world.refusal(&worker, &moving(team.b, to)).0;
    assert_eq!(refusal(Todo), RefusalReason::OwnersBlock { task: team.b });
    let mover = Party::Agent(agent("lead"));
    assert_eq!(refusal(Cancelled), RefusalReason::NotTheMover { task: team.b, mover });
}

/// R1: a branch that is known already is no event; another base is.
#[test]
fn branch_is_recorded_once() {
    let mut world = World::new();
    let task = world.started("w1");
    let recording = |branch: &str, base: &str| Command::RecordBranch { task, branch: branch.into(), base: base.into() };
    let events = |world: &mut World, command| world.must(&crate::world::runner(), command).len();
    assert_eq!(events(&mut world, recording("task-1", "c0ffee")), 1);
    assert_eq!(events(&mut world, recording("task-1", "c0ffee")), 0);
    assert_eq!(events(&mut world, recording("task-1", "decade")), 1);
    assert_eq!(events(&mut world, recording("task-2", "decade")), 1);
    let session = world.enter("w1", task);
    assert_eq!(world.cannot(session, recording("main", "c0ffee")), Code::NotAllowed);
}

/// L1: a batch has at most 100 tasks, and at least one.
#[test]
fn batch_has_its_size() {
    let world = World::with(|settings, _| settings.limits.max_children = 20);
    let batch = |count: usize| {
        let tasks = (0..count).map(|n| board::NewTask::titled(format!("task {n}"))).collect();
        Command::CreateTasks { parent: None, tasks, key: None }
    };
    assert!(world.allows(&owner(), &batch(1)) && world.allows(&owner(), &batch(100)));
    for wrong in [0, 101] {
        assert_eq!(world.refused(&owner(), batch(wrong)), Code::InvalidArgument, "{wrong}");
    }
}
