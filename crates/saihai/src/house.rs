//! The server and the runner of a project, in one process.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use board::{Event, RunnerId, TaskId};
use control::{Control, Follower, NewSecret, Project};
use mcp::Mcp;
use runner::{Notice, Options, Runner, RunnerHost, RunnerPaths};
use rustix::fs::{FlockOperation, flock};
use server::{HttpServer, Listen, ServerState};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use web::Web;

use crate::commands::serve::closed;
use crate::context::{Context, Opened};
use crate::failure::{Exit, Failure};
use crate::premises::OnThisMachine;
use crate::presence::Presence;
use crate::runner_workspaces::RunnerWorkspaces;

/// Where it is served if nobody says otherwise.
pub(crate) const ADDRESS: &str = "127.0.0.1:4700";

/// How long calls that are being answered have when it ends.
const GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// How many tenths of a second another runner may take to be gone.
const PATIENCE: u32 = 20;

#[derive(Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) listen: Option<Listen>,
    pub(crate) allow_host: Vec<String>,
    pub(crate) max_parallel: Option<usize>,
    pub(crate) disk_floor: Option<u64>,
    pub(crate) only: Option<TaskId>,
}

/// All that runs a project. Not before [`House::run`].
pub(crate) struct House {
    server: Arc<ServerState>,
    pub(crate) web: Web,
    http_server: HttpServer,
    runner: Runner,
    pub(crate) notices: mpsc::UnboundedReceiver<Notice>,
    pub(crate) project: Project,
    pub(crate) events: Events,
    /// Held while it runs.
    _lock: File,
    _presence: Option<Presence>,
}

/// The events of a project, as they come.
pub(crate) struct Events {
    project: Project,
    follower: Follower<board::Board>,
}

impl Events {
    pub(crate) fn new(project: Project) -> Self {
        let follower = project.follow(project.board().seq);
        Self { project, follower }
    }

    pub(crate) fn project(&self) -> &Project {
        &self.project
    }

    /// The board after the newest event.
    pub(crate) fn board(&self) -> Arc<board::Board> {
        self.follower.state()
    }

    /// Waits for an event; `None` when there will be none any more.
    pub(crate) async fn changed(&mut self) -> Option<()> {
        self.follower.changed().await
    }

    /// What has happened since the last time, without waiting.
    pub(crate) async fn new_ones(&mut self) -> Vec<Event> {
        let mut found = Vec::new();
        while let Ok(page) = self.follower.events(500).await {
            if page.is_empty() {
                break;
            }
            found.extend(page.into_iter().map(|(_, event)| event));
        }
        found
    }
}

impl House {
    /// Takes the project's place and opens the door. Nothing is started yet.
    pub(crate) async fn open(context: &Context, opened: Opened, wishes: Wishes) -> Result<Self, Failure> {
        let paths = RunnerPaths::new(&context.home, &opened.id);
        let lock = take_place(&paths).await?;
        let failed = |error| Failure::control(error, context.language());
        let Opened { control, project, path, .. } = opened;
        attend(&control, context).await?;
        let server = ServerState::open(control, CancellationToken::new()).await.map_err(failed)?;
        let web = Web::new(Arc::clone(&server), Arc::new(OnThisMachine { home: context.home.clone() }));
        let http_server = listen(&server, &paths, &wishes).await?;
        let http_server = with_routes(http_server, &server, &web);
        let _ = std::fs::write(paths.address(), http_server.url());
        let presence = http_server.web_url().and_then(|url| Presence::declare(&context.home, &url));
        let host = RunnerHost { repository: path, paths, user: user() };
        let options = Options {
            id: runner_id(&context.home)?,
            max_parallel: wishes.max_parallel,
            disk_floor: wishes.disk_floor.unwrap_or(Options::DISK_FLOOR),
            only: wishes.only,
            mcp_url: http_server.mcp_url(),
        };
        let (runner, notices) = Runner::new(project.clone(), host, options);
        server.provide_workspaces(Arc::new(RunnerWorkspaces(runner.clone())));
        let events = Events::new(project.clone());
        Ok(Self { server, web, http_server, runner, notices, project, events, _lock: lock, _presence: presence })
    }

    pub(crate) fn http_server(&self) -> &HttpServer {
        &self.http_server
    }

