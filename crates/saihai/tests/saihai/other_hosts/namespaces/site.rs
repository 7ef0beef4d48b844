//! Two servers on one database and three runners, on five hosts: how are they started, and what is in their way?

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use board::{Board, Status, Task, TaskId};
use rustix::process::Signal;
use serde_json::{Value, json};
use store::contract::postgres;
use tempfile::TempDir;

use super::network::Network;
use crate::other_hosts::{Host, RunningRunner};
use crate::runner::{Team, signal};
use crate::server::Server;
use crate::world::World;

pub(super) const SERVERS: [&str; 2] = ["server-1", "server-2"];
pub(super) const RUNNERS: [&str; 3] = ["runner-1", "runner-2", "runner-3"];

/// For all tasks to be done after the last trouble, on a busy machine.
const WAIT_LIMIT: Duration = Duration::from_secs(240);

/// Each adds a file of its own and a line to one that all share, so that work conflicts too. What was left by an attempt that
/// was killed is kept.
const WORK: &str = r#"
set -e
name=$(basename "$(git rev-parse --abbrev-ref HEAD)")
seq 1 20000
sleep 0.$(($(date +%1N) / 2))
git add -A
sed -i '/^<<<<<<<\|^=======\|^>>>>>>>/d' src/a.txt
found=0; grep -qx "$name" src/a.txt || found=$?
# One that was killed has not looked.
case $found in 0) ;; 1) echo "$name" >> src/a.txt ;; *) exit 1 ;; esac
echo "$name" > "src/$name.txt"
sleep 0.1
echo "$name is written"
"#;

/// What is dropped first ends first.
pub(super) struct Site {
    pub(super) runners: Vec<RunningRunner>,
    pub(super) servers: Vec<RunningServer>,
    pub(super) hosts: Vec<Host>,
    tokens: Vec<String>,
    pub(super) team: Team,
    network: Network,
    pub(super) database: postgres::Server,
    _directory: TempDir,
    began: Instant,
}

