//! What does an agent begin that a person attached, and whose place does it take (S3, S7)?

use board::{
    Actor, AgentId, Code, Command, Completion, Driver, NewTask, Priority, Purpose, Reason, RefusalReason, SecretHash,
    Session, SessionId, SessionStatus, Span, Status, TaskId,
};

use crate::world::{World, agent, owner};

fn attaching(who: &str, can_make_workspace: bool) -> Command {
    let credential = SecretHash(format!("secret of {who}"));
    Command::Attach { agent: agent(who), credential, can_make_workspace }
}

/// A task in progress that nobody works on.
fn begun(world: &mut World, task: NewTask) -> TaskId {
    world.must(&owner(), Command::CreateTasks { parent: None, tasks: vec![task], key: None });
    let id = world.board.tasks.get_max().unwrap().0;
    world.go(&owner(), id, Status::InProgress);
    id
}

fn task_for(who: &str, completion: Completion, priority: Priority) -> NewTask {
    let assignee: AgentId = agent(who);
    NewTask { assignee: Some(assignee), completion: Some(completion), priority, ..NewTask::titled("work") }
}

fn attached(world: &mut World, who: &str, can_make_workspace: bool) -> SessionId {
    world.must(&Actor::System, attaching(who, can_make_workspace));
    world.board.sessions.get_max().unwrap().0
}

/// S3: work that is merged is done in a workspace; without one the agent is told which task needs it.
#[test]
fn merged_work_needs_a_workspace() {
    let mut world = World::new();
    let task = begun(&mut world, task_for("w1", Completion::Merged, Priority::Medium));
    let refusal = world.refusal(&Actor::System, &attaching("w1", false));
    assert_eq!(*refusal.0, RefusalReason::NeedsWorkspace { task });
    let session = attached(&mut world, "w1", true);
    assert_eq!(world.session(session).purpose, Purpose::Task(task));
    assert_eq!(world.session(session).driver, Driver::Attached);
    let lease = world.board.settings.limits.attached_lease;
    assert_eq!(world.session(session).lease_until, Some(world.now + lease));
}

/// S3: without a workspace it begins the most urgent work that needs none.
#[test]
fn without_a_workspace_reported_work_comes_first() {
    let mut world = World::new();
    begun(&mut world, task_for("w1", Completion::Merged, Priority::Critical));
    let reported = begun(&mut world, task_for("w1", Completion::Reported, Priority::Low));
    let session = attached(&mut world, "w1", false);
    assert_eq!(world.session(session).purpose, Purpose::Task(reported));
}

/// S3: a manager changes no files.
#[test]
fn manager_needs_no_workspace() {
    let mut world = World::new();
    let task = begun(&mut world, task_for("lead", Completion::Merged, Priority::Medium));
    let session = attached(&mut world, "lead", false);
    assert_eq!(world.session(session).purpose, Purpose::Task(task));
}

/// S3: the owner's message is reason enough for a session without a task.
#[test]
fn waiting_message_opens_a_chat() {
    let mut world = World::new();
    world.must(&owner(), crate::team::writing("w1"));
    let session = attached(&mut world, "w1", false);
    assert_eq!(world.session(session).purpose, Purpose::Chat);
}

/// S3: without work there is no session, and the agent is told why.
#[test]
fn without_work_nobody_is_attached() {
    let world = World::new();
    let refusal = world.refusal(&Actor::System, &attaching("w1", true));
    let expected = RefusalReason::NotStaffed { agent: agent("w1"), reason: Reason::NoInProgressTask };
    assert_eq!(*refusal.0, expected);
}

/// S4: agents and owners attach nobody; only the server does, for who has authenticated.
#[test]
fn only_the_server_attaches() {
    let mut world = World::new();
    begun(&mut world, task_for("w1", Completion::Reported, Priority::Medium));
    let session = attached(&mut world, "w1", false);
    begun(&mut world, task_for("w2", Completion::Reported, Priority::Medium));
    for actor in [owner(), Actor::Session(session)] {
        assert_eq!(world.refused(&actor, attaching("w2", false)), Code::NotAllowed, "{actor:?}");
    }
}

/// S7: who authenticates again after a silence takes the place of its own session; before that it is refused.
#[test]
fn silent_session_gives_its_place_to_the_same_agent() {
    let mut world = World::new();
    let task = begun(&mut world, task_for("w1", Completion::Reported, Priority::Medium));
    let first = attached(&mut world, "w1", false);
    world.pass(Session::SILENT);
    assert_eq!(world.refused(&Actor::System, attaching("w1", false)), Code::AlreadyClaimed);
    world.pass(Span(1));
    let second = attached(&mut world, "w1", false);
    assert_ne!(first, second);
    assert_eq!(world.session(first).status, SessionStatus::Ended);
    assert_eq!(world.task(task).live, Some(second));
    assert!(world.session(second).generation > world.session(first).generation);
}

/// S7: a session that its runner drives is never taken over by an attached client.
#[test]
fn session_of_a_runner_keeps_its_place() {
    let mut world = World::new();
    let task = world.started("w1");
    world.enter("w1", task);
    world.tend(Span::minutes(5));
    assert_eq!(world.refused(&Actor::System, attaching("w1", true)), Code::AlreadyClaimed);
}
