//! What is promised to those who append at the same time?

use std::sync::Arc;

use tokio::task::{JoinSet, yield_now};

use super::{Storage, event, project, seqs};
use crate::{Head, NewEvent, Store, StoreError, StoredEvent, StreamName};

/// Appends again and again until no other writer was first.
async fn append_at_last(store: &dyn Store, events: Vec<NewEvent>) -> Head {
    loop {
        let seq = store.head(&project()).await.unwrap().seq;
        // Lets the other writers run in between, also where the store itself never waits.
        yield_now().await;
        match store.append(&project(), seq, events.clone()).await {
            Ok(head) => return head,
            Err(StoreError::Conflict { expected, actual }) => assert!(expected < actual),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Two handles with two writers each. A writer appends 25 batches of `size` equal events.
async fn race(storage: &impl Storage, size: usize) -> (Vec<Head>, Vec<StoredEvent>) {
    let handles = [storage.handle().await, storage.handle().await];
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        let store = Arc::clone(&handles[writer % 2]);
        writers.spawn(async move {
            let mut heads = Vec::new();
            for round in 0..25 {
                let batch = vec![event(format!("{writer}/{round}")); size];
                heads.push(append_at_last(&*store, batch).await);
            }
            heads
        });
    }
    let mut heads: Vec<_> = writers.join_all().await.into_iter().flatten().collect();
    heads.sort_by_key(|head| head.seq);
    (heads, handles[0].read(&project(), 0, usize::MAX).await.unwrap())
}

/// E2, F80
pub async fn racing_appends_have_one_winner_each(storage: &impl Storage) {
    let (heads, log) = race(storage, 1).await;
    let won: Vec<_> = log.iter().map(|event| Head { seq: event.seq, hash: event.hash }).collect();
    assert_eq!(heads, won);
    assert_eq!(seqs(&log), Vec::from_iter(1..=100));
}

/// E2
pub async fn racing_batches_are_not_mixed(storage: &impl Storage) {
    let (heads, log) = race(storage, 3).await;
    assert_eq!(heads.len(), 100);
    assert_eq!(log.len(), 300);
    for batch in log.chunks(3) {
        assert!(batch.iter().all(|event| event.body == batch[0].body));
    }
}

/// E3
pub async fn waiting_appends_all_get_through(storage: &impl Storage) {
    let store = storage.handle().await;
    let mut writers = JoinSet::new();
    for writer in 0..64 {
        let store = Arc::clone(&store);
        let name = StreamName::project(&writer.to_string());
        writers.spawn(async move {
            for seq in 0..10 {
                let good = store.append(&name, seq, vec![event("good")]);
                let stale = store.append(&name, seq + 2, vec![event("stale")]);
                let (good, stale) = tokio::join!(good, stale);
                assert_eq!(good.unwrap().seq, seq + 1);
                assert!(matches!(stale, Err(StoreError::Conflict { .. })));
            }
            assert_eq!(store.head(&name).await.unwrap().seq, 10);
        });
    }
    writers.join_all().await;
    let names = store.streams().await.unwrap();
    assert_eq!(names.len(), 64);
    for name in names {
        assert_eq!(store.verify(&name).await.unwrap().damage, []);
    }
}

/// E2: a long append is seen whole or not at all, and nobody has to wait for it to read.
pub async fn readers_see_whole_batches(storage: &impl Storage) {
    const LONG: u64 = 20_000;
    let (writer, reader) = (storage.handle().await, storage.handle().await);
    writer.append(&StreamName::installation(), 0, vec![event("other")]).await.unwrap();
    let batch = vec![event("long"); LONG as usize];
    let appending = tokio::spawn(async move { writer.append(&project(), 0, batch).await });
    loop {
        let over = appending.is_finished();
        assert_eq!(reader.read(&StreamName::installation(), 0, 10).await.unwrap().len(), 1);
        let head = reader.head(&project()).await.unwrap().seq;
        assert!(head == 0 || head == LONG, "half a batch is seen: {head}");
        let last = reader.read(&project(), LONG - 1, 10).await.unwrap();
        assert!(last.is_empty() || seqs(&last) == [LONG]);
        if over {
            assert_eq!(head, LONG);
            break;
        }
        yield_now().await;
    }
    appending.await.unwrap().unwrap();
}
