//! How do appends become durable, many at a time?

use std::iter;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior, params};
use tokio::sync::oneshot;

use super::connection::Pool;
use super::head_cache::HeadCache;
use super::reader::{self, Stream, signed};
use super::watch::Watch;
use super::{presence, session_output};
use crate::snapshots::checksum;
use crate::{
    DECISIONS_KEPT, Decision, Hash, Head, NewEvent, Present, SecretValues, Seq, Snapshot, StoreError, StreamName, link,
};

/// After so long without a pause, a writer leaves the lock to other processes …
const MAX_HOLD: Duration = Duration::from_millis(50);
/// … for so long that each of them looks at it at least once.
const YIELD: Duration = Duration::from_millis(2);
/// Old decisions are removed when so many have come.
const TRIM: u64 = 1_000;

/// What one caller wants written.
pub(super) enum Work {
    Append { expected: Seq, events: Vec<NewEvent> },
    Snapshot(Snapshot),
    Record(Vec<Decision>),
    Secrets { owner: String, values: SecretValues },
    PutPresence(Present),
    RemovePresence(String),
    Output { session: String, at: u64, bytes: Vec<u8> },
    DropOutput { session: String, before: u64 },
}

impl Work {
    /// Presence is said again every few seconds, so that losing it with the power does no harm.
    fn must_be_durable(&self) -> bool {
        !matches!(self, Self::PutPresence(_) | Self::RemovePresence(_))
    }
}

/// What there is afterwards.
#[derive(Clone, Copy)]
pub(super) struct Written {
    pub(super) head: Head,
    /// The end of the session's output, if that was the work.
    pub(super) output_end: u64,
}

impl From<Head> for Written {
    fn from(head: Head) -> Self {
        Self { head, output_end: 0 }
    }
}

type Outcome = Result<Written, StoreError>;

struct Job {
    stream: StreamName,
    work: Work,
    reply: oneshot::Sender<Outcome>,
}

/// The thread that writes, as seen by those who wait for it.
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(pool: Arc<Pool>, watch: Arc<Watch>, heads: Arc<HeadCache>) -> Self {
        let (jobs, queue) = mpsc::channel();
        let run = move || WriterThread { pool, watch, heads, conn: None }.run(&queue);
        // Without a thread the queue is closed, and everyone who writes is told so.
        let thread = thread::Builder::new().name("store-writer".into()).spawn(run).ok();
        Self { jobs, thread }
    }

    pub(super) async fn write(&self, stream: StreamName, work: Work) -> Outcome {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(Job { stream, work, reply }).map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Waits until everything queued is written.
    pub(super) fn finish(self) {
        drop(self.jobs);
        if self.thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the writing thread panicked");
        }
    }
}

/// What the writing thread has before it.
struct WriterThread {
    pool: Arc<Pool>,
    watch: Arc<Watch>,
    heads: Arc<HeadCache>,
    conn: Option<Connection>,
}

impl WriterThread {
    fn run(mut self, queue: &mpsc::Receiver<Job>) {
        let mut turn = Instant::now();
        loop {
            let asked = Instant::now();
            let Ok(first) = queue.recv() else { return };
            if asked.elapsed() >= YIELD {
                turn = Instant::now();
            } else if turn.elapsed() >= MAX_HOLD {
                thread::sleep(YIELD);
                turn = Instant::now();
            }
            self.commit_batch(iter::once(first).chain(queue.try_iter()).collect());
        }
    }

    /// Commits all jobs together and answers them.
    fn commit_batch(&mut self, jobs: Vec<Job>) {
        match self.commit(&jobs) {
            Ok(outcomes) => {
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    if let Ok(written) = &outcome {
                        self.watch.reached(&job.stream, written.head.seq);
                    }
                    answer(job, outcome);
                }
            }
            // A damaged stream must not stop the others.
            Err(StoreError::Damaged(_)) if jobs.len() > 1 => {
                jobs.into_iter().for_each(|job| self.commit_batch(vec![job]));
            }
            Err(error) => jobs.into_iter().for_each(|job| answer(job, Err(error.clone()))),
        }
    }

    /// A connection that failed, and its transaction with it, is thrown away.
    fn commit(&mut self, jobs: &[Job]) -> Result<Vec<Outcome>, StoreError> {
        let mut conn = self.conn.take().map_or_else(|| self.pool.take(), Ok)?;
        let outcomes = commit(&mut conn, jobs).map_err(|error| self.pool.failure(error))?;
        // Nobody is told that something is kept which is nowhere.
        self.pool.check_files()?;
        if jobs.iter().any(|job| matches!(job.work, Work::Secrets { .. })) {
            forget_overwritten(&conn);
        }
        self.heads.refresh(&conn);
        self.conn = Some(conn);
        Ok(outcomes)
    }
}

/// Takes what was overwritten out of the write-ahead log too. Whoever reads meanwhile keeps it there until a later
/// checkpoint.
fn forget_overwritten(conn: &Connection) {
    let _ = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
}

fn answer(job: Job, outcome: Outcome) {
    // The caller may have stopped waiting.
    drop(job.reply.send(outcome));
}

