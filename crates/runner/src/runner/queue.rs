//! The merge queue: one candidate at a time, in the order in which work ended (V6).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use board::{Command, Generation, Merge, Session, SessionId, SessionStatus, Status, WorkspaceFacts};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::session::StopHandle;
use super::{Inner, SupervisorMessage};
use crate::verify::{Examined, Examiner, SessionWork, VerifyError};
use crate::workspace::Workspace;

/// How long it waits before it looks again whether the user's changes are still in the way.
const RECHECK: Duration = Duration::from_secs(2);

/// Where work waits to be examined.
#[derive(Debug)]
pub(super) struct MergeQueue {
    items: mpsc::UnboundedSender<QueueItem>,
    queued: Arc<Mutex<BTreeSet<SessionId>>>,
    shutdown: CancellationToken,
    worker: JoinHandle<()>,
}

#[derive(Debug)]
struct QueueItem {
    session: SessionId,
    generation: Generation,
    stop_handle: StopHandle,
}

impl MergeQueue {
    pub(super) fn open(inner: Arc<Inner>, messages: mpsc::UnboundedSender<SupervisorMessage>) -> Self {
        let (items, mut waiting) = mpsc::unbounded_channel::<QueueItem>();
        let queued = Arc::new(Mutex::new(BTreeSet::new()));
        let shutdown = CancellationToken::new();
        let (known, close) = (Arc::clone(&queued), shutdown.clone());
        let worker = tokio::spawn(async move {
            while let Some(item) = waiting.recv().await {
                let session = item.session;
                inner.examine(&item, &close).await;
                if close.is_cancelled() {
                    return;
                }
                known.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(&session);
                let _ = messages.send(SupervisorMessage::Examined(session));
            }
        });
        Self { items, queued, shutdown, worker }
    }

    /// Queues a session's work, unless it is queued already.
    pub(super) fn push(&self, session: SessionId, generation: Generation, stop_handle: StopHandle) {
        let new = self.queued.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(session);
        if new {
            let _ = self.items.send(QueueItem { session, generation, stop_handle });
        }
    }

    /// Ends the examination that runs, with its checks. The next runner examines the work again.
    pub(super) async fn close(self) {
        self.shutdown.cancel();
        drop(self.items);
        let _ = self.worker.await;
    }
}

