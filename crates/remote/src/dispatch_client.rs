//! How does a runner on another host reach the board? As in the same process, over HTTP; every question may be asked twice.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use board::{
    CheckResult, Examination, ExaminationStep, Generation, ProjectId, RunnerStatus, Seq, SessionId, Timestamp,
};
use control::RunnerHeartbeat;
use dispatch::{
    AtWork, Claim, Dispatch, DispatchError, ExamineOrder, FactReport, Inventory, TargetOrder, Wanted, WorkOrder,
};
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, RemoteError};
use crate::protocol::{
    AnswerClaim, AnswerExamineOrder, AnswerStep, AnswerTargetOrder, AnswerWanted, AskClaim, AskRegister,
    AskReportTarget, AskStep, AskWanted, Nothing, Registered, SessionRef,
};

/// For so long a claim is repeated whose answer was lost. It is the same claim, so at most one session comes of it.
const CLAIM_FOR: Duration = Duration::from_secs(20);
const CLAIM_AGAIN: Duration = Duration::from_millis(500);

/// How often a runner that is not known any more asks whether it is again.
const UNKNOWN_PAUSE: Duration = Duration::from_secs(5);

/// What a runner says of itself to its servers, whatever project it works for.
#[derive(Debug)]
pub struct RunnerSelf {
    heartbeat: RunnerHeartbeat,
    projects: Mutex<BTreeMap<ProjectId, WorksFor>>,
    /// The token is not good any more. Nothing that runs is wanted.
    removed: CancellationToken,
}

/// How it stands with a project.
#[derive(Debug)]
enum WorksFor {
    /// As its runner writes into a file.
    File(PathBuf),
    /// It cannot work for the project, because of this.
    Trouble(String),
}

impl WorksFor {
    fn status(&self) -> RunnerStatus {
        match self {
            Self::File(file) => {
                std::fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
            }
            Self::Trouble(trouble) => RunnerStatus { trouble: Some(trouble.clone()), ..RunnerStatus::default() },
        }
    }
}

impl RunnerSelf {
    pub fn new(heartbeat: RunnerHeartbeat) -> Arc<Self> {
        Arc::new(Self { heartbeat, projects: Mutex::default(), removed: CancellationToken::new() })
    }

    /// Cancelled when a server says that the token is not good any more.
    pub fn removed(&self) -> &CancellationToken {
        &self.removed
    }

    /// From now on it works for a project; the file says how it stands.
    pub fn works_for(&self, project: &ProjectId, status: PathBuf) {
        self.projects().insert(project.clone(), WorksFor::File(status));
    }

    /// It should work for a project, and cannot.
    pub fn cannot_work_for(&self, project: &ProjectId, trouble: String) {
        self.projects().insert(project.clone(), WorksFor::Trouble(trouble));
    }

    pub fn works_no_more_for(&self, project: &ProjectId) {
        self.projects().remove(project);
    }

    /// What it says now.
    pub fn heartbeat(&self) -> RunnerHeartbeat {
        let projects = self.projects().iter().map(|(project, works)| (project.clone(), works.status())).collect();
        RunnerHeartbeat { projects, ..self.heartbeat.clone() }
    }

    fn projects(&self) -> std::sync::MutexGuard<'_, BTreeMap<ProjectId, WorksFor>> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Comes to a server.
    pub async fn register(&self, connection: &Connection) -> Result<Registered, RemoteError> {
        connection.ask("/register", &AskRegister { heartbeat: self.heartbeat() }).await
    }

    /// Says that it goes.
    pub async fn leave(&self, connection: &Connection) -> Result<(), RemoteError> {
        connection.ask::<Nothing>("/leave", &Nothing {}).await.map(drop)
    }
}

/// The port of a runner on another host to one project.
#[derive(Clone, Debug)]
pub struct RemoteDispatch {
    connection: Connection,
    runner: Arc<RunnerSelf>,
    /// Where the project's routes are.
    base: String,
    once: Option<OneSession>,
}

/// A runner that serves one session, of whatever project, and ends.
#[derive(Clone, Debug, Default)]
pub struct OneSession {
    inner: Arc<One>,
}

#[derive(Debug, Default)]
struct One {
    /// The project whose offer is being claimed, or was.
    of: Mutex<Option<String>>,
    claimed: CancellationToken,
    over: CancellationToken,
}

impl OneSession {
    /// Waits until the session is over, and its work judged.
    pub async fn is_over(&self) {
        self.inner.over.cancelled().await;
    }

    /// Only one claim is made; `false` if another project was first.
    fn begin(&self, base: &str) -> bool {
        let mut of = self.inner.of.lock().unwrap_or_else(PoisonError::into_inner);
        of.get_or_insert_with(|| base.to_owned()) == base && !self.inner.claimed.is_cancelled()
    }

