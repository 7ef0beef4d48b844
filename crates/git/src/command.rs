//! How is every git command built (R1, F62)? By argument list, with a chosen environment and configuration.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::kill_switch::KillSwitch;

/// Git by its whole path. By its name alone each start would search the PATH, after a `fork` of the whole process.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    let found = candidates.find_map(|directory| Some(directory.join("git")).filter(|file| is_executable(file)));
    found.unwrap_or_else(|| "git".into())
});

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// How long one command may take. Generous: a large checkout on a slow disk is not an error, but a
/// filter or a network disk that never answers must not hold up the merge queue for good.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// How much output is read into memory.
const OUTPUT_LIMIT: usize = 64 << 20;

/// What git is told in every call, so that neither a repository nor a user's habits make it do more
/// than is asked: no hooks, no file system monitor, no maintenance.
const ALWAYS: [&str; 5] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];

/// Who commits and merges for agents.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Saihai"),
    ("GIT_AUTHOR_EMAIL", "saihai@localhost"),
    ("GIT_COMMITTER_NAME", "Saihai"),
    ("GIT_COMMITTER_EMAIL", "saihai@localhost"),
];

/// These say where the user's configuration is and how far git may search for a repository. All other
/// `GIT_*` variables are removed: inside a hook git sets some that would win over `-C`.
const USER_VARIABLES: [&str; 4] =
    ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"];

/// Whose configuration applies, and how much the repository is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The repository's own configuration alone, in an environment made from nothing.
    Isolated,
    /// The user's configuration too, because files of the user's are checked out as the user would.
    AsUser,
    /// As the user, in a directory that nobody has registered: git's own check of its owner stays on.
    CommandLine,
    /// Inside an agent's sandbox, where the git directory is hostile.
    Sandboxed,
}

/// A repository, and how git is run there.
#[derive(Clone, Debug)]
pub struct Git {
    directory: PathBuf,
    work_tree: Option<PathBuf>,
    mode: Mode,
    env: Vec<(OsString, OsString)>,
    pub(crate) time_limit: Duration,
    pub(crate) output_limit: usize,
    /// Set where the caller may go away before the command has ended.
    pub(crate) kill_switch: Option<Arc<KillSwitch>>,
}

impl Git {
    fn new(directory: impl Into<PathBuf>, mode: Mode) -> Self {
        Self {
            directory: directory.into(),
            work_tree: None,
            mode,
            env: Vec::new(),
            time_limit: TIME_LIMIT,
            output_limit: OUTPUT_LIMIT,
            kill_switch: None,
        }
    }

