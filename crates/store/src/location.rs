//! Which store is meant, and how is it opened?

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::{BadAddress, PostgresAddress, PostgresStore, SqliteStore, Store, StoreError};

/// Where a store is: `sqlite:PATH` or `postgres://…`.
#[derive(Clone, Debug)]
pub enum StoreLocation {
    Sqlite(PathBuf),
    Postgres(Box<PostgresAddress>),
}

impl FromStr for StoreLocation {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        match text.split_once(':') {
            Some(("sqlite", "")) => Err(BadAddress("it names no file, as in `sqlite:PATH`".into())),
            Some(("sqlite", path)) => Ok(Self::Sqlite(path.into())),
            Some(("postgres" | "postgresql", _)) => text.parse().map(|address| Self::Postgres(Box::new(address))),
            Some(_) | None => Err(BadAddress("it is neither `sqlite:PATH` nor `postgres://USER@HOST/DATABASE`".into())),
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "{}", path.display()),
            Self::Postgres(address) => write!(f, "{address}"),
        }
    }
}

/// A store that was opened, and what has to be added to this machine's time where it is used, in milliseconds.
pub struct OpenedStore {
    pub store: Arc<dyn Store>,
    /// The same, if servers share it. Their time is the database's.
    pub shared: Option<Arc<PostgresStore>>,
    pub clock_offset: i64,
}

impl fmt::Debug for OpenedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedStore").field("clock_offset", &self.clock_offset).finish_non_exhaustive()
    }
}

impl StoreLocation {
    /// Opens the store, and makes or migrates it if need be.
    pub async fn open(&self) -> Result<OpenedStore, StoreError> {
        match self {
            Self::Sqlite(path) => {
                let path = path.clone();
                let opened = tokio::task::spawn_blocking(move || SqliteStore::open(path)).await;
                let store = opened.map_err(StoreError::failed)??;
                Ok(OpenedStore { store: Arc::new(store), shared: None, clock_offset: 0 })
            }
            Self::Postgres(address) => {
                let store = Arc::new(PostgresStore::open(address).await?);
                let clock_offset = store.clock_offset().await?;
                Ok(OpenedStore { store: Arc::clone(&store) as Arc<dyn Store>, shared: Some(store), clock_offset })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C6, E3
    #[test]
    fn a_location_is_a_file_or_a_database() {
        let shown = |text: &str| text.parse::<StoreLocation>().map(|location| location.to_string());
        assert_eq!(shown("sqlite:/a/b.db").unwrap(), "/a/b.db");
        assert_eq!(shown("postgres://me:secret@localhost/team").unwrap(), "postgres://me@localhost/team");
        assert_eq!(shown("postgresql://me@localhost/team").unwrap(), "postgres://me@localhost/team");
        for wrong in ["", "/a/b.db", "sqlite:", "mysql://me@localhost/team"] {
            assert!(shown(wrong).is_err(), "{wrong}");
        }
    }
}
