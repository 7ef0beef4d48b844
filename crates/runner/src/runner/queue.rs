//! The merge queue: one candidate at a time, in the order in which work ended (V6).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use board::{Command, Generation, Merge, Session, SessionId, SessionStatus, Status, WorkspaceFacts};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::session::Stopper;
use super::{Done, Inner};
use crate::verify::{Examined, Examiner, VerifyError, Work};
use crate::workspace::Workspace;

/// How long it waits before it looks again whether the user's files are out of the way.
const WAITING: Duration = Duration::from_secs(2);

/// Where work waits to be examined.
#[derive(Debug)]
pub(super) struct Queue {
    items: mpsc::UnboundedSender<Item>,
    queued: Arc<Mutex<BTreeSet<SessionId>>>,
    shutdown: CancellationToken,
    worker: JoinHandle<()>,
}

#[derive(Debug)]
struct Item {
    session: SessionId,
    generation: Generation,
    stopper: Stopper,
}

impl Queue {
    pub(super) fn open(inner: Arc<Inner>, done: mpsc::UnboundedSender<Done>) -> Self {
        let (items, mut waiting) = mpsc::unbounded_channel::<Item>();
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
                let _ = done.send(Done::Examined(session));
            }
        });
        Self { items, queued, shutdown, worker }
    }

    /// Queues work, once.
    pub(super) fn push(&self, session: SessionId, generation: Generation, stopper: Stopper) {
        let new = self.queued.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(session);
        if new {
            let _ = self.items.send(Item { session, generation, stopper });
        }
    }

    /// Ends what is being examined, checks included. The next runner begins anew.
    pub(super) async fn close(self) {
        self.shutdown.cancel();
        drop(self.items);
        let _ = self.worker.await;
    }
}

impl Inner {
    /// Examines until there is something to tell the board, and tells it; nothing if it is broken off.
    async fn examine(&self, item: &Item, shutdown: &CancellationToken) {
        let mut told = None;
        let mut patience = WAITING;
        while let Some(work) = self.work(item) {
            let called_off = shutdown.child_token();
            let examiner = Examiner { project: &self.project, host: &self.host, work: &work, called_off: &called_off };
            let mut examining = std::pin::pin!(examiner.examine());
            let examined = tokio::select! {
                examined = &mut examining => examined,
                () = item.stopper.stopped().cancelled() => {
                    called_off.cancel();
                    examining.await
                }
            };
            // A check that was broken off says nothing about the work; a merge that happened does.
            let merged = matches!(&examined, Ok(Examined::Facts(facts)) if matches!(facts.merge, Merge::Merged { .. }));
            if shutdown.is_cancelled() && !merged {
                return;
            }
            let facts = match examined {
                Ok(Examined::Facts(facts)) => {
                    self.judged(item, &work, facts).await;
                    return;
                }
                Ok(Examined::Waiting(facts)) => facts,
                Err(VerifyError::Unreadable { workspace, reason }) => {
                    self.trouble(format!("{}: {reason}", workspace.display()));
                    self.set_aside(&work);
                    self.judged(item, &work, unreadable(reason)).await;
                    return;
                }
                Err(error) => {
                    self.trouble(format!("{} cannot be examined: {error}", work.task.id));
                    patience = (patience * 2).min(Duration::from_secs(60));
                    waiting(error.to_string())
                }
            };
            if told.as_ref() != Some(&facts) {
                self.tell(item, facts.clone()).await;
                told = Some(facts);
            }
            tokio::select! {
                () = tokio::time::sleep(patience) => {}
                () = item.stopper.stopped().cancelled() => {}
                () = shutdown.cancelled() => return,
            }
        }
    }

    /// What is to be examined; `None` if that is settled.
    fn work(&self, item: &Item) -> Option<Work> {
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
        Some(Work {
            session: item.session,
            branch: task.branch.clone().unwrap_or_else(|| task.default_branch()),
            base: task.base_commit.clone()?,
            known_merges: of_task.filter_map(|session| merge_of(session)).collect(),
            task: task.clone(),
            spec,
            settings: Arc::clone(&board.settings),
        })
    }

    async fn tell(&self, item: &Item, facts: WorkspaceFacts) {
        let (session, generation) = (item.session, item.generation);
        self.report(Command::ExamineWorkspace { session, generation, facts: Box::new(facts) }).await;
    }

    async fn judged(&self, item: &Item, work: &Work, facts: WorkspaceFacts) {
        self.tell(item, facts).await;
        let board = self.project.board();
        if board.task(work.task.id).is_ok_and(|task| task.status == Status::Done) {
            // Done means merged: what is left in it is in the target (V8).
            self.retire(work).await;
        }
    }

    async fn retire(&self, work: &Work) {
        let place = self.host.paths.workspace(work.task.id);
        if let Err(error) = crate::gc::remove_workspace(&self.host, &place, work.settings.isolation).await {
            self.trouble(error.to_string());
        }
    }

    /// Nothing is thrown away: a workspace that git cannot read is kept under another name.
    fn set_aside(&self, work: &Work) {
        let place = self.host.paths.workspace(work.task.id);
        let aside = place.with_extension(format!("broken-{}", work.session));
        let tree = Workspace::at(&place, &self.host.repository, work.settings.isolation).tree;
        // A worktree lies elsewhere.
        let apart = (!tree.starts_with(&place)).then(|| tree.with_extension(format!("broken-{}", work.session)));
        let moved = apart.map_or(Ok(()), |apart| std::fs::rename(&tree, apart));
        if let Err(error) = moved.and_then(|()| std::fs::rename(&place, &aside)) {
            self.trouble(format!("{}: {error}", place.display()));
        }
    }
}

fn unreadable(reason: String) -> WorkspaceFacts {
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

fn waiting(reason: String) -> WorkspaceFacts {
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