/// The outer result is the medium's, and nothing is written if it is an error.
fn commit(conn: &mut Connection, jobs: &[Job]) -> rusqlite::Result<Vec<Outcome>> {
    if jobs.iter().any(|job| job.work.must_be_durable()) {
        return perform_all(conn, jobs);
    }
    // The log is synced with the next commit that must be.
    conn.pragma_update(None, "synchronous", "normal")?;
    let outcomes = perform_all(conn, jobs)?;
    conn.pragma_update(None, "synchronous", "full")?;
    Ok(outcomes)
}

fn perform_all(conn: &mut Connection, jobs: &[Job]) -> rusqlite::Result<Vec<Outcome>> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let outcomes = jobs.iter().map(|job| perform(&tx, job)).collect::<Result<_, _>>()?;
    tx.commit()?;
    Ok(outcomes)
}

fn perform(conn: &Connection, job: &Job) -> rusqlite::Result<Outcome> {
    let found = reader::stream(conn, &job.stream)?;
    let head = found.as_ref().map_or(Head::EMPTY, |stream| stream.head);
    if let Work::Append { expected, events } = &job.work {
        if head.seq != *expected {
            return Ok(Err(StoreError::Conflict { expected: *expected, actual: head.seq }));
        }
        if events.is_empty() {
            return Ok(Ok(head.into()));
        }
    }
    let stream = found.map_or_else(|| create_stream(conn, &job.stream), Ok)?;
    let mut output_end = 0;
    match &job.work {
        Work::Append { events, .. } => return append(conn, &stream, events).map(|head| Ok(head.into())),
        Work::Snapshot(snapshot) => keep(conn, stream.id, snapshot)?,
        Work::Record(decisions) => record(conn, stream.id, decisions)?,
        Work::Secrets { owner, values } => put_secrets(conn, stream.id, owner, values)?,
        Work::PutPresence(present) => presence::put(conn, present)?,
        Work::RemovePresence(key) => presence::remove(conn, key)?,
        Work::Output { session, at, bytes } => {
            output_end = session_output::append(conn, stream.id, session, *at, bytes)?;
        }
        Work::DropOutput { session, before } => session_output::drop_before(conn, stream.id, session, *before)?,
    }
    Ok(Ok(Written { head, output_end }))
}

fn create_stream(conn: &Connection, name: &StreamName) -> rusqlite::Result<Stream> {
    conn.prepare_cached("INSERT INTO streams (name, seq, hash) VALUES (?1, 0, ?2)")?
        .execute(params![name.as_str(), Hash::ZERO.as_bytes()])?;
    Ok(Stream { id: conn.last_insert_rowid(), head: Head::EMPTY })
}

fn append(conn: &Connection, stream: &Stream, events: &[NewEvent]) -> rusqlite::Result<Head> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO events (stream, seq, at, kind, version, body, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let Head { mut seq, mut hash } = stream.head;
    for event in events {
        seq += 1;
        hash = link(&hash, seq, event);
        let NewEvent { at, kind, version, body } = event;
        insert.execute(params![stream.id, signed(seq), at, kind, version, body, hash.as_bytes()])?;
    }
    conn.prepare_cached("UPDATE streams SET seq = ?2, hash = ?3 WHERE id = ?1")?.execute(params![
        stream.id,
        signed(seq),
        hash.as_bytes()
    ])?;
    Ok(Head { seq, hash })
}

fn keep(conn: &Connection, id: i64, snapshot: &Snapshot) -> rusqlite::Result<()> {
    let Snapshot { head, format, bytes } = snapshot;
    let checksum = checksum(snapshot);
    conn.prepare_cached(
        "INSERT INTO snapshots (stream, seq, hash, format, bytes, checksum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (stream) DO UPDATE
         SET seq = excluded.seq, hash = excluded.hash, format = excluded.format,
             bytes = excluded.bytes, checksum = excluded.checksum
         WHERE excluded.seq >= snapshots.seq",
    )?
    .execute(params![id, signed(head.seq), head.hash.as_bytes(), format, bytes, checksum])?;
    Ok(())
}

/// What was there is overwritten in the file, not only forgotten.
fn put_secrets(conn: &Connection, id: i64, owner: &str, values: &SecretValues) -> rusqlite::Result<()> {
    conn.pragma_update(None, "secure_delete", true)?;
    conn.prepare_cached("DELETE FROM secrets WHERE stream = ?1 AND owner = ?2")?.execute(params![id, owner])?;
    let mut insert = conn.prepare_cached("INSERT INTO secrets (stream, owner, name, value) VALUES (?1, ?2, ?3, ?4)")?;
    for (name, value) in values {
        insert.execute(params![id, owner, name, value])?;
    }
    conn.pragma_update(None, "secure_delete", false)
}

fn record(conn: &Connection, id: i64, decisions: &[Decision]) -> rusqlite::Result<()> {
    let before: i64 = conn
        .prepare_cached("SELECT coalesce(max(number), 0) FROM decisions WHERE stream = ?1")?
        .query_row([id], |row| row.get(0))?;
    let mut insert = conn.prepare_cached(
        "INSERT INTO decisions (stream, number, at, seq, kind, subject, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut number = before;
    for Decision { at, seq, kind, subject, body } in decisions {
        number += 1;
        insert.execute(params![id, number, at, signed(*seq), kind, subject, body])?;
    }
    if number / signed(TRIM) > before / signed(TRIM) {
        conn.prepare_cached("DELETE FROM decisions WHERE stream = ?1 AND number <= ?2")?
            .execute(params![id, number - signed(DECISIONS_KEPT)])?;
    }
    Ok(())
}
