//! Which events are about a task? An index of the log, read once and then kept up.

use std::collections::HashMap;
use std::sync::Arc;

use board::{Board, Event, ProjectId, Seq, SessionId, TaskId, What};
use control::{ControlError, Project, events_after};
use store::Store;
use tokio::sync::Mutex;

const PAGE: usize = 4096;

/// Where the events about each task of a project are.
#[derive(Debug, Default)]
struct Chronicle {
    upto: Seq,
    by_task: HashMap<TaskId, Vec<Seq>>,
    task_of: HashMap<SessionId, TaskId>,
}

impl Chronicle {
    fn note(&mut self, seq: Seq, event: &Event) {
        if let What::SessionClaimed { session, purpose, .. } = &event.what
            && let Some(task) = purpose.task()
        {
            self.task_of.insert(*session, task);
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
}

#[derive(Debug, Default)]
pub(super) struct Chronicles {
    projects: Mutex<HashMap<ProjectId, Arc<Mutex<Chronicle>>>>,
}

impl Chronicles {
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
        let chronicle = Arc::clone(self.projects.lock().await.entry(id.clone()).or_default());
        let wanted: Vec<Seq> = {
            let mut chronicle = chronicle.lock().await;
            loop {
                let page = events_after::<Board>(store, &stream, chronicle.upto, PAGE).await?;
                page.iter().for_each(|(seq, event)| chronicle.note(*seq, event));
                if page.len() < PAGE {
                    break;
                }
            }
            let known = chronicle.by_task.get(&task).map(Vec::as_slice).unwrap_or_default();
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
