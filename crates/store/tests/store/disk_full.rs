//! What happens to an append for which there is no space?
//!
//! A limit on the size of files stands in for a full disk: the write fails in the same place,
//! and needs no file system of its own. The limit holds for a whole process, so the test starts
//! itself again in one.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use store::{EventLog as _, SqliteStore, StoreError, Verified};

use crate::file::{File, event, events, project};

const PATH: &str = "STORE_TEST_DISK_FULL";

/// E3
#[cfg(unix)]
#[tokio::test]
async fn a_full_disk_refuses_the_append_and_loses_nothing() {
    let file = File::with_events(10).await;
    let test = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\""])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "disk_full::inside_the_limit", "--ignored", "--nocapture"])
        .env(PATH, file.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&test.stdout);
    assert!(test.status.success() && said.contains("1 passed"), "{test:?}");
    // With space again, it goes on where it stood.
    let store = file.open();
    let seq = store.head(&project()).await.unwrap().seq;
    store.append(&project(), seq, events(10)).await.unwrap();
    let expected = Verified { intact: seq + 10, damage: vec![] };
    assert_eq!(store.verify(&project()).await, Ok(expected));
}

/// E3
#[tokio::test]
#[ignore = "runs in the process that the test above starts"]
async fn inside_the_limit() {
    let path = PathBuf::from(env::var_os(PATH).unwrap());
    let store = SqliteStore::open(&path).unwrap();
    let mut seq = 10;
    let error = loop {
        match store.append(&project(), seq, vec![event(&"x".repeat(20_000)); 2]).await {
            Ok(head) => seq = head.seq,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(&error, StoreError::Full { location, .. } if *location == path.display().to_string()),
        "{error:?}"
    );
    assert!(seq > 10);
    assert_eq!(store.head(&project()).await.unwrap().seq, seq);
    assert_eq!(store.read(&project(), 0, 1_000).await.unwrap().len() as u64, seq);
    // All who wait are told, and nobody gets in by half.
    let name = project();
    let big = || store.append(&name, seq, vec![event(&"y".repeat(2_000_000))]);
    for refused in <[_; 2]>::from(tokio::join!(big(), big())) {
        assert!(matches!(refused, Err(StoreError::Full { .. })), "{refused:?}");
    }
    assert_eq!(store.head(&project()).await.unwrap().seq, seq);
}
