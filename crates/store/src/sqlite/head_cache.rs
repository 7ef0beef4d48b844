//! How far is a stream, asked often? While nobody has written, the answer is the one of before, and
//! the index of the write-ahead log tells whether anybody has, without a transaction.

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

/// The header of the index, which is kept twice: see "WAL-index File Format" of SQLite's documentation.
/// It has a counter and a checksum, so every commit of any process makes it another one.
const HEADER: usize = 48;

/// Whoever asks less often than this is served sooner without all that.
const CALLS_BEFORE_CACHING: u32 = 8;

/// What is known of the heads while the index looks like this.
#[derive(Default)]
pub(super) struct HeadCache {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How often it was asked without an index.
    asked: u32,
    index: Option<WalIndex>,
    header: Option<[u8; HEADER]>,
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
    pub(super) fn head(&self, pool: &Pool, stream: &StreamName) -> Result<Head, StoreError> {
        let before = {
            let mut state = self.state();
            let header = state.read_header(pool);
            if let (Some(header), Some(known)) = (header, state.header)
                && header == known
                && let Some(head) = state.heads.get(stream)
            {
                return Ok(*head);
            }
            header
        };
        let head = pool.with(|conn| reader::head(conn, stream))?;
        self.state().learn(pool, before, stream, head);
        Ok(head)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A head that was read between two looks at the same header belongs to it.
    fn learn(&mut self, pool: &Pool, before: Option<[u8; HEADER]>, stream: &StreamName, head: Head) {
        if before.is_none() || self.read_header(pool) != before {
            return;
        }
        if self.header != before {
            self.header = before;
            self.heads.clear();
        }
        self.heads.insert(stream.clone(), head);
    }

    /// The header as it is now; `None` if it is just being written, or cannot be read.
    fn read_header(&mut self, pool: &Pool) -> Option<[u8; HEADER]> {
        if self.index.is_none() {
            self.asked += 1;
            if self.asked < CALLS_BEFORE_CACHING {
                return None;
            }
            self.asked = 0;
            self.index = WalIndex::open(pool);
        }
        let mut both = [0; 2 * HEADER];
        self.index.as_ref()?.file.read_exact_at(&mut both, 0).ok()?;
        let (first, second) = both.split_at(HEADER);
        (first == second).then(|| first.try_into().ok()).flatten()
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
}
