//! Who has been heard of lately? The statements behind it.

use rusqlite::{Connection, params};

use crate::Present;

pub(super) fn put(conn: &Connection, present: &Present) -> rusqlite::Result<()> {
    let Present { key, at, body } = present;
    conn.prepare_cached(
        "INSERT INTO presence (key, at, body) VALUES (?1, ?2, ?3)
         ON CONFLICT (key) DO UPDATE SET at = excluded.at, body = excluded.body WHERE excluded.at >= presence.at",
    )?
    .execute(params![key, at, body])?;
    Ok(())
}

pub(super) fn all(conn: &Connection) -> rusqlite::Result<Vec<Present>> {
    conn.prepare_cached("SELECT key, at, body FROM presence ORDER BY key")?
        .query_map((), |row| Ok(Present { key: row.get(0)?, at: row.get(1)?, body: row.get(2)? }))?
        .collect()
}

pub(super) fn remove(conn: &Connection, key: &str) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM presence WHERE key = ?1")?.execute([key])?;
    Ok(())
}
