//! An event log in a PostgreSQL database, shared by any number of equal servers.
//!
//! Appending is one statement whose stream's row decides every race: there is no queue and no leader. A database that goes
//! away is waited for; an append whose answer was lost is found again by its number.

mod address;
mod append;
mod connections;
mod heads;
mod presence;
mod reader;
mod schema;
mod session_output;
mod watch;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

pub use self::address::{BadAddress, PostgresAddress};
use self::connections::{Connections, Trouble};
use self::heads::Heads;
use self::watch::Watch;
use crate::session_output::Wanted;
use crate::snapshots::{StoredSnapshot, checksum};
use crate::{
    DECISIONS_KEPT, Decision, DecisionLog, EventLog, Hash, Head, NewEvent, OutputPage, Presence, Present,
    RecordedDecision, SecretValues, Secrets, Seq, SessionOutput, Snapshot, Snapshots, StoreError, StoredEvent,
    StreamName, Subscription, Verified,
};

/// Old decisions are removed when this process has recorded so many.
const TRIM: u64 = 1_000;
/// A machine whose clock differs by more, in milliseconds, would end what others have just renewed.
const MAX_SKEW: i64 = 10_000;

/// A store in a PostgreSQL database.
pub struct PostgresStore {
    connections: Connections,
    heads: Heads,
    watch: Watch,
    /// Where streams ended when this process last heard of them.
    known: Mutex<HashMap<StreamName, Head>>,
    /// Streams that have a row.
    made: Mutex<HashSet<StreamName>>,
    recorded: AtomicU64,
}

impl PostgresStore {
    /// Opens the store, and makes or migrates its tables if need be. Refuses where the clocks differ.
    pub async fn open(address: &PostgresAddress) -> Result<Self, StoreError> {
        let connections = Connections::new(address)?;
        schema::prepare(&connections).await?;
        let channel = "SELECT 'saihai_' || oid FROM pg_namespace WHERE nspname = current_schema()";
        let channel = connections.rows(channel, &[]).await?;
        let channel = channel.first().map_or_else(|| "saihai".into(), |row| row.get(0));
        let store = Self {
            heads: Heads::new(connections.clone()),
            watch: Watch::new(connections.clone(), channel),
            connections,
            known: Mutex::default(),
            made: Mutex::default(),
            recorded: AtomicU64::new(0),
        };
        let skew = -store.clock_offset().await?;
        if skew.abs() > MAX_SKEW {
            return Err(StoreError::ClockSkew { location: address.to_string(), skew });
        }
        Ok(store)
    }

    /// What has to be added to this machine's time to have the database's, in milliseconds.
    pub async fn clock_offset(&self) -> Result<i64, StoreError> {
        let before = unix_millis();
        let now = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT";
        let rows = self.connections.rows(now, &[]).await?;
        let here = i64::midpoint(before, unix_millis());
        Ok(rows.first().map_or(0, |row| row.get::<_, i64>(0) - here))
    }

    /// Who else has the store open, if anybody has.
    pub async fn other_servers(&self) -> Result<Option<String>, StoreError> {
        // Whoever stays listens, and the last thing it said on that connection was so.
        let listening = "
            SELECT count(*), min(coalesce(host(client_addr), 'this machine')) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND query = $1";
        let rows = self.connections.rows(listening, &[&self.watch.listen_statement()]).await?;
        let Some(row) = rows.first().filter(|row| row.get::<_, i64>(0) > 0) else { return Ok(None) };
        let (count, one): (i64, String) = (row.get(0), row.get(1));
        Ok(Some(format!("{count} server(s) have it open, one from {one}")))
    }

    fn learn(&self, stream: &StreamName, head: Head) {
        let mut known = self.known.lock().expect("nobody panics with the lock");
        let last = known.entry(stream.clone()).or_insert(head);
        if last.seq < head.seq {
            *last = head;
        }
    }

    /// The head of the stream if it ends at `expected`, as far as is known here.
    async fn head_at(&self, stream: &StreamName, expected: Seq) -> Result<Head, StoreError> {
        let known = self.known.lock().expect("nobody panics with the lock").get(stream).copied();
        if let Some(head) = known.filter(|head| head.seq == expected) {
            return Ok(head);
        }
        let head = self.head(stream).await?;
        if head.seq == expected { Ok(head) } else { Err(StoreError::Conflict { expected, actual: head.seq }) }
    }

