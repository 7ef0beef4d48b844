//! What is promised to those who wait for new events?

use std::time::Duration;

use tokio::time::timeout;

use super::{Storage, events, project};
use crate::{Seq, StreamName, Subscription};

/// Waits until the subscriber is told of `seq`.
async fn told(end: &mut Subscription, seq: Seq) {
    let waiting = async {
        let mut seen = end.seen();
        while seen < seq {
            seen = end.changed().await.expect("the store lives");
        }
        seen
    };
    assert_eq!(timeout(Duration::from_secs(60), waiting).await.expect("told within a minute"), seq);
}

/// E7
pub async fn subscriber_knows_the_end_at_once(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    assert_eq!(one.subscribe(&project()).await.unwrap().seen(), 0);
    one.append(&project(), 0, events(1, 3)).await.unwrap();
    assert_eq!(one.subscribe(&project()).await.unwrap().seen(), 3);
    assert_eq!(two.subscribe(&project()).await.unwrap().seen(), 3);
}

/// E7
pub async fn subscriber_sees_own_appends(storage: &impl Storage) {
    let store = storage.handle().await;
    let (mut one, mut two) = (store.subscribe(&project()).await.unwrap(), store.subscribe(&project()).await.unwrap());
    let mut other = store.subscribe(&StreamName::installation()).await.unwrap();
    for seq in 0..10 {
        store.append(&project(), seq, events(1, 1)).await.unwrap();
        told(&mut one, seq + 1).await;
        told(&mut two, seq + 1).await;
    }
    assert_eq!(other.seen(), 0);
    // It goes on for those who come after everyone left.
    drop((one, two, other));
    let mut late = store.subscribe(&project()).await.unwrap();
    store.append(&project(), 10, events(1, 1)).await.unwrap();
    told(&mut late, 11).await;
}

/// E7
pub async fn subscriber_sees_foreign_appends(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    let mut mine = one.subscribe(&project()).await.unwrap();
    let mut other = one.subscribe(&StreamName::installation()).await.unwrap();
    for seq in 0..3 {
        two.append(&project(), seq, events(1, 1)).await.unwrap();
        told(&mut mine, seq + 1).await;
    }
    two.append(&StreamName::installation(), 0, events(1, 5)).await.unwrap();
    told(&mut other, 5).await;
}

/// E7: after a lost connection the subscriber is told what was appended meanwhile, and what comes after.
pub async fn subscription_outlives_a_lost_connection(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    let mut mine = one.subscribe(&project()).await.unwrap();
    two.append(&project(), 0, events(1, 2)).await.unwrap();
    told(&mut mine, 2).await;
    storage.interrupt().await;
    let three = storage.handle().await;
    three.append(&project(), 2, events(3, 3)).await.unwrap();
    told(&mut mine, 3).await;
    three.append(&project(), 3, events(4, 6)).await.unwrap();
    told(&mut mine, 6).await;
}

/// E7: another handle that goes away takes nothing with it.
pub async fn dropped_handle_leaves_the_others_alone(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    let mut mine = one.subscribe(&project()).await.unwrap();
    drop(two.subscribe(&project()).await.unwrap());
    two.append(&project(), 0, events(1, 1)).await.unwrap();
    drop(two);
    told(&mut mine, 1).await;
    let three = storage.handle().await;
    three.append(&project(), 1, events(2, 2)).await.unwrap();
    told(&mut mine, 2).await;
    assert_eq!(one.head(&project()).await.unwrap().seq, 2);
}
