//! What have agents on other hosts printed? The statements behind it.

use std::ops::Range;

use rusqlite::{Connection, params};

use super::reader::{self, signed, unsigned};
use crate::session_output::Wanted;
use crate::{OutputPage, StreamName};

/// What is kept of a session. Nobody can write while it is asked for: the caller has a transaction.
fn kept(conn: &Connection, stream: i64, session: &str) -> rusqlite::Result<Option<Range<u64>>> {
    let mut query = conn.prepare_cached(
        "SELECT min(position), (
             SELECT position + length(bytes) FROM output_pieces
             WHERE stream = ?1 AND session = ?2 ORDER BY position DESC LIMIT 1
         ) FROM output_pieces WHERE stream = ?1 AND session = ?2",
    )?;
    query.query_row(params![stream, session], |row| {
        let nothing = row.get::<_, Option<i64>>(0)?.is_none();
        if nothing { Ok(None) } else { Ok(Some(unsigned(row, 0)?..unsigned(row, 1)?)) }
    })
}

/// Appends a piece if it begins where what is kept ends, and tells where that is then.
pub(super) fn append(
    conn: &Connection,
    stream: i64,
    session: &str,
    position: u64,
    bytes: &[u8],
) -> rusqlite::Result<u64> {
    let end = kept(conn, stream, session)?.map(|kept| kept.end);
    if bytes.is_empty() || end.is_some_and(|end| end != position) {
        return Ok(end.unwrap_or(0));
    }
    conn.prepare_cached("INSERT INTO output_pieces (stream, session, position, bytes) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![stream, session, signed(position), bytes])?;
    Ok(position + bytes.len() as u64)
}

pub(super) fn page(
    conn: &Connection,
    name: &StreamName,
    session: &str,
    wanted: &Wanted,
) -> rusqlite::Result<OutputPage> {
    let conn = conn.unchecked_transaction()?;
    let Some(stream) = reader::stream(&conn, name)? else { return Ok(OutputPage::default()) };
    let Some(kept) = kept(&conn, stream.id, session)? else { return Ok(OutputPage::default()) };
    let among = wanted.among(&kept);
    if among.is_empty() {
        return Ok(wanted.page(kept, []));
    }
    let mut query = conn.prepare_cached(
        "SELECT position, bytes FROM output_pieces
         WHERE stream = ?1 AND session = ?2 AND position < ?4 AND position >= (
             SELECT max(position) FROM output_pieces WHERE stream = ?1 AND session = ?2 AND position <= ?3
         ) ORDER BY position",
    )?;
    let bounds = params![stream.id, session, signed(among.start), signed(among.end)];
    let pieces = query.query_map(bounds, |row| Ok((unsigned(row, 0)?, row.get(1)?)))?;
    Ok(wanted.page(kept, pieces.collect::<rusqlite::Result<Vec<_>>>()?))
}

/// Drops the pieces that end at or before `position`.
pub(super) fn drop_before(conn: &Connection, stream: i64, session: &str, position: u64) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "DELETE FROM output_pieces
         WHERE stream = ?1 AND session = ?2 AND position < ?3 AND position + length(bytes) <= ?3",
    )?
    .execute(params![stream, session, signed(position)])?;
    Ok(())
}

pub(super) fn sessions(conn: &Connection, name: &StreamName) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached(
        "SELECT DISTINCT session FROM output_pieces JOIN streams ON id = stream WHERE name = ?1 ORDER BY session",
    )?
    .query_map([name.as_str()], |row| row.get(0))?
    .collect()
}
