//! Is the past as it was?

use board::{Board, Seq, Settings, Status, TaskId};
use control::{ProcessLifetime, Project};
use store::{EventLog as _, Snapshot, Snapshots as _};

use crate::world::{World, add, id, owner, to};

/// E4: opening costs a snapshot and a bounded tail, and gives the same board as folding everything.
#[tokio::test]
async fn a_snapshot_and_its_tail_are_the_board() {
    let world = World::default();
    let project = world.process(ProcessLifetime::ShortLived).await;
    for n in 0..2_300 {
        project.submit(owner(), add(&n.to_string())).await.unwrap();
    }
    let stream = Project::stream(&id());
    let snapshot = world.store.snapshot(&stream, board::snapshot::SNAPSHOT_FORMAT).await.unwrap().unwrap();
    let tail = project.board().seq - snapshot.head.seq;
    assert!(tail <= 1_000, "{tail}");
    let fresh = Board::new(Settings::new(id()));
    let then = project.log().replay(&stream, fresh, snapshot.head.seq).await.unwrap();
    assert_eq!(board::snapshot::decode(&snapshot.bytes).unwrap(), then);
    assert_eq!(project.log().streams().await.unwrap(), std::slice::from_ref(&stream));
    let reopened = world.process(ProcessLifetime::ShortLived).await.board();
    let folded = project.log().replay(&stream, Board::new(Settings::new(id())), Seq::MAX).await.unwrap();
    assert_eq!((*reopened).clone(), folded);
    assert_eq!(reopened, project.board());
}

/// E5: a live board that is not what its events say is found.
#[tokio::test]
async fn verify_compares_the_live_board_with_the_replayed_one() {
    let world = World::default();
    let project = world.process(ProcessLifetime::ShortLived).await;
    project.submit(owner(), add("one")).await.unwrap();
    project.submit(owner(), add("two")).await.unwrap();
    let stream = Project::stream(&id());
    let fresh = || Board::new(Settings::new(id()));
    assert!(project.log().verify(&stream, fresh()).await.unwrap().is_sound());
    let mut wrong = (*project.board()).clone();
    wrong.tasks.remove(&TaskId(1));
    let head = world.store.head(&stream).await.unwrap();
    let bytes = board::snapshot::encode(&wrong);
    let snapshot = Snapshot { head, format: board::snapshot::SNAPSHOT_FORMAT, bytes };
    world.store.put_snapshot(&stream, snapshot).await.unwrap();
    let report = project.log().verify(&stream, fresh()).await.unwrap();
    assert_eq!((report.is_sound(), report.live_equals_replay), (false, false));
}

/// E4: a snapshot of another format, or one that does not read back, is as good as none.
#[tokio::test]
async fn an_unreadable_snapshot_costs_time_and_nothing_else() {
    let world = World::default();
    let project = world.process(ProcessLifetime::ShortLived).await;
    project.submit(owner(), add("one")).await.unwrap();
    let stream = Project::stream(&id());
    let head = world.store.head(&stream).await.unwrap();
    let snapshot = Snapshot { head, format: board::snapshot::SNAPSHOT_FORMAT, bytes: vec![1, 2, 3] };
    world.store.put_snapshot(&stream, snapshot).await.unwrap();
    assert_eq!(world.process(ProcessLifetime::ShortLived).await.board(), project.board());
}

/// E5: the board as it was after any event.
#[tokio::test]
async fn replay_stops_where_it_is_told() {
    let world = World::default();
    let project = world.process(ProcessLifetime::ShortLived).await;
    project.submit(owner(), add("one")).await.unwrap();
    project.submit(owner(), to(1, Status::Todo)).await.unwrap();
    project.submit(owner(), to(1, Status::Cancelled)).await.unwrap();
    let stream = Project::stream(&id());
    let mut seen = Vec::new();
    for until in 1..=3 {
        let board = project.log().replay(&stream, Board::new(Settings::new(id())), until).await.unwrap();
        seen.push(board.task(TaskId(1)).unwrap().status);
    }
    assert_eq!(seen, [Status::Backlog, Status::Todo, Status::Cancelled]);
    let tail = project.events_after(2, 10).await.unwrap();
    assert_eq!(tail.iter().map(|(seq, event)| (*seq, event.name())).collect::<Vec<_>>(), [(3, "task_moved")]);
}
