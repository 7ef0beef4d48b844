//! How is it remembered what agents and runners were told (E6)? By a task of its own, so that
//! an answer need not wait for the disk.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use board::{AgentId, Seq, SessionId, Timestamp};
use serde_json::Value;
use store::{Decision, Store, StreamName};
use tokio::sync::{mpsc, oneshot};

/// So many may be waiting; beyond that, those who record wait.
const WAITING: usize = 8_192;
/// How long the first waits for others: a trace is read by people, and every write costs a sync.
const LINGER: Duration = Duration::from_millis(100);

/// One decision or call, as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    pub at: Timestamp,
    /// The board on which it was decided.
    pub seq: Seq,
    pub kind: &'static str,
    pub subject: Subject,
    pub body: Arc<Value>,
}

/// What a decision is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    Session(SessionId),
    Agent(AgentId),
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Session(id) => id.fmt(f),
            Self::Agent(id) => id.fmt(f),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Trace {
    entries: mpsc::Sender<Traced>,
    /// Callers that wait until everything before them is written.
    flushes: mpsc::Sender<oneshot::Sender<()>>,
}

impl Trace {
    pub(crate) fn open(store: Arc<dyn Store>, stream: StreamName) -> Self {
        let (entries, queue) = mpsc::channel(WAITING);
        let (flushes, waiting) = mpsc::channel(16);
        tokio::spawn(write(store, stream, queue, waiting));
        Self { entries, flushes }
    }

    pub(crate) async fn record(&self, traced: Traced) {
        // If the writing task is gone, the process is ending.
        let _ = self.entries.send(traced).await;
    }

    /// Waits until everything that was recorded so far is written.
    pub(crate) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.flushes.send(done).await.is_ok() {
            let _ = written.await;
        }
    }
}

async fn write(
    store: Arc<dyn Store>,
    stream: StreamName,
    mut queue: mpsc::Receiver<Traced>,
    mut flushes: mpsc::Receiver<oneshot::Sender<()>>,
) {
    loop {
        let (mut traced, mut waiting) = (Vec::new(), Vec::new());
        tokio::select! {
            first = queue.recv() => match first {
                Some(first) => traced.push(first),
                None => return,
            },
            Some(done) = flushes.recv() => waiting.push(done),
        }
        if waiting.is_empty() {
            tokio::select! {
                () = tokio::time::sleep(LINGER) => {}
                Some(done) = flushes.recv() => waiting.push(done),
            }
        }
        traced.extend(std::iter::from_fn(|| queue.try_recv().ok()));
        let decisions = together(traced);
        if !decisions.is_empty()
            && let Err(error) = store.record(&stream, decisions).await
        {
            tracing::warn!(%stream, %error, "decisions were not recorded");
        }
        for done in waiting {
            // The caller may have stopped waiting.
            let _ = done.send(());
        }
    }
}

/// Equal entries in a row about one subject are written once, with their number.
fn together(traced: Vec<Traced>) -> Vec<Decision> {
    let mut found: Vec<(Traced, u64)> = Vec::with_capacity(traced.len());
    let mut last: HashMap<Subject, usize> = HashMap::new();
    for one in traced {
        let before = last.get(&one.subject).and_then(|index| found.get_mut(*index));
        match before {
            Some((known, times)) if same(known, &one) => *times += 1,
            Some(_) | None => {
                last.insert(one.subject.clone(), found.len());
                found.push((one, 1));
            }
        }
    }
    let decision = |(mut one, times): (Traced, u64)| {
        if times > 1
            && let Value::Object(body) = Arc::make_mut(&mut one.body)
        {
            body.insert("times".into(), times.into());
        }
        let (subject, body) = (one.subject.to_string(), one.body.to_string());
        Decision { at: one.at.0, seq: one.seq, kind: one.kind.into(), subject, body }
    };
    found.into_iter().map(decision).collect()
}

fn same(one: &Traced, other: &Traced) -> bool {
    one.kind == other.kind && (Arc::ptr_eq(&one.body, &other.body) || one.body == other.body)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Subject, Traced, together};
    use board::{SessionId, Timestamp};
    use serde_json::json;

    /// E6
    #[test]
    fn what_is_said_again_and_again_is_written_once_with_how_often() {
        let said = |seq, session, action: &str| Traced {
            at: Timestamp(seq),
            seq: seq as u64,
            kind: "next_action",
            subject: Subject::Session(SessionId(session)),
            body: Arc::new(json!({ "action": action })),
        };
        let written = together(vec![
            said(1, 1, "work"),
            said(2, 2, "stop"),
            said(3, 1, "work"),
            said(4, 1, "stop"),
            said(5, 1, "work"),
        ]);
        let bodies: Vec<_> = written.iter().map(|one| (one.seq, one.body.as_str())).collect();
        assert_eq!(
            bodies,
            [
                (1, r#"{"action":"work","times":2}"#),
                (2, r#"{"action":"stop"}"#),
                (4, r#"{"action":"stop"}"#),
                (5, r#"{"action":"work"}"#)
            ]
        );
    }
}
