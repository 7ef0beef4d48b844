//! What is in the file? The queries behind every read.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::proof::Proof;
use crate::snapshots::StoredSnapshot;
use crate::{Decision, Hash, Head, RecordedDecision, SecretValues, Seq, Snapshot, StoreError, StoredEvent, StreamName};

/// A stream that has been written to, if only a snapshot or a decision.
pub(super) struct Stream {
    pub(super) id: i64,
    pub(super) head: Head,
}

/// What stands in an event's place.
pub(super) enum Found {
    Event(StoredEvent),
    Garbage(Seq),
}

pub(super) fn stream(conn: &Connection, name: &StreamName) -> rusqlite::Result<Option<Stream>> {
    conn.prepare_cached("SELECT id, seq, hash FROM streams WHERE name = ?1")?
        .query_row([name.as_str()], |row| Ok(Stream { id: row.get(0)?, head: head_in(row)? }))
        .optional()
}

/// The head in the second and third column.
fn head_in(row: &Row<'_>) -> rusqlite::Result<Head> {
    Ok(Head { seq: unsigned(row, 1)?, hash: Hash::from_bytes(row.get(2)?) })
}

pub(super) fn head(conn: &Connection, name: &StreamName) -> rusqlite::Result<Head> {
    Ok(stream(conn, name)?.map_or(Head::EMPTY, |stream| stream.head))
}

pub(super) fn heads(conn: &Connection) -> rusqlite::Result<Vec<(StreamName, Head)>> {
    conn.prepare_cached("SELECT name, seq, hash FROM streams")?
        .query_map((), |row| Ok((StreamName::named(row.get::<_, String>(0)?), head_in(row)?)))?
        .collect()
}

pub(super) fn streams(conn: &Connection) -> rusqlite::Result<Vec<StreamName>> {
    conn.prepare_cached("SELECT name FROM streams WHERE seq > 0 ORDER BY name")?
        .query_map((), |row| row.get::<_, String>(0).map(StreamName::named))?
        .collect()
}

/// The values that an owner has beside a stream.
pub(super) fn secrets(conn: &Connection, name: &StreamName, owner: &str) -> rusqlite::Result<SecretValues> {
    conn.prepare_cached(
        "SELECT secrets.name, value FROM secrets JOIN streams ON streams.id = stream WHERE streams.name = ?1 AND owner = ?2",
    )?
    .query_map([name.as_str(), owner], |row| Ok((row.get(0)?, row.get(1)?)))?
    .collect()
}

pub(super) fn all_secrets(conn: &Connection, name: &StreamName) -> rusqlite::Result<BTreeMap<String, SecretValues>> {
    let mut query = conn.prepare_cached(
        "SELECT owner, secrets.name, value FROM secrets JOIN streams ON streams.id = stream WHERE streams.name = ?1",
    )?;
    let mut found = BTreeMap::<String, SecretValues>::new();
    let mut rows = query.query([name.as_str()])?;
    while let Some(row) = rows.next()? {
        found.entry(row.get(0)?).or_default().insert(row.get(1)?, row.get(2)?);
    }
    Ok(found)
}

/// The events after `after`, proven. The outer result is the medium's, the inner one the log's.
pub(super) fn read(
    conn: &Connection,
    name: &StreamName,
    after: Seq,
    limit: usize,
) -> rusqlite::Result<Result<Vec<StoredEvent>, StoreError>> {
    // What lies up to the head never changes: with the head read first, no transaction is needed.
    let Some(Stream { id, head }) = stream(conn, name)? else {
        return Ok(Ok(Vec::new()));
    };
    if after > head.seq {
        return Ok(Ok(Vec::new()));
    }
    let Some(hash) = hash_at(conn, id, after)? else {
        return Ok(Err(StoreError::Damaged(format!("{name}: event {after} is missing"))));
    };
    let last = after.saturating_add(limit as u64).min(head.seq);
    let mut proof = Proof::after(Head { seq: after, hash });
    let mut events = Vec::new();
    each(conn, id, after, last, |found| match found {
        Found::Event(event) => {
            proof.event(&event);
            events.push(event);
        }
        Found::Garbage(seq) => proof.garbage(seq),
    })?;
    if last == head.seq {
        proof.end(head)
    } else {
        proof.reach(last)
    }
    Ok(proof.into_result(name).map(|()| events))
}

/// Tells `tell` what is found in the places after `after` up to `last`.
pub(super) fn each(
    conn: &Connection,
    id: i64,
    after: Seq,
    last: Seq,
    mut tell: impl FnMut(Found),
) -> rusqlite::Result<()> {
    let mut query = conn.prepare_cached(
        "SELECT seq, at, kind, version, body, hash FROM events
         WHERE stream = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq",
    )?;
    let mut rows = query.query(params![id, signed(after), signed(last)])?;
    while let Some(row) = rows.next()? {
        let seq = unsigned(row, 0)?;
        tell(event(row, seq).map_or(Found::Garbage(seq), Found::Event));
    }
    Ok(())
}

pub(super) fn snapshot(conn: &Connection, name: &StreamName) -> rusqlite::Result<Option<StoredSnapshot>> {
    conn.prepare_cached(
        "SELECT snapshots.seq, snapshots.hash, format, bytes, checksum
         FROM snapshots JOIN streams ON streams.id = snapshots.stream WHERE name = ?1",
    )?
    .query_row([name.as_str()], |row| {
        let head = Head { seq: unsigned(row, 0)?, hash: Hash::from_bytes(row.get(1)?) };
        let snapshot = Snapshot { head, format: row.get(2)?, bytes: row.get(3)? };
        Ok(StoredSnapshot { snapshot, checksum: row.get(4)? })
    })
    .optional()
}

pub(super) fn decisions(
    conn: &Connection,
    name: &StreamName,
    subject: &str,
    before: u64,
    limit: usize,
) -> rusqlite::Result<Vec<RecordedDecision>> {
    let mut query = conn.prepare_cached(
        "SELECT at, decisions.seq, kind, subject, body, number
         FROM decisions JOIN streams ON streams.id = decisions.stream
         WHERE name = ?1 AND subject = ?2 AND number < ?3 ORDER BY number DESC LIMIT ?4",
    )?;
    let bounds = params![name.as_str(), subject, signed(before), signed(limit as u64)];
    let rows = query.query_map(bounds, |row| {
        let decision = Decision {
            at: row.get(0)?,
            seq: unsigned(row, 1)?,
            kind: row.get(2)?,
            subject: row.get(3)?,
            body: row.get(4)?,
        };
        Ok(RecordedDecision { number: unsigned(row, 5)?, decision })
    })?;
    rows.collect()
}

/// SQLite's integers are signed; no stream is that long.
pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// The hash of a stream's event, where 0 is the beginning of every stream.
fn hash_at(conn: &Connection, id: i64, seq: Seq) -> rusqlite::Result<Option<Hash>> {
    if seq == 0 {
        return Ok(Some(Hash::ZERO));
    }
    conn.prepare_cached("SELECT hash FROM events WHERE stream = ?1 AND seq = ?2")?
        .query_row(params![id, signed(seq)], |row| row.get(0).map(Hash::from_bytes))
        .optional()
}

/// `None` if the row does not hold an event: a text that is no text, a number out of range.
fn event(row: &Row<'_>, seq: Seq) -> Option<StoredEvent> {
    Some(StoredEvent {
        seq,
        at: row.get(1).ok()?,
        kind: row.get(2).ok()?,
        version: row.get(3).ok()?,
        body: row.get(4).ok()?,
        hash: Hash::from_bytes(row.get(5).ok()?),
    })
}
