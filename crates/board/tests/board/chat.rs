//! Are messages neither lost nor shown for ever (F86, F87), and what starts a chat?

use board::{Actor, Code, Command, MessageId, NextAction, Party, ProcessEnd, Purpose, Reason, Span, Staffing};

use crate::team::{claiming_chat, writing};
use crate::world::{World, agent, owner, runner};

fn unread(world: &World, id: &str) -> usize {
    world.board.unread(world.board.agent(&agent(id)).unwrap()).count()
}

/// F86: twelve messages are twelve messages; a sequence number is the cursor, not the time.
#[test]
fn all_unread_messages_are_shown_and_acknowledged_by_the_next_call() {
    let mut world = World::new();
    for _ in 0..11 {
        world.must(&owner(), writing("w1"));
    }
    let chat = world.chat("w1");
    let me = Actor::Session(chat);
    world.report_model(chat);
    assert_eq!(unread(&world, "w1"), 12);
    world.must(&me, Command::ShowMessages);
    assert_eq!((world.session(chat).shown_upto, unread(&world, "w1")), (Some(MessageId(12)), 12));
    world.must(&owner(), writing("w1"));
    world.ask(chat);
    assert_eq!(unread(&world, "w1"), 1);
    world.must(&me, Command::ShowMessages);
    world.must(&me, Command::Logout);
    assert_eq!(unread(&world, "w1"), 0);
}

/// F87: a message that was read and not answered starts nobody again.
#[test]
fn message_that_was_read_starts_nobody_again() {
    let mut world = World::new();
    let chat = world.chat("w1");
    world.must(&Actor::Session(chat), Command::ShowMessages);
    world.leave(chat);
    assert_eq!(world.staff("w1").reason, Reason::NoInProgressTask);
}

/// F87, A3: a chat that ends without reading is not started again at once, and not for ever.
#[test]
fn chat_that_reads_nothing_backs_off_until_the_message_expires() {
    let mut world = World::new();
    world.must(&owner(), writing("w1"));
    let mut starts = 0;
    for _ in 0..600 {
        let Staffing { reason, .. } = world.staff("w1");
        if world.attempt(&runner(), &claiming_chat("w1")).is_ok() {
            starts += 1;
            let chat = world.board.agent(&agent("w1")).unwrap().chat.live.unwrap();
            world.end(chat, ProcessEnd::exited(1));
        } else if reason == Reason::MessageExpired {
            break;
        }
        world.pass(Span::seconds(1));
    }
    assert_eq!((starts, world.staff("w1").reason), (6, Reason::MessageExpired));
}

/// G3, F26: only the owner's messages start a chat; agents cannot start each other by mentioning.
#[test]
fn only_the_owners_messages_start_a_chat() {
    let mut world = World::new();
    let chat = world.chat("w1");
    assert_eq!(world.refused(&Actor::Session(chat), writing("w2")), Code::NotAllowed);
    world.must(&Actor::System, writing("w2"));
    assert_eq!((unread(&world, "w2"), world.staff("w2").reason), (1, Reason::NoInProgressTask));
    assert_eq!(world.refused(&runner(), claiming_chat("w2")), Code::StateConflict);
}

/// F30: the end of a chat touches neither the task session of the same agent nor its task.
#[test]
fn end_of_a_chat_leaves_the_task_session_alone() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let chat = world.chat("w1");
    let before = (world.session(session).clone(), world.task(task).clone());
    world.end(chat, ProcessEnd::exited(1));
    assert_eq!((world.session(session), world.task(task)), (&before.0, &before.1));
    assert_eq!(world.session(chat).verdict, None);
    assert!(!world.session(chat).is_live());
    assert_eq!(world.session(session).purpose, Purpose::Task(task));
}

/// M4: who reads what: messages belong to chats, tasks to task sessions.
#[test]
fn chats_read_messages_and_task_sessions_work() {
    let mut world = World::new();
    let task = world.started("w1");
    let (session, chat) = (world.enter("w1", task), world.chat("w1"));
    assert_eq!(world.cannot(session, Command::ShowMessages), Code::NotAllowed);
    for command in [Command::FetchTask, crate::team::saving(), crate::team::reporting(board::Outcome::Success)] {
        assert_eq!(world.cannot(chat, command), Code::NotAllowed);
    }
}

