//! Do real clients do what people start them for themselves, beside `saihai up`: direct a whole project, and work as an
//! agent that is attached?

use std::fs::File;
use std::process::{Command, Stdio};

use board::Board;
use serde_json::{Value, json};
use testkit::model::Behaviour;

use super::fixture::{CLAUDE, Fixture, KEY, until};
use crate::board_follower::task_json;
use crate::world::{World, column};

/// A person's Claude Code, with a home of its own. Nothing of it is Saihai's.
struct Window<'a> {
    fixture: &'a Fixture,
    home: std::path::PathBuf,
}

/// How it ended and what it printed.
#[derive(Debug)]
struct Ended {
    success: bool,
    output: String,
}

impl<'a> Window<'a> {
    /// With the board as an MCP server, set up as the guide says.
    fn open(fixture: &'a Fixture, secret: &str) -> Self {
        let home = fixture.world.path().canonicalize().unwrap().join("person");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join(".gitconfig"), "[user]\nname = Alice\nemail = alice@example.org\n").unwrap();
        let window = Self { fixture, home };
        let (url, header) = (fixture.mcp_url(), format!("Authorization: Bearer {secret}"));
        let added = window.run(&["mcp", "add", "--transport", "http", "saihai", &url, "--header", &header]);
        assert!(added.success, "{added:?}");
        window
    }

    /// Runs the client in the repository until it ends.
    fn run(&self, arguments: &[&str]) -> Ended {
        let bin = CLAUDE.bin();
        let log = self.home.join("printed");
        let output = File::create(&log).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let (vendor, under) = CLAUDE.vendor;
        let mut client = Command::new(bin.join(CLAUDE.program))
            .args(arguments)
            .env_clear()
            .env("PATH", path)
            .env("HOME", &self.home)
            .env("LANG", "C.UTF-8")
            .env(vendor, format!("{}{under}", self.fixture.model_server.url()))
            .env(CLAUDE.key, KEY)
            .envs([("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")])
            // It goes on without the board if that does not answer in a few seconds, while other tests run.
            .envs([
                ("MCP_TIMEOUT", "120000"),
                ("MCP_CONNECT_TIMEOUT_MS", "120000"),
                ("MCP_CONNECTION_NONBLOCKING", "0"),
            ])
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(&self.fixture.world.repository)
            .stdin(Stdio::null())
            .stdout(Stdio::from(output.try_clone().unwrap()))
            .stderr(Stdio::from(output))
            .spawn()
            .unwrap();
        let end = until(|| client.try_wait().unwrap());
        if end.is_none() {
            client.kill().unwrap();
            client.wait().unwrap();
        }
        let output = std::fs::read_to_string(&log).unwrap();
        Ended { success: end.is_some_and(|end| end.success()), output }
    }
}

/// The definition of an agent that is this script, whose argument is the file with its prompt.
fn script(world: &World, id: &str, script: &str) {
    let agent = json!({
        "id": id, "name": id, "role_type": "developer", "hierarchy_type": "worker", "mode": "one_shot",
        "client": "command", "command": ["sh", "-c", script, id, "{prompt_file}"],
        "system_prompt": "Work.", "scope": { "write": ["src/**"] },
    });
    world.write(&format!(".saihai/agents/{id}.yaml"), agent.to_string());
}

/// The tasks of a board, by title.
fn titled(board: &Board, title: &str) -> Option<Value> {
    let task = board.tasks.values().find(|task| task.title == title)?;
    task_json(board, &task.id.to_string())
}

