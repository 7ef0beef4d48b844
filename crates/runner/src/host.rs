//! What does everything that a project's runner starts have in common?

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use board::{OutputKind, ProjectId, Sandbox, Settings, TaskId, Timestamp};
use git::{RefNamespace, TaskRefs};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::clients::User;
use crate::paths::RunnerPaths;
use crate::sandbox::{Layer, Policy};
use crate::shim::{Durability, ExitRecord, GRACE, SessionLog, Shim, ShimPlan, StopReason};
use crate::toolchains::Toolchains;
use crate::upstream::Upstream;

/// A project's repository, its directories, and the user who runs the runner.
#[derive(Clone, Debug)]
pub struct RunnerHost {
    pub project: ProjectId,
    /// When the project's board began.
    pub began: Timestamp,
    pub repository: PathBuf,
    pub paths: RunnerPaths,
    pub user: User,
    /// What the repository mirrors, on a runner's own host.
    pub upstream: Option<Arc<dyn Upstream>>,
}

/// Variables of the user that every program gets; a client's adapter may add others (F46).
const INHERITED_VARIABLES: [&str; 13] = [
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "TZ",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Others that name files: whom programs trust. Behind a proxy of a company nothing is fetched without them.
const CERTIFICATE_VARIABLES: [&str; 11] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "CARGO_HTTP_CAINFO",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NIX_SSL_CERT_FILE",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "npm_config_cafile",
    "NPM_CONFIG_CAFILE",
];

/// A program that runs to its end in a sandbox.
#[derive(Debug)]
pub(crate) struct SandboxJob<'a> {
    /// The marker in the environment of everything that it starts.
    pub(crate) spawn: &'a str,
    /// Where its log and its record go.
    pub(crate) directory: &'a Path,
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: &'a Path,
    pub(crate) stdin: Option<PathBuf>,
    pub(crate) policy: Policy,
    pub(crate) wall: Duration,
}

impl SandboxJob<'_> {
    fn plan(mut self) -> ShimPlan {
        self.policy.read.extend(self.stdin.clone());
        ShimPlan {
            spawn: self.spawn.to_owned(),
            directory: self.directory.to_owned(),
            program: self.program.to_owned(),
            arguments: self.arguments,
            env: self.env,
            cwd: self.cwd.to_owned(),
            stdin: self.stdin,
            sandbox: Some(self.policy),
            wall: self.wall,
            stall: None,
            grace: GRACE,
            ends_on_sigint: false,
            secrets: Vec::new(),
            client: None,
            record: Durability::UntilRestart,
        }
    }
}

impl RunnerHost {
    /// Below which the work of all tasks is, as it was last fetched.
    pub(crate) fn all_work_refs(&self) -> String {
        RefNamespace::new(self.began.0, &self.project).all_work()
    }

    /// The refs of a task in the user's repository (R1).
    pub(crate) fn refs(&self, task: TaskId) -> TaskRefs {
        RefNamespace::new(self.began.0, &self.project).task(task)
    }

    /// The marker of processes that work for a task. The project's path is part of it, so that no two
    /// projects or homes share one.
    pub(crate) fn spawn_marker(&self, task: board::TaskId) -> String {
        format!("{}:{task}", self.paths.root().display())
    }

    /// What belongs to the programs on the user's PATH, to those on another one that goes before it, and to one more.
    pub(crate) fn toolchains(&self, path: Option<&str>, program: Option<&Path>) -> Toolchains {
        let users = self.user.env.get("PATH").map(String::as_str);
        let paths: Vec<_> = path.into_iter().chain(users).collect();
        Toolchains::find(&self.user, &paths, program)
    }

    /// The environment of a program. It is built from nothing: the runner's own is not inherited.
    pub(crate) fn environment(
        &self,
        home: &Path,
        temporary: &Path,
        toolchains: &Toolchains,
    ) -> BTreeMap<String, String> {
        let mut env = toolchains.env.clone();
        for name in INHERITED_VARIABLES.into_iter().chain(CERTIFICATE_VARIABLES) {
            env.extend(self.user.env.get(name).map(|value| (name.to_owned(), value.clone())));
        }
        env.entry("PATH".into()).or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".into());
        env.insert("HOME".into(), home.to_string_lossy().into_owned());
        env.insert("TMPDIR".into(), temporary.to_string_lossy().into_owned());
        env.insert("TERM".into(), "dumb".into());
        env
    }

