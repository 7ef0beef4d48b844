//! Does `saihai up` work with real processes and real git, however an agent behaves?
//!
//! Agents are shell scripts. Where a test has to look while one works, the script waits at a barrier.

mod client_files;
mod disk_full;
mod environment;
mod forgery;
mod hostile_git;
mod judges;
mod looking;
mod lost_store;
pub(crate) mod metered;
mod owner;
mod processes;
mod queue;
mod repositories;
mod reverting;
mod sandbox;
mod sandbox_programs;
mod until_idle;
mod verdicts;
mod workspace_setup;
mod worktree;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use board::Board;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::board_follower::{BoardFollower, session_json, task_json};
use crate::world::World;

/// The most that anything may take on a busy machine.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// Functions for the scripts of agents: `barrier NAME` waits for the test, `try NAME COMMAND…` prints
/// whether a command that must fail succeeded.
const PRELUDE: &str = r#"
barrier() { echo "at $1"; while ! [ -e "src/.barrier-$1" ]; do sleep 0.02; done; rm -f "src/.barrier-$1"; }
try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "ESCAPED $name"; else echo "refused $name"; fi; }
"#;

/// Waits until `look` finds something that is not on the board: files and processes.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < WAIT_LIMIT, "waited {WAIT_LIMIT:?} for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A project with one-shot agents that are shell scripts.
pub(crate) struct Team {
    follower: BoardFollower,
    pub(crate) world: World,
}

impl Team {
    /// A repository with `src/a.txt`, the agent `solo` who may change `src/`, and no checks.
    pub(crate) fn new(script: &str) -> Self {
        Self::configured(script, &json!({}))
    }

    /// The same with settings besides.
    pub(crate) fn configured(script: &str, settings: &Value) -> Self {
        Self::in_repository(World::repository(), script, settings)
    }

    /// The same in a repository that is there.
    pub(crate) fn in_repository(world: World, script: &str, settings: &Value) -> Self {
        let mut settings = settings.clone();
        // The next attempt begins at once.
        for limit in ["backoff_first", "backoff_most"] {
            settings["limits"][limit] = json!(1);
        }
        let team = Self { follower: BoardFollower::new(&world.location()), world };
        team.world.write("src/a.txt", "one\ntwo\nthree\n");
        team.world.write(".saihai/config.yaml", settings.to_string());
        team.agent("solo", script, &json!({}));
        team.commit("begin");
        team.world.ok(&["init", "--name", "shop"]);
        for invented in ["lead", "coder"] {
            let _ = fs::remove_file(team.world.repository.join(format!(".saihai/agents/{invented}.yaml")));
        }
        team.commit("definitions");
        team.world.ok(&["agent", "apply"]);
        team
    }

    /// Defines an agent, with keys besides or instead.
    pub(crate) fn agent(&self, id: &str, script: &str, keys: &Value) {
        let mut agent = json!({
            "id": id,
            "hierarchy_type": "worker",
            "mode": "one_shot",
            "client": "command",
            "command": ["sh", "-c", format!("{PRELUDE}{script}")],
            "system_prompt": "Work.",
            "scope": { "read": ["**"], "write": ["src/**"] },
        });
        for (key, value) in keys.as_object().unwrap() {
            agent[key] = value.clone();
        }
        self.world.write(&format!(".saihai/agents/{id}.yaml"), agent.to_string());
    }

    /// Defines `solo` anew, with keys besides or instead, and applies that.
    pub(crate) fn redefine_solo(&self, script: &str, keys: &Value) {
        self.agent("solo", script, keys);
        self.commit("another solo");
        self.world.ok(&["agent", "apply"]);
    }

    pub(crate) fn commit(&self, message: &str) {
        self.world.git(&["add", "--all"]);
        self.world.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// A started task for `solo`.
    pub(crate) fn start_task(&self, title: &str) -> String {
        self.start_task_with(title, &[])
    }

    pub(crate) fn start_task_with(&self, title: &str, options: &[&str]) -> String {
        let id = self.world.ok(&[&["task", "add", title, "--assign", "solo", "--quiet"], options].concat());
        self.world.ok(&["task", "start", &id]);
        id
    }

    pub(crate) fn up(&self) -> Up<'_> {
        Up::start(self, &[])
    }

