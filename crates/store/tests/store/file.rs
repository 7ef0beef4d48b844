//! How do the tests make a store's file, and how do they meddle with it?

use std::path::PathBuf;

use rusqlite::{Connection, Params};
use store::{EventLog as _, NewEvent, Seq, SqliteStore, StreamName};
use tempfile::TempDir;

/// A directory with a store's file in it.
pub(crate) struct File {
    dir: TempDir,
}

impl File {
    pub(crate) fn fresh() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A file with a stream of `length` events, checkpointed and closed.
    pub(crate) async fn with_events(length: Seq) -> Self {
        let file = Self::fresh();
        file.open().append(&project(), 0, events(length)).await.unwrap();
        file
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("log.db")
    }

    pub(crate) fn open(&self) -> SqliteStore {
        SqliteStore::open(self.path()).unwrap()
    }

    /// Changes exactly one row behind the store's back.
    pub(crate) fn meddle(&self, sql: &str, params: impl Params) {
        let conn = Connection::open(self.path()).unwrap();
        assert_eq!(conn.execute(sql, params).unwrap(), 1, "{sql}");
    }
}

pub(crate) fn project() -> StreamName {
    StreamName::project("p")
}

pub(crate) fn event(body: &str) -> NewEvent {
    NewEvent { at: 1, kind: "noted".into(), version: 1, body: body.into() }
}

pub(crate) fn events(count: Seq) -> Vec<NewEvent> {
    (1..=count).map(|number| event(&format!("{{\"number\":{number}}}"))).collect()
}
