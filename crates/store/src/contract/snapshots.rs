//! What is promised of snapshots?

use super::decisions::decision;
use super::{Storage, events, project};
use crate::{Hash, Head, Seq, Snapshot, StreamName};

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

/// E4: the board of a large project comes back as it was.
pub async fn large_snapshot_comes_back(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    one.append(&project(), 0, events(1, 9)).await.unwrap();
    let bytes: Vec<u8> = (0..8 << 20).map(|index: u32| ((index * 31) >> 3) as u8).collect();
    let large = snapshot(9, 1, &bytes);
    one.put_snapshot(&project(), large.clone()).await.unwrap();
    assert!(two.snapshot(&project(), 1).await == Ok(Some(large)), "it came back changed");
}
