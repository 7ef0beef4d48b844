//! What do all routes for runners on other hosts share?

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use board::RunnerId;
use control::RunnerHeartbeat;
use server::ServerState;

/// What serves runners on other hosts.
#[derive(Clone, Debug)]
pub(crate) struct RunnerService(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    server: Arc<ServerState>,
    /// Where this installation keeps its files.
    home: PathBuf,
    /// What was written of each runner, and when.
    written: Mutex<BTreeMap<RunnerId, (Instant, RunnerHeartbeat)>>,
    /// The target of a project moves once at a time.
    merging: tokio::sync::Mutex<()>,
}

impl RunnerService {
    pub(crate) fn new(server: Arc<ServerState>, home: PathBuf) -> Self {
        let (written, merging) = (Mutex::default(), tokio::sync::Mutex::default());
        Self(Arc::new(Inner { server, home, written, merging }))
    }

    pub(crate) fn server(&self) -> &Arc<ServerState> {
        &self.0.server
    }

    pub(crate) fn home(&self) -> &std::path::Path {
        &self.0.home
    }

    /// Held while a target is moved.
    pub(crate) async fn merge_turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.0.merging.lock().await
    }

    /// What was written of each runner, and when.
    pub(crate) fn written(&self) -> std::sync::MutexGuard<'_, BTreeMap<RunnerId, (Instant, RunnerHeartbeat)>> {
        self.0.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