    /// Gives the stream its row.
    async fn make(&self, stream: &StreamName) -> Result<(), StoreError> {
        if self.made.lock().expect("nobody panics with the lock").contains(stream) {
            return Ok(());
        }
        let make = "INSERT INTO streams (name) VALUES ($1) ON CONFLICT (name) DO NOTHING";
        self.connections.execute(make, &[&stream.as_str()]).await?;
        self.made.lock().expect("nobody panics with the lock").insert(stream.clone());
        Ok(())
    }
}

#[async_trait]
impl EventLog for PostgresStore {
    async fn append(&self, stream: &StreamName, expected: Seq, events: Vec<NewEvent>) -> Result<Head, StoreError> {
        if events.is_empty() {
            let head = self.head(stream).await?;
            let actual = head.seq;
            return if actual == expected { Ok(head) } else { Err(StoreError::Conflict { expected, actual }) };
        }
        let before = self.head_at(stream, expected).await?;
        self.make(stream).await?;
        let head = append::append(&self.connections, stream, before, &events).await?;
        self.learn(stream, head);
        self.watch.appended(stream, head.seq).await;
        Ok(head)
    }

    async fn read(&self, stream: &StreamName, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let events = reader::read(&self.connections, stream, after, limit).await?;
        if let Some(last) = events.last() {
            self.learn(stream, Head { seq: last.seq, hash: last.hash });
        }
        Ok(events)
    }

    async fn head(&self, stream: &StreamName) -> Result<Head, StoreError> {
        let head = self.heads.head(stream).await?;
        self.learn(stream, head);
        Ok(head)
    }

    async fn streams(&self) -> Result<Vec<StreamName>, StoreError> {
        reader::streams(&self.connections).await
    }

    async fn subscribe(&self, stream: &StreamName) -> Result<Subscription, StoreError> {
        self.watch.subscribe(stream).await.map(Subscription::new)
    }

    async fn verify(&self, stream: &StreamName) -> Result<Verified, StoreError> {
        reader::verify(&self.connections, stream).await
    }
}

#[async_trait]
impl Snapshots for PostgresStore {
    async fn put_snapshot(&self, stream: &StreamName, snapshot: Snapshot) -> Result<(), StoreError> {
        self.make(stream).await?;
        let put = "
            INSERT INTO snapshots (stream, seq, hash, format, bytes, checksum)
            SELECT id, $2, $3, $4, $5, $6 FROM streams WHERE name = $1
            ON CONFLICT (stream) DO UPDATE
            SET seq = excluded.seq, hash = excluded.hash, format = excluded.format,
                bytes = excluded.bytes, checksum = excluded.checksum
            WHERE excluded.seq >= snapshots.seq";
        let (seq, hash, format) = (signed(snapshot.head.seq), bytes(&snapshot.head.hash), i64::from(snapshot.format));
        let checksum = checksum(&snapshot).to_vec();
        let parameters: connections::Parameters<'_> =
            &[&stream.as_str(), &seq, &hash, &format, &snapshot.bytes, &checksum];
        self.connections.execute(put, parameters).await
    }

    async fn snapshot(&self, stream: &StreamName, format: u32) -> Result<Option<Snapshot>, StoreError> {
        let kept = reader::snapshot(&self.connections, stream).await?;
        Ok(kept.and_then(StoredSnapshot::intact).filter(|snapshot| snapshot.format == format))
    }
}

