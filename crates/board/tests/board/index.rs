//! Does the board find by its index what a look at everything would find?

use std::collections::BTreeMap;

use board::{Board, Event, Party, Seq, SessionStatus, Span, Status, TaskId, Timestamp, next_due};

use crate::team::writing;
use crate::world::{World, agent, owner};

/// Compares every answer of the index with one that was found by looking at the whole board and its log.
pub(crate) fn check(board: &Board, log: &[Event]) {
    for status in Status::ALL {
        let found = board.tasks.values().filter(|task| task.status == *status).count();
        assert_eq!(board.count(*status), found, "{status}");
    }
    let unattended: Vec<TaskId> = board.unattended_tasks().map(|task| task.id).collect();
    let attended = |task: &&board::Task| task.status == Status::InProgress && !task.is_step() && task.live.is_none();
    let found = board.tasks.values().map(AsRef::as_ref).filter(attended).map(|task| task.id);
    assert_eq!(unattended, found.collect::<Vec<_>>());
    let about = events_by_task(board, log);
    for (id, task) in &board.tasks {
        let sessions: Vec<_> = board.sessions_of(task).map(|session| session.id).collect();
        let found = board.sessions.values().filter(|session| session.task() == Some(*id)).map(|session| session.id);
        assert_eq!(sessions, found.collect::<Vec<_>>(), "{id}");
        assert!(task.events.iter().eq(about[id].iter().copied()), "{id}: {:?}", task.events);
    }
    let mut live: Vec<_> = board.all_live_sessions().map(|session| session.id).collect();
    live.sort();
    let found = board.sessions.values().filter(|session| session.status != SessionStatus::Ended);
    assert_eq!(live, found.map(|session| session.id).collect::<Vec<_>>());
    for agent in board.agents.values() {
        let unread: Vec<_> = board.unread(agent).map(|message| message.id).collect();
        let to = Party::Agent(agent.id().clone());
        let found = board.messages.iter().filter(|message| message.to == to && message.id > agent.read_upto);
        assert_eq!(unread, found.map(|message| message.id).collect::<Vec<_>>());
    }
    assert_eq!(next_due(board), due(board));
}

fn events_by_task(board: &Board, log: &[Event]) -> BTreeMap<TaskId, Vec<Seq>> {
    let mut found: BTreeMap<TaskId, Vec<Seq>> = board.tasks.keys().map(|task| (*task, Vec::new())).collect();
    for (seq, event) in (1..).zip(log) {
        let of_session = event.what.session().and_then(|id| board.sessions.get(&id)?.task());
        for task in event.what.tasks().into_iter().chain(of_session) {
            let known = found.entry(task).or_default();
            if known.last() != Some(&seq) {
                known.push(seq);
            }
        }
    }
    found
}

/// The earliest end of a lease, or of a message of the owner's that waits for its agent.
fn due(board: &Board) -> Option<Timestamp> {
    let leases = board.all_live_sessions().filter_map(|session| session.lease_until);
    let waits = |message: &&board::Message| match &message.to {
        Party::Agent(agent) => {
            let agent = board.agent(agent).unwrap();
            agent.chat.live.is_none() && message.id > agent.read_upto
        }
        Party::Owner | Party::System => false,
    };
    let messages = board.messages.iter().map(AsRef::as_ref).filter(|message| message.from == Party::Owner);
    let messages = messages.filter(|message| !message.expired).filter(waits);
    let ttl = board.settings.limits.message_ttl;
    leases.chain(messages.map(|message| message.at + ttl)).min().map(|at| at + Span(1))
}

/// P7: what is found by the index is what there is, also when agents come and go and messages are read.
#[test]
fn index_follows_messages_and_rosters() {
    let mut world = World::new();
    for (who, _) in [("w1", 0), ("w2", 0), ("w1", 1)] {
        world.must(&owner(), writing(who));
        check(&world.board, &world.log);
    }
    let unread = |world: &World| world.board.unread(world.board.agent(&agent("w1")).unwrap()).count();
    assert_eq!(unread(&world), 2);
    world.pass(Span::seconds(301));
    world.must(&board::Actor::System, board::Command::Sweep);
    check(&world.board, &world.log);
    assert_eq!((unread(&world), next_due(&world.board)), (2, None), "they have expired, and stay unread");
}
