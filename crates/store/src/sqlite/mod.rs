//! An event log in one SQLite file, shared by any number of processes.
//!
//! Writes of this process go through one thread that commits everything waiting in one
//! transaction; processes compete for SQLite's write lock. Reads have connections of their own
//! and never wait for a writer. Threads exist only once they are needed: a process that opens
//! the store for a single read starts none.

mod connection;
mod head_cache;
mod reader;
mod schema;
mod verify;
mod watch;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use rusqlite::Connection;

use self::connection::Pool;
use self::head_cache::HeadCache;
use self::reader::StoredSnapshot;
use self::watch::Watch;
use self::writer::{Work, Writer};
use crate::{Decision, Head, NewEvent, Seq, Snapshot, Store, StoreError, StoredEvent, StreamName, Verified};

/// So few events are read sooner than another thread is woken to read them.
const SHORT: u64 = 64;

/// A store in a SQLite file. Dropping it waits until what was queued is written.
pub struct SqliteStore {
    pool: Arc<Pool>,
    heads: HeadCache,
    watch: Arc<Watch>,
    writer: OnceLock<Writer>,
}

impl SqliteStore {
    /// Opens the store at `path`, and creates or migrates it if need be. Blocks.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let pool = Arc::new(Pool::open(path.as_ref())?);
        let watch = Arc::new(Watch::new(Arc::clone(&pool)));
        Ok(Self { pool, heads: HeadCache::default(), watch, writer: OnceLock::new() })
    }

    pub fn path(&self) -> &Path {
        self.pool.path()
    }

    async fn write(&self, stream: &StreamName, work: Work) -> Result<Head, StoreError> {
        let start = || Writer::start(Arc::clone(&self.pool), Arc::clone(&self.watch));
        self.writer.get_or_init(start).write(stream.clone(), work).await
    }

    /// Reads in another thread, for what may take long.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let pool = Arc::clone(&self.pool);
        let reading = tokio::task::spawn_blocking(move || pool.with(work));
        reading.await.map_err(|error| StoreError::Failed(error.to_string()))?
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn append(&self, stream: &StreamName, expected: Seq, events: Vec<NewEvent>) -> Result<Head, StoreError> {
        self.write(stream, Work::Append { expected, events }).await
    }

    async fn read(&self, stream: &StreamName, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let length = self.head(stream).await?.seq.saturating_sub(after).min(limit as u64);
        let name = stream.clone();
        let work = move |conn: &Connection| reader::read(conn, &name, after, limit);
        if length <= SHORT { self.pool.with(work)? } else { self.blocking(work).await? }
    }

    async fn head(&self, stream: &StreamName) -> Result<Head, StoreError> {
        self.heads.head(&self.pool, stream)
    }

    async fn streams(&self) -> Result<Vec<StreamName>, StoreError> {
        self.pool.with(reader::streams)
    }

    async fn put_snapshot(&self, stream: &StreamName, snapshot: Snapshot) -> Result<(), StoreError> {
        self.write(stream, Work::Snapshot(snapshot)).await.map(drop)
    }

    async fn snapshot(&self, stream: &StreamName, format: u32) -> Result<Option<Snapshot>, StoreError> {
        match self.pool.with(|conn| reader::snapshot(conn, stream)) {
            Ok(kept) => Ok(kept.and_then(StoredSnapshot::intact).filter(|snapshot| snapshot.format == format)),
            Err(StoreError::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn subscribe(&self, stream: &StreamName) -> tokio::sync::watch::Receiver<Seq> {
        self.watch.subscribe(stream)
    }

    async fn record(&self, stream: &StreamName, decisions: Vec<Decision>) -> Result<(), StoreError> {
        self.write(stream, Work::Record(decisions)).await.map(drop)
    }

    async fn decisions(&self, stream: &StreamName, subject: &str, limit: usize) -> Result<Vec<Decision>, StoreError> {
        self.pool.with(|conn| reader::decisions(conn, stream, subject, limit))
    }

    async fn verify(&self, stream: &StreamName) -> Result<Verified, StoreError> {
        let name = stream.clone();
        self.blocking(move |conn| verify::verify(conn, &name)).await
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