#[async_trait]
impl DecisionLog for PostgresStore {
    async fn record(&self, stream: &StreamName, decisions: Vec<Decision>) -> Result<(), StoreError> {
        if decisions.is_empty() {
            return Ok(());
        }
        self.make(stream).await?;
        let record = "
            INSERT INTO decisions (stream, at, seq, kind, subject, body)
            SELECT id, decision.at, decision.seq, decision.kind, decision.subject, decision.body
            FROM streams, unnest($2::BIGINT[], $3::BIGINT[], $4::TEXT[], $5::TEXT[], $6::TEXT[])
                WITH ORDINALITY AS decision (at, seq, kind, subject, body, place)
            WHERE name = $1 ORDER BY place";
        let text =
            |field: fn(&Decision) -> &String| decisions.iter().map(|one| field(one).as_str()).collect::<Vec<_>>();
        let times: Vec<_> = decisions.iter().map(|one| one.at).collect();
        let seqs: Vec<_> = decisions.iter().map(|one| signed(one.seq)).collect();
        let (kinds, subjects, bodies) = (text(|one| &one.kind), text(|one| &one.subject), text(|one| &one.body));
        // Recorded twice if the first answer was lost: a trace, in which that does no harm.
        let parameters: connections::Parameters<'_> = &[&stream.as_str(), &times, &seqs, &kinds, &subjects, &bodies];
        self.connections.execute(record, parameters).await?;
        let added = decisions.len() as u64;
        let before = self.recorded.fetch_add(added, Ordering::Relaxed);
        if (before + added) / TRIM > before / TRIM {
            let trim = "
                DELETE FROM decisions USING streams WHERE name = $1 AND stream = id AND number < (
                    SELECT number FROM decisions WHERE stream = (SELECT id FROM streams WHERE name = $1)
                    ORDER BY number DESC OFFSET $2 LIMIT 1
                )";
            self.connections.execute(trim, &[&stream.as_str(), &signed(DECISIONS_KEPT - 1)]).await?;
        }
        Ok(())
    }

    async fn decisions(
        &self,
        stream: &StreamName,
        subject: &str,
        before: u64,
        limit: usize,
    ) -> Result<Vec<RecordedDecision>, StoreError> {
        reader::decisions(&self.connections, stream, subject, before, limit).await
    }
}

#[async_trait]
impl Secrets for PostgresStore {
    async fn put_secrets(&self, stream: &StreamName, owner: &str, values: SecretValues) -> Result<(), StoreError> {
        self.make(stream).await?;
        let put = "
            WITH place AS (SELECT id FROM streams WHERE name = $1),
            gone AS (
                DELETE FROM secrets USING place WHERE stream = id AND owner = $2 AND NOT secrets.name = ANY($3)
            )
            INSERT INTO secrets (stream, owner, name, value)
            SELECT id, $2, secret.name, secret.value
            FROM place, unnest($3::TEXT[], $4::TEXT[]) AS secret (name, value)
            ON CONFLICT (stream, owner, name) DO UPDATE SET value = excluded.value";
        let (names, values): (Vec<_>, Vec<_>) = values.into_iter().unzip();
        self.connections.execute(put, &[&stream.as_str(), &owner, &names, &values]).await
    }

    async fn secrets(&self, stream: &StreamName, owner: &str) -> Result<SecretValues, StoreError> {
        reader::secrets(&self.connections, stream, owner).await
    }

    async fn all_secrets(&self, stream: &StreamName) -> Result<BTreeMap<String, SecretValues>, StoreError> {
        reader::all_secrets(&self.connections, stream).await
    }
}

#[async_trait]
impl Presence for PostgresStore {
    async fn put_presence(&self, present: Present) -> Result<(), StoreError> {
        presence::put(&self.connections, &present).await
    }

    async fn presence(&self) -> Result<Vec<Present>, StoreError> {
        presence::all(&self.connections).await
    }

    async fn remove_presence(&self, key: &str) -> Result<(), StoreError> {
        presence::remove(&self.connections, key).await
    }
}

#[async_trait]
impl SessionOutput for PostgresStore {
    async fn append_output(
        &self,
        stream: &StreamName,
        session: &str,
        at: u64,
        bytes: Vec<u8>,
    ) -> Result<u64, StoreError> {
        self.make(stream).await?;
        session_output::append(&self.connections, stream, session, at, &bytes).await
    }

    async fn output(
        &self,
        stream: &StreamName,
        session: &str,
        from: u64,
        most: usize,
    ) -> Result<OutputPage, StoreError> {
        session_output::page(&self.connections, stream, session, &Wanted::new(from, most)).await
    }

    async fn drop_output_before(&self, stream: &StreamName, session: &str, position: u64) -> Result<(), StoreError> {
        session_output::drop_before(&self.connections, stream, session, position).await
    }

    async fn sessions_with_output(&self, stream: &StreamName) -> Result<Vec<String>, StoreError> {
        session_output::sessions(&self.connections, stream).await
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("address", self.connections.address()).finish_non_exhaustive()
    }
}

fn unix_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// PostgreSQL's integers are signed; no stream is that long.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn bytes(hash: &Hash) -> Vec<u8> {
    hash.as_bytes().to_vec()
}
