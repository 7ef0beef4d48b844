//! Which tables are in the file, and how does an older file get them?

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::backup::Backup;
use rusqlite::{Connection, TransactionBehavior};

use super::connection::{connect, failure, retry_while_busy};
use crate::{Cause, StoreError};

/// What leads from each schema version to the next, beginning with the empty file.
pub(super) const MIGRATIONS: &[&str] = &[V1, V2, V3];

// The head of a stream is kept apart from its events, so that losing the last ones is noticed.
// Events lie in the order in which they are read; a stream's decisions are numbered without gaps,
// so that the number alone says which are too old.
const V1: &str = "
    CREATE TABLE streams (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        seq INTEGER NOT NULL,
        hash BLOB NOT NULL
    ) STRICT;
    CREATE TABLE events (
        stream INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        version INTEGER NOT NULL,
        body TEXT NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (stream, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE snapshots (
        stream INTEGER PRIMARY KEY,
        seq INTEGER NOT NULL,
        hash BLOB NOT NULL,
        format INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        checksum BLOB NOT NULL
    ) STRICT;
    CREATE TABLE decisions (
        stream INTEGER NOT NULL,
        number INTEGER NOT NULL,
        at INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (stream, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX decisions_about ON decisions (stream, subject, number);
";

// What must not be in the log, such as keys in an agent's environment.
const V2: &str = "
    CREATE TABLE secrets (
        stream INTEGER NOT NULL,
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (stream, owner, name)
    ) STRICT, WITHOUT ROWID;
";

// What other hosts say of themselves, and what their agents print.
const V3: &str = "
    CREATE TABLE presence (
        key TEXT PRIMARY KEY,
        at INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE output_pieces (
        stream INTEGER NOT NULL,
        session TEXT NOT NULL,
        position INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (stream, session, position)
    ) STRICT;
";

/// Brings the file to the version that `migrations` lead to. Costs one query if it is there.
pub(super) fn prepare(conn: &mut Connection, path: &Path, migrations: &[&str]) -> Result<(), StoreError> {
    if missing(conn, path, migrations)?.is_empty() {
        return Ok(());
    }
    let fail = |error| failure(path, error);
    retry_while_busy(|| conn.pragma_update(None, "journal_mode", "wal")).map_err(fail)?;
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    // Again, under the lock: another process may have been first.
    let missing = missing(&tx, path, migrations)?;
    if !missing.is_empty() && missing.len() < migrations.len() {
        back_up(path, migrations.len())?;
    }
    missing.iter().try_for_each(|migration| tx.execute_batch(migration)).map_err(fail)?;
    tx.pragma_update(None, "user_version", migrations.len() as i64).map_err(fail)?;
    tx.commit().map_err(fail)
}

/// The migrations this file has not had yet.
fn missing<'a>(conn: &Connection, path: &Path, migrations: &'a [&'a str]) -> Result<&'a [&'a str], StoreError> {
    let fail = |error| failure(path, error);
    let known = migrations.len() as i64;
    // One statement: between two, another process could have made the tables.
    let both = "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version";
    let (found, tables): (i64, i64) = conn.query_row(both, (), |row| Ok((row.get(0)?, row.get(1)?))).map_err(fail)?;
    if found > known {
        return Err(StoreError::NewerSchema { found, known });
    }
    if found <= 0 && tables > 0 {
        let source = Cause::new("it is the database of another program");
        return Err(StoreError::Unavailable { location: path.display().to_string(), source });
    }
    Ok(&migrations[found.max(0) as usize..])
}

/// Copies the file as it is to `<path>.before-schema-<version>.bak`, whole or not at all. The
/// caller holds the write lock.
fn back_up(path: &Path, version: usize) -> Result<(), StoreError> {
    let part = beside(path, version, "part");
    let cannot = |error: std::io::Error| StoreError::failed(format!("cannot back up: {error}"));
    match fs::remove_file(&part) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(cannot(error)),
        _ => {}
    }
    let copy = || -> rusqlite::Result<()> {
        let from = connect(path)?;
        let mut to = connect(&part)?;
        Backup::new(&from, &mut to)?.run_to_completion(i32::MAX, std::time::Duration::ZERO, None)
    };
    copy().map_err(|error| failure(&part, error))?;
    fs::rename(&part, beside(path, version, "bak")).map_err(cannot)
}

fn beside(path: &Path, version: usize, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".before-schema-{version}.{ending}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[&str] = &["CREATE TABLE a (x TEXT); INSERT INTO a VALUES ('kept');"];
    const NEW: &[&str] = &[OLD[0], "ALTER TABLE a RENAME TO b;"];

    fn prepared(path: &Path, migrations: &[&str]) -> Result<Connection, StoreError> {
        let mut conn = connect(path).unwrap();
        prepare(&mut conn, path, migrations).map(|()| conn)
    }

    fn content(conn: &Connection, table: &str) -> rusqlite::Result<String> {
        conn.query_row(&format!("SELECT x FROM {table}"), (), |row| row.get(0))
    }

    /// E3
    #[test]
    fn a_migration_keeps_the_content_and_leaves_a_backup_of_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.db");
        drop(prepared(&path, OLD).unwrap());
        let conn = prepared(&path, NEW).unwrap();
        assert_eq!(content(&conn, "b").unwrap(), "kept");
        let backup = connect(&dir.path().join("log.db.before-schema-2.bak")).unwrap();
        assert_eq!(content(&backup, "a").unwrap(), "kept");
    }

    /// E3
    #[test]
    fn a_migration_that_fails_leaves_the_file_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.db");
        drop(prepared(&path, OLD).unwrap());
        let broken = [OLD[0], "ALTER TABLE a RENAME TO b; ALTER TABLE nothing RENAME TO c;"];
        assert!(prepared(&path, &broken).is_err());
        assert_eq!(content(&prepared(&path, OLD).unwrap(), "a").unwrap(), "kept");
    }

    /// E3, F80
    #[test]
    fn two_processes_may_migrate_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.db");
        drop(prepared(&path, OLD).unwrap());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| drop(prepared(&path, NEW).unwrap()));
            }
        });
        assert_eq!(content(&prepared(&path, NEW).unwrap(), "b").unwrap(), "kept");
    }
}