/// M4: a message has a reader that is there, and at most 4,000 characters.
#[test]
fn message_has_a_reader_and_a_length() {
    let mut world = World::new();
    let chat = world.chat("w1");
    let say = |to, content: &str| Command::SendMessage { to, content: content.into(), related_task: None };
    assert_eq!(world.cannot(chat, say(Party::Agent(agent("w1")), "me")), Code::InvalidArgument);
    assert_eq!(world.cannot(chat, say(Party::System, "it")), Code::InvalidArgument);
    assert_eq!(world.cannot(chat, say(Party::Agent(agent("nobody")), "you")), Code::NotFound);
    assert_eq!(world.cannot(chat, say(Party::Owner, &"x".repeat(4_001))), Code::InvalidArgument);
    assert_eq!(world.cannot(chat, say(Party::Owner, " ")), Code::InvalidArgument);
    world.must(&Actor::Session(chat), say(Party::Owner, &"字".repeat(4_000)));
}

/// F86: a waiting chat acknowledges what it was shown with one event, and asks again without any.
#[test]
fn waiting_acknowledges_once() {
    let mut world = World::new();
    let chat = world.chat("w1");
    let me = Actor::Session(chat);
    world.report_model(chat);
    world.must(&me, Command::ShowMessages);
    assert_eq!(world.must(&me, Command::NextAction).len(), 1);
    assert_eq!(world.board.agent(&agent("w1")).unwrap().read_upto, MessageId(1));
    assert!(world.must(&me, Command::NextAction).is_empty());
}

/// A chat of `lead` that was shown the owner's message.
fn asked(world: &mut World) -> Actor {
    let chat = world.chat("lead");
    world.must(&Actor::Session(chat), Command::ShowMessages);
    Actor::Session(chat)
}

/// N11, F121: what the owner asks a manager for in a chat is a task with that message as its mandate, and it starts.
#[test]
fn n11_work_that_is_asked_for_starts() {
    let mut world = World::new();
    let chat = asked(&mut world);
    let task = world.create(&chat, &["a shop"])[0];
    let made = world.task(task).clone();
    assert_eq!((made.status, made.assignee), (board::Status::InProgress, Some(agent("lead"))));
    let message = world.board.messages.last().unwrap().clone();
    assert_eq!((made.mandate, message.tasks.as_slice()), (Some(message.id), [task].as_slice()));
    let answer = world.staff("lead");
    assert_eq!((answer.action, answer.reason), (board::Action::Start, Reason::HasInProgressTask));
}

/// N11: with `confirm` it waits for the owner, one move away.
#[test]
fn n11_work_that_is_asked_for_waits_where_the_owner_confirms() {
    let mut world = World::with(|settings, _| settings.chat_requests = board::ChatRequests::Confirm);
    let chat = asked(&mut world);
    let task = world.create(&chat, &["a shop"])[0];
    assert_eq!(world.task(task).status, board::Status::Todo);
    world.go(&crate::world::owner(), task, board::Status::InProgress);
}

/// N11: at most three tasks are made of one message, and none starts without one.
#[test]
fn n11_one_message_is_three_tasks_at_most() {
    let mut world = World::new();
    let chat = asked(&mut world);
    world.create(&chat, &["one", "two", "three"]);
    assert_eq!(world.refused(&chat, crate::team::creating(&["four"])), Code::LimitReached);
    world.must(&crate::world::owner(), writing("lead"));
    assert_eq!(world.refused(&chat, crate::team::creating(&["four"])), Code::LimitReached, "it was not shown yet");
    world.must(&chat, Command::ShowMessages);
    world.create(&chat, &["four"]);
}

/// N11: of several messages that were read together each has its own tasks, and who is to read a further one is told that
/// work may be asked for in it.
#[test]
fn n11_each_message_has_its_own_tasks() {
    let mut world = World::new();
    let chat = world.chat("lead");
    let me = Actor::Session(chat);
    world.report_model(chat);
    world.must(&crate::world::owner(), writing("lead"));
    world.must(&me, Command::ShowMessages);
    let first = world.create(&me, &["one"])[0];
    let second = world.create(&me, &["two"])[0];
    let messages: Vec<_> = world.board.messages.iter().map(|message| message.tasks.clone()).collect();
    assert_eq!(messages, [vec![first], vec![second]]);
    world.create(&me, &["three", "four"]);
    assert_eq!(world.refused(&me, crate::team::creating(&["five"])), Code::LimitReached);

    world.must(&crate::world::owner(), writing("lead"));
    let (action, _) = world.ask(chat);
    assert_eq!(action, NextAction::GetPendingMessages);
    let answer = board::Answer::of(&world.board, chat, action, world.now).unwrap();
    assert!(answer.tools.contains(&board::Tool::CreateTask), "{:?}", answer.tools);
}
