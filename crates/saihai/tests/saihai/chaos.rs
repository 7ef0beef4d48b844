//! Is all work merged once, and nothing left running, when processes are killed at random?

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use board::Status;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::seed::Seed;

use crate::board_follower::BoardFollower;
use crate::world::World;

const ROUNDS: u32 = 100;
/// The owner adds no task while so many are not done.
const MAX_OPEN_TASKS: usize = 5;
/// For all tasks to be done after the last kill, on a busy machine.
const WAIT_LIMIT: Duration = Duration::from_secs(180);

/// A linear congruential generator: the same numbers for the same seed.
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Each adds a file of its own and a line to one that all share, so that work conflicts too. What was
/// left by an attempt that was killed is kept.
const WORK: &str = r#"
set -e
name=$(basename "$(git rev-parse --abbrev-ref HEAD)")
sleep 0.1
mkdir -p src
echo "$name" > "src/$name"
git add -A
sed -i '/^<<<<<<<\|^=======\|^>>>>>>>/d' shared.txt
sleep 0.1
found=0; grep -qx "$name" shared.txt || found=$?
# One that was killed has not looked.
case $found in 0) ;; 1) echo "$name" >> shared.txt ;; *) exit 1 ;; esac
git add -A
git commit -qm "$name" || true
"#;

struct RunningTeam {
    follower: BoardFollower,
    world: World,
    up: Child,
    added: u32,
}

impl Drop for RunningTeam {
    fn drop(&mut self) {
        let _ = self.up.kill();
        let _ = self.up.wait();
        for pid in processes(&self.world) {
            kill(pid);
        }
    }
}

fn kill(pid: i32) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}

/// Stops a process for a while, as a closed lid or a debugger would.
fn freeze(pid: i32, time: Duration) {
    let pid = Pid::from_raw(pid).unwrap();
    let _ = kill_process(pid, Signal::STOP);
    std::thread::sleep(time);
    let _ = kill_process(pid, Signal::CONT);
}

/// Every process of this test: they have its home in their environment.
fn processes(world: &World) -> Vec<i32> {
    let home = world.home().to_string_lossy().into_owned();
    let mentions = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let text = String::from_utf8_lossy(&environment);
        text.split('\0').any(|variable| variable.starts_with("SAIHAI_SPAWN=") || variable.starts_with("HOME="))
            && (text.contains(&home) || of_session(world, &text))
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    // Zombies have no environment, and are left out.
    pids.filter(|pid| *pid != i32::try_from(std::process::id()).unwrap()).filter(mentions).collect()
}

/// A shim and its init have only the marker of their spawn in the environment.
fn of_session(world: &World, environment: &str) -> bool {
    let marker = environment.split('\0').find_map(|variable| variable.strip_prefix("SAIHAI_SPAWN="));
    let spawns = world.path().join("spawns");
    let known = std::fs::read_to_string(spawns).unwrap_or_default();
    marker.is_some_and(|marker| known.lines().any(|spawn| spawn == marker))
}

fn serve(world: &World) -> Child {
    let mut command = world.command(&["up", "--listen", "127.0.0.1:0", "--max-parallel", "4", "--json"]);
    let errors = world.path().join("up.err");
    let stderr = std::fs::File::create(&errors).unwrap();
    let mut up = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(up.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("mcp_url"), "{line}{}", std::fs::read_to_string(errors).unwrap());
    up
}