    /// The repository around a directory. Its own configuration must be trusted: the user's repository,
    /// or a copy that no agent could write to.
    pub fn in_repository(directory: impl Into<PathBuf>) -> Self {
        Self::new(directory, Mode::Isolated)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A git directory with its working tree, whatever `.git` in the working tree says.
    pub fn with_work_tree(directory: impl Into<PathBuf>, work_tree: impl Into<PathBuf>) -> Self {
        Self { work_tree: Some(work_tree.into()), ..Self::new(directory, Mode::Isolated) }
    }

    /// A working tree of the user's, where files are checked out with the user's own configuration.
    pub fn as_user(directory: impl Into<PathBuf>) -> Self {
        Self::new(directory, Mode::AsUser)
    }

    /// Questions of the command line about a directory that the user has named.
    pub fn for_command_line(directory: impl Into<PathBuf>) -> Self {
        Self::new(directory, Mode::CommandLine)
    }

    /// The current directory, which is the working tree of an agent. Only for use inside its sandbox.
    pub fn in_sandbox() -> Self {
        let mut git = Self::new(".", Mode::Sandboxed);
        // A workspace that has lost its link to git is in no other repository: not in the user's around it (F68).
        if let Some(above) = std::env::current_dir().ok().as_deref().and_then(Path::parent) {
            git.env.push(("GIT_CEILING_DIRECTORIES".into(), above.into()));
        }
        git
    }

    /// Hands on variables of this process, where they are set.
    #[must_use]
    pub fn inheriting(mut self, names: &[&str]) -> Self {
        self.env.extend(names.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?))));
        self
    }

    /// Lets it go out over HTTP, with this header in every request and, if need be, other certificates to trust. They are in
    /// the environment: an argument could be seen by everybody on the machine.
    #[must_use]
    pub fn over_http(mut self, header: &str, certificates: Option<&Path>) -> Self {
        let mut settings = vec![("http.extraHeader", OsString::from(header)), ("http.followRedirects", "false".into())];
        settings.extend(certificates.map(|file| ("http.sslCAInfo", file.into())));
        self.env.push(("GIT_ALLOW_PROTOCOL".into(), "http:https".into()));
        self.env.push(("GIT_CONFIG_COUNT".into(), settings.len().to_string().into()));
        for (number, (name, value)) in settings.into_iter().enumerate() {
            self.env.push((format!("GIT_CONFIG_KEY_{number}").into(), name.into()));
            self.env.push((format!("GIT_CONFIG_VALUE_{number}").into(), value));
        }
        self
    }

    #[must_use]
    pub fn with_author(mut self, name: &str, email: &str) -> Self {
        self.env.push(("GIT_AUTHOR_NAME".into(), name.into()));
        self.env.push(("GIT_AUTHOR_EMAIL".into(), email.into()));
        self
    }

    /// New objects go to a directory of their own; those of the repository are borrowed.
    #[must_use]
    pub fn with_objects_in(mut self, objects: &Path, repository_objects: &Path) -> Self {
        self.env.push(("GIT_OBJECT_DIRECTORY".into(), objects.into()));
        self.env.push(("GIT_ALTERNATE_OBJECT_DIRECTORIES".into(), quoted(repository_objects)));
        self
    }

    /// Files are written as the attributes in this commit say, not as those in the working tree do (git 2.41 or newer).
    #[must_use]
    pub fn with_attributes_of(mut self, commit: &str) -> Self {
        self.env.push(("GIT_ATTR_SOURCE".into(), commit.into()));
        self
    }

    #[must_use]
    pub fn with_time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit, ..self }
    }

    #[must_use]
    pub fn with_output_limit(self, output_limit: usize) -> Self {
        Self { output_limit, ..self }
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(&*PROGRAM);
        self.set_environment(&mut command);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        match &self.work_tree {
            None => command.arg("-C").arg(&self.directory),
            Some(tree) => {
                command.arg("-C").arg(tree).arg("--git-dir").arg(&self.directory).arg("--work-tree").arg(tree)
            }
        };
        let by_mode: &[&str] = match self.mode {
            // The owner of the project has registered it, so it does not matter whose files they are.
            Mode::Isolated | Mode::AsUser => &["safe.directory=*"],
            Mode::CommandLine => &[],
            Mode::Sandboxed => &["safe.directory=*", "commit.gpgSign=false"],
        };
        for setting in ALWAYS.iter().chain(by_mode) {
            command.args(["-c", setting]);
        }
        command.args(arguments).stdin(Stdio::null());
        command
    }

    fn set_environment(&self, command: &mut Command) {
        match self.mode {
            Mode::Isolated => {
                command.env_clear().envs(isolated()).env("GIT_OPTIONAL_LOCKS", "0");
            }
            Mode::Sandboxed => {
                command.env_clear().envs(isolated()).env("GIT_LITERAL_PATHSPECS", "1");
                // The committer is ours, the author is the agent or what its workspace is configured with.
                command.env_remove("GIT_AUTHOR_NAME").env_remove("GIT_AUTHOR_EMAIL");
            }
            Mode::AsUser | Mode::CommandLine => {
                let removed = |name: &OsString| {
                    let name = name.to_string_lossy();
                    name.starts_with("GIT_") && !USER_VARIABLES.contains(&name.as_ref())
                };
                for name in std::env::vars_os().map(|(name, _)| name).filter(removed) {
                    command.env_remove(name);
                }
                command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
            }
        }
    }
}

/// A path in a list whose parts are divided by colons, as git reads it.
fn quoted(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b':' | b'"' | b'\\')) {
        return path.into();
    }
    let escaped = bytes.iter().flat_map(|byte| match byte {
        b'"' | b'\\' => vec![b'\\', *byte],
        _ => vec![*byte],
    });
    OsString::from_vec([b'"'].into_iter().chain(escaped).chain([b'"']).collect())
}

/// An environment without anything of the user's.
fn isolated() -> impl Iterator<Item = (&'static str, OsString)> {
    let fixed = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ALLOW_PROTOCOL", "file"),
        ("LC_ALL", "C"),
    ];
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let fixed = fixed.into_iter().chain(IDENTITY).map(|(name, value)| (name, value.into()));
    fixed.chain([("PATH", path)])
}
