//! An event log in one SQLite file, shared by any number of processes.
//!
//! Writes of this process go through one thread that commits everything waiting in one
//! transaction; processes compete for SQLite's write lock. Reads have connections of their own
//! and never wait for a writer. Threads exist only once they are needed: a process that opens
//! the store for a single read starts none.

mod connection;
mod head_cache;
mod presence;
mod reader;
mod schema;
mod session_output;
mod verify;
mod watch;
mod writer;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use rusqlite::Connection;

use self::connection::Pool;
use self::head_cache::HeadCache;
use self::watch::Watch;
use self::writer::{Work, Writer, Written};
use crate::session_output::{Wanted, end_of_piece};
use crate::snapshots::StoredSnapshot;
use crate::{
    Decision, DecisionLog, EventLog, Head, NewEvent, OutputPage, Presence, Present, RecordedDecision, SecretValues,
    Secrets, Seq, SessionOutput, Snapshot, Snapshots, StoreError, StoredEvent, StreamName, Subscription, Verified,
};

/// A store in a SQLite file. Dropping it waits until what was queued is written.
pub struct SqliteStore {
    pool: Arc<Pool>,
    heads: Arc<HeadCache>,
    watch: Arc<Watch>,
    writer: OnceLock<Writer>,
}

impl SqliteStore {
    /// Opens the store at `path`, and creates or migrates it if need be. Blocks.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let pool = Arc::new(Pool::open(path.as_ref())?);
        let watch = Arc::new(Watch::new(Arc::clone(&pool)));
        Ok(Self { pool, heads: Arc::default(), watch, writer: OnceLock::new() })
    }

    pub fn path(&self) -> &Path {
        self.pool.path()
    }

    async fn write(&self, stream: &StreamName, work: Work) -> Result<Written, StoreError> {
        let start = || Writer::start(Arc::clone(&self.pool), Arc::clone(&self.watch), Arc::clone(&self.heads));
        self.writer.get_or_init(start).write(stream.clone(), work).await
    }

    /// Reads on a thread that may block: SQLite can wait for a disk or, at worst, for a lock.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let pool = Arc::clone(&self.pool);
        tokio::task::spawn_blocking(move || pool.with(work)).await.map_err(StoreError::failed)?
    }
}

#[async_trait]
impl EventLog for SqliteStore {
    async fn append(&self, stream: &StreamName, expected: Seq, events: Vec<NewEvent>) -> Result<Head, StoreError> {
        self.write(stream, Work::Append { expected, events }).await.map(|written| written.head)
    }

    async fn read(&self, stream: &StreamName, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let name = stream.clone();
        self.blocking(move |conn| reader::read(conn, &name, after, limit)).await?
    }

    async fn head(&self, stream: &StreamName) -> Result<Head, StoreError> {
        // What is known from memory is answered at once; only a query leaves the runtime's thread.
        if let Some(head) = self.heads.known(stream) {
            return Ok(head);
        }
        let (heads, pool, name) = (Arc::clone(&self.heads), Arc::clone(&self.pool), stream.clone());
        tokio::task::spawn_blocking(move || heads.query(&pool, &name)).await.map_err(StoreError::failed)?
    }

    async fn streams(&self) -> Result<Vec<StreamName>, StoreError> {
        self.blocking(reader::streams).await
    }

    async fn subscribe(&self, stream: &StreamName) -> Result<Subscription, StoreError> {
        let (watch, name) = (Arc::clone(&self.watch), stream.clone());
        let subscribed = tokio::task::spawn_blocking(move || watch.subscribe(&name)).await;
        subscribed.map_err(StoreError::failed)?.map(Subscription::new)
    }

    async fn verify(&self, stream: &StreamName) -> Result<Verified, StoreError> {
        let name = stream.clone();
        self.blocking(move |conn| verify::verify(conn, &name)).await
    }
}