    /// The board as it is now.
    pub(crate) fn board(&self) -> std::sync::Arc<Board> {
        self.follower.board()
    }

    /// A task as `task show` prints it.
    pub(crate) fn task(&self, id: &str) -> Value {
        task_json(&self.follower.board(), id).unwrap()
    }

    /// A session as `session show` prints it.
    pub(crate) fn session(&self, number: u32) -> Value {
        session_json(&self.follower.board(), number).unwrap()
    }

    /// Waits until `look` finds something on the board.
    #[track_caller]
    pub(crate) fn until_board<T>(&self, what: &str, look: impl FnMut(&Board) -> Option<T>) -> T {
        self.follower.until(WAIT_LIMIT, look).unwrap_or_else(|| panic!("waited {WAIT_LIMIT:?} for {what}"))
    }

    /// Waits until a task has a status.
    #[track_caller]
    pub(crate) fn until_task(&self, id: &str, status: &str) -> Value {
        let mut last = Value::Null;
        let found = self.follower.until(WAIT_LIMIT, |board| {
            last = task_json(board, id)?;
            let settled = ["done", "failed", "blocked", "cancelled"].iter().any(|end| last["status"] == *end);
            (settled || last["status"] == status).then(|| last.clone())
        });
        if let Some(task) = found.filter(|task| task["status"] == status) {
            return task;
        }
        let sessions = self.world.json(&["session", "list"]);
        panic!("{id} is not {status}: {last:#}\n{sessions:#}\n{}", self.log(1));
    }

    /// Waits until a session has ended.
    #[track_caller]
    pub(crate) fn until_ended(&self, number: u32) -> Value {
        self.until_session(number, "it to have ended", |session| session["status"] == "ended")
    }

    #[track_caller]
    pub(crate) fn until_session(&self, number: u32, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let found = self.follower.until(WAIT_LIMIT, |board| {
            last = session_json(board, number)?;
            let over = last["status"] == "ended" && last["verdict"] != Value::Null;
            (over || wanted(&last)).then(|| last.clone())
        });
        found.filter(wanted).unwrap_or_else(|| panic!("waited for {what}: {last:#}\n{}", self.log(number)))
    }

    pub(crate) fn project_directory(&self) -> PathBuf {
        self.world.home().join("projects/shop")
    }

    pub(crate) fn run_directory(&self, session: u32) -> PathBuf {
        self.project_directory().join(format!("sessions/ses_{session}"))
    }

    /// The files of a task's workspace.
    pub(crate) fn workspace(&self, task: u32) -> PathBuf {
        self.project_directory().join(format!("workspaces/task-{task}/work"))
    }

    /// What a session has written so far.
    pub(crate) fn log(&self, session: u32) -> String {
        let mut segments: Vec<_> = files_in(&self.run_directory(session).join("log"));
        segments.sort();
        let bytes: Vec<u8> = segments.iter().flat_map(|path| fs::read(path).unwrap_or_default()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until a session has written a line.
    #[track_caller]
    pub(crate) fn until_line(&self, session: u32, line: &str) {
        wait_for(&format!("session {session} to say `{line}`"), || {
            self.log(session).lines().any(|said| said == line).then_some(())
        });
    }

    /// Waits until the agent of a session waits at a barrier.
    #[track_caller]
    pub(crate) fn until_barrier(&self, session: u32, barrier: &str) {
        self.until_line(session, &format!("at {barrier}"));
    }

    /// Lets it go on.
    pub(crate) fn release(&self, task: u32, barrier: &str) {
        fs::write(self.workspace(task).join(format!("src/.barrier-{barrier}")), "").unwrap();
    }

    /// While the first agent waits at the barrier `ready`, the user commits to the file that it changes.
    pub(crate) fn commit_conflicting_change(&self) {
        self.until_barrier(1, "ready");
        self.world.write("src/a.txt", "theirs\n");
        self.commit("theirs");
        self.release(1, "ready");
    }

    /// The target's commits, newest first.
    pub(crate) fn history(&self) -> Vec<String> {
        self.world.git(&["log", "--format=%s", "main"]).lines().map(str::to_owned).collect()
    }

    /// A file as it is in the target.
    pub(crate) fn merged(&self, path: &str) -> Option<String> {
        let output = self.git_quietly(&["show", &format!("main:{path}")]);
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    pub(crate) fn git_quietly(&self, arguments: &[&str]) -> std::process::Output {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.world.repository).args(arguments).stdin(Stdio::null());
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap()
    }
}

impl Drop for Team {
    /// Kills the shims that a test left: their working directory is below the test's. Their children end with them.
    fn drop(&mut self) {
        for pid in pids() {
            let cwd = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            if cwd.starts_with(self.world.path()) && pid != std::process::id() {
                signal(pid, Signal::KILL);
            }
        }
    }
}

/// A running `saihai up`.
pub(crate) struct Up<'a> {
    team: &'a Team,
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// What it printed when it was ready.
    pub(crate) ready: Value,
}

impl<'a> Up<'a> {
    pub(crate) fn start(team: &'a Team, arguments: &[&str]) -> Self {
        Self::start_with(team, arguments, &[])
    }

