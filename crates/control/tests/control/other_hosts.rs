//! Do all processes see what other hosts say of themselves and their agents, and is it kept within its limit?

use std::sync::Arc;

use board::{
    AgentSpec, Command, Fact, Generation, InstallationCommand, Mode, NewToken, OutputKind, OutputName, ProcessEnd,
    Role, SessionId,
};
use control::{
    Control, LocalDispatch, OUTPUT_LIMIT, OUTPUT_PIECE_LIMIT, OutputPage, Present, ProcessLifetime, RunnerHeartbeat,
    token_hash,
};
use dispatch::Dispatch as _;

use crate::world::{World, claim, owner};

const SESSION: OutputName = OutputName { session: SessionId(3), kind: OutputKind::Raw };

/// R10
#[tokio::test]
async fn presence_has_the_time_of_the_installation() {
    let world = World::default();
    let process =
        || Control::new(Arc::new(world.store.clone()), Arc::new(world.clock.clone()), ProcessLifetime::LongLived);
    let (one, two) = (process(), process());
    one.put_presence("b", "{}".into()).await.unwrap();
    world.clock.pass(1_000);
    two.put_presence("a", "[1]".into()).await.unwrap();
    let present = |key: &str, at, body: &str| Present { key: key.into(), at, body: body.into() };
    let expected = [present("a", 1_800_000_001_000, "[1]"), present("b", 1_800_000_000_000, "{}")];
    assert_eq!(one.presence().await.unwrap(), expected);
    two.remove_presence("b").await.unwrap();
    assert_eq!(one.presence().await.unwrap(), expected[..1]);
}

/// R10: of a session that prints without end the newest 16 MiB are kept at most, and not much less.
#[tokio::test]
async fn newest_output_is_kept_within_its_limit() {
    let world = World::default();
    let (one, two) = (world.process(ProcessLifetime::LongLived).await, world.process(ProcessLifetime::LongLived).await);
    for length in [OUTPUT_PIECE_LIMIT, 300_001] {
        one.drop_output(SESSION).await.unwrap();
        let mut at = 0;
        while at < 2 * OUTPUT_LIMIT {
            let piece = vec![(at % 251) as u8; length];
            let end = one.append_output(SESSION, at, piece.clone()).await.unwrap();
            assert_eq!(two.append_output(SESSION, at, piece).await.unwrap(), end, "it is there already");
            let kept = two.output(SESSION, 0, 1).await.unwrap();
            assert_eq!((kept.start, kept.newest), (kept.oldest, end));
            assert_eq!(kept.bytes, [(kept.oldest % 251) as u8]);
            let size = kept.newest - kept.oldest;
            assert!(size <= OUTPUT_LIMIT && size >= end.min(OUTPUT_LIMIT * 3 / 4), "{size} bytes of {end}");
            at = end;
        }
    }
}

/// R10, W8: each output of a session is found by its name, and nothing of it is left when it is dropped.
#[tokio::test]
async fn output_is_found_by_name_and_dropped() {
    let project = World::default().process(ProcessLifetime::LongLived).await;
    let [two, ten] = [2, 10].map(|session| OutputName::raw(SessionId(session)));
    let conversation = OutputName::transcript(SessionId(2));
    for output in [ten, conversation, two] {
        assert_eq!(project.append_output(output, 0, b"printed".into()).await.unwrap(), 7);
    }
    assert_eq!(project.kept_output().await.unwrap(), [two, conversation, ten]);
    let page = project.output(two, 3, 2).await.unwrap();
    assert_eq!(page, OutputPage { start: 3, bytes: b"nt".into(), oldest: 0, newest: 7 });
    project.drop_output(two).await.unwrap();
    assert_eq!(project.kept_output().await.unwrap(), [conversation, ten]);
    assert_eq!(project.output(two, 3, 2).await.unwrap(), OutputPage::default());
    let refused = project.append_output(two, 0, vec![0; OUTPUT_PIECE_LIMIT + 1]).await;
    assert!(refused.is_err());
}

/// R10, V12: ended work waits for its runner as long as that may come back; then another examines it, and nobody does it
/// again.
#[tokio::test]
async fn ended_work_of_a_silent_runner_is_taken_over() {
    let world = World::default();
    let control =
        Control::new(Arc::new(world.store.clone()), Arc::new(world.clock.clone()), ProcessLifetime::LongLived);
    let project = world.with_work().await;
    let one_shot = AgentSpec { mode: Mode::OneShot, ..AgentSpec::worker("w".parse().unwrap()) };
    project.submit(owner(), Command::ApplyRoster { agents: vec![one_shot] }).await.unwrap();
    let installation = control.installation().await.unwrap();
    for id in ["tok_one", "tok_two"] {
        let new = NewToken::bearer(id.into(), Role::Runner, String::new(), token_hash(id));
        installation.submit(owner(), InstallationCommand::CreateToken(new)).await.unwrap();
    }
    let (one, command) = claim("tok_one");
    project.submit(one.clone(), command).await.unwrap();
    let fact = Fact::Exit { end: ProcessEnd::exited(0), usage: None };
    let ended = Command::Report { session: SessionId(1), generation: Generation(1), number: 1, fact };
    project.submit(one, ended).await.unwrap();
    let known = "tok_one".parse().unwrap();
    control.hear_runner(&known, &RunnerHeartbeat::default()).await.unwrap();

    let two = LocalDispatch::new(project.clone(), "tok_two".parse().unwrap()).knowing(installation);
    let its_own = async || two.wanted(None).await.unwrap().examine.len();
    assert_eq!(its_own().await, 0);
    let lease = project.board().settings.limits.remote_lease.0;
    world.clock.pass(lease);
    control.hear_runner(&known, &RunnerHeartbeat::default()).await.unwrap();
    world.clock.pass(lease);
    assert_eq!(its_own().await, 0, "it was heard of meanwhile");
    world.clock.pass(61_000);
    assert_eq!(its_own().await, 1);
    assert_eq!(project.board().sessions.len(), 1);
}

/// R10: whichever way its token is revoked, the runner goes with it, and what it ran is given up at once.
#[tokio::test]
async fn a_runner_goes_with_its_token() {
    let world = World::default();
    let control =
        Control::new(Arc::new(world.store.clone()), Arc::new(world.clock.clone()), ProcessLifetime::LongLived);
    let project = world.with_work().await;
    let installation = control.installation().await.unwrap();
    let path = "/web".into();
    let add = InstallationCommand::AddProject { id: crate::world::id(), path };
    installation.submit(owner(), add).await.unwrap();
    let new = NewToken::bearer("tok_one".into(), Role::Runner, String::new(), token_hash("tok_one"));
    installation.submit(owner(), InstallationCommand::CreateToken(new)).await.unwrap();
    let (one, command) = claim("tok_one");
    project.submit(one, command).await.unwrap();
    control.revoke_token(&installation, &owner(), &"tok_one".into()).await.unwrap();
    let board = project.newest().await.unwrap();
    assert_eq!(board.sessions[&SessionId(1)].end.as_ref().unwrap().reason, board::EndReason::Lost);
    assert!(installation.state().runner_token("tok_one").is_none());
}
