//! Is the whole stream, its snapshot and its file as they were written?

use rusqlite::{Connection, Error, ErrorCode, OptionalExtension as _};

use super::reader::{self, Found, Stream};
use crate::proof::Proof;
use crate::{Damage, Head, Seq, StreamName, Verified};

pub(super) fn verify(conn: &Connection, name: &StreamName) -> rusqlite::Result<Verified> {
    let mut proof = Proof::after(Head::EMPTY);
    let examined = examine(conn, name, &mut proof);
    tolerate(examined, &mut proof)?;
    let checked = check_file(conn, &mut proof);
    tolerate(checked, &mut proof)?;
    Ok(proof.verified())
}

fn examine(conn: &Connection, name: &StreamName, proof: &mut Proof) -> rusqlite::Result<()> {
    let view = conn.unchecked_transaction()?;
    if let Some(stream) = reader::stream(&view, name)? {
        walk(&view, &stream, proof)?;
        proof.end(stream.head);
    }
    let kept = reader::snapshot(&view, name)?;
    if let Some(kept) = kept.filter(|kept| !kept.is_intact()) {
        proof.add(Damage::Snapshot { seq: kept.snapshot.head.seq });
    }
    Ok(())
}

/// Goes through the events. Where the file gives none it looks further on, in growing steps: a
/// damaged page holds a few events or, higher in the tree, a few thousand.
fn walk(conn: &Connection, stream: &Stream, proof: &mut Proof) -> rusqlite::Result<()> {
    let mut step = 1;
    let mut since = 0;
    loop {
        let from = proof.last();
        let walked = reader::each(conn, stream.id, from, Seq::MAX, |found| match found {
            Found::Event(event) => proof.event(&event),
            Found::Garbage(seq) => proof.garbage(seq),
        });
        let Err(error) = walked else { return Ok(()) };
        if !is_damage(&error) {
            return Err(error);
        }
        if proof.last() > from || step == 1 {
            step = 1;
            since = proof.last() + 1;
        }
        let detail = format!("events from {since} on cannot be read: {error}");
        let end = stream.head.seq.max(proof.last());
        proof.unreadable(proof.last().saturating_add(step).min(end), detail);
        if proof.last() == end {
            return Ok(());
        }
        step *= 2;
    }
}

fn check_file(conn: &Connection, proof: &mut Proof) -> rusqlite::Result<()> {
    let mut check = conn.prepare("PRAGMA quick_check")?;
    let mut rows = check.query(())?;
    while let Some(row) = rows.next()? {
        let detail: String = row.get(0)?;
        if detail != "ok" {
            proof.add(Damage::Medium { detail });
        }
    }
    let stray = "SELECT stream FROM events WHERE stream NOT IN (SELECT id FROM streams) LIMIT 1";
    if let Some(id) = conn.query_row(stray, (), |row| row.get::<_, i64>(0)).optional()? {
        proof.add(Damage::Medium { detail: format!("there are events of a stream (number {id}) that is missing") });
    }
    Ok(())
}

/// Turns an error that tells of damage into an answer.
fn tolerate(result: rusqlite::Result<()>, proof: &mut Proof) -> rusqlite::Result<()> {
    match result {
        Err(error) if is_damage(&error) => {
            proof.add(Damage::Medium { detail: error.to_string() });
            Ok(())
        }
        result => result,
    }
}

fn is_damage(error: &Error) -> bool {
    match error {
        Error::SqliteFailure(code, _) => {
            matches!(code.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure)
        }
        Error::FromSqlConversionFailure(..) | Error::InvalidColumnType(..) | Error::IntegralValueOutOfRange(..) => true,
        _ => false,
    }
}
