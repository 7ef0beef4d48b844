//! Which tables are in the database, and how does an older one get them?

use super::connections::{Connections, Trouble};
use crate::StoreError;

/// What leads from each schema version to the next. A version of saihai works with a newer schema as long as the schema
/// says so, so that two versions may run side by side (E9): a migration adds, and what it makes useless is removed one
/// version later.
const MIGRATIONS: &[&str] = &[V1, V2];

/// The oldest version of saihai's schema that still works with what the migrations above lead to.
const WORKS_SINCE: i32 = 1;

// The head of a stream is kept apart from its events, so that losing the last ones is noticed. Texts of events are bytes:
// PostgreSQL's own text cannot hold every character. `append` names the append that wrote an event, so that one whose
// answer was lost can be found again; it is no part of the chain.
const V1: &str = "
    CREATE TABLE streams (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        seq BIGINT NOT NULL DEFAULT 0,
        hash BYTEA NOT NULL DEFAULT decode(repeat('00', 32), 'hex')
    ) WITH (fillfactor = 50);
    CREATE TABLE events (
        stream BIGINT NOT NULL,
        seq BIGINT NOT NULL,
        at BIGINT NOT NULL,
        kind BYTEA NOT NULL,
        version INTEGER NOT NULL,
        body BYTEA NOT NULL,
        hash BYTEA NOT NULL,
        append BIGINT NOT NULL,
        PRIMARY KEY (stream, seq)
    );
    CREATE TABLE snapshots (
        stream BIGINT PRIMARY KEY,
        seq BIGINT NOT NULL,
        hash BYTEA NOT NULL,
        format BIGINT NOT NULL,
        bytes BYTEA NOT NULL,
        checksum BYTEA NOT NULL
    );
    CREATE TABLE decisions (
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        stream BIGINT NOT NULL,
        at BIGINT NOT NULL,
        seq BIGINT NOT NULL,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (stream, number)
    );
    CREATE INDEX decisions_about ON decisions (stream, subject, number);
    CREATE TABLE secrets (
        stream BIGINT NOT NULL,
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (stream, owner, name)
    );
";

// What other hosts say of themselves, and what their agents print. Presence is said again every few seconds: after a crash
// it is empty, and meanwhile costs no sync. The row of a session decides every race for its output, as a stream's does for
// events; it is there as long as there are pieces.
const V2: &str = "
    CREATE UNLOGGED TABLE presence (
        key TEXT PRIMARY KEY,
        at BIGINT NOT NULL,
        body TEXT NOT NULL
    ) WITH (fillfactor = 50);
    CREATE TABLE outputs (
        stream BIGINT NOT NULL,
        session TEXT NOT NULL,
        newest BIGINT NOT NULL,
        PRIMARY KEY (stream, session)
    ) WITH (fillfactor = 50);
    CREATE TABLE output_pieces (
        stream BIGINT NOT NULL,
        session TEXT NOT NULL,
        position BIGINT NOT NULL,
        bytes BYTEA NOT NULL,
        PRIMARY KEY (stream, session, position),
        FOREIGN KEY (stream, session) REFERENCES outputs ON DELETE CASCADE
    );
";

/// Brings the schema to the version that the migrations lead to. Costs one query if it is there.
pub(super) async fn prepare(connections: &Connections) -> Result<(), StoreError> {
    let mut retry = connections.retry_first();
    loop {
        match try_prepare(connections).await {
            Ok(prepared) => return prepared,
            Err(trouble) => retry.pause(trouble).await?,
        }
    }
}

async fn try_prepare(connections: &Connections) -> Result<Result<(), StoreError>, Trouble> {
    let mut client = connections.get().await?;
    if let Some(found) = version(&client).await? {
        let known = works_with(found);
        if known.is_err() || found.version >= MIGRATIONS.len() as i32 {
            return Ok(known);
        }
    }
    let transaction = client.transaction().await?;
    // Whoever comes second waits, and finds it done.
    transaction.batch_execute("SELECT pg_advisory_xact_lock(hashtext('saihai schema ' || current_schema()))").await?;
    let found = version(&transaction).await?.unwrap_or(Version { version: 0, works_since: 0 });
    if let Err(newer) = works_with(found) {
        return Ok(Err(newer));
    }
    for migration in MIGRATIONS.iter().skip(found.version.max(0) as usize) {
        transaction.batch_execute(migration).await?;
    }
    let now = format!(
        "CREATE TABLE IF NOT EXISTS saihai_schema (version INTEGER NOT NULL, works_since INTEGER NOT NULL);
         DELETE FROM saihai_schema WHERE version < {version};
         INSERT INTO saihai_schema SELECT {version}, {WORKS_SINCE} WHERE NOT EXISTS (SELECT 1 FROM saihai_schema)",
        version = MIGRATIONS.len()
    );
    transaction.batch_execute(&now).await?;
    transaction.commit().await?;
    Ok(Ok(()))
}

#[derive(Clone, Copy)]
struct Version {
    version: i32,
    works_since: i32,
}

fn works_with(found: Version) -> Result<(), StoreError> {
    let known = MIGRATIONS.len() as i32;
    if found.works_since > known {
        return Err(StoreError::NewerSchema { found: found.version.into(), known: known.into() });
    }
    Ok(())
}

async fn version(client: &impl deadpool_postgres::GenericClient) -> Result<Option<Version>, Trouble> {
    // Not by `to_regclass`: it may still remember that there was none, from before this connection waited for the lock.
    let there =
        "SELECT FROM pg_class WHERE relname = 'saihai_schema' AND relnamespace = current_schema()::regnamespace";
    if client.query_opt(there, &[]).await?.is_none() {
        return Ok(None);
    }
    let found = client.query_opt("SELECT version, works_since FROM saihai_schema", &[]).await?;
    Ok(found.map(|row| Version { version: row.get(0), works_since: row.get(1) }))
}
