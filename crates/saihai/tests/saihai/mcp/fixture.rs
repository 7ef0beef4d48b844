//! What do the scenarios run on? A project with a team, a server or a stdio process for its agents, and
//! the runner's part, which the test does on the same store.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use board::{
    Actor, Board, CheckOutcome, CheckResult, Command, Driver, Examination, Fact, Merge, ProcessEnd, ProjectId, Purpose,
    WorkspaceFacts,
};
use control::{Control, NewSecret, ProcessLifetime, Project, SystemClock, token_hash};
use serde_json::{Value, json};
use store::SqliteStore;
use testkit::mcp::Client;

use super::agent::Agent;
use crate::world::World;

/// Longer than anything takes on a busy machine, unless it fails.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Http,
    Stdio,
}

/// `saihai serve`, killed when it is dropped.
struct Server {
    process: Child,
    mcp_url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

pub(crate) struct Fixture {
    pub(crate) world: World,
    transport: Transport,
    server: Option<Server>,
    /// The runner's.
    project: Project,
    store: Arc<SqliteStore>,
    coordinator: Option<Client>,
    spawns: u32,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("that was over {:?}", self.transport);
        }
    }
}

/// Runs a scenario over HTTP, then over stdio.
pub(crate) async fn over_both_transports(scenario: impl AsyncFn(Fixture)) {
    for transport in [Transport::Http, Transport::Stdio] {
        scenario(Fixture::new(transport).await).await;
    }
}

/// `lead` manages `coder`, `tester`, `solo` and the manager `sub`, who manages `deep`. `solo` does
/// not split its tasks, and works on two at once.
const TEAM: [(&str, &str); 4] = [
    ("tester", "hierarchy_type: worker\nparent: lead\n"),
    ("sub", "hierarchy_type: manager\nparent: lead\n"),
    ("deep", "hierarchy_type: worker\nparent: sub\n"),
    ("solo", "hierarchy_type: worker\nparent: lead\ndecompose: never\nmax_sessions: 2\n"),
];

impl Fixture {
    async fn new(transport: Transport) -> Self {
        let world = World::new();
        for (id, definition) in TEAM {
            let text =
                format!("id: {id}\nname: {id}\nrole_type: {id}\nclient: claude-code\nmode: guided\n{definition}");
            world.write(&format!(".saihai/agents/{id}.yaml"), format!("{text}system_prompt: You are {id}.\n"));
        }
        let checks = "checks: [{type: tests_pass, command: make test}]";
        world.write(".saihai/config.yaml", world.read(".saihai/config.yaml").replace("checks: []", checks));
        world.ok(&["agent", "apply"]);
        let server = (transport == Transport::Http).then(|| serve(&world, "127.0.0.1:0"));
        let store = Arc::new(SqliteStore::open(world.store()).unwrap());
        let project = open(&store).await;
        Self { world, transport, server, project, store, coordinator: None, spawns: 0 }
    }

    /// A client with a credential.
    pub(crate) async fn connect(&self, credential: &str) -> Client {
        match &self.server {
            Some(server) => Client::http(&server.mcp_url, Some(credential)),
            None => {
                let mut command = self.world.command(&["mcp"]);
                command.env("SAIHAI_TOKEN", credential);
                Client::stdio(command.into()).await
            }
        }
    }

    /// Where the server listens, if there is one.
    pub(crate) fn base_url(&self) -> Option<&str> {
        self.server.as_ref().and_then(|server| server.mcp_url.strip_suffix("/mcp"))
    }

    /// Kills the process that serves this agent, and starts another.
    pub(crate) async fn kill(&mut self, agent: &mut Agent) {
        self.renew(agent).await;
        match self.server.take() {
            Some(killed) => self.serve_again(killed),
            None => agent.client = self.connect(&agent.credential).await,
        }
    }

