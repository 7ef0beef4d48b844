//! Where does a stream end, when it is asked for every call? While nobody has written, the last answer
//! holds; and the header of the write-ahead log's index shows whether anybody has, without a query.

use std::collections::HashMap;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::connection::Pool;
use super::reader;
use crate::{Head, StoreError, StreamName};

/// The header of the index is kept twice: see "WAL-index File Format" in SQLite's documentation. It has
/// a counter and a checksum, so every commit of any process changes it.
const HEADER: usize = 48;

type Header = [u8; HEADER];

/// Below this many calls the plain query is cheaper than opening the index.
const CALLS_BEFORE_CACHING: u32 = 8;

/// The heads that were queried while the index had its present header.
#[derive(Default)]
pub(super) struct HeadCache {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How often it was asked without an index.
    asked: u32,
    index: Option<WalIndex>,
    header: Option<Header>,
    heads: HashMap<StreamName, Head>,
}

/// The index of the log, in a file beside the store's.
struct WalIndex {
    /// Never closed: POSIX takes away all locks that a process has on a file when it closes any of
    /// its descriptors, and SQLite's locks are on this one.
    file: ManuallyDrop<File>,
    /// While this connection is open, the file is not replaced by another one.
    _keeper: Connection,
}

impl HeadCache {
    /// The head, if nobody has written since it was last queried. Costs one read of 96 bytes that
    /// are always in memory, so it may be asked on a runtime's thread.
    pub(super) fn known(&self, stream: &StreamName) -> Option<Head> {
        let state = self.state();
        let header = state.index.as_ref()?.header()?;
        (state.header == Some(header)).then(|| state.heads.get(stream).copied()).flatten()
    }

    /// Queries the head and remembers it. Blocks.
    pub(super) fn query(&self, pool: &Pool, stream: &StreamName) -> Result<Head, StoreError> {
        let before = self.state().header_or_open(pool);
        let head = pool.with(|conn| reader::head(conn, stream))?;
        self.state().learn(before, [(stream.clone(), head)]);
        Ok(head)
    }

    /// Queries all heads again, after this process has written. Otherwise everybody who asks next would have to leave
    /// the runtime's thread. What cannot be queried now is queried by whoever asks.
    pub(super) fn refresh(&self, conn: &Connection) {
        let Some(before) = self.state().index.as_ref().and_then(WalIndex::header) else { return };
        let Ok(heads) = reader::heads(conn) else { return };
        self.state().learn(Some(before), heads);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Remembers heads that were queried between two equal readings of the header: nobody wrote in
    /// between, so the heads belong to that header.
    fn learn(&mut self, before: Option<Header>, heads: impl IntoIterator<Item = (StreamName, Head)>) {
        if before.is_none() || self.index.as_ref().and_then(WalIndex::header) != before {
            return;
        }
        if self.header != before {
            self.header = before;
            self.heads.clear();
        }
        self.heads.extend(heads);
    }

    /// The header as it is now. The index is opened only by a process that asks often.
    fn header_or_open(&mut self, pool: &Pool) -> Option<Header> {
        if self.index.is_none() {
            self.asked += 1;
            if self.asked < CALLS_BEFORE_CACHING {
                return None;
            }
            self.asked = 0;
            self.index = WalIndex::open(pool);
        }
        self.index.as_ref()?.header()
    }
}

impl WalIndex {
    fn open(pool: &Pool) -> Option<Self> {
        let keeper = pool.take().ok()?;
        // Reading makes the connection open the index.
        reader::streams(&keeper).ok()?;
        let mut path = pool.path().as_os_str().to_owned();
        path.push("-shm");
        let file = File::open(PathBuf::from(path)).ok()?;
        Some(Self { file: ManuallyDrop::new(file), _keeper: keeper })
    }

    /// The header as it is now; `None` if it is just being written, or cannot be read.
    ///
    /// A writer changes the second copy first and the first copy last, with a memory barrier between
    /// them. Both are read here by one `pread` of the shared page. If the copies differ a writer was
    /// in between, and the caller asks SQLite instead. If they are equal, they are one commit's.
    fn header(&self) -> Option<Header> {
        let mut both = [0; 2 * HEADER];
        self.file.read_exact_at(&mut both, 0).ok()?;
        let (first, second) = both.split_at(HEADER);
        (first == second).then(|| first.try_into().ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::{CALLS_BEFORE_CACHING, HeadCache};
    use crate::sqlite::connection::Pool;
    use crate::{EventLog as _, NewEvent, SqliteStore, StreamName};

    /// E2, P1: a head is known without a query until somebody writes, and again after a refresh.
    #[tokio::test]
    async fn heads_are_known_until_somebody_writes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.db");
        let (store, stream) = (SqliteStore::open(&path).unwrap(), StreamName::named("s"));
        let event = || NewEvent { at: 0, kind: "x".into(), version: 1, body: "{}".into() };
        store.append(&stream, 0, vec![event()]).await.unwrap();
        let (heads, pool) = (HeadCache::default(), Pool::open(&path).unwrap());
        for _ in 0..CALLS_BEFORE_CACHING {
            assert_eq!(heads.known(&stream), None);
            assert_eq!(heads.query(&pool, &stream).unwrap().seq, 1);
        }
        assert_eq!(heads.known(&stream).map(|head| head.seq), Some(1));
        store.append(&stream, 1, vec![event()]).await.unwrap();
        assert_eq!(heads.known(&stream), None, "somebody wrote");
        heads.refresh(&pool.take().unwrap());
        assert_eq!(heads.known(&stream).map(|head| head.seq), Some(2));
    }

    /// E2: a head that was queried while somebody wrote is not remembered.
    #[tokio::test]
    async fn head_of_another_header_is_not_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.db");
        let (store, stream) = (SqliteStore::open(&path).unwrap(), StreamName::named("s"));
        let event = || NewEvent { at: 0, kind: "x".into(), version: 1, body: "{}".into() };
        store.append(&stream, 0, vec![event()]).await.unwrap();
        let (heads, pool) = (HeadCache::default(), Pool::open(&path).unwrap());
        for _ in 0..CALLS_BEFORE_CACHING {
            heads.query(&pool, &stream).unwrap();
        }
        let before = heads.state().header;
        let old = heads.known(&stream).unwrap();
        store.append(&stream, 1, vec![event()]).await.unwrap();
        heads.state().learn(before, [(stream.clone(), old)]);
        assert_eq!(heads.known(&stream), None);
    }
}
