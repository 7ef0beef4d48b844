//! Does one task have one session, and does a stale report change nothing (S1, S2)?

use std::collections::BTreeMap;

use board::{
    Actor, Code, Command, Driver, EndReason, Examination, Fact, Generation, Inconclusive, ProcessEnd, Purpose, Span,
    Status, Verdict, admit,
};

use crate::team::{claiming, merged};
use crate::world::{World, agent, owner, roster, runner, spec};

/// S1, F85: of eight claims for one task exactly one wins.
#[test]
fn of_many_claims_exactly_one_wins() {
    let mut world = World::new();
    let task = world.started("w1");
    let wins = (0..8).filter(|_| world.attempt(&runner(), &claiming("w1", task)).is_ok()).count();
    assert_eq!((wins, world.board.all_live_sessions().count()), (1, 1));
}

/// S1: a session is one event, with generation, lease and credential.
#[test]
fn claim_is_one_event() {
    let mut world = World::new();
    let task = world.started("w1");
    let events = world.must(&runner(), claiming("w1", task));
    let expected = board::EventKind::SessionClaimed {
        session: board::SessionId(1),
        agent: agent("w1"),
        purpose: Purpose::Task(task),
        driver: Driver::Runner { runner: "r".parse().unwrap(), spawn: "s".parse().unwrap() },
        generation: Generation(1),
        lease_until: Some(world.now + Span::seconds(60)),
        credential: None,
    };
    assert_eq!(events.into_iter().map(|event| event.what).collect::<Vec<_>>(), [expected]);
}

/// S1, S4: who may claim: runners for whom the task is; not owners, not agents.
#[test]
fn only_runners_claim_and_only_for_the_assignee() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    for actor in [owner(), Actor::Session(session)] {
        assert_eq!(world.refused(&actor, claiming("w1", task)), Code::NotAllowed);
    }
    assert_eq!(world.refused(&runner(), claiming("w2", task)), Code::NotAllowed);
    let step = world.create(&Actor::Session(session), &["one"])[0];
    assert_eq!(world.refused(&runner(), claiming("w1", step)), Code::NotAllowed);
}

/// S1: a report of an older generation, of another runner or after the end is refused.
#[test]
fn stale_reports_are_refused() {
    let mut world = World::new();
    let task = world.started("w1");
    let first = world.claim("w1", task);
    let end = |session, generation| Command::Report {
        session,
        generation,
        number: 9,
        fact: Fact::Exit { end: ProcessEnd::exited(0), usage: None },
    };
    let stranger = Actor::Runner("other".parse().unwrap());
    assert_eq!(world.refused(&stranger, end(first, Generation(1))), Code::NotAllowed);
    assert_eq!(world.refused(&runner(), end(first, Generation(0))), Code::StaleSession);
    world.end(first, ProcessEnd::because(EndReason::Lost));
    assert_eq!(world.refused(&runner(), end(first, Generation(1))), Code::StaleSession);
    world.now = world.staff("w1").until.unwrap();
    let second = world.claim("w1", task);
    assert_eq!(world.session(second).generation, Generation(2));
    assert_eq!(world.refused(&runner(), end(second, Generation(1))), Code::StaleSession);
    let facts = world.reporting(second, Fact::Examined(Examination::Found(Box::new(merged()))));
    assert_eq!(world.refused(&runner(), facts), Code::StaleSession);
}

/// S2, F31, F32: the lease slides with every renewal; when it lapses the session is lost and the task free.
#[test]
fn lapsed_lease_loses_the_session_and_frees_the_task() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    world.tend(Span::minutes(120));
    assert!(world.must(&Actor::System, Command::Sweep).is_empty());
    world.pass(Span::seconds(60));
    assert!(world.must(&Actor::System, Command::Sweep).is_empty());
    world.pass(Span(1));
    let generation = world.session(session).generation;
    let renew = Command::RenewLeases { sessions: vec![(session, generation)], quiet: BTreeMap::new() };
    // Nobody has noticed yet; a runner that is heard again in time keeps its session.
    assert!(world.allows(&runner(), &renew));
    world.must(&Actor::System, Command::Sweep);
    assert_eq!(world.refused(&runner(), renew), Code::StaleSession);
    assert_eq!(world.session(session).verdict, Some(Verdict::None(Inconclusive::Lost)));
    assert_eq!((world.task(task).live, world.task(task).used.attempts), (None, 0));
    world.now = world.staff("w1").until.unwrap();
    world.claim("w1", task);
}

