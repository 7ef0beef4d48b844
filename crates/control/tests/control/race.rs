//! What happens when several processes write at once?

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use board::{Actor, Code, Command, EndReason, SessionId, SessionStatus, Status, TaskId};
use control::{ControlError, ProcessLifetime};
use store::SqliteStore;

use crate::world::{TestClock, World, add, claim, owner, process, to};

/// E2, S1, F85: eight processes claim one task; exactly one wins, the others are told who did.
#[tokio::test]
async fn of_many_claims_for_one_task_exactly_one_wins() {
    let world = World::default();
    world.with_work().await;
    let mut claims = tokio::task::JoinSet::new();
    for n in 0..8 {
        let project = world.process(ProcessLifetime::ShortLived).await;
        let (actor, command) = claim(&format!("runner-{n}"));
        claims.spawn(async move { project.submit(actor, command).await.map(drop) });
    }
    let outcomes = claims.join_all().await;
    let refused = outcomes.iter().filter(|outcome| match outcome {
        Err(ControlError::Refused(refusal)) => refusal.code() == Code::AlreadyClaimed,
        Ok(()) | Err(_) => false,
    });
    assert_eq!((refused.count(), outcomes.iter().filter(|outcome| outcome.is_ok()).count()), (7, 1));
}

/// E2: a command is judged on what others have done meanwhile, also when it would be refused.
#[tokio::test]
async fn a_stale_board_is_brought_up_to_date_before_anything_is_answered() {
    let world = World::default();
    let (here, there) =
        (world.process(ProcessLifetime::ShortLived).await, world.process(ProcessLifetime::ShortLived).await);
    there.submit(owner(), add("foreign")).await.unwrap();
    // On the board that `here` has in memory there is no task 1.
    let receipt = here.submit(owner(), to(1, Status::Todo)).await.unwrap();
    assert_eq!(receipt.after.task(TaskId(1)).unwrap().status, Status::Todo);
    there.submit(owner(), to(1, Status::Cancelled)).await.unwrap();
    let refused = here.submit(owner(), to(1, Status::Backlog)).await;
    assert!(matches!(refused, Err(ControlError::Refused(refusal)) if refusal.code() == Code::IllegalTransition));
}

/// E2: ids are dense and unique, whoever writes.
#[tokio::test]
async fn racing_processes_lose_nothing() {
    let world = World::default();
    let mut writers = tokio::task::JoinSet::new();
    for n in 0..6 {
        let project = world.process(ProcessLifetime::ShortLived).await;
        writers.spawn(async move {
            for m in 0..25 {
                project.submit(owner(), add(&format!("{n}/{m}"))).await.unwrap();
            }
        });
    }
    writers.join_all().await;
    let board = world.process(ProcessLifetime::ShortLived).await.board();
    assert_eq!(board.tasks.keys().map(|id| id.0).collect::<Vec<_>>(), (1..=150).collect::<Vec<_>>());
}

/// E7: what another process appends reaches whoever stays and watches, without a command of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_appends_reach_those_who_stay() {
    let home = tempfile::tempdir().unwrap();
    let open = || Arc::new(SqliteStore::open(home.path().join("db")).unwrap());
    let clock = TestClock::default();
    let staying = process(open(), &clock, ProcessLifetime::LongLived).await;
    let passing = process(open(), &clock, ProcessLifetime::ShortLived).await;
    let mut watch = staying.writer().watch();
    passing.submit(owner(), add("from elsewhere")).await.unwrap();
    let seen = tokio::time::timeout(Duration::from_secs(30), watch.wait_for(|board| !board.tasks.is_empty())).await;
    assert_eq!(seen.expect("it arrives").unwrap().task(TaskId(1)).unwrap().title, "from elsewhere");
}

/// S2: time in which no server could be reached does not count; a runner that comes back within a
/// lease after the server did keeps its session.
#[tokio::test]
async fn a_server_that_returns_gives_runners_time_to_renew() {
    let world = World::default();
    let project = world.with_work().await;
    let (runner, command) = claim("r");
    project.submit(runner.clone(), command).await.unwrap();
    world.clock.pass(300_000);
    let server = world.process(ProcessLifetime::LongLived).await;
    server.submit(owner(), add("anything")).await.unwrap();
    server.submit(runner, renewal()).await.unwrap();
    busy_for(&world, &server, 59).await;
    assert!(is_live(&server));
    busy_for(&world, &server, 2).await;
    assert!(!is_live(&server));
}

fn renewal() -> Command {
    Command::RenewLeases { sessions: vec![(SessionId(1), board::Generation(1))], quiet: BTreeMap::new() }
}

fn is_live(project: &control::Project) -> bool {
    project.board().session(SessionId(1)).unwrap().is_live()
}

/// So many seconds in which the server is at work, and nobody renews.
async fn busy_for(world: &World, server: &control::Project, seconds: u32) {
    for n in 0..seconds {
        world.clock.pass(1_000);
        server.submit(owner(), add(&format!("{n} {}", server.board().seq))).await.unwrap();
    }
}

/// A server with a session of the runner `r`, which has renewed a moment ago.
async fn with_session(world: &World) -> control::Project {
    drop(world.with_work().await);
    let server = world.process(ProcessLifetime::LongLived).await;
    let (runner, command) = claim("r");
    server.submit(runner, command).await.unwrap();
    // Longer than the grace of a server that has just begun.
    for _ in 0..7 {
        busy_for(world, &server, 10).await;
        server.submit(Actor::Runner("r".parse().unwrap()), renewal()).await.unwrap();
    }
    server
}