    /// Runs until told to end. Agents are left to their shims, or ended too.
    pub(crate) async fn run(
        self,
        ending: impl Future<Output = ()>,
        stop_agents: bool,
        print_events: impl AsyncFnOnce(Events, mpsc::UnboundedReceiver<Notice>),
    ) -> Result<(), Failure> {
        let Self { server, http_server, runner, notices, events, web: _, project: _, _lock, _presence } = self;
        let shutdown = server.shutdown().clone();
        let stopping = CancellationToken::new();
        let served = tokio::spawn(http_server.serve());
        let mut ran = tokio::spawn(runner.run(stopping.clone(), stop_agents));
        let early = tokio::select! {
            () = ending => None,
            () = print_events(events, notices) => None,
            ran = &mut ran => Some(ran),
        };
        // First the runner: agents that it ends may still want to say good-bye.
        stopping.cancel();
        let ran = match early {
            Some(ran) => ran,
            None => ran.await,
        };
        shutdown.cancel();
        let _ = tokio::time::timeout(GRACE, served).await;
        server.close().await;
        match ran {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Failure::control(error, board::Language::En)),
            Err(error) => {
                Err(Failure::failed(format!("the runner ended: {error}"), "Start it again; nothing is lost."))
            }
        }
    }
}

/// Whoever started this process.
pub(crate) fn user() -> runner::clients::User {
    let variables = std::env::vars_os();
    runner::clients::User {
        home: std::env::var_os("HOME").map(Into::into).unwrap_or_default(),
        env: variables
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
    }
}

/// Opens every project, so that what time brings (lapsed leases, old messages) is seen to.
pub(crate) async fn attend(control: &Control, context: &Context) -> Result<(), Failure> {
    let installation = context.installation(control).await?.state();
    for id in installation.projects.keys() {
        control.project(id).await.map_err(|error| Failure::control(error, context.language()))?;
    }
    Ok(())
}

/// Only one runner has a project: two would see to each other's agents.
async fn take_place(paths: &RunnerPaths) -> Result<File, Failure> {
    let taken = std::fs::create_dir_all(paths.root())
        .and_then(|()| File::options().create(true).append(true).open(paths.lock()));
    let file = taken.map_err(|error| {
        let problem = format!("cannot use {}: {error}", paths.root().display());
        Failure::new(Exit::Store, "store", problem, "Check its permissions.")
    })?;
    // One that was killed may live on for a moment in what it was starting.
    for _ in 0..PATIENCE {
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Ok(file);
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    Err(already_running())
}

pub(crate) fn already_running() -> Failure {
    Failure::new(
        Exit::Conflict,
        "already_running",
        "Another saihai runs the agents of this project.",
        "Use that one: tasks that you start are picked up by it. `saihai session list --running` shows who works.",
    )
}

/// The name under which this machine claims, the same each time: it adopts what it left.
fn runner_id(home: &Path) -> Result<RunnerId, Failure> {
    let path = home.join("runner-id");
    if let Some(known) = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()) {
        return Ok(known);
    }
    let fresh = NewSecret::generate("run").map_err(|error| Failure::failed(error.to_string(), "Try again."))?;
    let id = &fresh.reveal()[..16];
    std::fs::write(&path, id).map_err(|error| {
        Failure::new(Exit::Store, "store", format!("{}: {error}", path.display()), "Check its permissions.")
    })?;
    id.parse().map_err(|error: board::BadId| Failure::failed(error.to_string(), "Try again."))
}

/// Agents that outlived the last server know where it was: it is best found there again.
async fn listen(server: &ServerState, paths: &RunnerPaths, wishes: &Wishes) -> Result<HttpServer, Failure> {
    let open = |listen: Listen| {
        let (shutdown, hosts) = (server.shutdown().clone(), &wishes.allow_host);
        async move { HttpServer::bind(shutdown, &listen, hosts).await }
    };
    let before = std::fs::read_to_string(paths.address()).ok();
    let before = before.as_deref().and_then(|url| url.trim().strip_prefix("http://"));
    let any_port = match &wishes.listen {
        None => true,
        Some(Listen::Tcp(address)) => address.ends_with(":0"),
        Some(Listen::Unix(_)) => false,
    };
    let host = |address: &str| address.rsplit_once(':').map(|(host, _)| host.to_owned());
    let wanted = match &wishes.listen {
        Some(Listen::Tcp(address)) => address.clone(),
        Some(Listen::Unix(_)) | None => ADDRESS.to_owned(),
    };
    if let Some(before) = before.filter(|before| any_port && host(before) == host(&wanted))
        && let Ok(http_server) = open(Listen::Tcp(before.to_owned())).await
    {
        return Ok(http_server);
    }
    match &wishes.listen {
        Some(listen) => open(listen.clone()).await.map_err(|error| closed(&error)),
        None => match open(Listen::Tcp(ADDRESS.to_owned())).await {
            Ok(http_server) => Ok(http_server),
            // Another project's, most likely.
            Err(_) => open(Listen::Tcp("127.0.0.1:0".to_owned())).await.map_err(|error| closed(&error)),
        },
    }
}

/// Agents and people are served on the same address.
pub(crate) fn with_routes(http_server: HttpServer, server: &Arc<ServerState>, web: &Web) -> HttpServer {
    let agents = mcp::router(Mcp::new(Arc::clone(server)), &http_server);
    let people = web.router(http_server.hosts());
    http_server.with(agents).with(people)
}