    fn ended(&self, claimed: bool) {
        if claimed {
            self.inner.claimed.cancel();
        } else {
            *self.inner.of.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// What is wanted, once the session was claimed, is to end it and nothing else.
    fn limit(&self, base: &str, wanted: &mut Wanted) {
        if !self.inner.claimed.is_cancelled() {
            wanted.offers.truncate(1);
            return;
        }
        wanted.offers.clear();
        let own = self.inner.of.lock().unwrap_or_else(PoisonError::into_inner).as_deref() == Some(base);
        if own && wanted.sessions.is_empty() && wanted.examine.is_empty() {
            self.inner.over.cancel();
        }
    }
}

impl RemoteDispatch {
    pub fn new(connection: Connection, runner: Arc<RunnerSelf>, project: &ProjectId) -> Self {
        Self { connection, runner, base: format!("/projects/{project}"), once: None }
    }

    /// It claims one session, whatever project is first, and no other.
    #[must_use]
    pub fn only_one(self, once: OneSession) -> Self {
        Self { once: Some(once), ..self }
    }

    async fn ask<A: serde::de::DeserializeOwned>(
        &self,
        what: &str,
        asked: &(impl serde::Serialize + Sync),
    ) -> Result<A, RemoteError> {
        let answer = self.connection.ask(&format!("{}/{what}", self.base), asked).await;
        if let Err(error) = &answer
            && error.is_unknown_token()
        {
            self.runner.removed.cancel();
        }
        answer
    }

    async fn try_claim(&self, claim: &Claim) -> Result<Option<WorkOrder>, DispatchError> {
        let asked = AskClaim { claim: claim.clone(), offer: self.runner.heartbeat.offer.clone() };
        let begun = Instant::now();
        loop {
            match self.ask::<AnswerClaim>("claim", &asked).await {
                Ok(AnswerClaim { order }) => return Ok(order),
                Err(RemoteError::Unreachable(_)) if begun.elapsed() < CLAIM_FOR => {
                    tokio::time::sleep(CLAIM_AGAIN).await;
                }
                Err(error) => return Err(unheard(error)),
            }
        }
    }

    /// What has to be known to remove what nobody needs any more.
    pub async fn inventory(&self) -> Result<Inventory, RemoteError> {
        self.ask("inventory", &Nothing {}).await
    }
}

/// A project that was removed is closed; whatever else is refused may be asked again.
fn unheard(error: RemoteError) -> DispatchError {
    if error.is("not_found") { DispatchError::Closed } else { DispatchError::Unavailable(error.to_string()) }
}

/// What is wanted of a runner that was removed: to end all that it has.
fn nothing() -> Wanted {
    Wanted {
        revision: Seq::MAX,
        now: Timestamp(0),
        offers: Vec::new(),
        next_offer: None,
        sessions: Vec::new(),
        examine: Vec::new(),
        slots: None,
        target_branch: String::new(),
        target_red: None,
    }
}

#[async_trait]
impl Dispatch for RemoteDispatch {
    async fn wanted(&self, after: Option<Seq>) -> Result<Wanted, DispatchError> {
        let after = match after {
            // It was removed. Whether it is known again is asked now and then.
            Some(Seq::MAX) => {
                tokio::time::sleep(UNKNOWN_PAUSE).await;
                None
            }
            after => after,
        };
        let asked = AskWanted { after, heartbeat: self.runner.heartbeat() };
        match self.ask::<AnswerWanted>("wanted", &asked).await {
            Ok(AnswerWanted { mut wanted }) => {
                if let Some(once) = &self.once {
                    once.limit(&self.base, &mut wanted);
                }
                Ok(wanted)
            }
            Err(error) if error.is_unknown_token() => Ok(nothing()),
            Err(error) => Err(unheard(error)),
        }
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<WorkOrder>, DispatchError> {
        let Some(once) = &self.once else { return self.try_claim(claim).await };
        if !once.begin(&self.base) {
            return Ok(None);
        }
        let claimed = self.try_claim(claim).await;
        once.ended(matches!(claimed, Ok(Some(_))));
        claimed
    }

    async fn renew(&self, at_work: &AtWork) -> Result<(), DispatchError> {
        self.ask::<Nothing>("renew", at_work).await.map(drop).map_err(unheard)
    }

    async fn report(&self, report: &FactReport) -> Result<(), DispatchError> {
        match self.ask::<Nothing>("fact", report).await {
            Ok(Nothing {}) => Ok(()),
            // Nobody waits for it, and this runner ends. What it has to tell is on its disk, should it be let in again.
            Err(error) if error.is_unknown_token() => Ok(()),
            Err(error) => Err(unheard(error)),
        }
    }

    async fn report_target(&self, commit: &str, results: &[CheckResult]) -> Result<(), DispatchError> {
        let asked = AskReportTarget { commit: commit.to_owned(), results: results.to_vec() };
        self.ask::<Nothing>("target-checks", &asked).await.map(drop).map_err(unheard)
    }

    async fn target_order(&self) -> Result<Option<TargetOrder>, DispatchError> {
        let answer: AnswerTargetOrder = self.ask("target-order", &Nothing {}).await.map_err(unheard)?;
        Ok(answer.order)
    }

    async fn examine_order(
        &self,
        session: SessionId,
        generation: Generation,
    ) -> Result<Option<ExamineOrder>, DispatchError> {
        let asked = SessionRef { session, generation };
        let answer: AnswerExamineOrder = self.ask("examine-order", &asked).await.map_err(unheard)?;
        Ok(answer.order)
    }

    async fn examination_step(
        &self,
        session: SessionId,
        generation: Generation,
        number: u32,
        found: Option<&Examination>,
    ) -> Result<Option<ExaminationStep>, DispatchError> {
        let asked = AskStep { of: SessionRef { session, generation }, number, found: found.cloned() };
        let answer: AnswerStep = self.ask("examination-step", &asked).await.map_err(unheard)?;
        Ok(answer.step)
    }
}
