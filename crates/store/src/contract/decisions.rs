//! What is promised of the decision log?

use std::sync::Arc;

use tokio::task::{JoinSet, yield_now};

use super::{Storage, project};
use crate::{DECISIONS_KEPT, Decision, RecordedDecision, StreamName};

pub(super) fn decision(number: i64, subject: &str) -> Decision {
    Decision { at: number, seq: 1, kind: "verdict".into(), subject: subject.into(), body: "{}".into() }
}

fn times(found: &[RecordedDecision]) -> Vec<i64> {
    found.iter().map(|one| one.decision.at).collect()
}

/// E6
pub async fn decisions_come_newest_first_by_subject(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    one.record(&project(), vec![decision(9, "a"), decision(1, "b"), decision(8, "a")]).await.unwrap();
    two.record(&project(), vec![decision(7, "a")]).await.unwrap();
    one.record(&StreamName::installation(), vec![decision(0, "a")]).await.unwrap();
    one.record(&project(), vec![]).await.unwrap();
    let about = |subject: &'static str, before, limit| {
        let store = &two;
        async move { store.decisions(&project(), subject, before, limit).await.unwrap() }
    };
    let all = about("a", u64::MAX, usize::MAX).await;
    assert_eq!(times(&all), [7, 8, 9]);
    assert_eq!(all[2].decision, decision(9, "a"));
    assert_eq!(times(&about("a", u64::MAX, 2).await), [7, 8]);
    assert_eq!(times(&about("a", all[0].number, 1).await), [8], "a page begins below the number of the last one");
    assert_eq!(times(&about("a", all[2].number, 10).await), [0_i64; 0]);
    assert_eq!(times(&about("b", u64::MAX, 10).await), [1]);
    assert_eq!(times(&about("c", u64::MAX, 10).await), [0_i64; 0]);
}

/// E6: decisions recorded at the same time are all kept, each batch in its order, under numbers of their own.
pub async fn concurrent_decisions_are_all_kept(storage: &impl Storage) {
    let handles = [storage.handle().await, storage.handle().await];
    let mut writers = JoinSet::new();
    for writer in 0..4_i64 {
        let store = Arc::clone(&handles[writer as usize % 2]);
        writers.spawn(async move {
            for round in 0..25 {
                let at = |index| writer * 1_000 + round * 2 + index;
                store.record(&project(), vec![decision(at(0), "a"), decision(at(1), "a")]).await.unwrap();
                yield_now().await;
            }
        });
    }
    writers.join_all().await;
    let found = handles[0].decisions(&project(), "a", u64::MAX, usize::MAX).await.unwrap();
    assert_eq!(found.len(), 200);
    assert!(found.windows(2).all(|pair| pair[0].number > pair[1].number), "numbers grow, and none is used twice");
    for writer in 0..4 {
        let own: Vec<_> = times(&found).into_iter().filter(|at| at / 1_000 == writer).collect();
        assert!(own.windows(2).all(|pair| pair[0] > pair[1]), "the order of writer {writer} is kept");
    }
}

/// E6
pub async fn decisions_are_forgotten_beyond_the_retention(storage: &impl Storage) {
    let store = storage.handle().await;
    let kept = DECISIONS_KEPT as usize;
    store.record(&project(), vec![decision(1, "old")]).await.unwrap();
    store.record(&project(), vec![decision(2, "agent"); kept + 5_000]).await.unwrap();
    assert_eq!(store.decisions(&project(), "old", u64::MAX, 1).await, Ok(vec![]));
    let newest = store.decisions(&project(), "agent", u64::MAX, usize::MAX).await.unwrap();
    assert!((kept..kept + 5_000).contains(&newest.len()), "{} are kept", newest.len());
}
