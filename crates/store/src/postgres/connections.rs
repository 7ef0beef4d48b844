//! How is the database asked, also when it goes away for a while?

use std::error::Error as _;
use std::time::{Duration, Instant};

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::address::{PostgresAddress, said};
use crate::{Cause, StoreError};

/// So many statements run at once. A statement takes about a millisecond, so that a few are enough.
const CONNECTIONS: usize = 8;
/// How long a database that is away is waited for, when the store is opened and later, and the pauses between tries.
const FIRST_PATIENCE: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Connections to the database. Cheap to clone.
#[derive(Clone)]
pub(super) struct Connections {
    pool: Pool,
    address: PostgresAddress,
}

impl Connections {
    pub(super) fn new(address: &PostgresAddress) -> Result<Self, StoreError> {
        let unusable =
            |error: String| StoreError::Unavailable { location: address.to_string(), source: Cause::new(error) };
        let tls = address.tls().map_err(|error| unusable(error.to_string()))?;
        let config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(address.config().clone(), tls, config);
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS)
            .wait_timeout(Some(PATIENCE))
            .runtime(Runtime::Tokio1)
            .post_create(Hook::async_fn(|client, _| {
                // What is acknowledged is durable, whatever the server's default is.
                let durable = "SELECT set_config('synchronous_commit', 'on', false)
                               WHERE current_setting('synchronous_commit') = 'off'";
                Box::pin(async move { client.batch_execute(durable).await.map_err(HookError::Backend) })
            }))
            .build()
            .map_err(|error| unusable(error.to_string()))?;
        Ok(Self { pool, address: address.clone() })
    }

    pub(super) fn address(&self) -> &PostgresAddress {
        &self.address
    }

    pub(super) async fn get(&self) -> Result<Object, Trouble> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => Trouble(Some(error)),
            PoolError::Timeout(_)
            | PoolError::Closed
            | PoolError::NoRuntimeSpecified
            | PoolError::PostCreateHook(_) => Trouble(None),
        })
    }

    /// Asks once. What became of a statement whose connection broke is not known.
    pub(super) async fn try_rows(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, Trouble> {
        let client = self.get().await?;
        let statement = client.prepare_cached(sql).await?;
        Ok(client.query(&statement, parameters).await?)
    }

    /// Asks until there is an answer, for as long as patience lasts. For what may be done twice.
    pub(super) async fn rows(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        let mut retry = self.retry();
        loop {
            match self.try_rows(sql, parameters).await {
                Ok(rows) => return Ok(rows),
                Err(trouble) => retry.pause(trouble).await?,
            }
        }
    }

    pub(super) async fn execute(&self, sql: &str, parameters: Parameters<'_>) -> Result<(), StoreError> {
        self.rows(sql, parameters).await.map(drop)
    }

    pub(super) fn retry(&self) -> Retry<'_> {
        Retry { connections: self, since: Instant::now(), patience: PATIENCE, pause: FIRST_PAUSE }
    }

    /// The same for who opens the store, and may have got its address wrong.
    pub(super) fn retry_first(&self) -> Retry<'_> {
        Retry { patience: FIRST_PATIENCE, ..self.retry() }
    }

    pub(super) fn failure(&self, trouble: &Trouble) -> StoreError {
        let location = self.address.to_string();
        let Some(error) = &trouble.0 else {
            return StoreError::Busy { waited: PATIENCE };
        };
        let source = Cause::new(said(error));
        match error.code() {
            Some(code) if is_full(code) => StoreError::Full { location, source },
            Some(code) if is_denied(code) => StoreError::Unavailable { location, source },
            _ if trouble.may_pass() => StoreError::Unreachable { location, source },
            // The server is not who it should be, or does not speak TLS.
            None => StoreError::Unavailable { location, source },
            Some(_) => StoreError::Failed(source),
        }
    }
}

/// Why there was no answer; `None` if no connection became free.
#[derive(Debug)]
pub(super) struct Trouble(Option<Error>);

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self(Some(error))
    }
}

impl Trouble {
    /// Does it help to ask again?
    fn may_pass(&self) -> bool {
        let Some(error) = &self.0 else { return false };
        let of_connection = error.is_closed()
            || error.source().is_some_and(|source| source.downcast_ref::<std::io::Error>().is_some_and(is_passing));
        of_connection || error.code().is_some_and(passes)
    }
}

/// A certificate that does not fit is an error of connecting too, and does not pass.
fn is_passing(error: &std::io::Error) -> bool {
    !matches!(error.kind(), std::io::ErrorKind::InvalidData | std::io::ErrorKind::InvalidInput)
}

/// The server ends, begins, is a standby, is full of connections, or two statements were in each other's way.
fn passes(code: &SqlState) -> bool {
    code.code().starts_with("08")
        || [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::IDLE_SESSION_TIMEOUT,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::TOO_MANY_CONNECTIONS,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
        ]
        .contains(code)
}

fn is_full(code: &SqlState) -> bool {
    *code == SqlState::DISK_FULL
}

fn is_denied(code: &SqlState) -> bool {
    code.code().starts_with("28")
        || [SqlState::INVALID_CATALOG_NAME, SqlState::INVALID_SCHEMA_NAME, SqlState::INSUFFICIENT_PRIVILEGE]
            .contains(code)
}

/// How long was it tried?
pub(super) struct Retry<'a> {
    connections: &'a Connections,
    since: Instant,
    patience: Duration,
    pause: Duration,
}

impl Retry<'_> {
    /// Waits before the next try, or fails if another would not help or patience is at its end.
    pub(super) async fn pause(&mut self, trouble: Trouble) -> Result<(), StoreError> {
        if !trouble.may_pass() || self.since.elapsed() + self.pause > self.patience {
            return Err(self.connections.failure(&trouble));
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
