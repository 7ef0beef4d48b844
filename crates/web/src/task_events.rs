//! Which events are about a task? An index of the log, read once and then kept up.

use std::collections::HashMap;
use std::sync::Arc;

use board::{Board, Event, EventKind, ProjectId, Seq, SessionId, TaskId, Timestamp};
use control::{ControlError, Project, events_after};
use store::{Store, StreamName};
use tokio::sync::Mutex;

const PAGE: usize = 4096;

/// Where the events about each task of a project are.
#[derive(Debug, Default)]
struct TaskEventIndex {
    upto: Seq,
    by_task: HashMap<TaskId, Vec<Seq>>,
    task_of: HashMap<SessionId, TaskId>,
    /// Sessions whose process has ended and that are not judged yet, with when that was.
    ended: HashMap<SessionId, (Seq, Timestamp)>,
}

impl TaskEventIndex {
    fn note(&mut self, seq: Seq, event: &Event) {
        if let EventKind::SessionClaimed { session, purpose, .. } = &event.what
            && let Some(task) = purpose.task()
        {
            self.task_of.insert(*session, task);
        }
        match &event.what {
            EventKind::ProcessEnded { session, .. } => drop(self.ended.insert(*session, (seq, event.at))),
            EventKind::Judged { session, .. } => drop(self.ended.remove(session)),
            _ => {}
        }
        let of_session = event.what.session().and_then(|session| self.task_of.get(&session)).copied();
        for task in event.what.tasks().into_iter().chain(of_session) {
            let known = self.by_task.entry(task).or_default();
            if known.last() != Some(&seq) {
                known.push(seq);
            }
        }
        self.upto = seq;
    }

    /// Reads what was written since.
    async fn catch_up(&mut self, store: &dyn Store, stream: &StreamName) -> Result<(), ControlError> {
        loop {
            let page = events_after::<Board>(store, stream, self.upto, PAGE).await?;
            page.iter().for_each(|(seq, event)| self.note(*seq, event));
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct TaskEventIndexes {
    projects: Mutex<HashMap<ProjectId, Arc<Mutex<TaskEventIndex>>>>,
}

impl TaskEventIndexes {
    async fn of(&self, id: &ProjectId) -> Arc<Mutex<TaskEventIndex>> {
        Arc::clone(self.projects.lock().await.entry(id.clone()).or_default())
    }

    /// When the processes of those sessions ended that are not judged yet.
    pub(super) async fn ended(
        &self,
        store: &dyn Store,
        id: &ProjectId,
    ) -> Result<HashMap<SessionId, (Seq, Timestamp)>, ControlError> {
        let index = self.of(id).await;
        let mut index = index.lock().await;
        index.catch_up(store, &Project::stream(id)).await?;
        Ok(index.ended.clone())
    }

    /// The newest events about a task before `before`, newest first, at most `limit`.
    pub(super) async fn of_task(
        &self,
        store: &dyn Store,
        id: &ProjectId,
        task: TaskId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<(Seq, Event)>, ControlError> {
        let stream = Project::stream(id);
        let index = self.of(id).await;
        let wanted: Vec<Seq> = {
            let mut index = index.lock().await;
            index.catch_up(store, &stream).await?;
            let known = index.by_task.get(&task).map(Vec::as_slice).unwrap_or_default();
            let end = known.partition_point(|seq| *seq < before);
            known[..end].iter().rev().take(limit).copied().collect()
        };
        let mut found = Vec::with_capacity(wanted.len());
        for seq in wanted {
            found.extend(events_after::<Board>(store, &stream, seq - 1, 1).await?);
        }
        Ok(found)
    }
}