impl RunningTeam {
    fn new() -> Self {
        let world = World::repository();
        world.write("shared.txt", "begin\n");
        world.write("languages/en", "Hello!\n");
        world.write("README.md", "# greet\n\n- en: English\n");
        let check = "! grep -rn '^<<<<<<<' . --include=*.txt --include=README.md";
        let config = json!({
            "dod": { "timeout": 60, "checks": [{ "type": "clean", "command": check }] },
            "limits": { "backoff_first": 1, "backoff_most": 1, "max_attempts": 20, "max_task_sessions": 1000 },
        });
        world.write(".saihai/config.yaml", config.to_string());
        for id in ["w1", "w2", "w3"] {
            let agent = json!({
                "id": id, "mode": "one_shot", "client": "command", "command": ["sh", "-c", WORK], "max_sessions": 2,
                "system_prompt": "Work.",
            });
            world.write(&format!(".saihai/agents/{id}.yaml"), agent.to_string());
        }
        // The team of the demo, which speaks MCP.
        for id in ["lead", "aiko", "bernd", "chloe"] {
            let mut agent = json!({
                "id": id, "mode": "guided", "client": "command", "system_prompt": "Work.",
                "command": [env!("CARGO_BIN_EXE_saihai"), "demo-agent", id, "30"],
                "hierarchy_type": if id == "lead" { "manager" } else { "worker" },
            });
            if id != "lead" {
                agent["parent"] = json!("lead");
                agent["decompose"] = json!(if id == "bernd" { "auto" } else { "never" });
            }
            world.write(&format!(".saihai/agents/{id}.yaml"), agent.to_string());
        }
        world.git(&["add", "--all"]);
        world.git(&["commit", "--quiet", "--message=begin"]);
        world.ok(&["init", "--name", "shop"]);
        let up = serve(&world);
        let team = Self { follower: BoardFollower::new(&world.location()), world, up, added: 0 };
        let feature = team.world.ok(&["task", "add", "Greet", "--assign", "lead", "--quiet"]);
        team.world.ok(&["task", "start", &feature]);
        team
    }

    /// Does what an owner would: restarts whatever a kill has stopped, and adds tasks while `more` are wanted.
    /// Says how many tasks are not done.
    fn act_as_owner(&mut self, more: bool) -> usize {
        let board = self.follower.board();
        let open: Vec<_> = board.tasks.values().filter(|task| task.status != Status::Done).collect();
        for task in &open {
            let id = &task.id.to_string();
            // The command may be refused: the team goes on meanwhile.
            match task.status {
                Status::Failed => drop(self.world.run(&["task", "retry", id])),
                Status::Blocked => drop(self.world.run(&["task", "unblock", id])),
                Status::Todo if task.parent.is_none() => drop(self.world.run(&["task", "start", id])),
                // Its manager may be waiting for somebody else.
                Status::Todo | Status::Backlog if task.assignee.is_some() => {
                    drop(self.world.run(&["task", "update", id, "--status", "in_progress", "--force"]));
                }
                Status::Todo | Status::Backlog | Status::InProgress | Status::Done | Status::Cancelled => {}
            }
        }
        if more && open.len() < MAX_OPEN_TASKS {
            self.added += 1;
            let agent = format!("w{}", self.added % 3 + 1);
            let task = self.world.ok(&["task", "add", &format!("part {}", self.added), "--assign", &agent, "--quiet"]);
            self.world.ok(&["task", "start", &task]);
        }
        open.len()
    }

    /// Keeps the markers of all spawns, to find processes that they leave.
    fn note_spawns(&self) {
        let sessions = self.world.home().join("projects/shop/sessions");
        let ids = std::fs::read_dir(sessions).into_iter().flatten().flatten();
        let shims = ids.filter_map(|entry| std::fs::read_to_string(entry.path().join("shim.json")).ok());
        let pids = shims.filter_map(|text| serde_json::from_str::<Value>(&text).ok()?["pid"].as_i64());
        let environments = pids.filter_map(|pid| std::fs::read_to_string(format!("/proc/{pid}/environ")).ok());
        let mut known = std::fs::read_to_string(self.world.path().join("spawns")).unwrap_or_default();
        for environment in environments {
            let marker = environment.split('\0').find_map(|variable| variable.strip_prefix("SAIHAI_SPAWN="));
            if let Some(marker) = marker.filter(|marker| !known.lines().any(|spawn| spawn == *marker)) {
                known.push_str(&format!("{marker}\n"));
            }
        }
        std::fs::write(self.world.path().join("spawns"), known).unwrap();
    }

    /// What is not done, and why.
    fn stuck(&self) -> String {
        let board = self.follower.board();
        let open = board.tasks.values().filter(|task| task.status != Status::Done);
        let why = open.map(|task| self.world.ok(&["task", "why", &task.id.to_string()]));
        let why = why.collect::<Vec<_>>().join("\n");
        format!("{why}\n{}", self.world.ok(&["session", "list"]))
    }