    /// The same with a clean end: by SIGTERM, or by closing its stdin.
    pub(crate) async fn replace(&mut self, agent: &mut Agent) {
        self.renew(agent).await;
        if let Some(mut ended) = self.server.take() {
            let told = std::process::Command::new("kill").arg(ended.process.id().to_string()).status().unwrap();
            assert!(told.success() && ended.process.wait().unwrap().success());
            self.serve_again(ended);
        } else {
            let again = self.connect(&agent.credential).await;
            assert_eq!(std::mem::replace(&mut agent.client, again).close().await, Some(0));
        }
    }

    /// At the same address, which the clients were configured with.
    fn serve_again(&mut self, ended: Server) {
        let address = ended.mcp_url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap().to_owned();
        drop(ended);
        self.server = Some(serve(&self.world, &address));
    }

    /// Renews the lease as a runner would, so that it does not lapse in a slow test.
    async fn renew(&self, agent: &Agent) {
        let sessions = vec![(agent.session, agent.generation)];
        self.runner(Command::RenewLeases { sessions, quiet: std::collections::BTreeMap::new() }).await;
    }

    /// The board with every event in the store.
    pub(crate) async fn board(&self) -> Arc<Board> {
        open(&self.store).await.board()
    }

    /// The decisions that were recorded about a session or an agent.
    pub(crate) async fn trace(&self, subject: &str) -> Vec<Value> {
        let decisions = self.project.decisions(subject, u64::MAX, usize::MAX).await.unwrap();
        decisions.iter().rev().map(|one| serde_json::from_str(&one.decision.body).unwrap()).collect()
    }

    /// Submits a command of the runner, which must be accepted.
    pub(crate) async fn runner(&self, command: Command) {
        let said = format!("{command:?}");
        let done = self.project.submit(Actor::Runner("test".parse().unwrap()), command).await;
        done.map(drop).unwrap_or_else(|error| panic!("{said}: {error}"));
    }

    /// A task of the owner with a description, assigned and started.
    pub(crate) fn started(&self, title: &str, assignee: &str) -> String {
        let described = format!("All about: {title}");
        let task = self.world.ok(&["task", "add", title, "-d", &described, "--assign", assignee, "--quiet"]);
        self.world.ok(&["task", "start", &task]);
        task
    }

    /// The runner claims a task and starts the agent with a credential of its own.
    pub(crate) async fn claim(&mut self, agent: &str, task: &str) -> Agent {
        self.spawn(agent, Purpose::Task(task.parse().unwrap())).await
    }

    pub(crate) async fn claim_chat(&mut self, agent: &str) -> Agent {
        self.spawn(agent, Purpose::Chat).await
    }

    async fn spawn(&mut self, agent: &str, purpose: Purpose) -> Agent {
        let secret = NewSecret::for_session(&project_id()).unwrap();
        let hash = token_hash(secret.reveal());
        self.spawns += 1;
        let spawn = format!("spawn-{}", self.spawns).parse().unwrap();
        let driver = Driver::Runner { runner: "test".parse().unwrap(), spawn };
        let (agent, credential) = (agent.parse().unwrap(), Some(hash.clone()));
        self.runner(Command::Claim { agent, purpose, driver, credential, forced: false }).await;
        let board = self.project.board();
        let claimed = board.session_with(&hash).unwrap();
        let (session, generation) = (claimed.id, claimed.generation);
        self.runner(Command::Report { session, generation, number: 1, fact: Fact::Running }).await;
        let client = self.connect(secret.reveal()).await;
        Agent::new(client, secret.reveal().to_owned(), session, generation).await
    }

    /// The agent's process has ended, and the runner saw how.
    pub(crate) async fn end(&self, agent: Agent, end: ProcessEnd) -> Ended {
        let Agent { client, session, generation, .. } = agent;
        client.close().await;
        let fact = Fact::Exit { end, usage: None };
        self.runner(Command::Report { session, generation, number: 2, fact }).await;
        Ended { session: session.to_string(), generation }
    }

