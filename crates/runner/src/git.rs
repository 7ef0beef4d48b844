//! How is git called? By argument list, with nobody's configuration but the repository's own (R1, F62).

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

static SPENT: AtomicU64 = AtomicU64::new(0);

/// What git said that it could not do.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("cannot run git: {0}")]
    Run(#[from] io::Error),
    #[error("git {command} failed: {message}")]
    Failed { command: String, message: String },
}

/// A repository whose own configuration can be trusted: the user's, or a copy that no agent could write to.
#[derive(Clone, Debug)]
pub struct Git {
    directory: PathBuf,
    work_tree: Option<PathBuf>,
    /// With the user's own configuration, because it touches the user's own files.
    as_user: bool,
}

/// What git is told in every call, so that neither a repository nor a user's habits make it do more
/// than is asked: no hooks, no file system monitor, no prompts, no maintenance.
const ALWAYS: [&str; 12] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "advice.detachedHead=false",
    "-c",
    "safe.directory=*",
];

/// Who commits and merges for agents.
pub(crate) const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Saihai"),
    ("GIT_AUTHOR_EMAIL", "saihai@localhost"),
    ("GIT_COMMITTER_NAME", "Saihai"),
    ("GIT_COMMITTER_EMAIL", "saihai@localhost"),
];

/// The environment of every git that we run.
pub(crate) fn environment() -> impl Iterator<Item = (String, String)> {
    let fixed = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ALLOW_PROTOCOL", "file"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("LC_ALL", "C"),
    ];
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".into());
    let fixed = fixed.into_iter().chain(IDENTITY).map(|(name, value)| (name.to_owned(), value.to_owned()));
    fixed.chain([("PATH".to_owned(), path)])
}

impl Git {
    /// The repository around a directory.
    pub fn around(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), work_tree: None, as_user: false }
    }

    /// A git directory with its working tree, whatever the latter says of where it belongs.
    pub(crate) fn apart(directory: impl Into<PathBuf>, work_tree: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), work_tree: Some(work_tree.into()), as_user: false }
    }

    /// A working tree of the user's, in which files are checked out as the user would.
    pub(crate) fn as_user(directory: impl Into<PathBuf>) -> Self {
        Self { as_user: true, ..Self::around(directory) }
    }

    fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new("git");
        if self.as_user {
            // In a hook git sets these, and they would win over -C.
            let of_git =
                std::env::vars_os().map(|(name, _)| name).filter(|name| name.to_string_lossy().starts_with("GIT_"));
            for name in of_git {
                command.env_remove(name);
            }
            command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        } else {
            command.env_clear().envs(environment());
        }
        match &self.work_tree {
            None => command.arg("-C").arg(&self.directory),
            Some(tree) => {
                command.arg("-C").arg(tree).arg("--git-dir").arg(&self.directory).arg("--work-tree").arg(tree)
            }
        };
        command.args(ALWAYS).args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// How long this process has waited for git in all.
    pub fn time_spent() -> Duration {
        Duration::from_nanos(SPENT.load(Ordering::Relaxed))
    }

    pub(crate) async fn output<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Output, GitError> {
        let began = Instant::now();
        let output = self.command(arguments).output().await;
        SPENT.fetch_add(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        Ok(output?)
    }

    /// Its output, which must be text, without the last line's end.
    pub async fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<String, GitError> {
        let output = self.output(arguments).await?;
        text(arguments, &output)
    }

    /// The same, with something to read.
    pub(crate) async fn run_with<S: AsRef<OsStr>>(&self, arguments: &[S], input: &str) -> Result<String, GitError> {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes()).await?;
        }
        text(arguments, &child.wait_with_output().await?)
    }

    /// Paths, which are separated by zero bytes.
    pub(crate) async fn paths<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<String>, GitError> {
        let output = self.run(arguments).await?;
        Ok(output.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    /// The commit that a name means, if there is one.
    pub async fn commit(&self, name: &str) -> Option<String> {
        let name = format!("{name}^{{commit}}");
        self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).await.ok()
    }

    pub(crate) async fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, GitError> {
        let arguments = ["merge-base", "--is-ancestor", older, newer];
        let output = self.output(&arguments).await?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => text(&arguments, &output).map(|_| false),
        }
    }

    /// A directory of the repository, as an absolute path.
    pub(crate) async fn path(&self, name: &str) -> Result<PathBuf, GitError> {
        let path = self.run(&["rev-parse", "--path-format=absolute", "--git-path", name]).await?;
        Ok(PathBuf::from(path))
    }

    /// What all working trees of the repository share.
    pub(crate) async fn common_directory(&self) -> Result<PathBuf, GitError> {
        let path = self.run(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).await?;
        Ok(PathBuf::from(path))
    }

    /// Where its objects are: its own, and those it borrows.
    pub(crate) async fn object_directories(&self) -> Result<Vec<PathBuf>, GitError> {
        let mut found = vec![self.path("objects").await?];
        let mut next = 0;
        while let Some(objects) = found.get(next).cloned() {
            next += 1;
            let alternates = std::fs::read_to_string(objects.join("info/alternates")).unwrap_or_default();
            for line in alternates.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let path = objects.join(Path::new(line));
                let path = std::fs::canonicalize(&path).unwrap_or(path);
                if !found.contains(&path) {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }
}

fn text<S: AsRef<OsStr>>(arguments: &[S], output: &Output) -> Result<String, GitError> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned());
    }
    let command = arguments.first().map(|word| word.as_ref().to_string_lossy().into_owned()).unwrap_or_default();
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(GitError::Failed { command, message })
}
