//! Who is told of new events, also of those that other servers appended?
//!
//! A notice is a hint; the tables are the truth. Heads are read again whenever the connection that listens was made anew,
//! and every few seconds besides. Notices have a transaction of their own, after the append and many appends together:
//! PostgreSQL commits those one after the other.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};
use tokio::task::AbortHandle;
use tokio_postgres::{AsyncMessage, Client};

use super::connections::Connections;
use super::{Trouble, reader};
use crate::{Seq, StoreError, StreamName};

/// How often heads are read although nothing was told.
const SAFETY_NET: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(500);
/// A notice has at most 8,000 bytes.
const LONGEST_NOTICE: usize = 7_000;

pub(super) struct Watch {
    shared: Arc<Shared>,
    tasks: Mutex<Vec<AbortHandle>>,
}

struct Shared {
    connections: Connections,
    /// Of this schema of this database.
    channel: String,
    ends: Mutex<BTreeMap<StreamName, watch::Sender<Seq>>>,
    /// What others are still to be told.
    untold: Mutex<BTreeMap<StreamName, Seq>>,
    told: Notify,
}

impl Watch {
    pub(super) fn new(connections: Connections, channel: String) -> Self {
        let shared =
            Shared { connections, channel, ends: Mutex::default(), untold: Mutex::default(), told: Notify::new() };
        Self { shared: Arc::new(shared), tasks: Mutex::default() }
    }

    pub(super) fn listen_statement(&self) -> String {
        self.shared.listen_statement()
    }

    /// Fails if the head cannot be read.
    pub(super) async fn subscribe(&self, stream: &StreamName) -> Result<watch::Receiver<Seq>, StoreError> {
        // First the receiver, then the head: what is appended meanwhile is in the head, or told to the receiver.
        let receiver = self.shared.ends().entry(stream.clone()).or_default().subscribe();
        self.start();
        let head = reader::head(&self.shared.connections, stream).await?;
        self.shared.reached(stream, head.seq);
        Ok(receiver)
    }

    /// Tells subscribers here that the stream has come to `seq`, and those of other processes as well. Who stays does that
    /// in the background.
    pub(super) async fn appended(&self, stream: &StreamName, seq: Seq) {
        self.shared.reached(stream, seq);
        self.shared.remember(stream, seq);
        if self.tasks().is_empty() {
            self.shared.tell_others().await;
        } else {
            self.shared.told.notify_one();
        }
    }

    fn start(&self) {
        let mut tasks = self.tasks();
        if tasks.is_empty() {
            let (listening, telling) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
            tasks.push(tokio::spawn(async move { listening.listen().await }).abort_handle());
            tasks.push(tokio::spawn(async move { telling.tell().await }).abort_handle());
        }
    }

    fn tasks(&self) -> MutexGuard<'_, Vec<AbortHandle>> {
        self.tasks.lock().expect("nobody panics with the lock")
    }
}

/// Ends the tasks and the subscriptions.
impl Drop for Watch {
    fn drop(&mut self) {
        self.tasks().drain(..).for_each(|task| task.abort());
        self.shared.ends().clear();
    }
}