/// S2a, F100: a lid that was closed, a stopped process and a clock that was set cost no session, whoever comes first
/// afterwards; and whoever does not come back within the grace is lost all the same.
#[tokio::test]
async fn time_that_stood_still_costs_no_session() {
    let suspended: fn(&World) = |world| world.clock.set(3_600_000);
    let stopped: fn(&World) = |world| world.clock.pass(3_600_000);
    for stand_still in [suspended, stopped] {
        let world = World::default();
        let server = with_session(&world).await;
        stand_still(&world);
        server.submit(owner(), add("the first after that")).await.unwrap();
        assert!(is_live(&server));
        busy_for(&world, &server, 59).await;
        assert!(is_live(&server));
        server.submit(Actor::Runner("r".parse().unwrap()), renewal()).await.unwrap();
        busy_for(&world, &server, 59).await;
        assert!(is_live(&server));
        busy_for(&world, &server, 2).await;
        assert!(!is_live(&server));
    }
}

/// S2a: a renewal that comes late, and with others, is judged before the lapse.
#[tokio::test]
async fn renewals_are_judged_before_lapses() {
    let world = World::default();
    let server = with_session(&world).await;
    busy_for(&world, &server, 60).await;
    world.clock.pass(1_000);
    let (other, renewed) = tokio::join!(
        server.submit(owner(), add("came first")),
        server.submit(Actor::Runner("r".parse().unwrap()), renewal())
    );
    other.unwrap();
    assert!(!renewed.unwrap().events.is_empty());
    assert!(is_live(&server));
}

/// S2, F31: a session whose lease lapsed is lost, and its task can be claimed again.
#[tokio::test]
async fn a_lapsed_lease_is_noticed_with_the_next_command() {
    let world = World::default();
    let project = world.with_work().await;
    let (actor, command) = claim("gone");
    project.submit(actor, command).await.unwrap();
    // A server may be about to come back; after ten minutes nobody waits for it any more.
    world.clock.pass(61_000);
    project.submit(owner(), add("anything")).await.unwrap();
    assert!(project.board().session(SessionId(1)).unwrap().is_live());
    world.clock.pass(600_000);
    project.submit(owner(), add("anything else")).await.unwrap();
    let board = project.board();
    let session = board.session(SessionId(1)).unwrap();
    assert_eq!(session.status, SessionStatus::Ended);
    assert_eq!(session.end.as_ref().unwrap().reason, EndReason::Lost);
    world.clock.pass(6_000);
    let (actor, command) = claim("next");
    project.submit(actor, command).await.unwrap();
}

/// E6: what an agent was told is remembered with the row that decided and the event it was based on.
#[tokio::test]
async fn decisions_leave_a_trace() {
    let world = World::default();
    let project = world.with_work().await;
    let (actor, command) = claim("r");
    project.submit(actor, command).await.unwrap();
    let session = SessionId(1);
    let answer = project.next_action(session).await.unwrap();
    assert_eq!(answer.action.action(), "report_model");
    let _ = project.staffing(&"w".parse().unwrap()).await.unwrap();
    let model = Command::ReportModel { provider: "p".into(), model_id: "m".into() };
    project.submit(Actor::Session(session), model).await.unwrap();
    project.next_action(session).await.unwrap();
    let trace = project.decisions("ses_1", u64::MAX, 10).await.unwrap();
    let told = trace.iter().rev().map(|one| &one.decision);
    let bodies: Vec<_> = told.map(|decision| (decision.kind.as_str(), decision.seq, decision.body.as_str())).collect();
    assert_eq!(
        bodies,
        [
            (
                "next_action",
                7,
                r#"{"action":"report_model","state":"needs_model_verification","row":"N2.3","reason":null}"#
            ),
            ("next_action", 9, r#"{"action":"get_task","state":"needs_task","row":"N2.8","reason":null}"#),
        ]
    );
    assert_eq!(project.decisions("w", u64::MAX, 10).await.unwrap().len(), 1);
}

/// Goes on with the runtime's own time, which a test can let pass.
struct RuntimeClock(tokio::time::Instant);

impl control::Clock for RuntimeClock {
    fn now(&self) -> board::Timestamp {
        board::Timestamp(1_800_000_000_000 + i64::try_from(self.0.elapsed().as_millis()).unwrap())
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

/// S2: on a server a lapsed lease needs no command to be noticed.
#[tokio::test(start_paused = true)]
async fn time_alone_ends_a_lapsed_session_on_a_server() {
    let world = World::default();
    drop(world.with_work().await);
    let clock = Arc::new(RuntimeClock(tokio::time::Instant::now()));
    let control = control::Control::new(Arc::new(world.store.clone()), clock, ProcessLifetime::LongLived);
    let server = control.project(&crate::world::id()).await.unwrap();
    let (runner, command) = claim("r");
    server.submit(runner, command).await.unwrap();
    let mut boards = server.writer().watch();
    let over = boards.wait_for(|board| board.session(SessionId(1)).is_ok_and(|session| !session.is_live()));
    tokio::time::timeout(Duration::from_secs(600), over).await.expect("it lapses by itself").unwrap();
}