#[async_trait]
impl Snapshots for SqliteStore {
    async fn put_snapshot(&self, stream: &StreamName, snapshot: Snapshot) -> Result<(), StoreError> {
        self.write(stream, Work::Snapshot(snapshot)).await.map(drop)
    }

    async fn snapshot(&self, stream: &StreamName, format: u32) -> Result<Option<Snapshot>, StoreError> {
        let name = stream.clone();
        match self.blocking(move |conn| reader::snapshot(conn, &name)).await {
            Ok(kept) => Ok(kept.and_then(StoredSnapshot::intact).filter(|snapshot| snapshot.format == format)),
            Err(StoreError::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl DecisionLog for SqliteStore {
    async fn record(&self, stream: &StreamName, decisions: Vec<Decision>) -> Result<(), StoreError> {
        self.write(stream, Work::Record(decisions)).await.map(drop)
    }

    async fn decisions(
        &self,
        stream: &StreamName,
        subject: &str,
        before: u64,
        limit: usize,
    ) -> Result<Vec<RecordedDecision>, StoreError> {
        let (name, subject) = (stream.clone(), subject.to_owned());
        self.blocking(move |conn| reader::decisions(conn, &name, &subject, before, limit)).await
    }
}

#[async_trait]
impl Secrets for SqliteStore {
    async fn put_secrets(&self, stream: &StreamName, owner: &str, values: SecretValues) -> Result<(), StoreError> {
        self.write(stream, Work::Secrets { owner: owner.to_owned(), values }).await.map(drop)
    }

    async fn secrets(&self, stream: &StreamName, owner: &str) -> Result<SecretValues, StoreError> {
        let (name, owner) = (stream.clone(), owner.to_owned());
        self.blocking(move |conn| reader::secrets(conn, &name, &owner)).await
    }

    async fn all_secrets(&self, stream: &StreamName) -> Result<BTreeMap<String, SecretValues>, StoreError> {
        let name = stream.clone();
        self.blocking(move |conn| reader::all_secrets(conn, &name)).await
    }
}

#[async_trait]
impl Presence for SqliteStore {
    async fn put_presence(&self, present: Present) -> Result<(), StoreError> {
        self.write(&StreamName::installation(), Work::PutPresence(present)).await.map(drop)
    }

    async fn presence(&self) -> Result<Vec<Present>, StoreError> {
        self.blocking(presence::all).await
    }

    async fn remove_presence(&self, key: &str) -> Result<(), StoreError> {
        self.write(&StreamName::installation(), Work::RemovePresence(key.to_owned())).await.map(drop)
    }
}

#[async_trait]
impl SessionOutput for SqliteStore {
    async fn append_output(
        &self,
        stream: &StreamName,
        session: &str,
        at: u64,
        bytes: Vec<u8>,
    ) -> Result<u64, StoreError> {
        end_of_piece(at, &bytes)?;
        let work = Work::Output { session: session.to_owned(), at, bytes };
        self.write(stream, work).await.map(|written| written.output_end)
    }

    async fn output(
        &self,
        stream: &StreamName,
        session: &str,
        from: u64,
        most: usize,
    ) -> Result<OutputPage, StoreError> {
        let (name, session, wanted) = (stream.clone(), session.to_owned(), Wanted::new(from, most));
        self.blocking(move |conn| session_output::page(conn, &name, &session, &wanted)).await
    }

    async fn drop_output_before(&self, stream: &StreamName, session: &str, position: u64) -> Result<(), StoreError> {
        self.write(stream, Work::DropOutput { session: session.to_owned(), before: position }).await.map(drop)
    }

    async fn sessions_with_output(&self, stream: &StreamName) -> Result<Vec<String>, StoreError> {
        let name = stream.clone();
        self.blocking(move |conn| session_output::sessions(conn, &name)).await
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.finish();
        }
        self.watch.finish();
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path()).finish_non_exhaustive()
    }
}
