//! Does the store leave the runtime's threads to others?

use store::{EventLog as _, NewEvent, SqliteStore, StreamName};

/// E11: on a runtime with a single thread, other tasks go on while much is read.
#[tokio::test(flavor = "current_thread")]
async fn reading_does_not_block_the_runtime() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("log.db")).unwrap();
    let stream = StreamName::named("one");
    let event = NewEvent { at: 0, kind: "x".into(), version: 1, body: "y".repeat(200) };
    store.append(&stream, 0, vec![event; 20_000]).await.unwrap();
    let reading = store.read(&stream, 0, usize::MAX);
    let mut turns = 0_u32;
    let others = async {
        loop {
            turns += 1;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        read = reading => assert_eq!(read.unwrap().len(), 20_000),
        () = others => unreachable!("it never ends"),
    }
    assert!(turns > 0, "nobody else had a turn");
}
