//! Which files are opened, which refused, and what does opening leave behind?

use std::fs;

use rusqlite::Connection;
use store::{EventLog as _, Presence as _, Present, SessionOutput as _, SqliteStore, StoreError};

use crate::file::{File, events, project};

fn refusal(file: &File) -> StoreError {
    SqliteStore::open(file.path()).unwrap_err()
}

/// E3
#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let file = File::fresh();
    let text = "This is not a database. ".repeat(100);
    fs::write(file.path(), &text).unwrap();
    assert!(matches!(refusal(&file), StoreError::Damaged(_)));
    assert_eq!(fs::read_to_string(file.path()).unwrap(), text);
}

/// E3
#[test]
fn the_database_of_another_program_is_refused() {
    let file = File::fresh();
    let conn = Connection::open(file.path()).unwrap();
    conn.execute_batch("CREATE TABLE photos (name TEXT)").unwrap();
    assert!(matches!(refusal(&file), StoreError::Unavailable { .. }));
}

/// E3
#[tokio::test]
async fn a_newer_schema_is_refused_before_anything_is_touched() {
    let file = File::with_events(3).await;
    Connection::open(file.path()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(file.path()).unwrap();
    assert_eq!(refusal(&file), StoreError::NewerSchema { found: 99, known: 3 });
    assert!(fs::read(file.path()).unwrap() == before);
}

/// E3, R10: a file of the schema before presence and output is brought up to date, and kept as it was beside it.
#[tokio::test]
async fn a_file_of_an_older_schema_is_migrated() {
    let file = File::with_events(3).await;
    let older = "DROP TABLE presence; DROP TABLE output_pieces; PRAGMA user_version = 2";
    Connection::open(file.path()).unwrap().execute_batch(older).unwrap();
    let store = file.open();
    assert_eq!(store.head(&project()).await.unwrap().seq, 3);
    let present = Present { key: "runner".into(), at: 1, body: "{}".into() };
    store.put_presence(present.clone()).await.unwrap();
    assert_eq!(store.presence().await.unwrap(), [present]);
    assert_eq!(store.append_output(&project(), "ses_1", 0, b"printed".into()).await, Ok(7));
    assert!(file.path().with_file_name("log.db.before-schema-3.bak").exists());
}

/// E3
#[test]
fn a_directory_that_is_not_there_cannot_be_opened() {
    let file = File::fresh();
    let error = SqliteStore::open(file.path().join("deeper/log.db")).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
}

/// E3
#[tokio::test]
async fn dropping_the_store_leaves_one_file_with_everything_in_it() {
    let file = File::with_events(100).await;
    let beside: Vec<_> = fs::read_dir(file.path().parent().unwrap()).unwrap().collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
    assert_eq!(file.open().head(&project()).await.unwrap().seq, 100);
}

/// E3
#[tokio::test]
async fn what_was_queued_is_written_although_nobody_waits_for_it() {
    let file = File::fresh();
    let store = file.open();
    let (name, mut waiting) = (project(), Vec::new());
    for seq in 0..50 {
        let mut append = store.append(&name, seq, events(1));
        tokio::select! {
            biased;
            done = &mut append => drop(done.unwrap()),
            () = std::future::ready(()) => {} // Polled once, it is queued.
        }
        waiting.push(append);
    }
    drop(waiting);
    drop(store);
    assert_eq!(file.open().head(&project()).await.unwrap().seq, 50);
}

/// E3
#[test]
fn debug_output_has_no_content() {
    let file = File::fresh();
    assert_eq!(format!("{:?}", file.open()), format!("SqliteStore {{ path: {:?}, .. }}", file.path()));
    assert_eq!(format!("{:?}", store::MemoryStore::new()), "MemoryStore { streams: 0 }");
}
