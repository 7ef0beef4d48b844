//! What does everything that a project's runner starts have in common?

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use board::{ProjectId, Sandbox, Settings};
use tokio_util::sync::CancellationToken;

use crate::clients::User;
use crate::paths::RunnerPaths;
use crate::sandbox::Policy;
use crate::shim::{Durability, ExitRecord, GRACE, SessionLog, Shim, ShimPlan, StopReason};

/// A project's repository, its directories, and the user who runs the runner.
#[derive(Clone, Debug)]
pub struct RunnerHost {
    pub project: ProjectId,
    pub repository: PathBuf,
    pub paths: RunnerPaths,
    pub user: User,
}

/// Variables of the user that every program gets; a client's adapter may add others (F46).
const INHERITED_VARIABLES: [&str; 18] = [
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "JAVA_HOME",
    "GOROOT",
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

impl RunnerHost {
    /// The marker of processes that work for a task. The project's path is part of it, so that no two
    /// projects or homes share one.
    pub(crate) fn spawn_marker(&self, task: board::TaskId) -> String {
        format!("{}:{task}", self.paths.root().display())
    }

    /// The environment of a program. It is built from nothing: the runner's own is not inherited.
    pub(crate) fn environment(&self, home: &Path, temporary: &Path) -> BTreeMap<String, String> {
        let mut env = BTreeMap::new();
        for name in INHERITED_VARIABLES {
            env.extend(self.user.env.get(name).map(|value| (name.to_owned(), value.clone())));
        }
        env.entry("PATH".into()).or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".into());
        env.insert("HOME".into(), home.to_string_lossy().into_owned());
        env.insert("TMPDIR".into(), temporary.to_string_lossy().into_owned());
        env.insert("TERM".into(), "dumb".into());
        if let Some(rustup_home) = self.rustup_home() {
            env.insert("RUSTUP_HOME".into(), rustup_home.to_string_lossy().into_owned());
        }
        env
    }

    /// Where rustup keeps its toolchains. Its programs would look below HOME, which is another one here.
    fn rustup_home(&self) -> Option<PathBuf> {
        let set = self.user.env.get("RUSTUP_HOME").map(PathBuf::from);
        set.or_else(|| Some(self.user.home.join(".rustup")).filter(|path| path.is_dir()))
    }

    /// Adds what every confined program may use: the toolchains on the user's PATH, what the
    /// project grants, and the session's own directories.
    pub(crate) fn grant_common_access(&self, policy: &mut Policy, settings: &Settings, own: &[&Path]) {
        let path = self.user.env.get("PATH").map(String::as_str).unwrap_or_default();
        // An entry that is the user's home, or lies above it, would open the whole home.
        let narrow = |path: &PathBuf| path.is_absolute() && !self.user.home.starts_with(path);
        let toolchains = std::env::split_paths(path).filter(narrow);
        policy.execute.extend(toolchains.chain(self.rustup_home()));
        policy.execute.extend(settings.sandbox_read.iter().map(|path| self.repository.join(path)));
        policy.write.extend(own.iter().map(|path| path.to_path_buf()));
        policy.connect.clone_from(&settings.sandbox_connect);
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
        let plan = ShimPlan {
            spawn: job.spawn.to_owned(),
            directory: job.directory.to_owned(),
            program: job.program.to_owned(),
            arguments: job.arguments,
            env: job.env,
            cwd: job.cwd.to_owned(),
            stdin: job.stdin,
            sandbox: policy_in_mode(job.policy, settings.sandbox),
            wall: job.wall,
            stall: None,
            grace: GRACE,
            ends_on_sigint: false,
            secrets: Vec::new(),
            client: None,
            record: Durability::UntilRestart,
        };
        let started = Shim::start(&plan).await?;
        let exit = tokio::select! {
            exit = started.shim.ended() => exit,
            () = cancellation.cancelled() => {
                started.shim.stop(StopReason::Stopped);
                started.shim.ended().await
            }
        };
        Ok((exit, SessionLog::of(job.directory)))
    }
}

/// Can agents be confined on this machine? Tried, not guessed: a program runs under a strict policy.
pub async fn try_sandbox(scratch: &Path) -> Result<(), String> {
    let project: ProjectId = "probe".parse().map_err(|error: board::BadId| error.to_string())?;
    let paths = RunnerPaths::new(scratch, &project);
    let settings = Settings::new(project.clone());
    let host = RunnerHost { project, repository: scratch.to_owned(), paths, user: User::default() };
    let job = SandboxJob {
        spawn: &format!("probe:{}", scratch.display()),
        directory: &scratch.join("probe"),
        program: Path::new("/bin/sh"),
        arguments: vec!["-c".into(), "if (echo > \"$0\") 2> /dev/null; then exit 3; fi".into(), "/saihai-probe".into()],
        env: host.environment(scratch, scratch),
        cwd: Path::new("/usr"),
        stdin: None,
        policy: Policy::system(),
        wall: Duration::from_secs(10),
    };
    let ran = host.run(job, &settings, &CancellationToken::new()).await.map_err(|error| error.to_string())?;
    match (ran.0.end.exit_code, ran.0.end.error) {
        (Some(0), _) => Ok(()),
        (_, Some(error)) => Err(error),
        (code, None) => Err(format!("a confined program ended with {code:?}")),
    }
}

/// The policy, as strict as the project wants it; `None` where agents are not confined.
pub(crate) fn policy_in_mode(policy: Policy, sandbox: Sandbox) -> Option<Policy> {
    match sandbox {
        Sandbox::Strict => Some(policy),
        Sandbox::BestEffort => Some(Policy { best_effort: true, ..policy }),
        Sandbox::Off => None,
    }
}
