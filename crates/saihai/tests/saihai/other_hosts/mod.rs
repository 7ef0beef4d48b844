//! Do agents work on other hosts, and is nothing lost, doubled or forged on the way (R10)?
//!
//! A host is a home of its own: its runner sees neither the repository nor the store.

mod encrypted;
mod forged;
mod namespaces;
mod slow_network;
mod staffed;
mod troubled;
mod working;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::runner::{pids, signal, wait_for};
use crate::world::World;

/// For output to arrive, which is looked for every few seconds after trouble.
const SENT_LIMIT: Duration = Duration::from_secs(30);

/// A machine with git, the program, and nothing else of ours.
pub(crate) struct Host {
    directory: TempDir,
}

impl Host {
    pub(crate) fn new() -> Self {
        let host = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(host.user_home()).unwrap();
        host
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("saihai-home")
    }

    fn user_home(&self) -> PathBuf {
        self.directory.path().join("user")
    }

    fn project_directory(&self) -> PathBuf {
        self.home().join("projects/shop")
    }

    /// The files of a task's workspace.
    pub(crate) fn workspace(&self, task: u32) -> PathBuf {
        self.project_directory().join(format!("workspaces/task-{task}/work"))
    }

    /// What a session has written here.
    pub(crate) fn log(&self, session: u32) -> String {
        let directory = self.project_directory().join(format!("sessions/ses_{session}/log"));
        let mut segments: Vec<_> =
            fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        segments.sort();
        let bytes: Vec<u8> = segments.iter().flat_map(|path| fs::read(path).unwrap_or_default()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until the store has what a session has written here, byte for byte.
    #[track_caller]
    pub(crate) fn until_output_is_sent(&self, world: &World, session: u32) {
        let (began, printed) = (Instant::now(), self.log(session).into_bytes());
        let mut command = world.command(&["session", "log", &session.to_string()]);
        loop {
            let kept = command.output().unwrap();
            if kept.stdout == printed {
                return;
            }
            let sent = self.project_directory().join(format!("sessions/ses_{session}/output-sent")).exists();
            let seen = format!("{} of {} bytes, said to be sent: {sent}; {kept:?}", kept.stdout.len(), printed.len());
            let seen: String = seen.chars().take(400).collect();
            assert!(began.elapsed() < SENT_LIMIT, "the output of session {session} is not in the store: {seen}");
            thread::sleep(Duration::from_millis(50));
        }
    }

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

    /// The command that runs its runner.
    pub(crate) fn command(&self, servers: &str, token: &str, arguments: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_saihai")), servers, token, arguments)
    }

    fn command_of(&self, program: &Path, servers: &str, token: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(["runner", "--server", servers, "--min-free-disk", "0", "--json"])
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.user_home())
            .env("LANG", "C.UTF-8")
            .env("SAIHAI_HOME", self.home())
            .env("SAIHAI_RUNNER_TOKEN", token)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn runner(&self, servers: &str, token: &str, arguments: &[&str]) -> RunningRunner {
        RunningRunner::start(self.command(servers, token, arguments), self.directory.path().join("runner.err"))
    }

    /// The runner of another version of the program.
    pub(crate) fn runner_of(&self, program: &Path, servers: &str, token: &str, arguments: &[&str]) -> RunningRunner {
        let command = self.command_of(program, servers, token, arguments);
        RunningRunner::start(command, self.directory.path().join("runner.err"))
    }

    /// The processes that work here.
    fn processes(&self) -> Vec<u32> {
        let home = self.directory.path().canonicalize().unwrap();
        let here = |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&home));
        pids().into_iter().filter(|pid| *pid != std::process::id()).filter(here).collect()
    }

    /// Waits until no process is left.
    #[track_caller]
    pub(crate) fn until_quiet(&self) {
        wait_for("its processes to end", || self.processes().is_empty().then_some(()));
    }

    /// Waits until none is left but its runner.
    #[track_caller]
    pub(crate) fn until_quiet_but(&self, runner: &RunningRunner) {
        wait_for("its agents to end", || self.processes().iter().all(|pid| *pid == runner.pid()).then_some(()));
    }
}

impl Drop for Host {
    /// Kills the shims that a test left.
    fn drop(&mut self) {
        for pid in self.processes() {
            signal(pid, Signal::KILL);
        }
    }
}

/// A running `saihai runner`.
pub(crate) struct RunningRunner {
    child: Child,
    stdout: BufReader<ChildStdout>,
    errors: PathBuf,
    /// What it printed when it was let in.
    pub(crate) ready: Value,
}

impl RunningRunner {
    fn start(mut command: Command, errors: PathBuf) -> Self {
        let stderr = fs::File::options().create(true).append(true).open(&errors).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let said = || fs::read_to_string(&errors).unwrap_or_default();
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}{}", said()));
        Self { child, stdout, errors, ready }
    }

    pub(crate) fn errors(&self) -> String {
        fs::read_to_string(&self.errors).unwrap_or_default()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it ends by itself, and says with which code.
    #[track_caller]
    pub(crate) fn until_ended(&mut self) -> i32 {
        wait_for("the runner to end", || self.child.try_wait().unwrap()).code().unwrap()
    }

    /// Ends it with SIGTERM.
    #[track_caller]
    pub(crate) fn stop(mut self) {
        assert!(self.child.try_wait().unwrap().is_none(), "it has ended by itself: {}", self.errors());
        signal(self.child.id(), Signal::TERM);
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.errors());
    }

    /// Kills it, as the kernel does when memory runs out.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for RunningRunner {
    fn drop(&mut self) {
        self.kill();
    }
}
