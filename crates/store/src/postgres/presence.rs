//! Who has been heard of lately? The statements behind it.

use super::connections::Connections;
use crate::{Present, StoreError};

pub(super) async fn put(connections: &Connections, present: &Present) -> Result<(), StoreError> {
    let put = "
        INSERT INTO presence (key, at, body) VALUES ($1, $2, $3)
        ON CONFLICT (key) DO UPDATE SET at = excluded.at, body = excluded.body WHERE excluded.at >= presence.at";
    connections.execute(put, &[&present.key, &present.at, &present.body]).await
}

pub(super) async fn all(connections: &Connections) -> Result<Vec<Present>, StoreError> {
    let rows = connections.rows("SELECT key, at, body FROM presence ORDER BY key COLLATE \"C\"", &[]).await?;
    Ok(rows.iter().map(|row| Present { key: row.get(0), at: row.get(1), body: row.get(2) }).collect())
}

pub(super) async fn remove(connections: &Connections, key: &str) -> Result<(), StoreError> {
    connections.execute("DELETE FROM presence WHERE key = $1", &[&key]).await
}
