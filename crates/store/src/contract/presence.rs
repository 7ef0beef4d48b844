//! What is promised of presence?

use std::sync::Arc;

use tokio::task::JoinSet;

use super::{Storage, events, project};
use crate::Present;

fn present(key: &str, at: i64) -> Present {
    Present { key: key.into(), at, body: format!(r#"{{"said":{at}}}"#) }
}

/// R10
pub async fn newest_presence_is_kept(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    assert_eq!(one.presence().await, Ok(vec![]));
    one.put_presence(present("b", 10)).await.unwrap();
    one.put_presence(present("B", 5)).await.unwrap();
    two.put_presence(present("a", 7)).await.unwrap();
    assert_eq!(two.presence().await, Ok(vec![present("B", 5), present("a", 7), present("b", 10)]));
    two.put_presence(present("b", 9)).await.unwrap();
    two.put_presence(present("a", 8)).await.unwrap();
    let changed = Present { key: "B".into(), at: 5, body: "{}".into() };
    two.put_presence(changed.clone()).await.unwrap();
    assert_eq!(one.presence().await, Ok(vec![changed, present("a", 8), present("b", 10)]));
}

/// R10
pub async fn presence_is_removed(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    one.remove_presence("a").await.unwrap();
    one.put_presence(present("a", 10)).await.unwrap();
    one.put_presence(present("b", 10)).await.unwrap();
    two.remove_presence("a").await.unwrap();
    assert_eq!(one.presence().await, Ok(vec![present("b", 10)]));
    // Whoever comes back is not compared with what was removed.
    one.put_presence(present("a", 9)).await.unwrap();
    assert_eq!(two.presence().await, Ok(vec![present("a", 9), present("b", 10)]));
}

/// R10: no event and no stream comes of it.
pub async fn presence_is_no_part_of_a_stream(storage: &impl Storage) {
    let store = storage.handle().await;
    store.put_presence(present("a", 1)).await.unwrap();
    assert_eq!(store.streams().await.unwrap(), []);
    store.append(&project(), 0, events(1, 1)).await.unwrap();
    assert_eq!(store.streams().await.unwrap(), [project()]);
}

/// R10: of those who speak for the same key at once, the newest is heard, in whatever order they come.
pub async fn racing_presence_keeps_the_newest(storage: &impl Storage) {
    let handles = [storage.handle().await, storage.handle().await];
    let mut speakers = JoinSet::new();
    for speaker in 0..8 {
        let store = Arc::clone(&handles[speaker % 2]);
        let mine = i64::try_from(speaker).unwrap();
        speakers.spawn(async move {
            for round in (0..10).rev() {
                store.put_presence(present("shared", round * 8 + mine)).await.unwrap();
                store.put_presence(present(&mine.to_string(), round)).await.unwrap();
            }
        });
    }
    speakers.join_all().await;
    let mut expected: Vec<_> = (0..8).map(|speaker| present(&speaker.to_string(), 9)).collect();
    expected.push(present("shared", 79));
    assert_eq!(handles[0].presence().await, Ok(expected));
}
