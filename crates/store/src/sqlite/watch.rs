//! Who is told of new events, also of those that other processes appended?

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

use super::connection::Pool;
use super::reader;
use crate::{Seq, StoreError, StreamName};

/// How often the file is asked whether another process wrote.
const POLL: Duration = Duration::from_millis(100);

pub(super) struct Watch {
    pool: Arc<Pool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ends: BTreeMap<StreamName, watch::Sender<Seq>>,
    /// Present while there are subscribers.
    poller: Option<Poller>,
}

struct Poller {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Watch {
    pub(super) fn new(pool: Arc<Pool>) -> Self {
        Self { pool, state: Mutex::default() }
    }

    /// Blocks, and fails if the head cannot be read.
    pub(super) fn subscribe(self: &Arc<Self>, stream: &StreamName) -> Result<watch::Receiver<Seq>, StoreError> {
        // The lock is held while the head is read: an append that comes meanwhile is either in the
        // head that is read, or is reported to the new receiver afterwards.
        let mut state = self.state();
        let head = self.pool.with(|conn| reader::head(conn, stream))?;
        let receiver = state.ends.entry(stream.clone()).or_default().subscribe();
        state.reached(stream, head.seq);
        if state.poller.is_none() {
            state.poller = self.start();
        }
        Ok(receiver)
    }

    /// Tells subscribers that the stream has come to `seq`.
    pub(super) fn reached(&self, stream: &StreamName, seq: Seq) {
        self.state().reached(stream, seq);
    }

    /// Ends the polling thread and the subscriptions.
    pub(super) fn finish(&self) {
        let State { ends: _, poller } = std::mem::take(&mut *self.state());
        if let Some(Poller { stop, thread }) = poller {
            drop(stop);
            if thread.join().is_err() {
                tracing::error!("the polling thread panicked");
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with the lock")
    }

    fn start(self: &Arc<Self>) -> Option<Poller> {
        let (stop, stopped) = mpsc::channel();
        let watch = Arc::clone(self);
        let run = move || watch.poll(&stopped);
        match thread::Builder::new().name("store-watch".into()).spawn(run) {
            Ok(thread) => Some(Poller { stop, thread }),
            Err(error) => {
                tracing::warn!(%error, "appends of other processes will not be noticed");
                None
            }
        }
    }

    fn poll(&self, stopped: &mpsc::Receiver<()>) {
        let mut poller = None;
        while self.is_wanted() {
            if let Err(error) = self.poll_once(&mut poller) {
                tracing::warn!(%error, "cannot look for appends of other processes");
                poller = None;
            }
            match stopped.recv_timeout(POLL) {
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Drops streams without subscribers; with the last one the thread ends.
    fn is_wanted(&self) -> bool {
        let mut state = self.state();
        state.ends.retain(|_, end| end.receiver_count() > 0);
        if state.ends.is_empty() {
            state.poller = None;
        }
        state.poller.is_some()
    }

    fn poll_once(&self, poller: &mut Option<ChangePoller>) -> Result<(), StoreError> {
        let poller = match poller {
            Some(poller) => poller,
            None => poller.insert(ChangePoller { conn: self.pool.take()?, seen: None }),
        };
        let fail = |error| self.pool.failure(error);
        if !poller.has_changed().map_err(fail)? {
            return Ok(());
        }
        let watched: Vec<StreamName> = self.state().ends.keys().cloned().collect();
        for stream in watched {
            let head = reader::head(&poller.conn, &stream).map_err(fail)?;
            self.reached(&stream, head.seq);
        }
        Ok(())
    }
}

impl State {
    fn reached(&mut self, stream: &StreamName, seq: Seq) {
        if let Some(end) = self.ends.get(stream) {
            end.send_if_modified(|last| {
                let is_news = seq > *last;
                *last = seq.max(*last);
                is_news
            });
        }
    }
}

/// A connection that writes nothing, so that every change it sees is another's.
struct ChangePoller {
    conn: Connection,
    seen: Option<i64>,
}

impl ChangePoller {
    fn has_changed(&mut self) -> rusqlite::Result<bool> {
        let version = self.conn.prepare_cached("PRAGMA data_version")?.query_row((), |row| row.get(0))?;
        Ok(self.seen.replace(version) != Some(version))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// E7, F49
    #[test]
    fn the_file_is_polled_only_while_somebody_subscribes() {
        let dir = tempfile::tempdir().unwrap();
        let pool = Pool::open(&dir.path().join("log.db")).unwrap();
        let watch = Arc::new(Watch::new(Arc::new(pool)));
        assert!(watch.state().poller.is_none());
        for _ in 0..2 {
            let receiver = watch.subscribe(&StreamName::installation()).unwrap();
            assert!(watch.state().poller.is_some());
            drop(receiver);
            let started = Instant::now();
            while watch.state().poller.is_some() {
                assert!(started.elapsed() < Duration::from_secs(60), "it goes on");
                thread::yield_now();
            }
        }
        watch.finish();
    }
}
