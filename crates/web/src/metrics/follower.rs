//! Which metrics follow from events? Each event is counted once, whichever process wrote it, from the start of
//! this process on.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use board::{Event, EventKind, ProjectId, Seq, SessionId, Status, TaskId, Timestamp};
use control::ControlError;
use tokio::sync::watch;

use server::{ProjectFollower, ServerState};

/// Events that are read at once.
const PAGE: usize = 1024;

/// How long to wait when the log cannot be read.
const PAUSE: Duration = Duration::from_secs(1);

/// Up to which event each project is counted.
pub(crate) type Counted = BTreeMap<ProjectId, Seq>;

/// Follows every project until the server shuts down.
pub(super) fn begin(server: Arc<ServerState>) -> watch::Receiver<Counted> {
    let (counted, watching) = watch::channel(Counted::default());
    tokio::spawn(async move {
        let mut follower =
            MetricsFollower { projects: ProjectFollower::new(server, None), counted, known: HashMap::new() };
        // What was before the start is not counted; a project that is added later is counted from its first event.
        while let Err(error) = follower.projects.find_new(|_, board| board.seq).await {
            tracing::warn!(%error, "events are not counted");
            tokio::time::sleep(PAUSE).await;
        }
        follower.tell();
        loop {
            if let Err(error) = follower.count().await {
                tracing::warn!(%error, "events are not counted");
                tokio::time::sleep(PAUSE).await;
            } else if follower.projects.changed().await.is_none() {
                return;
            }
        }
    });
    watching
}

struct MetricsFollower {
    projects: ProjectFollower,
    counted: watch::Sender<Counted>,
    known: HashMap<ProjectId, Begun>,
}

impl MetricsFollower {
    async fn count(&mut self) -> Result<(), ControlError> {
        self.projects.find_new(|_, _| 0).await?;
        while let Some((id, events)) = self.projects.events(PAGE).await? {
            let begun = self.known.entry(id.clone()).or_default();
            events.iter().for_each(|(_, event)| begun.note(&id, event));
            self.tell();
        }
        Ok(())
    }

    fn tell(&self) {
        self.counted.send_replace(self.projects.positions().map(|(id, seq)| (id.clone(), seq)).collect());
    }
}

/// What has begun and is not over.
#[derive(Debug, Default)]
struct Begun {
    /// Tasks that were started and have no session yet.
    started: HashMap<TaskId, Timestamp>,
    /// Sessions whose process has ended, and whether their work was looked at.
    ended: HashMap<SessionId, (Timestamp, Examined)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Examined {
    NotYet,
    Yes,
}

impl Begun {
    fn note(&mut self, project: &ProjectId, event: &Event) {
        let label = || project.to_string();
        match &event.what {
            EventKind::TaskMoved { task, to: Status::InProgress, .. } => drop(self.started.insert(*task, event.at)),
            EventKind::TaskMoved { task, .. } => drop(self.started.remove(task)),
            EventKind::SessionClaimed { purpose, .. } => {
                if let Some(started) = purpose.task().and_then(|task| self.started.remove(&task)) {
                    metrics::histogram!("saihai_queue_wait_seconds").record(seconds(started, event.at));
                }
            }
            EventKind::ProcessEnded { session, end, .. } => {
                self.ended.insert(*session, (event.at, Examined::NotYet));
                let reason = end.reason.as_str();
                metrics::counter!("saihai_sessions_ended_total", "project" => label(), "reason" => reason).increment(1);
            }
            EventKind::WorkspaceExamined { session, .. } | EventKind::Examined { session, .. } => {
                if let Some((_, examined)) = self.ended.get_mut(session) {
                    *examined = Examined::Yes;
                }
            }
            EventKind::Judged { session, verdict } => {
                // One that is judged by its end alone was not verified.
                if let Some((ended, Examined::Yes)) = self.ended.remove(session) {
                    metrics::histogram!("saihai_verification_seconds").record(seconds(ended, event.at));
                }
                if let Some(verdict) = verdict {
                    let verdict = verdict.as_str();
                    metrics::counter!("saihai_verdicts_total", "project" => label(), "verdict" => verdict).increment(1);
                }
            }
            _ => {}
        }
    }
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    (to - from).0.max(0) as f64 / 1000.0
}