impl Inner {
    /// Examines until there is a result for the board. There is none if the runner shuts down.
    async fn examine(&self, item: &QueueItem, shutdown: &CancellationToken) {
        let mut reported = None;
        let mut delay = RECHECK;
        while let Some(work) = self.work(item) {
            let cancellation = shutdown.child_token();
            let examiner =
                Examiner { project: &self.project, host: &self.host, work: &work, cancellation: &cancellation };
            let mut examining = std::pin::pin!(examiner.examine());
            let examined = tokio::select! {
                examined = &mut examining => examined,
                () = item.stop_handle.stopped().cancelled() => {
                    cancellation.cancel();
                    examining.await
                }
            };
            // A check that the shutdown has ended says nothing about the work, but a merge that happened must be
            // reported.
            let merged = matches!(&examined, Ok(Examined::Facts(facts)) if matches!(facts.merge, Merge::Merged { .. }));
            if shutdown.is_cancelled() && !merged {
                return;
            }
            let facts = match examined {
                Ok(Examined::Facts(facts)) => {
                    self.conclude(item, &work, facts).await;
                    return;
                }
                Ok(Examined::Waiting(facts)) => facts,
                Err(VerifyError::Unreadable { workspace, reason }) => {
                    self.warn(format!("{}: {reason}", workspace.display()));
                    self.set_aside(&work);
                    self.conclude(item, &work, facts_of_unreadable(reason)).await;
                    return;
                }
                Err(error) => {
                    self.warn(format!("{} cannot be examined: {error}", work.task.id));
                    delay = (delay * 2).min(Duration::from_secs(60));
                    facts_of_waiting(error.to_string())
                }
            };
            if reported.as_ref() != Some(&facts) {
                self.report_facts(item, facts.clone()).await;
                reported = Some(facts);
            }
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                () = item.stop_handle.stopped().cancelled() => {}
                () = shutdown.cancelled() => return,
            }
        }
    }

    /// What is to be examined; `None` if the board does not wait for it any more.
    fn work(&self, item: &QueueItem) -> Option<SessionWork> {
        let board = self.project.board();
        let session = board.session(item.session).ok()?;
        if session.status != SessionStatus::Verifying || session.generation != item.generation {
            return None;
        }
        let task = board.task(session.task()?).ok()?;
        let spec = board.agent(&session.agent).ok()?.spec.clone();
        let merge_of = |session: &Session| match &session.workspace.as_ref()?.merge {
            Merge::Merged { commit } => Some(commit.clone()),
            Merge::NotTried | Merge::Conflict { .. } | Merge::Waiting { .. } => None,
        };
        let of_task = board.sessions.values().filter(|session| session.task() == Some(task.id));
        Some(SessionWork {
            session: item.session,
            branch: task.branch_name(),
            base: task.base_commit.clone()?,
            reported_merges: of_task.filter_map(|session| merge_of(session)).collect(),
            task: task.clone(),
            spec,
            settings: Arc::clone(&board.settings),
        })
    }

    async fn report_facts(&self, item: &QueueItem, facts: WorkspaceFacts) {
        let (session, generation) = (item.session, item.generation);
        self.report(Command::ExamineWorkspace { session, generation, facts: Box::new(facts) }).await;
    }

    async fn conclude(&self, item: &QueueItem, work: &SessionWork, facts: WorkspaceFacts) {
        self.report_facts(item, facts).await;
        let board = self.project.board();
        if board.task(work.task.id).is_ok_and(|task| task.status == Status::Done) {
            // Done means merged: what is left in it is in the target (V8).
            self.remove_workspace(work).await;
        }
    }

    async fn remove_workspace(&self, work: &SessionWork) {
        let root = self.host.paths.workspace(work.task.id);
        if let Err(error) = crate::gc::remove_workspace(&self.host, &root, work.settings.isolation).await {
            self.warn(error.to_string());
        }
    }

    /// Nothing is thrown away: a workspace that git cannot read is kept under another name.
    fn set_aside(&self, work: &SessionWork) {
        let root = self.host.paths.workspace(work.task.id);
        let aside = root.with_extension(format!("broken-{}", work.session));
        let tree = Workspace::at(&root, &self.host.repository, work.settings.isolation).tree;
        // In worktree mode the files lie in the user's repository.
        let apart = (!tree.starts_with(&root)).then(|| tree.with_extension(format!("broken-{}", work.session)));
        let moved = apart.map_or(Ok(()), |apart| std::fs::rename(&tree, apart));
        if let Err(error) = moved.and_then(|()| std::fs::rename(&root, &aside)) {
            self.warn(format!("{}: {error}", root.display()));
        }
    }
}

fn facts_of_unreadable(reason: String) -> WorkspaceFacts {
    let check = board::CheckResult {
        name: "workspace can be read".into(),
        outcome: board::CheckOutcome::DidNotRun,
        output: reason,
    };
    WorkspaceFacts {
        commits: 0,
        changed: vec![".git".into()],
        outside_scope: Vec::new(),
        checks: vec![check],
        goals_unmet: Vec::new(),
        merge: Merge::NotTried,
    }
}

fn facts_of_waiting(reason: String) -> WorkspaceFacts {
    let merge = Merge::Waiting { reason, files: Vec::new() };
    WorkspaceFacts {
        commits: 0,
        changed: vec!["(not known yet)".into()],
        outside_scope: Vec::new(),
        checks: Vec::new(),
        goals_unmet: Vec::new(),
        merge,
    }
}
