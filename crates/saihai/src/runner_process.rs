//! What runs in the process of `saihai runner`? A runner for each project of the servers, and what they need together.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use board::{ProjectId, Timestamp};
use control::{Clock as _, SystemClock};
use remote::{
    Connection, Forwarder, OneSession, Origin, ProjectInfo, Registered, RemoteDispatch, RunnerSelf, ServersRepository,
    ship_output,
};
use runner::{
    AtShutdown, GitRemote, Mirror, Notice, Options, Runner, RunnerError, RunnerHost, RunnerPaths, SharedSlots, Upstream,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::failure::Failure;
use crate::up_process::{acquire_runner_lock, current_user, try_sandbox};

/// How often it is asked for projects that are new.
const LOOK_FOR_PROJECTS: Duration = Duration::from_secs(15);

/// How often what nobody needs any more is removed.
const CLEAN_UP: Duration = Duration::from_secs(3600);

/// How long agents have to end that nobody wants any more, and output to be sent at the end.
const LAST_STEPS: Duration = Duration::from_secs(30);

/// What the user has chosen.
#[derive(Clone, Debug)]
pub(crate) struct RunnerOptions {
    pub(crate) max_parallel: usize,
    pub(crate) disk_floor: u64,
    pub(crate) at_shutdown: AtShutdown,
    /// Serve one session, and end.
    pub(crate) once: Option<OneSession>,
}

/// The runner of this host.
pub(crate) struct RunnerProcess {
    context: Context,
    connection: Connection,
    me: Arc<RunnerSelf>,
    options: RunnerOptions,
    slots: Arc<SharedSlots>,
    mcp_url: String,
    projects: BTreeMap<ProjectId, RunningProject>,
    /// Projects that cannot be run here, as was told.
    troubles: BTreeMap<ProjectId, String>,
    told: mpsc::UnboundedSender<(ProjectId, Notice)>,
}

/// The runner of one project.
struct RunningProject {
    ending: CancellationToken,
    ran: JoinHandle<Result<(), RunnerError>>,
    beside: Vec<JoinHandle<()>>,
    /// Held while it runs.
    _lock: File,
}

/// Why the process ends.
#[derive(Debug)]
pub(crate) enum Ending {
    /// It was told to.
    Told,
    /// It has served its one session.
    Served,
    /// Its token is not good any more.
    Removed,
}

impl RunnerProcess {
    pub(crate) fn new(
        context: Context,
        connection: Connection,
        me: Arc<RunnerSelf>,
        options: RunnerOptions,
        told: mpsc::UnboundedSender<(ProjectId, Notice)>,
    ) -> Self {
        let slots = Arc::new(SharedSlots::new(options.max_parallel));
        let (projects, troubles) = (BTreeMap::new(), BTreeMap::new());
        Self { context, connection, me, options, slots, mcp_url: String::new(), projects, troubles, told }
    }

    /// Works until it is told to end.
    pub(crate) async fn run(
        mut self,
        registered: Registered,
        shutdown_signal: impl Future<Output = ()>,
    ) -> Result<Ending, Failure> {
        let forwarding = CancellationToken::new();
        let forwarded = self.forward(forwarding.clone()).await?;
        let mut registered = Some(registered);
        let once = self.options.once.clone();
        let served = async {
            match &once {
                Some(once) => once.is_over().await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(shutdown_signal, served);
        let removed = self.me.removed().clone();
        let ended = loop {
            if let Some(Registered { projects, .. }) = registered.take() {
                self.follow(projects).await;
            }
            tokio::select! {
                () = &mut shutdown_signal => break Ok(Ending::Told),
                () = &mut served => break Ok(Ending::Served),
                () = removed.cancelled() => break Ok(Ending::Removed),
                failed = self.failed() => break Err(failed),
                () = tokio::time::sleep(LOOK_FOR_PROJECTS) => {
                    registered = self.me.register(&self.connection).await.ok();
                }
            }
        };
        if matches!(ended, Ok(Ending::Removed)) {
            self.wait_for_agents().await;
        }
        self.end().await;
        forwarding.cancel();
        let _ = tokio::time::timeout(LAST_STEPS, forwarded).await;
        if !matches!(ended, Ok(Ending::Removed)) {
            let _ = tokio::time::timeout(Duration::from_secs(5), self.me.leave(&self.connection)).await;
        }
        ended
    }

    /// Listens for the agents of this host.
    async fn forward(&mut self, ending: CancellationToken) -> Result<JoinHandle<()>, Failure> {
        let file = self.context.home.join("runner-address");
        let before = std::fs::read_to_string(&file).ok().and_then(|address| address.trim().parse().ok());
        let forwarder = Forwarder::bind(self.connection.clone(), before).await.map_err(|error| {
            Failure::failed(
                self.context
                    .say(format!("agents cannot be served: {error}"), format!("エージェントに応答できません: {error}")),
                self.context.try_again(),
            )
        })?;
        let _ = std::fs::write(&file, forwarder.address().to_string());
        self.mcp_url = forwarder.mcp_url();
        Ok(tokio::spawn(forwarder.serve(ending)))
    }

    /// Begins with the projects that are new, and leaves those that are gone.
    async fn follow(&mut self, projects: Vec<ProjectInfo>) {
        for info in projects {
            if self.projects.contains_key(&info.id) {
                continue;
            }
            let id = info.id.clone();
            match self.begin(info).await {
                Ok(running) => {
                    self.troubles.remove(&id);
                    self.projects.insert(id, running);
                }
                Err(trouble) => {
                    self.me.cannot_work_for(&id, trouble.clone());
                    // Tried again with every look, and told once.
                    if self.troubles.insert(id.clone(), trouble.clone()).as_ref() != Some(&trouble) {
                        let _ = self.told.send((id, Notice::Problem(trouble)));
                    }
                }
            }
        }
    }

    async fn begin(&self, info: ProjectInfo) -> Result<RunningProject, String> {
        let ProjectInfo { id, began, target_branch, sandbox, origin } = info;
        let paths = RunnerPaths::new(&self.context.home, &id);
        let lock = acquire_runner_lock(&self.context, &paths).await.map_err(|failure| failure.message)?;
        try_sandbox(&self.context, sandbox).await.map_err(|failure| format!("{} {}", failure.message, failure.hint))?;
        let mirror = Mirror::open(&paths.root().join("mirror")).await.map_err(|error| error.to_string())?;
        let mirror = Arc::new(mirror);
        let upstream: Arc<dyn Upstream> = match origin {
            Origin::Remote(url) => Arc::new(GitRemote::new(Arc::clone(&mirror), url)),
            Origin::Server => Arc::new(ServersRepository::new(self.connection.clone(), Arc::clone(&mirror), &id)),
            Origin::Missing => {
                return Err(self.context.say(
                    "No server has its repository. Set `remote` in .saihai/config.yaml to one that every host can reach.",
                    "どのサーバーにもリポジトリがありません。すべてのホストから届くものを .saihai/config.yaml の `remote` に設定してください。",
                ));
            }
        };
        upstream.fetch_branch(&target_branch).await?;
        let repository = mirror.directory().to_owned();
        let host = RunnerHost {
            project: id.clone(),
            began,
            repository,
            paths: paths.clone(),
            user: current_user(),
            upstream: Some(upstream),
        };
        let mut dispatch = RemoteDispatch::new(self.connection.clone(), Arc::clone(&self.me), &id);
        if let Some(once) = &self.options.once {
            dispatch = dispatch.only_one(once.clone());
        }
        let options = Options {
            max_parallel: Some(self.options.max_parallel),
            shared_slots: Some(Arc::clone(&self.slots)),
            has: self.me.heartbeat().offer,
            disk_floor: self.options.disk_floor,
            only: None,
            most_sessions: None,
            mcp_url: self.mcp_url.clone(),
            at_shutdown: self.options.at_shutdown,
        };
        self.me.works_for(&id, paths.status());
        let (runner, notices) = Runner::new(Arc::new(dispatch.clone()), host.clone(), options);
        let ending = CancellationToken::new();
        let shipping = ship_output(self.connection.clone(), id.clone(), paths, ending.clone());
        let beside = vec![
            tokio::spawn(shipping),
            tokio::spawn(clean_up(host, dispatch, self.told.clone(), ending.clone())),
            tokio::spawn(pass_on(id, notices, self.told.clone())),
        ];
        Ok(RunningProject { ran: tokio::spawn(runner.run(ending.clone())), ending, beside, _lock: lock })
    }

    /// Waits until a runner has failed. One whose project is gone is forgotten.
    async fn failed(&mut self) -> Failure {
        loop {
            let finished =
                self.projects.iter().find(|(_, running)| running.ran.is_finished()).map(|(id, _)| id.clone());
            let Some(id) = finished else {
                tokio::time::sleep(Duration::from_millis(500)).await;
                continue;
            };
            let Some(running) = self.projects.remove(&id) else { continue };
            running.ending.cancel();
            let error = match running.ran.await {
                Ok(Ok(()) | Err(RunnerError::BoardClosed)) => {
                    self.me.works_no_more_for(&id);
                    continue;
                }
                Ok(Err(RunnerError::Panicked(error))) | Err(error) => error,
            };
            return Failure::failed(
                self.context.say(
                    format!("the runner of {id} ended: {error}"),
                    format!("{id} のランナーが終了しました: {error}"),
                ),
                self.context
                    .say("Start it again; nothing is lost.", "もう一度起動してください。失われたものはありません。"),
            );
        }
    }

    /// Nothing that it runs is wanted any more: that is ended before it goes.
    async fn wait_for_agents(&self) {
        let all_ended = async {
            while self.me.heartbeat().projects.values().any(|status| !status.busy.is_empty()) {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let _ = tokio::time::timeout(LAST_STEPS, all_ended).await;
    }

    async fn end(&mut self) {
        let projects = std::mem::take(&mut self.projects);
        projects.values().for_each(|running| running.ending.cancel());
        for running in projects.into_values() {
            let _ = running.ran.await;
            for task in running.beside {
                let _ = tokio::time::timeout(LAST_STEPS, task).await;
            }
        }
    }
}

async fn pass_on(
    id: ProjectId,
    mut notices: mpsc::UnboundedReceiver<Notice>,
    told: mpsc::UnboundedSender<(ProjectId, Notice)>,
) {
    while let Some(notice) = notices.recv().await {
        let _ = told.send((id.clone(), notice));
    }
}

/// Removes what nobody needs any more, by the rules of `saihai gc` (R9): nobody types that here.
async fn clean_up(
    host: RunnerHost,
    dispatch: RemoteDispatch,
    told: mpsc::UnboundedSender<(ProjectId, Notice)>,
    ending: CancellationToken,
) {
    loop {
        if let Ok(inventory) = dispatch.inventory().await {
            let now: Timestamp = SystemClock.now();
            for finding in runner::gc::find(&host, &inventory, now).await.into_iter().filter(|finding| finding.remove) {
                if let Err(error) = runner::gc::remove(&host, inventory.settings.isolation, &finding).await {
                    let _ = told.send((host.project.clone(), Notice::Problem(error.to_string())));
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(CLEAN_UP) => {}
            () = ending.cancelled() => return,
        }
    }
}

/// The id of this installation: two may not work under one token.
pub(crate) fn home_id(home: &std::path::Path) -> std::io::Result<String> {
    let path: PathBuf = home.join("runner-id");
    if let Some(known) = std::fs::read_to_string(&path).ok().filter(|known| !known.trim().is_empty()) {
        return Ok(known.trim().to_owned());
    }
    let fresh = control::NewSecret::generate("run").map_err(std::io::Error::other)?;
    let id = fresh.reveal()[..16].to_owned();
    std::fs::write(&path, &id)?;
    Ok(id)
}
