//! Who carries out the supervisor's steps? Tasks, which are watched: a panic in one of them ends the runner loudly.

use std::collections::BTreeMap;
use std::sync::Arc;

use board::{Generation, OutputKind, SessionId, SpawnId};
use dispatch::{AtWork, NewSecret, Offer, Wanted, token_hash};
use git::{AsyncGit, branch_ref};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::messages::{Message, Step};
use super::session::StopHandle;
use super::{Inner, examine, session};
use crate::shim::{SessionLog, Shim, ShimState, StopReason, last_call_file};

pub(super) struct Executor {
    inner: Arc<Inner>,
    messages: mpsc::UnboundedSender<Message>,
    tasks: JoinSet<()>,
    /// How each process is ended.
    stop_handles: BTreeMap<SessionId, StopHandle>,
    /// The same for sessions that are being claimed.
    claims: BTreeMap<Offer, StopHandle>,
    examinations: BTreeMap<SessionId, CancellationToken>,
    /// Ends every examination.
    closing: CancellationToken,
}

impl Executor {
    pub(super) fn new(inner: Arc<Inner>, messages: mpsc::UnboundedSender<Message>) -> Self {
        Self {
            inner,
            messages,
            tasks: JoinSet::new(),
            stop_handles: BTreeMap::new(),
            claims: BTreeMap::new(),
            examinations: BTreeMap::new(),
            closing: CancellationToken::new(),
        }
    }

    /// Begins a step; returns the spawn of a session that is being claimed.
    pub(super) fn perform(&mut self, step: &Step) -> Option<SpawnId> {
        match step {
            Step::Claim { offer } => return self.claim(offer),
            Step::Adopt { state } => {
                let stop_handle = StopHandle::default();
                self.stop_handles.insert(state.session, stop_handle.clone());
                let (inner, messages) = (Arc::clone(&self.inner), self.messages.clone());
                self.tasks.spawn(session::adopt(inner, state.clone(), stop_handle, messages));
            }
            Step::Stop { session } => {
                if let Some(handle) = self.stop_handles.get(session) {
                    handle.stop();
                }
            }
            Step::Finish { session } => {
                if let Some(handle) = self.stop_handles.get(session) {
                    handle.finish();
                }
            }
            // Only the supervisor has to remember it.
            Step::EndBy { .. } => {}
            Step::NoteCall { session, .. } => {
                let _ = std::fs::write(last_call_file(&self.inner.host.paths.session(*session)), b"");
            }
            Step::Examine { session, generation } => self.examine(*session, *generation),
            Step::BreakOff { session } => {
                if let Some(examination) = self.examinations.get(session) {
                    examination.cancel();
                }
            }
            Step::CheckTarget => {
                let (inner, messages, closing) =
                    (Arc::clone(&self.inner), self.messages.clone(), self.closing.child_token());
                self.tasks.spawn(async move {
                    examine::check_target(&inner, &closing).await;
                    let _ = messages.send(Message::TargetChecked);
                });
            }
            Step::Forget { session } => drop(self.stop_handles.remove(session)),
        }
        None
    }

    fn claim(&mut self, offer: &Offer) -> Option<SpawnId> {
        let made = NewSecret::for_session(&self.inner.host.project)
            .and_then(|credential| Ok((credential, NewSecret::generate("spn")?)));
        let (credential, spawn) = match made {
            Ok(made) => made,
            Err(error) => {
                self.inner.warn(format!("no secret could be made: {error}"));
                let _ = self.messages.send(Message::NotClaimed { offer: offer.clone() });
                return None;
            }
        };
        let spawn: SpawnId = spawn.reveal()[..28].parse().expect("letters and digits are a name");
        let claim =
            dispatch::Claim { offer: offer.clone(), spawn: spawn.clone(), credential: token_hash(credential.reveal()) };
        let stop_handle = StopHandle::default();
        self.claims.insert(offer.clone(), stop_handle.clone());
        let (inner, messages) = (Arc::clone(&self.inner), self.messages.clone());
        self.tasks.spawn(session::run(inner, claim, credential, stop_handle, messages));
        Some(spawn)
    }

    fn examine(&mut self, session: SessionId, generation: Generation) {
        let cancellation = self.closing.child_token();
        self.examinations.insert(session, cancellation.clone());
        let (inner, messages) = (Arc::clone(&self.inner), self.messages.clone());
        self.tasks.spawn(async move {
            let outcome = examine::examine(&inner, session, generation, &cancellation).await;
            let _ = messages.send(Message::Examined { session, outcome });
        });
    }

    /// What a message means for the handles kept here.
    pub(super) fn happened(&mut self, message: &Message) {
        match message {
            Message::Claimed { offer, session, .. } => {
                if let Some(handle) = self.claims.remove(offer) {
                    self.stop_handles.insert(*session, handle);
                }
            }
            Message::NotClaimed { offer } => drop(self.claims.remove(offer)),
            Message::Ended { session } => drop(self.stop_handles.remove(session)),
            Message::Examined { session, .. } => drop(self.examinations.remove(session)),
            Message::Adopted { .. } | Message::TargetChecked => {}
        }
    }

    /// Renews leases beside everything else: a store that does not answer holds nothing up.
    pub(super) fn renew(&mut self, sessions: Vec<(SessionId, Generation)>) {
        if sessions.is_empty() {
            return;
        }
        let inner = Arc::clone(&self.inner);
        self.tasks.spawn(async move {
            let quiet = |(id, _): &(SessionId, Generation)| {
                Some((*id, SessionLog::of(&inner.host.paths.session(*id), OutputKind::Raw).quiet()?))
            };
            let quiet = sessions.iter().filter_map(quiet).collect();
            if let Err(error) = inner.dispatch().renew(&AtWork { sessions, quiet }).await {
                inner.warn(format!("leases were not renewed: {error}"));
            }
        });
    }

    /// Waits for a task to end; `None` if there is none. A panic is an error.
    pub(super) async fn ended(&mut self) -> Option<Result<(), JoinError>> {
        self.tasks.join_next().await
    }

    /// The commit that the target is at now.
    pub(super) async fn target(&self, branch: &str) -> Option<String> {
        self.inner.host.follow(branch).await.ok()?;
        AsyncGit::in_repository(&self.inner.host.repository).commit(&branch_ref(branch)).await
    }

    /// Ends shims whose session is over on the board, or was never there.
    pub(super) async fn stop_orphans(&self, wanted: &Wanted) {
        let entries = std::fs::read_dir(self.inner.host.paths.sessions()).into_iter().flatten().flatten();
        for entry in entries {
            let id = entry.file_name().to_str().and_then(|name| name.parse::<SessionId>().ok());
            if wanted.sessions.iter().any(|state| Some(state.session) == id) {
                continue;
            }
            if let Ok(ShimState::Running(shim)) = Shim::find(&entry.path(), "") {
                shim.stop(StopReason::Stopped);
                shim.ended().await;
            }
        }
    }

    pub(super) fn break_off_examinations(&self) {
        self.closing.cancel();
    }

    /// Ends the tasks that are left. Those that watch agents leave them to their shims.
    pub(super) async fn close(&mut self) {
        self.tasks.shutdown().await;
    }
}