    /// The same with variables in the environment.
    pub(crate) fn start_with(team: &'a Team, arguments: &[&str], env: &[(&str, &str)]) -> Self {
        let up = ["up", "--listen", "127.0.0.1:0", "--min-free-disk", "0", "--json"];
        let mut command = team.world.command(&[&up, arguments].concat());
        command.envs(env.iter().copied());
        Self::run(team, command)
    }

    /// The same with an inherited descriptor that is open for writing.
    pub(crate) fn start_holding(team: &'a Team, file: &Path) -> Self {
        let saihai = env!("CARGO_BIN_EXE_saihai");
        let mut shell = team.world.command(&["up", "--listen", "127.0.0.1:0", "--min-free-disk", "0", "--json"]);
        let arguments: Vec<_> = shell.get_args().map(ToOwned::to_owned).collect();
        let envs: Vec<_> =
            shell.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        shell = Command::new("sh");
        shell.args(["-c", "exec 9>>\"$0\"; exec \"$@\""]).arg(file).arg(saihai).args(arguments);
        shell.env_clear().envs(envs.into_iter().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(&team.world.repository).stdin(Stdio::null());
        Self::run(team, shell)
    }

    fn run(team: &'a Team, mut command: Command) -> Self {
        let errors = fs::File::options().create(true).append(true).open(team.world.path().join("up.err")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let errors = || fs::read_to_string(team.world.path().join("up.err")).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}{}", errors()));
        Self { team, child, stdout, ready }
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Ends it with SIGTERM, and returns what it printed after it was ready.
    #[track_caller]
    pub(crate) fn stop(mut self) -> String {
        assert!(self.is_running(), "it has ended by itself: {:?}", self.errors());
        signal(self.child.id(), Signal::TERM);
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.errors());
        rest
    }

    /// Kills it, as the kernel does when memory runs out.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn errors(&self) -> String {
        fs::read_to_string(self.team.world.path().join("up.err")).unwrap_or_default()
    }
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// The living processes whose command line contains a text.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let said = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    pids().into_iter().filter(said).collect()
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Everything below a directory: what it is, its mode, and what is in it.
pub(crate) fn snapshot(directory: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        let content = if about.is_dir() {
            open.extend(files_in(&path));
            Vec::new()
        } else if about.is_symlink() {
            fs::read_link(&path).unwrap().to_string_lossy().into_owned().into_bytes()
        } else {
            fs::read(&path).unwrap_or_default()
        };
        found.insert(path, (about.permissions().mode(), content));
    }
    found
}

/// The same, compared so that a failure says what differs.
#[track_caller]
pub(crate) fn assert_unchanged<T: Debug + PartialEq>(before: &BTreeMap<PathBuf, T>, after: &BTreeMap<PathBuf, T>) {
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
    let changed: Vec<_> = before.keys().chain(after.keys()).filter(differs).collect();
    assert!(changed.is_empty(), "these have changed: {changed:?}");
}

/// The name of a check and its command, as settings.
pub(crate) fn checks(checks: &[(&str, &str)]) -> Value {
    let checks: Vec<_> = checks.iter().map(|(name, command)| json!({ "type": name, "command": command })).collect();
    json!({ "dod": { "timeout": 30, "checks": checks } })
}

/// The same outside of the sandbox: what a check writes beside its HOME stays, which is new for every run.
pub(crate) fn unconfined_checks(named: &[(&str, &str)]) -> Value {
    let mut settings = checks(named);
    settings["sandbox"] = json!("off");
    settings
}
