//! What does a stream of events promise?

use super::{Storage, bodies, event, events, project, seqs};
use crate::{Hash, Head, NewEvent, StoreError, StreamName, Verified, link};

/// E2
pub async fn sequence_is_dense(storage: &impl Storage) {
    let store = storage.handle().await;
    assert_eq!(store.append(&project(), 0, events(1, 3)).await.unwrap().seq, 3);
    assert_eq!(store.append(&project(), 3, events(4, 4)).await.unwrap().seq, 4);
    let read = store.read(&project(), 0, 100).await.unwrap();
    assert_eq!(seqs(&read), [1, 2, 3, 4]);
}

/// E2
pub async fn refused_expectation_writes_nothing(storage: &impl Storage) {
    let store = storage.handle().await;
    store.append(&project(), 0, events(1, 2)).await.unwrap();
    let before = store.read(&project(), 0, 100).await.unwrap();
    for expected in [0, 1, 3, u64::MAX] {
        let refused = store.append(&project(), expected, events(7, 9)).await;
        assert_eq!(refused, Err(StoreError::Conflict { expected, actual: 2 }));
    }
    assert_eq!(store.read(&project(), 0, 100).await.unwrap(), before);
    let elsewhere = StreamName::installation();
    let refused = store.append(&elsewhere, 1, events(1, 1)).await;
    assert_eq!(refused, Err(StoreError::Conflict { expected: 1, actual: 0 }));
    assert_eq!(store.streams().await.unwrap(), [project()]);
}

/// E2
pub async fn empty_append_only_checks_the_expectation(storage: &impl Storage) {
    let store = storage.handle().await;
    assert_eq!(store.append(&project(), 0, vec![]).await, Ok(Head::EMPTY));
    assert_eq!(store.streams().await.unwrap(), []);
    let head = store.append(&project(), 0, events(1, 1)).await.unwrap();
    assert_eq!(store.append(&project(), 1, vec![]).await, Ok(head));
    let refused = store.append(&project(), 0, vec![]).await;
    assert_eq!(refused, Err(StoreError::Conflict { expected: 0, actual: 1 }));
    assert_eq!(store.head(&project()).await, Ok(head));
}

/// E2
pub async fn order_is_kept(storage: &impl Storage) {
    let store = storage.handle().await;
    // Times may go back; the order is that of the appends.
    let batch = [3, 1, 2].map(|at| NewEvent { at, ..event(at.to_string()) });
    store.append(&project(), 0, batch.to_vec()).await.unwrap();
    store.append(&project(), 3, events(0, 0)).await.unwrap();
    let read = store.read(&project(), 0, 100).await.unwrap();
    assert_eq!(bodies(&read), ["3", "1", "2", "0"]);
    assert_eq!(read[0].at, 3);
}

/// E2
pub async fn reading_goes_in_pages(storage: &impl Storage) {
    let store = storage.handle().await;
    store.append(&project(), 0, events(1, 250)).await.unwrap();
    let page = |after, limit| {
        let store = &store;
        async move { seqs(&store.read(&project(), after, limit).await.unwrap()) }
    };
    assert_eq!(page(0, 100).await, Vec::from_iter(1..=100));
    assert_eq!(page(100, 100).await, Vec::from_iter(101..=200));
    assert_eq!(page(200, 100).await, Vec::from_iter(201..=250));
    assert_eq!(page(249, usize::MAX).await, [250]);
    for (after, limit) in [(250, 100), (251, 100), (u64::MAX, usize::MAX), (0, 0)] {
        assert!(page(after, limit).await.is_empty());
    }
    assert_eq!(store.read(&StreamName::installation(), 0, 10).await, Ok(vec![]));
}

/// E5
pub async fn chain_is_made_of_links(storage: &impl Storage) {
    let store = storage.handle().await;
    let batch = events(1, 5);
    let head = store.append(&project(), 0, batch.clone()).await.unwrap();
    let mut hash = Hash::ZERO;
    for (stored, new) in store.read(&project(), 0, 100).await.unwrap().iter().zip(&batch) {
        hash = link(&hash, stored.seq, new);
        assert_eq!(stored.hash, hash);
    }
    assert_eq!(head, Head { seq: 5, hash });
}

