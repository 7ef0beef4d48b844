//! How does this process reach the file, and what does a failure of SQLite mean?

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, ffi};

use super::schema;
use crate::{Cause, StoreError};

/// How long we wait for other processes' writes.
const BUSY_LIMIT: Duration = Duration::from_secs(60);
/// How often the lock is tried again. SQLite has no queue for it: the process that tries most often gets it.
const BUSY_RETRY: Duration = Duration::from_millis(1);
/// How many unused connections are kept.
const MAX_IDLE: usize = 4;

/// Connections to one file, opened as they are needed.
pub(super) struct Pool {
    path: PathBuf,
    /// Which files they were when the store was opened.
    files: [FileIdentity; 3],
    idle: Mutex<Vec<Connection>>,
    /// While it is open, nobody has a reason to replace the log and its index: SQLite removes them with the last
    /// connection.
    _keeper: Mutex<Connection>,
}

impl Pool {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        keep_private(path);
        let mut conn = connect(path).map_err(|error| failure(path, error))?;
        schema::prepare(&mut conn, path, schema::MIGRATIONS)?;
        let files = FileIdentity::of_store(path).ok_or_else(|| replaced(path))?;
        Ok(Self { path: path.into(), files, idle: Mutex::default(), _keeper: Mutex::new(conn) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Are the files still those that were opened? SQLite would go on with files that were removed, and another process
    /// with new ones: both would write the same numbers.
    pub(super) fn check_files(&self) -> Result<(), StoreError> {
        match FileIdentity::of_store(&self.path) {
            Some(found) if found == self.files => Ok(()),
            Some(_) | None => Err(replaced(&self.path)),
        }
    }

    /// A connection that the caller keeps.
    pub(super) fn take(&self) -> Result<Connection, StoreError> {
        self.check_files()?;
        let idle = self.idle().pop();
        idle.map_or_else(|| connect(&self.path), Ok).map_err(|error| self.failure(error))
    }

    /// Lends a connection to `work`; one that failed is not used again.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let conn = self.take()?;
        let result = work(&conn).map_err(|error| self.failure(error))?;
        let mut idle = self.idle();
        if idle.len() < MAX_IDLE {
            idle.push(conn);
        }
        Ok(result)
    }

    pub(super) fn failure(&self, error: Error) -> StoreError {
        failure(&self.path, error)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().expect("nobody panics with the lock")
    }
}

/// The store has keys of the user's in it: nobody else may read it, whatever the directory allows. SQLite gives its other
/// files the same mode. What cannot be changed is the owner's to see to.
fn keep_private(path: &Path) {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let _ = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    for name in files_of_store(path) {
        let open_to_others =
            std::fs::metadata(&name).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o077 != 0);
        if open_to_others {
            let _ = std::fs::set_permissions(&name, std::fs::Permissions::from_mode(0o600));
        }
    }
}

fn replaced(path: &Path) -> StoreError {
    StoreError::Replaced { location: path.display().to_string() }
}

/// The store, its write-ahead log, and that log's index.
fn files_of_store(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

/// Device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity(u64, u64);

impl FileIdentity {
    /// `None` if one is missing, or the store was emptied: it never is.
    fn of_store(path: &Path) -> Option<[Self; 3]> {
        use std::os::unix::fs::MetadataExt as _;
        let [store, log, index] = files_of_store(path).map(|file| file.metadata().ok());
        let store = store.filter(|store| store.len() > 0)?;
        Some([store, log?, index?].map(|found| Self(found.dev(), found.ino())))
    }
}

pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    let mut waiting = Instant::now();
    conn.busy_handler(Some(move |count| {
        if count == 0 {
            waiting = Instant::now();
        }
        thread::sleep(BUSY_RETRY);
        waiting.elapsed() < BUSY_LIMIT
    }))?;
    // Otherwise a query is prepared anew for every value bound to it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "synchronous", "full")?;
    Ok(conn)
}

/// Tries `work` again while another process is in the way, for what SQLite itself does not wait for.
pub(super) fn retry_while_busy<T>(mut work: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let waiting = Instant::now();
    loop {
        match work() {
            Err(error) if is_busy(&error) && waiting.elapsed() < BUSY_LIMIT => thread::sleep(BUSY_RETRY),
            result => return result,
        }
    }
}

fn is_busy(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
    )
}

/// What a failure of SQLite on the file `path` means to the caller.
pub(super) fn failure(path: &Path, error: Error) -> StoreError {
    let location = || path.display().to_string();
    let code = match &error {
        Error::SqliteFailure(code, _) => code,
        Error::FromSqlConversionFailure(..) | Error::InvalidColumnType(..) | Error::IntegralValueOutOfRange(..) => {
            return StoreError::Damaged(error.to_string());
        }
        _ => return StoreError::failed(error),
    };
    match code.code {
        _ if is_busy(&error) => StoreError::Busy { waited: BUSY_LIMIT },
        ErrorCode::DiskFull => StoreError::Full { location: location(), source: Cause::new(error) },
        ErrorCode::SystemIoFailure if is_out_of_space(code) => {
            StoreError::Full { location: location(), source: Cause::new(error) }
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            StoreError::Damaged(format!("{}: {error}", path.display()))
        }
        // Only a row that the stream's head does not know of can be in the way of a new one.
        ErrorCode::ConstraintViolation => {
            StoreError::Damaged(format!("there is something after the end of the stream: {error}"))
        }
        ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
            StoreError::Unavailable { location: location(), source: Cause::new(error) }
        }
        _ => StoreError::failed(error),
    }
}

/// A quota or a limit on the file's size is told as a failed write, not as a full disk.
fn is_out_of_space(code: &ffi::Error) -> bool {
    [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE].contains(&code.extended_code)
}
