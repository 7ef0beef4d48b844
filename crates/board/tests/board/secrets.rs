//! Are secrets, even hashed, shown nowhere (S3, S4)?

use board::{
    Actor, Code, Command, Driver, EndReason, Event, EventKind, Installation, InstallationCommand, NewToken, ProcessEnd,
    Purpose, Role, SecretHash,
};

use crate::samples::{SECRET, every_event};
use crate::world::{World, agent, owner, runner};

/// S4, F35: neither agents, sessions, boards nor events show a hash when they are debugged.
#[test]
fn debug_output_shows_no_hash() {
    let mut world = World::new();
    let hash = || SecretHash(SECRET.into());
    world.must(&owner(), Command::SetPasskey { agent: agent("w1"), hash: hash() });
    let task = world.started("w1");
    let driver = Driver::Runner { runner: "r".parse().unwrap(), spawn: "s".parse().unwrap() };
    let purpose = Purpose::Task(task);
    let claim = Command::Claim { agent: agent("w1"), purpose, driver, credential: Some(hash()), forced: false };
    let shown = format!("{claim:?}");
    world.must(&runner(), claim);
    let session = world.task(task).live.unwrap();
    assert_eq!(world.board.session_with(&hash()).map(|found| found.id), Some(session));
    let texts = [
        shown,
        format!("{:?}", world.board.agent(&agent("w1")).unwrap()),
        format!("{:?}", world.session(session)),
        format!("{:?}", world.board),
        format!("{:#?}", world.log),
    ];
    for text in texts {
        assert!(!text.contains(SECRET), "{text}");
    }
}

/// S3: the credential dies with the session.
#[test]
fn credential_dies_with_the_session() {
    let mut world = World::new();
    let task = world.started("w1");
    let driver = Driver::Runner { runner: "r".parse().unwrap(), spawn: "s".parse().unwrap() };
    let credential = Some(SecretHash(SECRET.into()));
    let purpose = Purpose::Task(task);
    world.must(&runner(), Command::Claim { agent: agent("w1"), purpose, driver, credential, forced: false });
    let session = world.task(task).live.unwrap();
    world.end(session, ProcessEnd::because(EndReason::Lost));
    let bearer = world.board.session_with(&SecretHash(SECRET.into())).unwrap();
    assert_eq!((bearer.id, bearer.can_call()), (session, false));
    assert_eq!(world.refused(&Actor::Session(session), Command::Logout), Code::StaleSession);
}

/// S4: events for people to see carry no hash; everything else of them stays.
#[test]
fn redacted_events_carry_no_hash() {
    let mut hidden = 0;
    for event in every_event() {
        let shown = event.redacted();
        assert!(!shown.encode().contains(SECRET), "{shown:?}");
        assert!(!format!("{event:?}").contains(SECRET));
        let secret =
            matches!(&event.what, EventKind::PasskeySet { .. } | EventKind::SessionClaimed { credential: Some(_), .. });
        assert_eq!(shown != event, secret);
        assert_eq!((shown.at, shown.name()), (event.at, event.name()));
        hidden += usize::from(secret);
        assert_eq!(secret, event.encode().contains(SECRET));
        let _: Event = shown;
    }
    assert_eq!(hidden, 2);
}

/// S4: the same for the tokens of the installation.
#[test]
fn tokens_show_no_hash() {
    let mut installation = Installation::default();
    let hash = SecretHash(SECRET.into());
    let create = InstallationCommand::CreateToken(NewToken::bearer("t".into(), Role::Owner, "me".into(), hash));
    let at = board::Timestamp(0);
    let events = installation.admit(&owner(), &create, at).unwrap();
    events.iter().for_each(|event| installation.apply(event));
    assert!(installation.admit(&runner(), &create, at).is_err());
    assert!(!format!("{installation:?} {events:?} {create:?}").contains(SECRET));
}

/// E8, F116: what an agent's definition puts into the environment may be a key. Its name is on the board; its value is not,
/// and where an older log has one it is dropped on reading.
#[test]
fn values_of_the_environment_are_no_part_of_the_board() {
    let mut spec = board::AgentSpec::worker(crate::world::agent("w"));
    spec.env.0.insert("API_KEY".into());
    let applied = EventKind::RosterApplied { present: vec![spec], left: Vec::new() };
    let event =
        Event { at: board::Timestamp(0), by: board::Actor::System, what: applied, continues: false, fact: None };
    let written = event.encode();
    let older = written.replace(board::EnvNames::HIDDEN, SECRET);
    assert_ne!(older, written);
    let read = Event::decode(Event::VERSION, event.at, &older).unwrap();
    assert_eq!(read, event);
    assert!(!read.encode().contains(SECRET));
    let value = board::EnvValue(SECRET.into());
    assert!(!format!("{value:?}").contains(SECRET));
}