/// E2
pub async fn head_is_the_last_event(storage: &impl Storage) {
    let store = storage.handle().await;
    assert_eq!(store.head(&project()).await, Ok(Head::EMPTY));
    let head = store.append(&project(), 0, events(1, 7)).await.unwrap();
    assert_eq!(store.head(&project()).await, Ok(head));
    let last = store.read(&project(), 6, 1).await.unwrap().remove(0);
    assert_eq!(Head { seq: last.seq, hash: last.hash }, head);
}

/// E2
pub async fn streams_are_listed_by_name(storage: &impl Storage) {
    let store = storage.handle().await;
    assert_eq!(store.streams().await.unwrap(), []);
    let names = [StreamName::project("b"), StreamName::installation(), StreamName::project("a")];
    for name in &names {
        store.append(name, 0, events(1, 1)).await.unwrap();
    }
    let [b, installation, a] = names;
    assert_eq!(store.streams().await.unwrap(), [installation, a, b]);
}

/// E2
pub async fn streams_are_independent(storage: &impl Storage) {
    let store = storage.handle().await;
    let names: Vec<_> = (1..=50).map(|n| StreamName::project(&n.to_string())).collect();
    for (length, name) in (1..).zip(&names) {
        store.append(name, 0, events(1, length)).await.unwrap();
    }
    for (length, name) in (1..).zip(&names) {
        let read = store.read(name, 0, 100).await.unwrap();
        assert_eq!(seqs(&read), Vec::from_iter(1..=length));
        assert_eq!(store.head(name).await.unwrap().hash, read[length as usize - 1].hash);
    }
    // Names are compared exactly.
    for other in ["project/1 ", "PROJECT/1", "project/%"] {
        assert_eq!(store.head(&StreamName::named(other)).await, Ok(Head::EMPTY));
    }
}

/// E2
pub async fn any_text_comes_back_as_it_was(storage: &impl Storage) {
    let store = storage.handle().await;
    let name = StreamName::project("采配 \u{1f3ef}");
    let texts = ["", "采配を振る \u{1f3ef} e\u{301}", "a\0b\0", "'; --\n\r\t\u{feff}", &"x".repeat(1 << 20)];
    let batch: Vec<_> =
        texts.map(|text| NewEvent { at: i64::MIN, kind: text.into(), version: u16::MAX, body: text.into() }).into();
    store.append(&name, 0, batch.clone()).await.unwrap();
    let read = store.read(&name, 0, 100).await.unwrap();
    let again: Vec<_> = read
        .into_iter()
        .map(|event| NewEvent { at: event.at, kind: event.kind, version: event.version, body: event.body })
        .collect();
    assert!(again == batch, "a text was changed");
    assert_eq!(store.verify(&name).await, Ok(Verified { intact: 5, damage: vec![] }));
}

/// E3
pub async fn other_handles_see_what_was_acknowledged(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    for seq in (0..20).step_by(2) {
        let head = one.append(&project(), seq, events(1, 1)).await.unwrap();
        assert_eq!(two.head(&project()).await, Ok(head));
        two.append(&project(), seq + 1, events(2, 2)).await.unwrap();
        assert_eq!(bodies(&one.read(&project(), seq, 10).await.unwrap()), ["1", "2"]);
    }
}

/// E5
pub async fn intact_stream_is_verified(storage: &impl Storage) {
    let store = storage.handle().await;
    store.append(&project(), 0, events(1, 3_000)).await.unwrap();
    assert_eq!(store.verify(&project()).await, Ok(Verified { intact: 3_000, damage: vec![] }));
    let nothing = store.verify(&StreamName::installation()).await;
    assert_eq!(nothing, Ok(Verified { intact: 0, damage: vec![] }));
}
