//! A scratch repository with its own home, and the binary to run in it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    pub(crate) fn of(output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or_else(|| panic!("killed: {output:?}")),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The one document on stdout of a run that went well.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{self:?}");
        one_document(&self.stdout)
    }

    /// The error of a run in JSON mode: one line on stderr with three texts, nothing on stdout.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        assert_ne!(self.code, 0, "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        let error: Value = serde_json::from_str(&self.stderr).unwrap();
        let keys: Vec<_> = error.as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["code", "message", "hint"]);
        for key in keys {
            assert!(!error[&key].as_str().unwrap().is_empty(), "`{key}` is empty: {self:?}");
        }
        error
    }
}

/// Exactly one JSON document, on one line.
#[track_caller]
pub(crate) fn one_document(stdout: &str) -> Value {
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

pub(crate) struct World {
    dir: TempDir,
    pub(crate) repository: PathBuf,
    /// The store, if it is not the file in the home.
    store_url: Option<String>,
}

impl World {
    /// A directory that is in no repository.
    pub(crate) fn bare() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repository = dir.path().canonicalize().unwrap().join("shop");
        std::fs::create_dir(&repository).unwrap();
        Self { dir, repository, store_url: None }
    }

    /// A git repository with a commit on `main`.
    pub(crate) fn repository() -> Self {
        let world = Self::bare();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world.git(&["commit", "--quiet", "--allow-empty", "--message=first"]);
        world
    }

    /// A project `shop` with the agents `lead` and `coder`.
    pub(crate) fn new() -> Self {
        Self::with_store(None)
    }

    /// The same in another store.
    pub(crate) fn with_store(store_url: Option<String>) -> Self {
        let world = Self { store_url, ..Self::repository() };
        world.ok(&["init"]);
        world.git(&["add", "."]);
        world.git(&["commit", "--quiet", "--message=saihai"]);
        world
    }

    /// The same, with what is kept elsewhere.
    pub(crate) fn in_store(self, url: &str) -> Self {
        Self { store_url: Some(url.to_owned()), ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("saihai-home")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home().join("saihai.db")
    }

    /// Where programs find it.
    pub(crate) fn location(&self) -> String {
        self.store_url.clone().unwrap_or_else(|| format!("sqlite:{}", self.store().display()))
    }

    /// Runs SQL on the store, to damage it.
    pub(crate) fn sql(&self, statement: &str) {
        let connection = rusqlite::Connection::open(self.store()).unwrap();
        connection.execute_batch(statement).unwrap();
    }

    /// A command without any of the user's own settings.
    fn isolated(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path())
            .env("USER", "alice")
            .env("LANG", "C.UTF-8")
            .env("SAIHAI_HOME", self.home())
            .envs(self.store_url.iter().map(|url| ("SAIHAI_STORE", url)))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", self.path())
            .envs([("GIT_AUTHOR_NAME", "Alice"), ("GIT_AUTHOR_EMAIL", "alice@example.org")])
            .envs([("GIT_COMMITTER_NAME", "Alice"), ("GIT_COMMITTER_EMAIL", "alice@example.org")])
            .current_dir(&self.repository)
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_saihai")), arguments)
    }

    /// The same for another version of the program.
    pub(crate) fn command_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = self.isolated(program.to_str().unwrap());
        command.args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        Output::of(self.command(arguments).output().unwrap())
    }

    /// What a run prints on a terminal of this width; 0 for one that does not say how wide it is.
    pub(crate) fn on_terminal(&self, columns: u16, arguments: &[&str]) -> String {
        let words = [env!("CARGO_BIN_EXE_saihai")].into_iter().chain(arguments.iter().copied());
        let quoted: Vec<_> = words.map(|word| format!("'{word}'")).collect();
        let command = format!("stty cols {columns}; {}", quoted.join(" "));
        let mut script = self.isolated("script");
        script.args(["--quiet", "--return", "--command", &command, "/dev/null"]).env("NO_COLOR", "1");
        let output = Output::of(script.output().unwrap());
        assert_eq!(output.code, 0, "{output:?}");
        output.stdout.replace('\r', "")
    }

    /// A run with a text on stdin.
    pub(crate) fn run_with(&self, arguments: &[&str], stdin: &[u8]) -> Output {
        let mut child = self.spawn(arguments);
        // It may stop reading early.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        Output::of(child.wait_with_output().unwrap())
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// The output of a run that must go well.
    #[track_caller]
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.code, 0, "saihai {}: {output:?}", arguments.join(" "));
        output.stdout.trim_end().to_owned()
    }

    /// The document that a run prints with `--json`.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).json()
    }

    /// The error of a run that must fail with this exit code, in JSON mode.
    #[track_caller]
    pub(crate) fn refused(&self, exit: i32, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(output.code, exit, "saihai {}: {output:?}", arguments.join(" "));
        output.error()
    }

    /// Adds a task for `coder` and gives its id.
    pub(crate) fn task(&self, title: &str) -> String {
        self.ok(&["task", "add", title, "--assign", "coder", "--quiet"])
    }

    pub(crate) fn status(&self, task: &str) -> String {
        self.json(&["task", "show", task])["status"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Output::of(self.isolated("git").args(arguments).output().unwrap());
        assert_eq!(output.code, 0, "git {}: {output:?}", arguments.join(" "));
        output.stdout.trim_end().to_owned()
    }

    /// Writes a file below the repository.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.repository.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.repository.join(path)).unwrap()
    }

    /// A commit on a branch, which is made if it is not there; ends on `main`.
    pub(crate) fn commit_on(&self, branch: &str, file: &str) {
        if self.git(&["branch", "--list", branch]).is_empty() {
            self.git(&["branch", branch]);
        }
        self.git(&["checkout", "--quiet", branch]);
        self.write(file, "work\n");
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message=work"]);
        self.git(&["checkout", "--quiet", "main"]);
    }
}

/// The texts of a list of strings.
pub(crate) fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// One field of each object of a list.
pub(crate) fn column<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|row| row[field].as_str().unwrap()).collect()
}

/// The names of an object's fields.
pub(crate) fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}