/// M6, seed 003: a person's own client plans a tree of tasks, starts them, tells a worker something, follows them until
/// they are merged, looks at what they changed and ends it. The log says who it was.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn claude_code_directs_a_project() {
    let fixture = Fixture::defined(Behaviour::Guided, |world, _| {
        script(world, "anna", "mkdir -p src && echo 'Good day.' > src/anna.txt");
        // It knows what it was told on the way.
        script(world, "bert", "test -s src/anna.txt && grep -o 'Keep it short' \"$1\" | head -n 1 > src/bert.txt");
    })
    .await;
    let made = fixture.world.json(&["token", "create", "--role", "orchestrator", "--name", "assistant"]);
    let window = Window::open(&fixture, made["token"].as_str().unwrap());
    let prompt = "You direct project shop with saihai. Let its agents greet everybody; tell whoever comes last: \
                  `Keep it short`. End when all of it is merged.";
    let ended = window.run(&["-p", prompt, "--allowedTools", "mcp__saihai__*"]);
    assert!(ended.success && ended.output.contains("All of it is merged."), "{ended:?}");

    let board = fixture.follower.board();
    let top = titled(&board, "Greet everybody").unwrap();
    let children = fixture.world.json(&["task", "list", "--parent", top["id"].as_str().unwrap(), "--all"]);
    assert_eq!((top["status"].as_str(), column(&children, "status")), (Some("done"), vec!["done", "done"]));
    let mut workers = column(&children, "assignee_id");
    workers.sort_unstable();
    assert_eq!(workers, ["anna", "bert"]);
    assert_eq!(fixture.world.git(&["show", "main:src/anna.txt"]), "Good day.");
    assert_eq!(fixture.world.git(&["show", "main:src/bert.txt"]), "Keep it short");
    // It was shown the work before it ended the tree.
    assert!(ended.output.contains("Good day."), "{ended:?}");

    let log = fixture.world.json(&["log", "tail", "-n", "500"]);
    let events = log.as_array().unwrap();
    let by = |kind: &str| -> Vec<&str> {
        let of_kind = events.iter().filter(|event| event["type"] == kind);
        of_kind.filter_map(|event| event["by"]["owner"].as_str()).collect()
    };
    for kind in ["tasks_created", "task_moved", "comment_added"] {
        let by = by(kind);
        assert!(!by.is_empty() && by.iter().all(|name| *name == "assistant (orchestrator)"), "{kind}: {by:?}\n{log}");
    }
    fixture.nothing_else_changed();
}

/// S3, S7, N2: a person's own client beside `saihai up` is an agent that is attached: it proves who it is, works in the
/// workspace that it is given, commits, reports and logs out; its work is checked and merged like any other's.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn claude_code_works_in_a_persons_own_window() {
    let fixture = Fixture::defined(Behaviour::Guided, |world, _| {
        let agent = json!({
            "id": "window", "name": "window", "role_type": "developer", "hierarchy_type": "worker", "mode": "guided",
            "client": "attached", "decompose": "never", "system_prompt": "Work.", "scope": { "write": ["src/**"] },
        });
        world.write(".saihai/agents/window.yaml", agent.to_string());
    })
    .await;
    let task = fixture.task("Greet", "Write a greeting into `src/hello.md`.", "window");
    let why = fixture.world.ok(&["task", "why", &task]);
    assert!(why.contains("`saihai agent passkey window`"), "{why}");
    let made = fixture.world.json(&["agent", "passkey", "window"]);
    let window = Window::open(&fixture, made["passkey"].as_str().unwrap());
    let prompt = "You are agent window in project shop. Authenticate with saihai, then do what get_next_action says \
                  until it tells you to log out.";
    // Clients ignore a directory that is not there, so it is there before the first workspace is.
    let workspaces = fixture.world.home().canonicalize().unwrap().join("projects/shop/workspaces");
    assert!(workspaces.is_dir());
    let ended = window.run(&[
        "-p",
        prompt,
        "--permission-mode",
        "acceptEdits",
        "--add-dir",
        workspaces.to_str().unwrap(),
        "--allowedTools",
        "mcp__saihai__*",
        "Bash(git *)",
    ]);
    assert!(ended.success && ended.output.contains("logged out"), "{ended:?}");

    fixture.until_done(&task);
    let session = fixture.first_session(&task);
    assert_eq!([&session["driver"], &session["verdict"], &session["dod_result"]], ["attached", "done", "merged"]);
    assert_eq!(fixture.world.json(&["session", "list", "--task", &task]).as_array().unwrap().len(), 1);
    assert!(fixture.world.git(&["show", "main:src/hello.md"]).starts_with("# Greet\n"));
    let authors = fixture.world.git(&["log", "main", "--format=%an", "--", "src/hello.md"]);
    assert_eq!(authors, "window", "it committed in the workspace, which knows whose it is");
    fixture.nothing_else_changed();
}