    fn kill_random_process(&mut self, rng: &mut Lcg) -> &'static str {
        self.note_spawns();
        let frozen_for = Duration::from_millis(rng.below(200) as u64);
        if rng.below(6) == 0 {
            freeze(i32::try_from(self.up.id()).unwrap(), frozen_for);
            return "up, frozen";
        }
        if rng.below(3) == 0 {
            self.up.kill().unwrap();
            self.up.wait().unwrap();
            self.up = serve(&self.world);
            return "up";
        }
        // Shims, inits, clients, checks, and whatever those have started.
        let up = i32::try_from(self.up.id()).unwrap();
        // No git in the user's own checkout: a killed one leaves a lock that only the user may remove.
        let at_users =
            |pid: &i32| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == self.world.repository);
        let mut candidates = processes(&self.world);
        candidates.retain(|pid| *pid != up && !at_users(pid));
        if candidates.is_empty() {
            return "nobody";
        }
        let chosen = candidates[rng.below(candidates.len())];
        if rng.below(3) == 0 {
            freeze(chosen, frozen_for);
            return "somebody, frozen";
        }
        kill(chosen);
        "somebody"
    }
}

/// T4, R3, R4, S1, S2, S2a, F30, F40, F42, F72: `kill -9` and SIGSTOP of `up`, of shims, of clients, of checks and of git
/// at random points of a running team, a hundred times. In the end all work is merged once, nothing is
/// left running, the log verifies and the target is green.
#[test]
fn a_hundred_kills_lose_nothing() {
    let seed = Seed::for_test("saihai", "chaos::a_hundred_kills_lose_nothing");
    let mut rng = Lcg(seed.value());
    let mut team = RunningTeam::new();
    let mut killed = BTreeMap::new();
    for _ in 0..ROUNDS {
        team.act_as_owner(true);
        std::thread::sleep(Duration::from_millis(rng.below(120) as u64));
        *killed.entry(team.kill_random_process(&mut rng)).or_insert(0) += 1;
    }
    println!("killed: {killed:?}, tasks: {}", team.follower.board().tasks.len());
    let began = Instant::now();
    while team.act_as_owner(false) > 0 {
        assert!(began.elapsed() < WAIT_LIMIT, "{}", team.stuck());
        team.note_spawns();
        let seen = team.follower.board().seq;
        team.follower.until(Duration::from_millis(500), |board| (board.seq > seen).then_some(()));
    }
    team.examine();
}

impl RunningTeam {
    fn examine(&mut self) {
        let world = &self.world;
        // Each task's work is in the target by one merge.
        let log =
            world.git(&["log", "--first-parent", "--format=%(trailers:key=Task,valueonly,separator=%x2C)", "main"]);
        let mut merged = BTreeMap::new();
        for task in log.lines().filter(|line| !line.is_empty()) {
            *merged.entry(task.to_owned()).or_insert(0) += 1;
        }
        assert!(merged.values().all(|times| *times == 1), "merged more than once: {merged:?}");
        let files: BTreeSet<_> =
            world.git(&["ls-tree", "-r", "--name-only", "main"]).lines().map(str::to_owned).collect();
        let shared = world.git(&["show", "main:shared.txt"]);
        for number in 1..=self.added {
            let name = files.iter().find(|file| file.ends_with(&format!("-part-{number}")));
            let name = name.unwrap_or_else(|| panic!("part {number} is lost: {files:?}"));
            let line = name.strip_prefix("src/").unwrap();
            assert_eq!(shared.lines().filter(|found| found == &line).count(), 1, "{line}: {shared}");
        }
        for language in ["languages/ja", "languages/de", "languages/fr"] {
            assert!(files.contains(language), "{files:?}");
        }
        assert!(!shared.contains("<<<<<<<"), "{shared}");
        // No process is left.
        self.up.kill().unwrap();
        self.up.wait().unwrap();
        let began = Instant::now();
        while !processes(world).is_empty() {
            assert!(began.elapsed() < WAIT_LIMIT, "left over: {:?}", processes(world));
            std::thread::sleep(Duration::from_millis(20));
        }
        let sessions = world.json(&["session", "list"]);
        assert!(sessions.as_array().unwrap().iter().all(|session| session["status"] == "ended"), "{sessions:#}");
        world.ok(&["log", "verify"]);
        // The user's own checkout is where the target is, and clean.
        assert_eq!(world.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    }
}
