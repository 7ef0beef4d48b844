//! Do the owner's words reach whoever works on a task (L10)?

use board::{
    Actor, Answer, Code, Command, Context, EventKind, NextAction, Outcome, Party, ProcessEnd, Status, TaskId, comments,
};

use crate::team::{Team, commenting, reporting};
use crate::world::{World, agent, owner};

fn texts(world: &World, task: TaskId) -> Vec<(Party, String)> {
    world.task(task).comments.iter().map(|comment| (comment.by.clone(), comment.text.clone())).collect()
}

fn unread(world: &World, session: board::SessionId, task: TaskId) -> usize {
    comments::unread(&world.board, world.session(session), world.task(task)).count()
}

/// What a session is told with the answer to its next call.
fn told(world: &mut World, session: board::SessionId) -> Vec<String> {
    let before = world.board.clone();
    let (action, _) = world.ask(session);
    let answer = Answer::of(&world.board, session, action, world.now).unwrap().with_comments(&before, session);
    answer.comments.into_iter().map(|comment| comment.text).collect()
}

/// L10: a running session is told once, with its next call; it is known who was told.
#[test]
fn running_session_is_told_once() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    assert_eq!(world.ask(session).0, NextAction::CreateSubtasks);
    world.must(&owner(), commenting(task));
    assert_eq!(unread(&world, session, task), 1);
    assert_eq!(told(&mut world, session), ["please"]);
    assert_eq!(told(&mut world, session), Vec::<String>::new());
    let (task, comment) = (world.task(task), &world.task(task).comments[0]);
    let readers: Vec<_> = comments::readers(&world.board, task, comment).map(|session| session.id).collect();
    assert_eq!(readers, [session]);
}

/// L10, N9: who has not read what was written cannot be finished, but can always say that it is stuck.
#[test]
fn success_is_not_reported_past_an_unread_comment() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.must(&owner(), commenting(task));
    assert_eq!(world.cannot(session, reporting(Outcome::Success)), Code::NotReady);
    let mut stuck = world.clone();
    stuck.must(&Actor::Session(session), reporting(Outcome::Blocked));
    world.must(&Actor::Session(session), Command::FetchTask);
    world.must(&Actor::Session(session), reporting(Outcome::Success));
}

/// N9: nothing is reported of a task that was not read in this session.
#[test]
fn nothing_is_reported_of_an_unread_task() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.claim("w1", task);
    for result in Outcome::ALL {
        assert_eq!(world.cannot(session, reporting(*result)), Code::NotReady);
    }
}

/// L10, F118: the reasons of a return, an unblocking, a retry and a reopening are for whoever goes on.
#[test]
fn reasons_of_moves_are_comments() {
    let mut world = World::new();
    let task = world.started("w1");
    let go = |world: &mut World, to, reason: &str| {
        let to = board::Destination::Status(to);
        let reason = Some(reason.to_owned());
        world.must(&owner(), Command::MoveTask { task, to, reason, forced: false, merged: true })
    };
    go(&mut world, Status::Todo, "returned");
    go(&mut world, Status::Blocked, "a block is no instruction");
    go(&mut world, Status::Todo, "unblocked");
    go(&mut world, Status::InProgress, "a start is none either");
    world.crash("w1", task);
    let again = Command::RetryTask { task, reason: Some("retried".into()), forced: false, later: false };
    world.must(&owner(), again);
    go(&mut world, Status::Done, "nor is an end");
    go(&mut world, Status::Todo, "reopened");
    let said: Vec<_> = texts(&world, task).into_iter().map(|(_, text)| text).collect();
    assert_eq!(said, ["returned", "unblocked", "retried", "reopened"]);
}

/// L10: the owner and the mover write, nobody else, and only while it can change anything.
#[test]
fn owner_and_mover_write() {
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    team.world.must(&team.lead(), commenting(team.a));
    team.world.must(&owner(), commenting(team.a));
    assert_eq!(team.world.refused(&Actor::Session(worker), commenting(team.a)), Code::NotAllowed);
    assert_eq!(team.world.refused(&Actor::Session(worker), commenting(team.b)), Code::NotAllowed);
    let by: Vec<_> = texts(&team.world, team.a).into_iter().map(|(by, _)| by).collect();
    assert_eq!(by, [Party::Agent(agent("lead")), Party::Owner]);
    team.world.go(&owner(), team.b, Status::Cancelled);
    assert_eq!(team.world.refused(&owner(), commenting(team.b)), Code::StateConflict);
    let empty = Command::CommentTask { task: team.a, text: " \n".into() };
    assert_eq!(team.world.refused(&owner(), empty), Code::InvalidArgument);
}

