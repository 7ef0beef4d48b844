//! Does a follower get every event once, in order, however slow it is?

use std::sync::Arc;

use board::{Board, Seq};
use control::{Follower, ProcessLifetime};

use crate::world::{World, add, owner};

/// Everything that can be had now, in pages of at most `limit`.
async fn drain(follower: &mut Follower<Board>, limit: usize) -> Vec<Seq> {
    let mut found = Vec::new();
    loop {
        let page = follower.events(limit).await.unwrap();
        assert!(page.len() <= limit);
        if page.is_empty() {
            return found;
        }
        found.extend(page.into_iter().map(|(seq, _)| seq));
    }
}

/// E11: events come with the boards that they made, whoever is asked.
#[tokio::test]
async fn events_are_handed_out_once_and_in_order() {
    let world = World::default();
    let project = world.process(ProcessLifetime::LongLived).await;
    project.submit(owner(), add("before")).await.unwrap();
    let (mut from_now, mut from_the_start) = (project.follow(1), project.follow(0));
    assert_eq!(drain(&mut from_now, 10).await, [0_u64; 0]);
    for n in 0..5 {
        project.submit(owner(), add(&n.to_string())).await.unwrap();
    }
    from_now.changed().await.unwrap();
    assert_eq!(drain(&mut from_now, 2).await, [2, 3, 4, 5, 6]);
    assert_eq!(drain(&mut from_the_start, 4).await, [1, 2, 3, 4, 5, 6], "the past comes from the log");
    assert_eq!((from_now.at(), from_now.state().seq), (6, 6));
    project.submit(owner(), add("after")).await.unwrap();
    assert_eq!(drain(&mut from_now, 10).await, [7]);
    assert_eq!(drain(&mut from_the_start, 10).await, [7]);
}

/// E11: a follower that sleeps through more than is kept in memory reads the rest from the log.
#[tokio::test]
async fn slow_follower_misses_nothing() {
    let world = World::default();
    let project = world.process(ProcessLifetime::LongLived).await;
    let mut follower = project.follow(0);
    for n in 0..400 {
        project.submit(owner(), add(&n.to_string())).await.unwrap();
    }
    let first = follower.events(7).await.unwrap();
    assert_eq!(first.len(), 7);
    for n in 400..600 {
        project.submit(owner(), add(&n.to_string())).await.unwrap();
    }
    let rest = drain(&mut follower, 50).await;
    assert_eq!(rest, Vec::from_iter(8..=600));
}

/// E7, E11: what another process wrote comes in the same way; and a follower of a project that is closed ends.
#[tokio::test]
async fn foreign_events_are_followed_until_the_project_closes() {
    let world = World::default();
    let (here, there) =
        (world.process(ProcessLifetime::LongLived).await, world.process(ProcessLifetime::ShortLived).await);
    let mut follower = here.follow(0);
    for n in 0..3 {
        there.submit(owner(), add(&n.to_string())).await.unwrap();
    }
    let mut seen = Vec::new();
    while seen.len() < 3 {
        follower.changed().await.unwrap();
        seen.extend(drain(&mut follower, 10).await);
    }
    assert_eq!(seen, [1, 2, 3]);
    drop(here);
    assert!(follower.changed().await.is_none());
}

/// E2: a process that does not listen reads what others wrote when it asks for the newest board.
#[tokio::test]
async fn short_lived_process_gets_the_newest_board() {
    let world = World::default();
    let (here, there) =
        (world.process(ProcessLifetime::ShortLived).await, world.process(ProcessLifetime::ShortLived).await);
    there.submit(owner(), add("one")).await.unwrap();
    assert_eq!(here.board().seq, 0);
    assert_eq!(here.newest().await.unwrap().seq, 1);
    assert!(Arc::ptr_eq(&here.board(), &here.newest().await.unwrap()));
}
