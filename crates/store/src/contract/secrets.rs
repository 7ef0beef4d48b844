//! What is promised of secret values?

use super::{Storage, events, project};
use crate::{SecretValues, StreamName};

fn values(pairs: &[(&str, &str)]) -> SecretValues {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// E8
pub async fn secrets_are_replaced_whole(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    assert_eq!(one.secrets(&project(), "coder").await, Ok(SecretValues::new()));
    let first = values(&[("KEY", "first\nline"), ("EMPTY", "")]);
    one.put_secrets(&project(), "coder", first.clone()).await.unwrap();
    one.put_secrets(&project(), "other", values(&[("KEY", "another's")])).await.unwrap();
    assert_eq!(two.secrets(&project(), "coder").await, Ok(first));
    let second = values(&[("KEY", "second")]);
    two.put_secrets(&project(), "coder", second.clone()).await.unwrap();
    assert_eq!(one.secrets(&project(), "coder").await, Ok(second));
    one.put_secrets(&project(), "coder", SecretValues::new()).await.unwrap();
    assert_eq!(two.secrets(&project(), "coder").await, Ok(SecretValues::new()));
    assert_eq!(two.secrets(&project(), "other").await, Ok(values(&[("KEY", "another's")])));
    assert_eq!(two.secrets(&StreamName::installation(), "other").await, Ok(SecretValues::new()));
}

/// E8: no event and no stream comes of it.
pub async fn secrets_are_no_part_of_a_stream(storage: &impl Storage) {
    let store = storage.handle().await;
    store.put_secrets(&project(), "coder", values(&[("KEY", "value")])).await.unwrap();
    assert_eq!(store.streams().await.unwrap(), []);
    store.append(&project(), 0, events(1, 1)).await.unwrap();
    let read = store.read(&project(), 0, 9).await.unwrap();
    assert!(read.iter().all(|event| !event.body.contains("value")), "{read:?}");
}