/// L10, N11: a message about a task of the agent's own is a comment on it; one that nobody would hear is refused.
#[test]
fn messages_arrive_or_are_refused() {
    let mut world = World::with(|_, agents| {
        for agent in agents.iter_mut().filter(|agent| agent.id.as_str() == "w2") {
            agent.mode = board::Mode::OneShot;
        }
    });
    let write = |to: &str, task| Command::SendMessage {
        to: Party::Agent(agent(to)),
        content: "use the other name".into(),
        related_task: task,
    };
    let task = world.started("w2");
    let sent = world.must(&owner(), write("w2", Some(task)));
    assert!(matches!(sent.as_slice(), [event] if matches!(event.what, EventKind::CommentAdded { .. })), "{sent:?}");
    assert_eq!(world.refused(&owner(), write("w2", None)), Code::NotAllowed);
    // About another's task it is a message like any other.
    let sent = world.must(&owner(), write("w1", Some(task)));
    assert!(matches!(sent.as_slice(), [event] if matches!(event.what, EventKind::MessageSent { .. })), "{sent:?}");
    let chat = world.chat("w1");
    assert_eq!(world.refused(&Actor::Session(chat), write("w3", None)), Code::NotAllowed);
}

/// L10: a one-shot agent, and a person who drives by hand, get all comments with the start.
#[test]
fn one_shot_agents_are_told_with_the_start() {
    let mut world = World::with(|_, agents| {
        agents.iter_mut().for_each(|a| {
            if a.hierarchy == board::Hierarchy::Worker {
                a.mode = board::Mode::OneShot;
            }
        })
    });
    let task = world.started("w1");
    world.must(&owner(), commenting(task));
    let session = world.claim("w1", task);
    assert_eq!(unread(&world, session, task), 0);
    world.must(&owner(), commenting(task));
    assert_eq!(unread(&world, session, task), 1);
    world.end(session, ProcessEnd::exited(1));
    world.now = world.staff("w1").until.unwrap_or(world.now);
    let next = world.claim("w1", task);
    assert_eq!(unread(&world, next, task), 0);
}

/// N10: a blocked subtask can be put back to `todo` as well as to what it was.
#[test]
fn n10_blocked_work_can_be_put_back() {
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    team.world.go(&team.lead(), team.a, Status::Blocked);
    team.world.go(&team.lead(), team.a, Status::Todo);
    assert_eq!(team.world.task(team.a).status, Status::Todo);
    assert!(team.world.session(worker).stop.is_some());
}

/// L10: what an agent proposes for the memory bank waits for the owner, who answers once; it is no new fact and no comment.
#[test]
fn a_decision_is_proposed_once_and_answered_once() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let propose = |text: &str| Command::SaveContext { context: Context::default(), decision: Some(text.into()) };
    let fact = world.task(task).marks.fact;
    let made = world.must(&Actor::Session(session), propose(" Dates are UTC \n"));
    assert!(matches!(made.as_slice(), [event] if matches!(event.what, EventKind::MemoryProposed { .. })), "{made:?}");
    assert_eq!((world.task(task).marks.fact, world.task(task).comments.len()), (fact, 0));
    assert_eq!(world.refused(&Actor::Session(session), propose("Dates are UTC")), Code::Duplicate);
    let numbers: Vec<_> = board::comments::open_proposals(&world.board).iter().map(|(_, found)| found.seq).collect();
    let [number] = *numbers else { panic!("{numbers:?}") };

    let answer = |proposal| Command::AnswerProposal { proposal, answer: board::ProposalAnswer::Accepted };
    assert_eq!(world.refused(&Actor::Session(session), answer(number)), Code::NotAllowed);
    world.must(&owner(), answer(number));
    assert_eq!(world.refused(&owner(), answer(number)), Code::NotFound);
    assert_eq!(world.refused(&owner(), answer(number + 1)), Code::NotFound);
    // The same is not proposed again, whatever was answered.
    assert_eq!(world.refused(&Actor::Session(session), propose("Dates are UTC")), Code::Duplicate);
}

/// G4: five proposals of a task wait at most.
#[test]
fn proposals_are_bounded() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = Actor::Session(world.enter("w1", task));
    let propose = |n: usize| Command::SaveContext { context: Context::default(), decision: Some(format!("Rule {n}")) };
    for n in 0..5 {
        world.must(&session, propose(n));
    }
    assert_eq!(world.refused(&session, propose(5)), Code::LimitReached);
    let first = board::comments::open_proposals(&world.board)[0].1.seq;
    world.must(&owner(), Command::AnswerProposal { proposal: first, answer: board::ProposalAnswer::Declined });
    world.must(&session, propose(5));
}

/// L10: what is written about a step is read by whoever does it, before anything is reported.
#[test]
fn what_is_written_about_a_step_is_read_by_its_doer() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let step = world.create(&Actor::Session(session), &["first"])[0];
    world.must(&owner(), commenting(step));
    assert_eq!(told(&mut world, session), ["please"]);
    let comment = &world.task(step).comments[0];
    let readers: Vec<_> =
        comments::readers(&world.board, world.task(step), comment).map(|session| session.id).collect();
    assert_eq!(readers, [session]);
    world.go(&Actor::Session(session), step, Status::InProgress);
    world.must(&owner(), Command::CommentTask { task: step, text: "one more thing".into() });
    world.go(&Actor::Session(session), step, Status::Done);
    assert_eq!(world.cannot(session, reporting(Outcome::Success)), Code::NotReady);
    assert_eq!(told(&mut world, session), ["one more thing"]);
    world.must(&Actor::Session(session), reporting(Outcome::Success));
}