    /// The agent logs out, and its process exits well.
    pub(crate) async fn log_out(&self, mut agent: Agent) -> Ended {
        agent.must("logout", json!({})).await;
        self.end(agent, ProcessEnd::exited(0)).await
    }

    pub(crate) async fn examine(&self, ended: &Ended, facts: WorkspaceFacts) {
        let (session, generation) = (ended.session.parse().unwrap(), ended.generation);
        // What fails on the work passes on the target.
        let results = facts.checks.iter().map(|check| CheckResult { outcome: CheckOutcome::Pass, ..check.clone() });
        self.runner(Command::ReportTarget { commit: TARGET.into(), results: results.collect() }).await;
        let fact = Fact::Examined(Examination::Found(Box::new(facts)));
        self.runner(Command::Report { session, generation, number: 3, fact }).await;
    }

    /// A whole session that does what it is told, and whose work is merged.
    pub(crate) async fn work(&mut self, agent: &str, task: &str) {
        let mut worker = self.claim(agent, task).await;
        worker.obey_as_worker().await;
        let ended = self.log_out(worker).await;
        self.examine(&ended, merged()).await;
        assert_eq!(self.world.status(task), "done");
    }

    /// `get_agent_action`, asked with a coordinator's token.
    pub(crate) async fn staffing(&mut self, agent: &str) -> Value {
        if self.coordinator.is_none() {
            let token = self.world.json(&["token", "create", "--role", "coordinator"])["token"].clone();
            self.coordinator = Some(self.connect(token.as_str().unwrap()).await);
        }
        let coordinator = self.coordinator.as_mut().unwrap();
        coordinator.must("get_agent_action", json!({ "agent_id": agent, "project_id": "shop" })).await
    }

    /// The action and the reason of `get_agent_action`.
    pub(crate) async fn staffed(&mut self, agent: &str) -> [String; 2] {
        let answer = self.staffing(agent).await;
        ["action", "reason"].map(|field| answer[field].as_str().unwrap().to_owned())
    }
}

/// A session whose process has ended.
pub(crate) struct Ended {
    pub(crate) session: String,
    generation: board::Generation,
}

fn project_id() -> ProjectId {
    "shop".parse().unwrap()
}

async fn open(store: &Arc<SqliteStore>) -> Project {
    let store: Arc<dyn store::Store> = Arc::<SqliteStore>::clone(store);
    let control = Control::new(store, Arc::new(SystemClock), ProcessLifetime::ShortLived);
    control.project(&project_id()).await.unwrap()
}

/// Starts a server and waits until it says where it listens.
fn serve(world: &World, listen: &str) -> Server {
    let mut command = world.command(&["serve", "--listen", listen, "--json"]);
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    Server { process, mcp_url: ready["mcp_url"].as_str().unwrap().to_owned() }
}

/// A clean candidate that was merged.
pub(crate) fn merged() -> WorkspaceFacts {
    WorkspaceFacts {
        commits: 1,
        changed: vec!["src/a.rs".into()],
        outside_scope: Vec::new(),
        checks: vec![check(CheckOutcome::Pass, "")],
        judge_changes: board::JudgeChanges::default(),
        goals_unmet: Vec::new(),
        merge: Merge::Merged { commit: "c0ffee".into() },
        target: Some(TARGET.into()),
        candidate: Some("c0ffee".into()),
        tree: None,
        undone_by_git: false,
    }
}

/// The target's commit.
const TARGET: &str = "7a49e7";

/// A result of the project's one check.
fn check(outcome: CheckOutcome, output: &str) -> CheckResult {
    CheckResult { name: "tests_pass".into(), command: "make test".into(), outcome, output: output.into() }
}

/// The same with a check that failed.
pub(crate) fn failing_check() -> WorkspaceFacts {
    let failed = check(CheckOutcome::Fail, "2 of 7 tests failed");
    WorkspaceFacts { checks: vec![failed], merge: Merge::NotTried, ..merged() }
}
