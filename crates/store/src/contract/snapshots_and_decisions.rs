//! What is promised of what stands beside the log: snapshots, subscriptions and decisions?

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::{Storage, events, project};
use crate::{DECISIONS_KEPT, Decision, Hash, Head, Seq, Snapshot, StreamName};

fn snapshot(seq: Seq, format: u32, bytes: &[u8]) -> Snapshot {
    Snapshot { head: Head { seq, hash: Hash::from_bytes([seq as u8; 32]) }, format, bytes: bytes.into() }
}

/// E4
pub async fn newest_snapshot_is_kept(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    one.append(&project(), 0, events(1, 9)).await.unwrap();
    assert_eq!(one.snapshot(&project(), 1).await, Ok(None));
    let newest = snapshot(7, 1, &[0; 1 << 20]);
    for snapshot in [snapshot(5, 1, b"five"), newest.clone(), snapshot(6, 1, b"six")] {
        one.put_snapshot(&project(), snapshot).await.unwrap();
    }
    assert!(two.snapshot(&project(), 1).await == Ok(Some(newest)), "not the newest snapshot");
    let again = snapshot(7, 1, b"folded again");
    two.put_snapshot(&project(), again.clone()).await.unwrap();
    assert_eq!(one.snapshot(&project(), 1).await, Ok(Some(again)));
}

/// E4
pub async fn snapshot_of_another_format_is_ignored(storage: &impl Storage) {
    let store = storage.handle().await;
    store.append(&project(), 0, events(1, 9)).await.unwrap();
    store.put_snapshot(&project(), snapshot(5, 1, b"old")).await.unwrap();
    assert_eq!(store.snapshot(&project(), 2).await, Ok(None));
    let new = snapshot(5, 2, b"new");
    store.put_snapshot(&project(), new.clone()).await.unwrap();
    assert_eq!(store.snapshot(&project(), 1).await, Ok(None));
    assert_eq!(store.snapshot(&project(), 2).await, Ok(Some(new)));
    assert_eq!(store.snapshot(&StreamName::installation(), 2).await, Ok(None));
}

/// E4
pub async fn snapshot_makes_no_stream(storage: &impl Storage) {
    let store = storage.handle().await;
    store.put_snapshot(&project(), snapshot(0, 1, b"")).await.unwrap();
    store.record(&project(), vec![decision(1, "agent")]).await.unwrap();
    assert_eq!(store.streams().await.unwrap(), []);
    assert_eq!(store.head(&project()).await, Ok(Head::EMPTY));
    store.append(&project(), 0, events(1, 1)).await.unwrap();
    assert_eq!(store.streams().await.unwrap(), [project()]);
}

/// Waits until the subscriber is told of `seq`.
async fn told(end: &mut watch::Receiver<Seq>, seq: Seq) {
    let news = timeout(Duration::from_secs(60), end.wait_for(|last| *last >= seq)).await;
    assert_eq!(*news.expect("told within a minute").expect("the store lives"), seq);
}

/// E7
pub async fn subscriber_knows_the_end_at_once(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    assert_eq!(*one.subscribe(&project()).borrow(), 0);
    one.append(&project(), 0, events(1, 3)).await.unwrap();
    assert_eq!(*one.subscribe(&project()).borrow(), 3);
    assert_eq!(*two.subscribe(&project()).borrow(), 3);
}

/// E7
pub async fn subscriber_sees_own_appends(storage: &impl Storage) {
    let store = storage.handle().await;
    let (mut one, mut two) = (store.subscribe(&project()), store.subscribe(&project()));
    let other = store.subscribe(&StreamName::installation());
    for seq in 0..10 {
        store.append(&project(), seq, events(1, 1)).await.unwrap();
        told(&mut one, seq + 1).await;
        told(&mut two, seq + 1).await;
    }
    assert!(!other.has_changed().unwrap());
    // It goes on for those who come after everyone left.
    drop((one, two, other));
    let mut late = store.subscribe(&project());
    store.append(&project(), 10, events(1, 1)).await.unwrap();
    told(&mut late, 11).await;
}

/// E7
pub async fn subscriber_sees_foreign_appends(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    let (mut mine, mut other) = (one.subscribe(&project()), one.subscribe(&StreamName::installation()));
    for seq in 0..3 {
        two.append(&project(), seq, events(1, 1)).await.unwrap();
        told(&mut mine, seq + 1).await;
    }
    two.append(&StreamName::installation(), 0, events(1, 5)).await.unwrap();
    told(&mut other, 5).await;
}

fn decision(number: i64, subject: &str) -> Decision {
    Decision { at: number, seq: 1, kind: "verdict".into(), subject: subject.into(), body: "{}".into() }
}

/// E6
pub async fn decisions_come_oldest_first_by_subject(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    one.record(&project(), vec![decision(9, "a"), decision(1, "b"), decision(8, "a")]).await.unwrap();
    two.record(&project(), vec![decision(7, "a")]).await.unwrap();
    one.record(&StreamName::installation(), vec![decision(0, "a")]).await.unwrap();
    one.record(&project(), vec![]).await.unwrap();
    let about = |subject: &'static str, limit| {
        let store = &two;
        async move { store.decisions(&project(), subject, limit).await.unwrap() }
    };
    assert_eq!(about("a", 10).await, [decision(9, "a"), decision(8, "a"), decision(7, "a")]);
    assert_eq!(about("a", 2).await, [decision(8, "a"), decision(7, "a")]);
    assert_eq!(about("b", usize::MAX).await, [decision(1, "b")]);
    assert_eq!(about("c", 10).await, []);
}

/// E6
pub async fn decisions_are_forgotten_beyond_the_retention(storage: &impl Storage) {
    let store = storage.handle().await;
    let kept = DECISIONS_KEPT as usize;
    store.record(&project(), vec![decision(1, "old")]).await.unwrap();
    store.record(&project(), vec![decision(2, "agent"); kept + 5_000]).await.unwrap();
    assert_eq!(store.decisions(&project(), "old", 1).await, Ok(vec![]));
    let newest = store.decisions(&project(), "agent", usize::MAX).await.unwrap();
    assert!((kept..kept + 5_000).contains(&newest.len()), "{} are kept", newest.len());
}