/// S2: one renewal for many sessions renews those that live.
#[test]
fn renewal_renews_what_lives() {
    let mut world = World::new();
    let (first, second) = (world.started("w1"), world.started("w2"));
    let (one, two) = (world.claim("w1", first), world.claim("w2", second));
    world.end(one, ProcessEnd::because(EndReason::Lost));
    world.pass(Span::seconds(30));
    let events = world.must(
        &runner(),
        Command::RenewLeases { sessions: vec![(one, Generation(1)), (two, Generation(1))], quiet: BTreeMap::new() },
    );
    let renewed = board::EventKind::LeasesRenewed {
        sessions: vec![two],
        until: world.now + Span::seconds(60),
        printed: BTreeMap::new(),
    };
    assert_eq!(events[0].what, renewed);
}

/// S3, V7: an attached agent's own calls renew its lease of an hour.
#[test]
fn calls_of_an_attached_agent_renew_its_lease() {
    let mut world = World::new();
    let task = world.started("w1");
    let purpose = Purpose::Task(task);
    let driver = Driver::Attached;
    world.must(&Actor::System, Command::Claim { agent: agent("w1"), purpose, driver, credential: None, forced: false });
    let session = world.task(task).live.unwrap();
    for _ in 0..3 {
        world.pass(Span::minutes(59));
        world.report_model(session);
    }
    world.pass(Span::minutes(61));
    world.must(&Actor::System, Command::Sweep);
    assert!(!world.session(session).is_live());
}

/// F81, R8: applying the same roster twice changes nothing; who has work cannot leave.
#[test]
fn roster_is_idempotent_and_keeps_who_has_work() {
    let mut world = World::new();
    assert!(world.must(&owner(), Command::ApplyRoster { agents: roster() }).is_empty());
    let task = world.started("w1");
    let others: Vec<_> = roster().into_iter().filter(|spec| spec.id != agent("w1")).collect();
    let refusal = world.refusal(&owner(), &Command::ApplyRoster { agents: others });
    assert_eq!(*refusal.0, board::RefusalReason::AgentInUse { agent: agent("w1"), tasks: vec![task] });
    let mut twice = roster();
    twice.push(roster().remove(0));
    assert_eq!(world.refused(&owner(), Command::ApplyRoster { agents: twice }), Code::InvalidArgument);
}

/// R8, F22: settings and roster are applied together or not at all.
#[test]
fn definitions_are_all_or_nothing() {
    let mut world = World::new();
    let mut settings = Box::new((*world.board.settings).clone());
    settings.name = "other".into();
    let mut twice = roster();
    twice.push(roster().remove(0));
    let define = |agents| Command::Define { settings: settings.clone(), agents };
    assert_eq!(world.refused(&owner(), define(twice)), Code::InvalidArgument);
    assert_eq!(world.refused(&runner(), define(roster())), Code::NotAllowed);
    world.must(&owner(), define(roster()));
    assert_eq!(world.must(&owner(), define(roster())), []);
    assert_eq!(world.board.settings.name, "other");
}

/// S4, F35: what belongs to owner and runner is refused to agents.
#[test]
fn agents_cannot_do_what_belongs_to_owner_and_runner() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let settings = Box::new((*world.board.settings).clone());
    let commands = [
        Command::Configure { settings },
        Command::Pause { now: false },
        Command::Resume,
        Command::ApplyRoster { agents: Vec::new() },
        Command::SetPasskey { agent: agent("w1"), hash: board::SecretHash("h".into()) },
        Command::ParkAccount { account: "codex".into(), until: world.now },
        Command::RecordBranch { task, branch: "b".into(), base: "c".into() },
        Command::StopSession { session, restart: true },
        world.reporting(session, Fact::Running),
        world.reporting(session, Fact::Exit { end: ProcessEnd::exited(0), usage: None }),
        Command::ReportTarget { commit: "c".into(), results: Vec::new() },
    ];
    for command in commands {
        assert_eq!(world.cannot(session, command), Code::NotAllowed);
    }
}

