//! A project with a real `saihai up` and many agents that only sleep.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Far more than starting hundreds of agents takes.
const START_TIMEOUT: Duration = Duration::from_secs(600);

pub(crate) struct SleepingTeam {
    _directory: TempDir,
    pub(crate) home: PathBuf,
    repository: PathBuf,
    binary: PathBuf,
    /// The address of a store that is not in the home.
    store: Option<String>,
    /// Homes of runners on other hosts.
    others: Vec<PathBuf>,
    up: Option<Child>,
}

impl SleepingTeam {
    /// So many tasks in progress, each for an agent that sleeps.
    pub(crate) fn new(tasks: usize) -> anyhow::Result<Self> {
        Self::in_store(tasks, None)
    }

    /// The same in another store than that of its home.
    pub(crate) fn in_store(tasks: usize, store: Option<String>) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let root = directory.path().canonicalize()?;
        let binary = std::env::current_exe()?.with_file_name("saihai");
        let team = Self {
            home: root.join("home"),
            repository: root.join("repository"),
            binary,
            store,
            others: Vec::new(),
            up: None,
            _directory: directory,
        };
        team.write_repository()?;
        for number in 0..tasks {
            let id = team.saihai(&["task", "add", &format!("Sleep {number}"), "--assign", "sleeper", "--quiet"])?;
            team.saihai(&["task", "start", id.trim()])?;
        }
        Ok(team)
    }

    fn write_repository(&self) -> anyhow::Result<()> {
        std::fs::create_dir_all(self.repository.join(".saihai/agents"))?;
        std::fs::write(self.repository.join("README.md"), "A repository.\n")?;
        let config = json!({ "name": "bench", "target_branch": "main", "limits": { "max_sessions": 5000 } });
        std::fs::write(self.repository.join(".saihai/config.yaml"), config.to_string())?;
        let agent = json!({
            "id": "sleeper", "mode": "one_shot", "client": "command", "command": ["sleep", "100000"],
            "max_sessions": 1000, "timeout": 100_000, "stall_timeout": 100_000, "system_prompt": "Sleep.",
        });
        std::fs::write(self.repository.join(".saihai/agents/sleeper.yaml"), agent.to_string())?;
        for arguments in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "--all"],
            &["-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "--message=begin"],
        ] {
            let status = Command::new("git").args(arguments).current_dir(&self.repository).status()?;
            anyhow::ensure!(status.success(), "git {arguments:?}");
        }
        self.saihai(&["init", "--name", "bench"]).map(drop)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).env("SAIHAI_HOME", &self.home).current_dir(&self.repository);
        command.envs(self.store.as_ref().map(|store| ("SAIHAI_STORE", store)));
        command
    }

    /// Its agents run there too.
    pub(crate) fn also_in(&mut self, home: PathBuf) {
        self.others.push(home);
    }

    pub(crate) fn saihai(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.command(arguments).output()?;
        anyhow::ensure!(output.status.success(), "saihai {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Starts `saihai up`; its output, line by line.
    pub(crate) fn up(&mut self) -> anyhow::Result<BufReader<ChildStdout>> {
        let mut command = self.command(&["up", "--listen", "127.0.0.1:0", "--max-parallel", "5000"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let lines = BufReader::new(child.stdout.take().context("stdout is piped")?);
        self.up = Some(child);
        Ok(lines)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.up.as_ref().map_or(0, Child::id)
    }

    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut up) = self.up.take() {
            up.kill()?;
            up.wait()?;
        }
        Ok(())
    }

    pub(crate) fn running(&self) -> anyhow::Result<Vec<Value>> {
        let list: Vec<Value> = serde_json::from_str(&self.saihai(&["session", "list", "--running", "--json"])?)?;
        Ok(list.into_iter().filter(|session| session["status"] == "running").collect())
    }

    /// Waits until so many run. Reads the output of `up` meanwhile, because a full pipe would block it.
    pub(crate) fn wait_for(&self, count: usize, mut lines: BufReader<ChildStdout>) -> anyhow::Result<()> {
        std::thread::spawn(move || {
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                line.clear();
            }
        });
        self.wait_until_running(count)
    }

    pub(crate) fn wait_until_running(&self, count: usize) -> anyhow::Result<()> {
        let began = Instant::now();
        while self.running()?.len() < count {
            anyhow::ensure!(began.elapsed() < START_TIMEOUT, "{} of {count} run", self.running()?.len());
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// The shims of all sessions that run.
    pub(crate) fn shims(&self) -> anyhow::Result<Vec<u32>> {
        let homes = std::iter::once(&self.home).chain(&self.others);
        let directories = homes.filter_map(|home| std::fs::read_dir(home.join("projects/bench/sessions")).ok());
        let mut pids = Vec::new();
        for entry in directories.flatten() {
            // One that was never started has none.
            let Ok(text) = std::fs::read_to_string(entry?.path().join("shim.json")) else { continue };
            let pid = serde_json::from_str::<Value>(&text)?["pid"].as_u64().context("a shim has a pid")?;
            pids.push(u32::try_from(pid)?);
        }
        pids.retain(|pid| Path::new(&format!("/proc/{pid}")).exists());
        Ok(pids)
    }
}

impl Drop for SleepingTeam {
    fn drop(&mut self) {
        let _ = self.kill();
        // A shim that ends takes its client with it.
        for pid in self.shims().unwrap_or_default() {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
    }
}
