//! What runs in the process of `saihai up`? The server and the runner of a project.

use std::fs::File;
use std::path::Path;

use std::sync::Arc;

use board::{Event, Language, RunnerId, RunnerOffer, Sandbox, Seq, TaskId};
use control::{Control, Follower, LocalDispatch, NewSecret, Project};
use mcp::Mcp;
use runner::{AtShutdown, Notice, Options, Runner, RunnerHost, RunnerPaths};
use rustix::fs::{FlockOperation, flock};
use server::{HttpServer, Listen, ServerState};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use web::Web;

use crate::commands::serve::cannot_listen;
use crate::context::{Context, OpenProject, say_in};
use crate::failure::{CliExit, Failure, write_stderr};
use crate::local_files::LocalFilesOnDisk;
use crate::runner_workspaces::RunnerWorkspaces;
use crate::running_servers::ServerRegistration;

/// Where the server listens by default.
pub(crate) const DEFAULT_ADDRESS: &str = "127.0.0.1:4700";

/// How long calls in progress may take to finish at shutdown.
const SHUTDOWN_GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// How often the runner's lock is tried, ten times a second.
const LOCK_ATTEMPTS: u32 = 20;

#[derive(Debug, Default)]
pub(crate) struct UpOptions {
    pub(crate) listen: Option<Listen>,
    pub(crate) allow_host: Vec<String>,
    pub(crate) max_parallel: Option<usize>,
    pub(crate) disk_floor: Option<u64>,
    pub(crate) only: Option<TaskId>,
    pub(crate) most_sessions: Option<usize>,
    /// What agents may ask for with `runs_on`.
    pub(crate) labels: Vec<String>,
    /// Also end the agents when it ends.
    pub(crate) stop_agents: bool,
}

/// The server and the runner of a project. No agent starts before [`UpProcess::run`].
pub(crate) struct UpProcess {
    server: Arc<ServerState>,
    pub(crate) web: Web,
    http_server: HttpServer,
    runner: Runner,
    pub(crate) notices: mpsc::UnboundedReceiver<Notice>,
    pub(crate) project: Project,
    pub(crate) events: EventReader,
    language: Language,
    /// Held while it runs.
    _lock: File,
    _registration: Option<ServerRegistration>,
}

/// Reads the events of a project as they are appended.
pub(crate) struct EventReader {
    project: Project,
    follower: Follower<board::Board>,
}

impl EventReader {
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

    /// The events since the last call, without waiting.
    pub(crate) async fn read_new(&mut self) -> Vec<(Seq, Event)> {
        let mut found = Vec::new();
        while let Ok(page) = self.follower.events(500).await {
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        found
    }
}

impl UpProcess {
    /// Takes the runner's lock and starts to listen. No agent is started yet.
    pub(crate) async fn open(context: &Context, opened: OpenProject, options: UpOptions) -> Result<Self, Failure> {
        check_no_remote(context, opened.board().settings.remote.as_deref())?;
        let paths = RunnerPaths::new(&context.home, &opened.id);
        let lock = acquire_runner_lock(context, &paths).await?;
        try_sandbox(context, opened.board().settings.sandbox).await?;
        let failed = |error| Failure::control(error, context.language());
        let OpenProject { control, project, path, id, .. } = opened;
        open_all_projects(&control, context).await?;
        let server = ServerState::open(control, CancellationToken::new()).await.map_err(failed)?;
        let web = Web::new(Arc::clone(&server), Arc::new(LocalFilesOnDisk { home: context.home.clone() }));
        let http_server = listen(context, &server, &paths, &options).await?;
        let http_server = with_routes(http_server, &server, &web, &context.home);
        let _ = std::fs::write(paths.address(), http_server.url());
        let registration = http_server.web_url().and_then(|url| ServerRegistration::register(&context.home, &url));
        let host = RunnerHost {
            project: id,
            began: project.board().began,
            repository: path,
            paths,
            user: current_user(),
            upstream: None,
        };
        let has = RunnerOffer { labels: options.labels, ..RunnerOffer::default() };
        let dispatch = Arc::new(
            LocalDispatch::new(project.clone(), runner_id(context)?)
                .offering(has.clone())
                .knowing(server.installation().clone()),
        );
        let runner_options = Options {
            max_parallel: options.max_parallel,
            has,
            shared_slots: None,
            disk_floor: options.disk_floor.unwrap_or(Options::DISK_FLOOR),
            only: options.only,
            most_sessions: options.most_sessions,
            mcp_url: http_server.mcp_url(),
            at_shutdown: if options.stop_agents { AtShutdown::StopAgents } else { AtShutdown::LeaveAgents },
        };
        let (runner, notices) = Runner::new(dispatch, host, runner_options);
        server.provide_workspaces(Arc::new(RunnerWorkspaces { runner: runner.clone(), project: project.clone() }));
        let events = EventReader::new(project.clone());
        Ok(Self {
            server,
            web,
            http_server,
            runner,
            notices,
            project,
            events,
            language: context.language(),
            _lock: lock,
            _registration: registration,
        })
    }