/// E1: asking changes nothing, and the same question has the same answer.
#[test]
fn admit_is_pure() {
    let mut world = World::new();
    let task = world.started("w1");
    let before = world.board.clone();
    let ask = || admit(&world.board, &runner(), &claiming("w1", task), world.now);
    assert_eq!(ask(), ask());
    assert_eq!((world.board.clone(), world.task(task).status), (before, Status::InProgress));
}

/// S3, F31: nobody waits an hour for an attached agent that has gone; one that is there is only told.
#[test]
fn stopping_an_attached_session_ends_it_if_nobody_is_there() {
    let mut world = World::new();
    let task = world.started("w1");
    let attach = |world: &mut World| {
        let (purpose, driver) = (Purpose::Task(task), Driver::Attached);
        let claim = Command::Claim { agent: agent("w1"), purpose, driver, credential: None, forced: false };
        world.must(&Actor::System, claim);
        world.task(task).live.unwrap()
    };
    let session = attach(&mut world);
    world.must(&owner(), Command::StopSession { session, restart: true });
    assert!(world.session(session).is_live());
    world.pass(Span::seconds(61));
    world.must(&owner(), Command::StopSession { session, restart: true });
    assert_eq!(world.session(session).end.as_ref().map(|end| end.reason), Some(EndReason::Stopped));
    assert_eq!(world.task(task).used.attempts, 0);
    attach(&mut world);
}

/// L12, G3: the task of an attached agent that has gone is blocked once, also if the end of its session uses up its fuel.
#[test]
fn stopping_the_last_attached_session_blocks_its_task_once() {
    let mut world = World::with(|settings, _| settings.limits.max_task_sessions = 1);
    let task = world.started("w1");
    let (purpose, driver) = (Purpose::Task(task), Driver::Attached);
    world.must(&Actor::System, Command::Claim { agent: agent("w1"), purpose, driver, credential: None, forced: false });
    let session = world.task(task).live.unwrap();
    world.pass(Span::seconds(61));
    let happened = world.must(&owner(), Command::StopSession { session, restart: false });
    let moves = happened.iter().filter(|event| matches!(event.what, board::EventKind::TaskMoved { .. })).count();
    assert_eq!((moves, world.task(task).status), (1, Status::Blocked));
}

/// N3: whatever entrance a roster or a limit comes by, a manager is guided and splits work, and limits make sense.
#[test]
fn roster_and_limits_are_judged_by_the_board() {
    let world = World::new();
    let with = |change: fn(&mut board::AgentSpec)| {
        let mut agents = roster();
        change(spec(&mut agents, "lead"));
        Command::ApplyRoster { agents }
    };
    let one_shot = with(|lead| lead.mode = board::Mode::OneShot);
    let never = with(|lead| lead.decompose = board::Decompose::Never);
    for command in [one_shot, never] {
        assert_eq!(world.refused(&owner(), command), Code::InvalidArgument);
    }
    let mut settings = (*world.board.settings).clone();
    settings.limits.max_children = 21;
    assert_eq!(
        world.refusal(&owner(), &Command::Configure { settings: Box::new(settings) }),
        board::RefusalReason::LimitOutOfRange { name: "max_children", least: 1, most: 20 }.into()
    );
}

/// S1, R10: a claim whose answer was lost may come again, however late: it claims nothing a second time.
#[test]
fn a_claim_that_comes_again_is_one_claim() {
    let mut world = World::new();
    let task = world.started("w1");
    let driver = Driver::Runner { runner: "r".parse().unwrap(), spawn: "s".parse().unwrap() };
    let credential = Some(board::SecretHash("c".repeat(64)));
    let claim = Command::Claim { agent: agent("w1"), purpose: Purpose::Task(task), driver, credential, forced: false };
    world.must(&runner(), claim.clone());
    let session = world.task(task).live.unwrap();
    assert_eq!(world.refused(&runner(), claim.clone()), Code::StaleSession);
    world.end(session, ProcessEnd::because(EndReason::Lost));
    world.pass(Span::seconds(10));
    assert!(world.task(task).live.is_none() && world.staff("w1").action == board::Action::Start);
    assert_eq!(world.refused(&runner(), claim), Code::StaleSession);
}
