//! Where do streams end, when that is asked for every call? Whoever asks while a query is under way shares the next one, so
//! that many calls cost one round trip.

use std::collections::HashMap;

use tokio::sync::{mpsc, oneshot};

use super::connections::Connections;
use super::reader;
use crate::{Head, StoreError, StreamName};

struct Question {
    stream: StreamName,
    answer: oneshot::Sender<Result<Head, StoreError>>,
}

/// The task that asks, as seen by those who wait for it. It ends with the last of them.
pub(super) struct Heads {
    questions: mpsc::UnboundedSender<Question>,
}

impl Heads {
    pub(super) fn new(connections: Connections) -> Self {
        let (questions, queue) = mpsc::unbounded_channel();
        tokio::spawn(answer(connections, queue));
        Self { questions }
    }

    /// The head as of a moment after the call.
    pub(super) async fn head(&self, stream: &StreamName) -> Result<Head, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.questions.send(Question { stream: stream.clone(), answer }).map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }
}

async fn answer(connections: Connections, mut queue: mpsc::UnboundedReceiver<Question>) {
    let mut asked = Vec::new();
    while queue.recv_many(&mut asked, usize::MAX).await > 0 {
        let mut streams: Vec<_> = asked.iter().map(|question| question.stream.clone()).collect();
        streams.sort();
        streams.dedup();
        let found = reader::heads(&connections, &streams).await.map(HashMap::from_iter);
        for Question { stream, answer } in asked.drain(..) {
            let found: Result<&HashMap<_, Head>, _> = found.as_ref().map_err(Clone::clone);
            // Whoever asked may have stopped waiting.
            let _ = answer.send(found.map(|heads| heads.get(&stream).copied().unwrap_or(Head::EMPTY)));
        }
    }
}