    pub(crate) fn http_server(&self) -> &HttpServer {
        &self.http_server
    }

    /// Runs until the shutdown signal. Agents continue under their shims, or are ended too.
    pub(crate) async fn run(
        self,
        shutdown_signal: impl Future<Output = ()>,
        print_events: impl AsyncFnOnce(EventReader, mpsc::UnboundedReceiver<Notice>),
    ) -> Result<(), Failure> {
        let Self { server, http_server, runner, notices, events, language, web: _, project: _, _lock, _registration } =
            self;
        let shutdown = server.shutdown().clone();
        let stop_runner = CancellationToken::new();
        let mut served = tokio::spawn(http_server.serve());
        let mut ran = tokio::spawn(runner.run(stop_runner.clone()));
        let mut server_failed = None;
        let early = tokio::select! {
            () = shutdown_signal => None,
            () = print_events(events, notices) => None,
            ran = &mut ran => Some(ran),
            // Agents cannot go on without it.
            served = &mut served => {
                server_failed = Some(served.err().map_or_else(|| "it stopped".to_owned(), |error| error.to_string()));
                None
            }
        };
        // The runner stops first: agents that it ends may still call the server to log out.
        stop_runner.cancel();
        let ran = match early {
            Some(ran) => ran,
            None => ran.await,
        };
        shutdown.cancel();
        if server_failed.is_none() {
            let _ = tokio::time::timeout(SHUTDOWN_GRACE, served).await;
        }
        // What is only counted may be lost; a store that does not answer must not keep us here.
        let _ = tokio::time::timeout(SHUTDOWN_GRACE, server.close()).await;
        if let Some(error) = server_failed {
            return Err(ended(
                language,
                format!("the server ended: {error}"),
                format!("サーバーが終了しました: {error}"),
            ));
        }
        match ran {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(ended(language, error.to_string(), format!("ランナーが終了しました: {error}"))),
            Err(error) => {
                Err(ended(language, format!("the runner ended: {error}"), format!("ランナーが終了しました: {error}")))
            }
        }
    }
}

fn ended(language: Language, en: String, ja: String) -> Failure {
    let again =
        say_in(language, "Start it again; nothing is lost.", "もう一度起動してください。失われたものはありません。");
    Failure::failed(say_in(language, en, ja), again)
}

/// The user who started this process.
pub(crate) fn current_user() -> runner::clients::User {
    let variables = std::env::vars_os();
    runner::clients::User {
        home: std::env::var_os("HOME").map(Into::into).unwrap_or_default(),
        env: variables
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
    }
}

/// Opens every project, so that lapsed leases and old messages are handled.
pub(crate) async fn open_all_projects(control: &Control, context: &Context) -> Result<(), Failure> {
    let installation = context.installation(control).await?.state();
    for id in installation.projects.keys() {
        control.project(id).await.map_err(|error| Failure::control(error, context.language()))?;
    }
    Ok(())
}

/// Work of a project with a remote is merged there, by runners that follow it. This one would merge into the repository
/// beside it, and nobody else would learn of that.
fn check_no_remote(context: &Context, remote: Option<&str>) -> Result<(), Failure> {
    let Some(remote) = remote else { return Ok(()) };
    Err(Failure::new(
        CliExit::Configuration,
        "bad_config",
        context.say(
            format!("Work of this project is merged into {remote}, and `saihai up` merges beside it."),
            format!("このプロジェクトの成果は {remote} にマージされますが、`saihai up` はローカルにマージします。"),
        ),
        context.say(
            "Use `saihai serve` here and `saihai runner` on this or other hosts; or remove `remote` from .saihai/config.yaml.",
            "ここでは `saihai serve` を、このマシンか他のホストで `saihai runner` を使うか、.saihai/config.yaml の `remote` を外してください。",
        ),
    ))
}

/// Agents and checks must be confined as the project wants it. Where the system cannot, that is said before anything starts
/// (R13).
pub(crate) async fn try_sandbox(context: &Context, wanted: Sandbox) -> Result<(), Failure> {
    let missing: Vec<_> = match wanted {
        Sandbox::Off => Vec::new(),
        Sandbox::Strict | Sandbox::BestEffort => {
            runner::missing_layers().await.iter().map(|(_, problem)| problem.as_str()).collect()
        }
    };
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join("; ");
    if wanted == Sandbox::BestEffort {
        write_stderr(&context.say(
            format!("Agents and checks are confined only in part here: {missing}"),
            format!("エージェントとチェックの隔離は一部のみです: {missing}"),
        ));
        return Ok(());
    }
    Err(Failure::failed(
        context.say(
            format!("Agents and checks cannot be confined here: {missing}"),
            format!("エージェントとチェックを隔離できません: {missing}"),
        ),
        context.say(
            "Allow user namespaces and Landlock on this system, or set `sandbox: best_effort` in .saihai/config.yaml to go \
             without what is missing.",
            "このシステムでユーザー名前空間と Landlock を許可するか、.saihai/config.yaml に `sandbox: best_effort` を設定してください。",
        ),
    ))
}

/// Only one runner may run a project: two would take over each other's agents.
pub(crate) async fn acquire_runner_lock(context: &Context, paths: &RunnerPaths) -> Result<File, Failure> {
    // People allow their own clients to work there before the first workspace is made (S7).
    let taken = std::fs::create_dir_all(paths.workspaces())
        .and_then(|()| File::options().create(true).append(true).open(paths.lock()));
    let file = taken.map_err(|error| {
        let root = paths.root().display();
        let problem = context.say(format!("cannot use {root}: {error}"), format!("{root} を使えません: {error}"));
        Failure::new(CliExit::Store, "store", problem, check_permissions(context))
    })?;
    // After a kill the lock lives on for a moment: a child that was being started has inherited the file.
    for _ in 0..LOCK_ATTEMPTS {
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Ok(file);
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    Err(already_running(context))
}

fn already_running(context: &Context) -> Failure {
    Failure::new(
        CliExit::Conflict,
        "already_running",
        context.say(
            "Another saihai process runs the agents of this project.",
            "別の saihai がこのプロジェクトのエージェントを実行しています。",
        ),
        context.say(
            "Use that one: it starts the tasks that you start. `saihai session list --running` shows its sessions.",
            "そちらを使ってください。開始したタスクはそこで実行されます。`saihai session list --running` で確認できます。",
        ),
    )
}

fn check_permissions(context: &Context) -> String {
    context.say("Check its permissions.", "権限を確認してください。")
}

/// The runner id of this machine. It stays the same, so that a restarted runner adopts its own sessions.
fn runner_id(context: &Context) -> Result<RunnerId, Failure> {
    let path = context.home.join("runner-id");
    let failed = |error: String| {
        let message_ja = format!("このマシンのランナー id を作成できません: {error}");
        Failure::failed(context.say(error, message_ja), context.try_again())
    };
    if let Some(known) = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()) {
        return Ok(known);
    }
    let fresh = NewSecret::generate("run").map_err(|error| failed(error.to_string()))?;
    let id = &fresh.reveal()[..16];
    std::fs::write(&path, id).map_err(|error| {
        let path = path.display();
        let message = context.say(format!("{path}: {error}"), format!("{path} に書き込めません: {error}"));
        Failure::new(CliExit::Store, "store", message, check_permissions(context))
    })?;
    id.parse().map_err(|error: board::BadId| failed(error.to_string()))
}

/// Listens where the last server did if possible: agents that are still running know only that address.
async fn listen(
    context: &Context,
    server: &ServerState,
    paths: &RunnerPaths,
    options: &UpOptions,
) -> Result<HttpServer, Failure> {
    let open = |listen: Listen| {
        let (shutdown, hosts) = (server.shutdown().clone(), &options.allow_host);
        async move { HttpServer::bind(shutdown, &listen, hosts).await }
    };
    let failed = |error| cannot_listen(&error, context.language());
    let before = std::fs::read_to_string(paths.address()).ok();
    let before = before.as_deref().and_then(|url| url.trim().strip_prefix("http://"));
    let any_port = match &options.listen {
        None => true,
        Some(Listen::Tcp(address)) => address.ends_with(":0"),
        Some(Listen::Unix(_)) => false,
    };
    let host = |address: &str| address.rsplit_once(':').map(|(host, _)| host.to_owned());
    let wanted = match &options.listen {
        Some(Listen::Tcp(address)) => address.clone(),
        Some(Listen::Unix(_)) | None => DEFAULT_ADDRESS.to_owned(),
    };
    if let Some(before) = before.filter(|before| any_port && host(before) == host(&wanted))
        && let Ok(http_server) = open(Listen::Tcp(before.to_owned())).await
    {
        return Ok(http_server);
    }
    match &options.listen {
        Some(listen) => open(listen.clone()).await.map_err(failed),
        None => match open(Listen::Tcp(DEFAULT_ADDRESS.to_owned())).await {
            Ok(http_server) => Ok(http_server),
            // Most likely the server of another project has the port.
            Err(_) => open(Listen::Tcp("127.0.0.1:0".to_owned())).await.map_err(failed),
        },
    }
}

/// Agents, people and runners on other hosts are served on the same address.
pub(crate) fn with_routes(http_server: HttpServer, server: &Arc<ServerState>, web: &Web, home: &Path) -> HttpServer {
    let runners = remote::router(Arc::clone(server), home.to_owned());
    let agents = mcp::router(Mcp::new(Arc::clone(server)), &http_server);
    let people = web.router(http_server.hosts());
    http_server.with(agents).with(people).with(runners)
}
