//! What do the tests of real clients run on? `saihai up` in a project of its own, clients that are installed, and a
//! scripted model in their vendors' places.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::mcp;
use testkit::model::{Behaviour, ModelServer};

use crate::board_follower::{BoardFollower, session_json, task_json};
use crate::world::World;

/// Far longer than anything takes on a busy machine.
pub(super) const WAIT_LIMIT: Duration = Duration::from_secs(120);

pub(super) const KEY: &str = "a-key-that-no-vendor-has-given-out";

/// A client, and what a user sets up to use it with another server.
#[derive(Clone, Copy)]
pub(super) struct ClientSetup {
    pub(super) client: &'static str,
    pub(super) program: &'static str,
    model: Option<&'static str>,
    /// The variable that says where its vendor is, and the path there.
    pub(super) vendor: (&'static str, &'static str),
    pub(super) key: &'static str,
    /// A file of `.saihai/clients/` that makes it give up early, where there is such a setting.
    few_retries: Option<(&'static str, &'static str)>,
    /// The message when its login is refused.
    pub(super) advice: &'static str,
}

pub(super) const CLAUDE: ClientSetup = ClientSetup {
    client: "claude-code",
    program: "claude",
    model: None,
    vendor: ("ANTHROPIC_BASE_URL", ""),
    key: "ANTHROPIC_API_KEY",
    few_retries: Some(("settings.json", r#"{"env": {"CLAUDE_CODE_MAX_RETRIES": "1"}}"#)),
    advice: "Claude Code is not logged in: run `claude` and /login, or set ANTHROPIC_API_KEY for the agent",
};

pub(super) const CODEX: ClientSetup = ClientSetup {
    client: "codex",
    program: "codex",
    // Of the models that it knows it hides tools behind a search, which the scripted one does not make.
    model: Some("scripted"),
    vendor: ("OPENAI_BASE_URL", "/v1"),
    key: "OPENAI_API_KEY",
    few_retries: None,
    advice: "Codex is not logged in: run `codex login`, or set OPENAI_API_KEY for the agent",
};

pub(super) const GEMINI: ClientSetup = ClientSetup {
    client: "gemini",
    program: "gemini",
    // By default it asks other models first which one to ask.
    model: Some("gemini-2.5-flash"),
    vendor: ("GOOGLE_GEMINI_BASE_URL", ""),
    key: "GEMINI_API_KEY",
    few_retries: Some(("settings.json", r#"{"general": {"maxAttempts": 1}}"#)),
    advice: "Gemini CLI is not logged in: run `gemini` and log in there, or set GEMINI_API_KEY for the agent",
};

pub(super) const OPENCODE: ClientSetup = ClientSetup {
    client: "opencode",
    program: "opencode",
    model: None,
    vendor: ("OPENAI_BASE_URL", "/v1"),
    key: "OPENAI_API_KEY",
    few_retries: None,
    advice: "opencode is not logged in: run `opencode auth login`, or set the key of the model's vendor for the agent",
};

impl ClientSetup {
    /// The directory that its program is in.
    pub(super) fn bin(self) -> PathBuf {
        let clients = std::env::var_os("SAIHAI_REAL_CLIENTS").filter(|value| !value.is_empty());
        let clients = clients.expect(
            "SAIHAI_REAL_CLIENTS is not set: run scripts/test --real-clients, or set it to what scripts/clients prints",
        );
        let bin = PathBuf::from(clients).join(self.program).join("node_modules/.bin");
        assert!(
            bin.join(self.program).exists(),
            "there is no {} in {}: run scripts/clients",
            self.program,
            bin.display()
        );
        bin
    }

    /// The definition of an agent of this client.
    fn agent(self, id: &str, rank: &str, model_url: &str, bin: &std::path::Path) -> String {
        let model = self.model.map(|model| format!("model: {model}\n")).unwrap_or_default();
        let (variable, path) = self.vendor;
        let (client, key) = (self.client, self.key);
        let bin = bin.display();
        format!(
            "id: {id}\nname: {id}\nrole_type: developer\nmode: guided\nclient: {client}\n{model}{rank}\
             system_prompt: Do what you are told.\n\
             env:\n  PATH: {bin}:/usr/local/bin:/usr/bin:/bin\n  {variable}: {model_url}{path}\n  {key}: {KEY}\n"
        )
    }
}

/// `saihai up` in a project with real clients and a scripted model.
pub(super) struct Fixture {
    // Ended in this order.
    pub(super) up: Up,
    pub(super) follower: BoardFollower,
    pub(super) world: World,
    pub(super) model_server: ModelServer,
}

/// Dropping it ends its agents, and checks that none of their processes is left (R4).
pub(super) struct Up {
    process: Child,
    log: PathBuf,
    marker: String,
}

impl Drop for Up {
    fn drop(&mut self) {
        let told = std::process::Command::new("kill").arg(self.process.id().to_string()).status();
        let ended = told.is_ok_and(|told| told.success())
            && until(|| self.process.try_wait().ok().flatten()).is_some_and(|end| end.success());
        if !ended {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
        let left = until(|| Some(self.left()).filter(Vec::is_empty)).is_none().then(|| self.left());
        if std::thread::panicking() {
            eprintln!("{}", self.output());
        } else {
            assert!(ended && left.is_none(), "left: {left:?}\n{}", self.output());
        }
    }
}

impl Up {
    /// What it has printed so far.
    pub(super) fn output(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The processes of this test: their HOME is below its directory.
    fn left(&self) -> Vec<String> {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let read = |process: &std::fs::DirEntry, name: &str| {
            let text = std::fs::read(process.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&text).replace('\0', " ")
        };
        let ours = processes.filter(|process| read(process, "environ").contains(&self.marker));
        ours.map(|process| read(&process, "cmdline")).filter(|line| !line.is_empty()).collect()
    }
}

/// What `find` finds; `None` when the time is up.
pub(super) fn until<T>(mut find: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        match find() {
            Some(found) => return Some(found),
            None if began.elapsed() > WAIT_LIMIT => return None,
            None => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

impl Fixture {
    /// A project with these agents, whose clients talk to a scripted model instead of their vendor.
    pub(super) async fn start(behaviour: Behaviour, team: &[(&str, ClientSetup, &str)]) -> Self {
        let bins: Vec<_> = team.iter().map(|(_, setup, _)| setup.bin()).collect();
        let define = |world: &World, model_url: &str| {
            for ((id, setup, rank), bin) in team.iter().zip(&bins) {
                world.write(&format!(".saihai/agents/{id}.yaml"), setup.agent(id, rank, model_url, bin));
                if let (Some((file, text)), true) = (setup.few_retries, behaviour != Behaviour::Guided) {
                    world.write(&format!(".saihai/clients/{}/{file}", setup.client), text);
                }
            }
        };
        Self::defined(behaviour, define).await
    }

    /// A project with the agents that `define` writes, and a scripted model, whose URL it is given.
    pub(super) async fn defined(behaviour: Behaviour, define: impl FnOnce(&World, &str)) -> Self {
        let model_server = ModelServer::start(behaviour).await.unwrap();
        let world = World::repository();
        world.ok(&["init"]);
        std::fs::remove_dir_all(world.repository.join(".saihai/agents")).unwrap();
        define(&world, &model_server.url());
        // Sandbox and isolation have their defaults: strict, and a clone. The pause is long where a test
        // checks that it is kept, and short where a test waits for its end.
        let pause = if behaviour == Behaviour::Guided { 1 } else { 100 };
        let checks = "dod:\n  checks:\n    - {type: written, command: test -s README.md}\n";
        world.write(".saihai/config.yaml", format!("limits: {{backoff_first: {pause}}}\n{checks}"));
        world.write("README.md", "A shop.\n");
        world.git(&["add", "."]);
        world.git(&["commit", "--quiet", "--message=saihai"]);
        let up = Self::up(&world);
        Self { up, follower: BoardFollower::new(&world.location()), world, model_server }
    }

    fn up(world: &World) -> Up {
        let log = world.path().join("up.log");
        let output = File::create(&log).unwrap();
        let mut command = world.command(&["up", "--listen", "127.0.0.1:0", "--stop-agents"]);
        command.env("TZ", "UTC").stdout(Stdio::from(output.try_clone().unwrap())).stderr(Stdio::from(output));
        let process = command.spawn().unwrap();
        let up = Up { process, log, marker: world.path().canonicalize().unwrap().display().to_string() };
        until(|| up.output().contains("/mcp").then_some(())).expect("it listens");
        up
    }

    /// A task that is started.
    pub(super) fn task(&self, title: &str, description: &str, agent: &str) -> String {
        let task = self.world.ok(&["task", "add", title, "-d", description, "--assign", agent, "--quiet"]);
        self.world.ok(&["task", "start", &task]);
        task
    }

    /// Waits until the condition has a value.
    #[track_caller]
    pub(super) fn until<T>(&self, what: &str, condition: impl FnMut() -> Option<T>) -> T {
        until(condition).unwrap_or_else(|| panic!("waited {WAIT_LIMIT:?} for this: {what}"))
    }

    /// The task, once its work is merged.
    #[track_caller]
    pub(super) fn until_done(&self, task: &str) -> Value {
        let settled = |status: &Value| !matches!(status.as_str(), Some("backlog" | "todo" | "in_progress"));
        let shown = self.follower.until(WAIT_LIMIT, |board| {
            let shown = task_json(board, task)?;
            settled(&shown["status"]).then_some(shown)
        });
        let shown = shown.unwrap_or_else(|| panic!("waited {WAIT_LIMIT:?} for {task} to be settled"));
        assert_eq!((shown["status"].as_str(), shown["attempts"].as_u64()), (Some("done"), Some(0)), "{shown}");
        shown
    }

    /// The first session of a task, once it is over.
    #[track_caller]
    pub(super) fn first_session(&self, task: &str) -> Value {
        let id: board::TaskId = task.parse().unwrap();
        let ended = self.follower.until(WAIT_LIMIT, |board| {
            let session = board.sessions.values().find(|session| session.task() == Some(id))?;
            session_json(board, session.id.0).filter(|session| session["status"] == "ended")
        });
        ended.unwrap_or_else(|| panic!("waited {WAIT_LIMIT:?} for the first session of {task} to end"))
    }

    /// Where `up` serves MCP.
    pub(super) fn mcp_url(&self) -> String {
        let told = self.up.output();
        told.split_whitespace().find(|word| word.ends_with("/mcp")).unwrap().to_owned()
    }

    /// The staffing answer for the agent. The task has lost no attempt.
    pub(super) async fn staffing_of(&self, task: &str, agent: &str) -> Value {
        let token = self.world.json(&["token", "create", "--role", "coordinator"])["token"].clone();
        let mut coordinator = mcp::Client::http(&self.mcp_url(), token.as_str());
        let answer = coordinator.must("get_agent_action", json!({ "agent_id": agent, "project_id": "shop" })).await;
        let shown = self.world.json(&["task", "show", task]);
        assert_eq!((shown["status"].as_str(), shown["attempts"].as_u64()), (Some("in_progress"), Some(0)), "{shown}");
        answer
    }

    /// Nothing but the merged work reached the user's repository.
    #[track_caller]
    pub(super) fn nothing_else_changed(&self) {
        assert_eq!(self.world.git(&["status", "--porcelain"]), "");
        // opencode writes into what it takes for the repository's git directory.
        assert!(!self.world.repository.join(".git/opencode").exists());
        let branches = self.world.git(&["branch", "--list", "--format=%(refname:short)"]);
        assert!(branches.lines().all(|branch| branch == "main" || branch.starts_with("task-")), "{branches}");
    }
}