    /// Adds what every confined program may use: the toolchains, what the project grants, and the session's own
    /// directories.
    pub(crate) fn grant_common_access(
        &self,
        policy: &mut Policy,
        settings: &Settings,
        toolchains: &Toolchains,
        own: &[&Path],
    ) {
        policy.execute.extend(toolchains.readable.iter().cloned());
        policy.execute.extend(settings.sandbox_read.iter().map(|path| self.repository.join(path)));
        let certificates = CERTIFICATE_VARIABLES.iter().filter_map(|name| self.user.env.get(*name));
        policy.read.extend(certificates.map(PathBuf::from).filter(|path| path.is_absolute()));
        policy.write.extend(own.iter().map(|path| path.to_path_buf()));
        policy.connect.clone_from(&settings.sandbox_connect);
        policy.limits = settings.sandbox_limits.clone();
    }

    /// Runs a program to its end, or ends it when it is cancelled.
    pub(crate) async fn run(
        &self,
        job: SandboxJob<'_>,
        settings: &Settings,
        cancellation: &CancellationToken,
    ) -> io::Result<(ExitRecord, SessionLog)> {
        // Left over from an earlier run with this marker; nobody waits for it any more.
        crate::shim::kill_marked(job.spawn).await;
        let _ = crate::remove::remove_tree(job.directory);
        std::fs::create_dir_all(job.directory)?;
        let directory = job.directory.to_owned();
        let mut plan = job.plan();
        plan.sandbox = match plan.sandbox {
            Some(policy) => policy_in_mode(policy, settings.sandbox).await,
            None => None,
        };
        let started = Shim::start(&plan).await?;
        let exit = tokio::select! {
            exit = started.shim.ended() => exit,
            () = cancellation.cancelled() => {
                started.shim.stop(StopReason::Stopped);
                started.shim.ended().await
            }
        };
        Ok((exit, SessionLog::of(&directory, OutputKind::Raw)))
    }
}

/// The layers of the sandbox that this system cannot give, each with what it says. Tried, not guessed: a program runs in
/// them.
pub async fn missing_layers() -> &'static [(Layer, String)] {
    static MISSING: OnceCell<Vec<(Layer, String)>> = OnceCell::const_new();
    MISSING
        .get_or_init(|| async {
            let mut missing = Vec::new();
            if try_layers(&Layer::ALL).await.is_err() {
                for layer in Layer::ALL {
                    missing.extend(try_layers(&[layer]).await.err().map(|problem| (layer, problem)));
                }
            }
            missing
        })
        .await
}

/// Runs a program confined by these layers alone.
async fn try_layers(layers: &[Layer]) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let scratch = scratch.path();
    let project: ProjectId = "probe".parse().map_err(|error: board::BadId| error.to_string())?;
    let paths = RunnerPaths::new(scratch, &project);
    let host = RunnerHost {
        project,
        began: Timestamp(0),
        repository: scratch.to_owned(),
        paths,
        user: User::default(),
        upstream: None,
    };
    let without = Layer::ALL.into_iter().filter(|layer| !layers.contains(layer)).collect();
    let job = SandboxJob {
        spawn: &format!("probe:{}", scratch.display()),
        directory: scratch,
        program: Path::new("/bin/true"),
        arguments: Vec::new(),
        env: host.environment(scratch, scratch, &Toolchains::default()),
        cwd: Path::new("/usr"),
        stdin: None,
        policy: Policy { without, ..Policy::system() },
        wall: Duration::from_secs(10),
    };
    let started = Shim::start(&job.plan()).await.map_err(|error| error.to_string())?;
    let end = started.shim.ended().await.end;
    match (end.exit_code, end.error) {
        (Some(0), _) => Ok(()),
        (_, Some(error)) => Err(error),
        (code, None) => Err(format!("a confined program ended with {code:?}")),
    }
}

/// The policy, as strict as the project wants it; `None` where agents are not confined.
pub(crate) async fn policy_in_mode(policy: Policy, sandbox: Sandbox) -> Option<Policy> {
    match sandbox {
        Sandbox::Strict => Some(policy),
        Sandbox::BestEffort => {
            let without = missing_layers().await.iter().map(|(layer, _)| *layer).collect();
            Some(Policy { without, ..policy })
        }
        Sandbox::Off => None,
    }
}
