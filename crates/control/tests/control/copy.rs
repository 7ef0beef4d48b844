//! Does what is no event get into another store as it should?

use std::path::Path;

use control::{Source, StoreLocation, copy_store};
use store::{NewEvent, OUTPUT_PIECE_LIMIT, OutputPage, Present, Store, StreamName};

use crate::world::id;

const SESSION: &str = "ses_1";

fn stream() -> StreamName {
    control::Project::stream(&id())
}

fn location(directory: &Path, name: &str) -> StoreLocation {
    StoreLocation::Sqlite(directory.join(name))
}

async fn output(location: &StoreLocation, session: &str) -> OutputPage {
    let store = location.open().await.unwrap().store;
    store.output(&stream(), session, 0, usize::MAX).await.unwrap()
}

/// A store with one event, in which the session has printed `text` from the position 10 on.
async fn store_with_output(location: &StoreLocation, text: &[u8]) -> std::sync::Arc<dyn Store> {
    let store = location.open().await.unwrap().store;
    let event = NewEvent { at: 1, kind: "noted".into(), version: 1, body: "{}".into() };
    store.append(&stream(), 0, vec![event]).await.unwrap();
    let mut at = 10;
    for piece in text.chunks(OUTPUT_PIECE_LIMIT - 7) {
        at = store.append_output(&stream(), SESSION, at, piece.to_vec()).await.unwrap();
    }
    store
}

/// E10, R10: output comes along and presence does not; a copy that is repeated adds what has come since.
#[tokio::test]
async fn output_is_copied_from_where_the_last_copy_ended() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (location(directory.path(), "from.db"), location(directory.path(), "to.db"));
    let text: Vec<u8> = (0..3 * OUTPUT_PIECE_LIMIT).map(|index| (index % 251) as u8).collect();
    let store = store_with_output(&from, &text).await;
    store.append_output(&stream(), "ses_2", 0, b"short".into()).await.unwrap();
    store.put_presence(Present { key: "runner".into(), at: 1, body: "{}".into() }).await.unwrap();

    copy_store(&from, &to, Source::Stays, |_, _, _| {}).await.unwrap();
    let end = 10 + text.len() as u64;
    let copied = output(&to, SESSION).await;
    assert_eq!((copied.start, copied.oldest, copied.newest), (10, 10, end));
    assert!(copied.bytes == text);
    assert_eq!(output(&to, "ses_2").await.bytes, b"short");
    assert_eq!(to.open().await.unwrap().store.presence().await, Ok(vec![]));

    store.append_output(&stream(), SESSION, end, b" and more".into()).await.unwrap();
    copy_store(&from, &to, Source::Left, |_, _, _| {}).await.unwrap();
    copy_store(&from, &to, Source::Left, |_, _, _| {}).await.unwrap();
    let copied = output(&to, SESSION).await;
    assert_eq!((copied.oldest, copied.newest), (10, end + 9));
    assert!(copied.bytes.ends_with(b" and more"));
}

/// E10, R10: what was dropped since the last copy leaves no gap in the next.
#[tokio::test]
async fn output_that_was_dropped_since_leaves_no_gap() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (location(directory.path(), "from.db"), location(directory.path(), "to.db"));
    let store = store_with_output(&from, b"first").await;
    copy_store(&from, &to, Source::Stays, |_, _, _| {}).await.unwrap();
    store.append_output(&stream(), SESSION, 15, b" second".into()).await.unwrap();
    store.append_output(&stream(), SESSION, 22, b" third".into()).await.unwrap();
    store.drop_output_before(&stream(), SESSION, 22).await.unwrap();
    copy_store(&from, &to, Source::Left, |_, _, _| {}).await.unwrap();
    let kept = OutputPage { start: 22, bytes: b" third".into(), oldest: 22, newest: 28 };
    assert_eq!(output(&to, SESSION).await, kept);
    assert_eq!(output(&from, SESSION).await, kept);
}