impl Site {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let database = postgres::Server::start(directory.path());
        let team = team(World::repository().in_store(&database.url()));
        let network = Network::of(&[&SERVERS[..], &RUNNERS[..]].concat());
        let tokens = RUNNERS.iter().map(|name| Server::runner_token(&team.world, name, &[]).0).collect();
        let mut site = Self {
            runners: Vec::new(),
            servers: Vec::new(),
            hosts: RUNNERS.iter().map(|_| Host::new()).collect(),
            tokens,
            team,
            network,
            database,
            _directory: directory,
            began: Instant::now(),
        };
        site.servers = SERVERS.iter().map(|name| site.serve(name)).collect();
        site.runners = (0..RUNNERS.len()).map(|runner| site.run(runner)).collect();
        site
    }

    /// Starts the server of a host.
    pub(super) fn serve(&self, name: &str) -> RunningServer {
        let address = self.network.address(name);
        let listen = format!("{address}:4700");
        let command = self.team.world.command(&["serve", "--listen", &listen, "--allow-host", &address, "--json"]);
        RunningServer::start(Network::command_on(name, &command))
    }

    /// Starts the runner of a host.
    pub(super) fn run(&self, runner: usize) -> RunningRunner {
        let servers = SERVERS.map(|name| format!("http://{}:4700", self.network.address(name)));
        let arguments = ["--max-parallel", "2", "--name", RUNNERS[runner]];
        let host = &self.hosts[runner];
        let command = host.command(&servers.join(","), &self.tokens[runner], &arguments);
        let errors = host.directory.path().join("runner.err");
        RunningRunner::start(Network::command_on(RUNNERS[runner], &command), errors)
    }

    /// How long it has been running, in seconds.
    pub(super) fn age(&self) -> f32 {
        self.began.elapsed().as_secs_f32()
    }

    /// Kills a shim, preferably of this host, as soon as there is one; `None` if there is none in this time.
    pub(super) fn kill_shim(&self, runner: usize, time: Duration) -> Option<String> {
        let began = Instant::now();
        loop {
            for turn in 0..self.hosts.len() {
                let host = &self.hosts[(runner + turn) % self.hosts.len()];
                if let Some((session, pid)) = running_shim(host) {
                    signal(pid, Signal::KILL);
                    return Some(session);
                }
            }
            if began.elapsed() > time {
                return None;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Does what an owner would: starts the tasks that wait for nothing any more.
    pub(super) fn start_tasks(&self) {
        let board = self.team.board();
        let done = |id: &TaskId| board.tasks[id].status == Status::Done;
        for task in open_tasks(&board) {
            if matches!(task.status, Status::Todo | Status::Backlog) && task.dependencies.iter().all(done) {
                self.team.world.ok(&["task", "start", &task.id.to_string()]);
            }
        }
    }

    /// Waits until every task is done. What fails or is blocked is helped by nobody.
    pub(super) fn until_done(&self) {
        let began = Instant::now();
        println!("{:.1} s: no more trouble", self.age());
        loop {
            self.start_tasks();
            let board = self.team.board();
            let open = open_tasks(&board);
            if open.is_empty() {
                return;
            }
            let given_up = |task: &&Task| matches!(task.status, Status::Failed | Status::Blocked | Status::Cancelled);
            let hopeless = began.elapsed() > WAIT_LIMIT || open.iter().any(given_up);
            assert!(!hopeless, "{:.1} s: {}", self.age(), self.stuck(&open));
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// What is not done, why, and what runners say.
    fn stuck(&self, open: &[&Task]) -> String {
        let why = open.iter().map(|task| self.team.world.ok(&["task", "why", &task.id.to_string()]));
        let said = self.runners.iter().zip(RUNNERS).map(|(runner, name)| format!("{name}: {}", runner.errors()));
        let lines: Vec<_> = why.chain(said).collect();
        let sessions = self.team.world.ok(&["session", "list", "--all"]);
        let log = self.team.world.ok(&["log", "tail", "--lines", "200"]);
        format!("not done:\n{}\n{sessions}\n{log}", lines.join("\n"))
    }
}

fn team(world: World) -> Team {
    let remote = world.path().join("origin.git");
    world.git(&["init", "--quiet", "--bare", "--initial-branch=main", remote.to_str().unwrap()]);
    let settings = json!({
        "remote": remote,
        "limits": {
            "remote_lease": 20, "max_attempts": 10, "max_conflicts": 100, "max_idle_sessions": 100, "max_task_sessions": 1000,
        },
        "dod": { "timeout": 60, "checks": [{ "type": "clean", "command": "! grep -n '^<<<<<<<' src/a.txt" }] },
    });
    let team = Team::in_repository(world, WORK, &settings);
    team.redefine_solo(WORK, &json!({ "max_sessions": 6 }));
    team.world.git(&["push", "--quiet", remote.to_str().unwrap(), "main"]);
    team
}

pub(super) fn open_tasks(board: &Board) -> Vec<&Task> {
    board.tasks.values().map(AsRef::as_ref).filter(|task: &&Task| task.status != Status::Done).collect()
}

/// A session that runs on a host, and its shim.
fn running_shim(host: &Host) -> Option<(String, u32)> {
    let sessions = fs::read_dir(host.project_directory().join("sessions")).into_iter().flatten().flatten();
    let processes = host.processes();
    sessions.filter(|session| !session.path().join("exit.json").exists()).find_map(|session| {
        let text = fs::read_to_string(session.path().join("shim.json")).ok()?;
        let pid = serde_json::from_str::<Value>(&text).ok()?["pid"].as_u64()?.try_into().ok()?;
        // Not one that has got the number since.
        processes.contains(&pid).then(|| (session.file_name().to_string_lossy().into_owned(), pid))
    })
}

/// A running `saihai serve` on a host of its own.
pub(super) struct RunningServer(Child);

impl RunningServer {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let server = Self(child);
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        assert!(line.contains("mcp_url"), "{line}");
        server
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(super) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.kill();
    }
}