impl Shared {
    fn ends(&self) -> MutexGuard<'_, BTreeMap<StreamName, watch::Sender<Seq>>> {
        self.ends.lock().expect("nobody panics with the lock")
    }

    fn reached(&self, stream: &StreamName, seq: Seq) {
        if let Some(end) = self.ends().get(stream) {
            end.send_if_modified(|last| {
                let is_news = seq > *last;
                *last = seq.max(*last);
                is_news
            });
        }
    }

    fn listen_statement(&self) -> String {
        format!("LISTEN \"{}\"", self.channel)
    }

    fn remember(&self, stream: &StreamName, seq: Seq) {
        let mut untold = self.untold.lock().expect("nobody panics with the lock");
        let last = untold.entry(stream.clone()).or_default();
        *last = seq.max(*last);
    }

    async fn read_heads(&self) -> Result<(), StoreError> {
        let watched: Vec<_> = {
            let mut ends = self.ends();
            ends.retain(|_, end| end.receiver_count() > 0);
            ends.keys().cloned().collect()
        };
        if !watched.is_empty() {
            let heads = reader::heads(&self.connections, &watched).await?;
            heads.iter().for_each(|(stream, head)| self.reached(stream, head.seq));
        }
        Ok(())
    }

    /// Listens for as long as the store lives.
    async fn listen(&self) {
        loop {
            if let Err(error) = self.listen_until_cut().await {
                tracing::warn!(%error, "appends of other servers are seen late until the database is back");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn listen_until_cut(&self) -> Result<(), StoreError> {
        // Held for as long as notices are wanted: the connection ends with it.
        let (client, mut notices) = self.listener().await?;
        client
            .batch_execute(&self.listen_statement())
            .await
            .map_err(|error| self.connections.failure(&Trouble::from(error)))?;
        loop {
            self.read_heads().await?;
            let until = tokio::time::sleep(SAFETY_NET);
            tokio::pin!(until);
            loop {
                tokio::select! {
                    notice = notices.recv() => match notice {
                        Some(notice) => parse(&notice).for_each(|(stream, seq)| self.reached(&stream, seq)),
                        None => return Ok(()),
                    },
                    () = &mut until => break,
                }
            }
        }
    }

    /// A connection of its own, whose notices come through a channel that ends with it.
    async fn listener(&self) -> Result<(Client, mpsc::UnboundedReceiver<String>), StoreError> {
        let address = self.connections.address();
        let tls = address.tls().map_err(StoreError::failed)?;
        let connected = address.config().connect(tls).await;
        let (client, mut connection) = connected.map_err(|error| self.connections.failure(&Trouble::from(error)))?;
        let (tell, notices) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notification(notice) = message {
                    // If nobody listens, the client is gone too, and the connection ends.
                    let _ = tell.send(notice.payload().to_owned());
                }
            }
        });
        Ok((client, notices))
    }

    /// Tells other processes of this one's appends, those that come meanwhile together.
    async fn tell(&self) {
        loop {
            self.told.notified().await;
            self.tell_others().await;
        }
    }

    async fn tell_others(&self) {
        let untold = std::mem::take(&mut *self.untold.lock().expect("nobody panics with the lock"));
        for notice in notices(&untold) {
            let sent = self.connections.try_rows("SELECT pg_notify($1, $2)", &[&self.channel, &notice]).await;
            if let Err(trouble) = sent {
                // They look every few seconds anyway.
                tracing::debug!(?trouble, "other servers were not told of an append");
            }
        }
    }
}

/// Lines of a number and a stream's name, as few texts as may be.
fn notices(untold: &BTreeMap<StreamName, Seq>) -> Vec<String> {
    let mut notices: Vec<String> = Vec::new();
    for (stream, seq) in untold {
        let line = format!("{seq} {stream}");
        match notices.last_mut().filter(|notice| notice.len() + line.len() < LONGEST_NOTICE) {
            Some(notice) => {
                notice.push('\n');
                notice.push_str(&line);
            }
            None => notices.push(line),
        }
    }
    notices
}

/// What is no line of ours is passed over: anybody in the database may send notices.
fn parse(notice: &str) -> impl Iterator<Item = (StreamName, Seq)> {
    notice.lines().filter_map(|line| {
        let (seq, stream) = line.split_once(' ')?;
        Some((StreamName::named(stream), seq.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E7: however many streams moved, notices are short enough, and say what was said.
    #[test]
    fn notices_are_read_back() {
        let untold: BTreeMap<_, _> = (1..=1_000).map(|n| (StreamName::project(&format!("p{n}")), n)).collect();
        let notices = notices(&untold);
        assert!(notices.len() < 10 && notices.iter().all(|notice| notice.len() < 8_000), "{}", notices.len());
        assert_eq!(notices.iter().flat_map(|notice| parse(notice)).collect::<BTreeMap<_, _>>(), untold);
        assert_eq!(parse("x y\n\n7\n5 project/a b").collect::<Vec<_>>(), [(StreamName::named("project/a b"), 5)]);
    }
}
