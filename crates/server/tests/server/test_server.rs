//! A server that runs: two projects with a team each, a store in a directory, a door on a free port.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use board::{
    Actor, AgentId, AgentSpec, Command, Completion, Decompose, Destination, Driver, EnvNames, EnvValue, EnvValues,
    Hierarchy, InstallationCommand, Language, Limits, NewTask, NewToken, OutputKind, OutputName, Party, ProjectId,
    Purpose, Role, RunnerId, SessionId, Settings, Status, TaskId, Timestamp,
};
use control::{Clock, Control, NewDefinitions, NewSecret, ProcessLifetime, Project, passkey_hash, token_hash};
use mcp::Mcp;
use server::{Diff, HttpServer, Listen, LocalFiles, LogFrom, LogPage, ServerState};
use store::{SqliteStore, Store};
use tempfile::TempDir;
use testkit::mcp::Client;
use tokio_util::sync::CancellationToken;
use web::Web;

/// Time goes on when the test says so.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestClock(Arc<AtomicI64>);

impl TestClock {
    pub(crate) fn pass(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_800_000_000_000 + self.0.load(Ordering::Relaxed))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed).unsigned_abs())
    }
}

/// The two projects. Whatever the owner writes in one of them carries its mark, so that it is
/// recognised where it does not belong.
pub(crate) const PROJECTS: [(&str, &str); 2] = [("web", "WEBMARK"), ("api", "APIMARK")];

/// Somebody's key, which an agent gets in its environment and nobody ever sees.
pub(crate) const ENV_SECRET: &str = "kept-in-the-environment";

/// The agent that people attach by hand; the runner leaves it alone.
pub(crate) const BY_HAND: &str = "hand";

/// What lies beside the board: one output for every session, one difference for every task.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    pub(crate) log: Mutex<Vec<u8>>,
    /// Tasks whose branch is in the target.
    pub(crate) merged: Mutex<Vec<TaskId>>,
    /// The most bytes that were asked for at once.
    pub(crate) most_asked: AtomicU64,
}

/// The conversation of every session: each kind of entry that has a shape of its own.
const CONVERSATION: &str = r#"{"at":"2026-11-20T01:00:00Z","position":0,"said":{"type":"started","model":"m"}}
{"at":"2026-11-20T01:00:01Z","position":10,"said":{"type":"text","text":"I begin."}}
{"at":"2026-11-20T01:00:02Z","position":20,"said":{"type":"tool_result","tool":{"call":"1","name":"Edit","about":"a.rs","edits":[{"file":"a.rs","diff":"+new"}]},"outcome":"succeeded","output":"ok","duration_ms":10}}
{"at":"2026-11-20T01:00:03Z","position":30,"said":{"type":"finished","outcome":"failed","text":"","usage":{"input_tokens":1,"output_tokens":2,"cost_micros":null},"duration_ms":null}}
"#;

impl LocalFiles for Beside {
    fn log(&self, _: &ProjectId, output: OutputName, from: LogFrom, most: usize) -> Option<LogPage> {
        self.most_asked.fetch_max(most as u64, Ordering::Relaxed);
        let log = match output.kind {
            OutputKind::Raw => self.log.lock().unwrap().clone(),
            OutputKind::Transcript => CONVERSATION.into(),
        };
        let newest = log.len();
        let start = match from {
            LogFrom::Position(from) => newest.min(from as usize),
            LogFrom::Tail => newest.saturating_sub(most),
        };
        let bytes = log[start..newest.min(start + most)].to_vec();
        let page = LogPage { start: start as u64, bytes, oldest: 0, newest: newest as u64 };
        (output.session.0 < 1000).then_some(page)
    }

    fn runner(&self, _: &ProjectId) -> board::RunnerView {
        board::RunnerView::Unknown
    }

    fn is_merged(&self, _: &Path, _: &board::Board, task: &board::Task) -> bool {
        self.merged.lock().unwrap().contains(&task.id)
    }

    fn diff(&self, _: &Path, _: &board::Board, task: &board::Task, most: usize) -> Option<Diff> {
        let text = format!("+ {}", task.title);
        task.branch.as_ref().map(|_| Diff { cut: text.len() > most, text })
    }
}

pub(crate) struct TestServer {
    /// Where agents come in.
    pub(crate) url: String,
    /// Where people come in.
    pub(crate) base: String,
    pub(crate) beside: Arc<Beside>,
    pub(crate) web: Web,
    pub(crate) control: Control,
    pub(crate) clock: TestClock,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) tokens: BTreeMap<&'static str, String>,
    pub(crate) passkeys: BTreeMap<&'static str, String>,
    pub(crate) state: Arc<ServerState>,
    shutdown: CancellationToken,
    spawned: AtomicU64,
    dir: TempDir,
}

pub(crate) fn owner() -> Actor {
    Actor::Owner("o".into())
}

pub(crate) fn runner() -> RunnerId {
    "r".parse().unwrap()
}

pub(crate) fn agent(name: &str) -> AgentId {
    name.parse().unwrap()
}

pub(crate) fn moving(task: TaskId, to: Status) -> Command {
    let to = Destination::Status(to);
    Command::MoveTask { task, to, reason: Some("because".into()), forced: false, merged: false }
}

pub(crate) fn mark_of(project: &str) -> &'static str {
    PROJECTS.iter().find(|(name, _)| *name == project).unwrap().1
}

fn roster(mark: &str) -> Vec<AgentSpec> {
    let agent = |id: &str, parent: Option<&str>, hierarchy| AgentSpec {
        name: format!("{id} {mark}"),
        parent: parent.map(agent),
        hierarchy,
        max_sessions: 3,
        system_prompt: format!("You are {id}. {mark}"),
        env: EnvNames(BTreeSet::from(["KEY".into()])),
        ..AgentSpec::worker(agent(id))
    };
    let solo = AgentSpec { decompose: Decompose::Never, ..agent("solo", None, Hierarchy::Worker) };
    vec![
        agent("boss", None, Hierarchy::Manager),
        agent("sub", Some("boss"), Hierarchy::Manager),
        agent("w1", Some("boss"), Hierarchy::Worker),
        agent("w2", Some("boss"), Hierarchy::Worker),
        agent("w3", Some("sub"), Hierarchy::Worker),
        agent(BY_HAND, Some("boss"), Hierarchy::Worker),
        solo,
    ]
}

impl TestServer {
    pub(crate) async fn open(limits: Limits) -> Self {
        // What is durable is proved elsewhere; here nobody waits for the disk, if there is another place.
        let dir = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(dir.path().join("saihai.db")).unwrap());
        let clock = TestClock::default();
        let opened = || Control::new(Arc::clone(&store), Arc::new(clock.clone()), ProcessLifetime::LongLived);
        let control = opened();
        let mut tokens = BTreeMap::new();
        let mut passkeys = BTreeMap::new();
        let installation = control.installation().await.unwrap();
        for role in Role::ALL {
            let secret = NewSecret::generate("sht").unwrap();
            let (id, hash) = (format!("tok_{role}"), token_hash(secret.reveal()));
            let create = InstallationCommand::CreateToken(NewToken::bearer(id, *role, String::new(), hash));
            installation.submit(owner(), create).await.unwrap();
            tokens.insert(role.as_str(), secret.reveal().to_owned());
        }
        for (name, mark) in PROJECTS {
            let id: ProjectId = name.parse().unwrap();
            let add =
                InstallationCommand::AddProject { id: id.clone(), path: dir.path().join(mark).display().to_string() };
            installation.submit(owner(), add).await.unwrap();
            let (language, completion) = match name {
                "web" => (Language::En, Completion::Reported),
                _ => (Language::Ja, Completion::Merged),
            };
            let settings = Settings { language, completion, limits: limits.clone(), ..Settings::new(id.clone()) };
            let project = control.project(&id).await.unwrap();
            let agents = roster(mark);
            let secret = EnvValues::from([("KEY".into(), EnvValue(ENV_SECRET.into()))]);
            let env = agents.iter().map(|spec| (spec.id.clone(), secret.clone())).collect();
            project.define(owner(), &NewDefinitions { settings, agents, env }).await.unwrap();
            let passkey = NewSecret::generate("pk").unwrap();
            let hash = passkey_hash(passkey.reveal()).unwrap();
            project.submit(owner(), Command::SetPasskey { agent: agent(BY_HAND), hash }).await.unwrap();
            passkeys.insert(name, passkey.reveal().to_owned());
        }
        let shutdown = CancellationToken::new();
        let state = ServerState::open(opened(), shutdown.clone()).await.unwrap();
        let listen = "127.0.0.1:0".parse::<Listen>().unwrap();
        let http_server = HttpServer::bind(shutdown.clone(), &listen, &[]).await.unwrap();
        let beside = Arc::new(Beside::default());
        let web = Web::new(Arc::clone(&state), Arc::clone(&beside) as Arc<dyn LocalFiles>);
        let agents = mcp::router(Mcp::new(Arc::clone(&state)), &http_server);
        let people = web.router(http_server.hosts());
        let http_server = http_server.with(agents).with(people);
        let (url, base) = (http_server.mcp_url(), http_server.url());
        tokio::spawn(http_server.serve());
        let spawned = AtomicU64::new(0);
        Self { url, base, beside, web, control, clock, store, tokens, passkeys, state, shutdown, spawned, dir }
    }

    /// The repository of a project, which need not exist.
    pub(crate) fn repository(&self, project: &str) -> PathBuf {
        self.dir.path().join(mark_of(project))
    }

    pub(crate) async fn project(&self, name: &str) -> Project {
        self.control.project(&name.parse().unwrap()).await.unwrap()
    }

    /// A task of the owner's for an agent, in progress.
    pub(crate) async fn started(&self, project: &str, assignee: &str) -> TaskId {
        let opened = self.project(project).await;
        let number = opened.board().tasks.len();
        let new = NewTask {
            assignee: Some(agent(assignee)),
            description: format!("All of it. {}", mark_of(project)),
            ..NewTask::titled(format!("Work {number} {}", mark_of(project)))
        };
        let create = Command::CreateTasks { parent: None, tasks: vec![new], key: None };
        let receipt = opened.submit(owner(), create).await.unwrap();
        let id = *receipt.after.tasks.keys().next_back().unwrap();
        opened.submit(owner(), moving(id, Status::InProgress)).await.unwrap();
        id
    }

    /// The owner writes to an agent.
    pub(crate) async fn write_to(&self, project: &str, to: &str) {
        let content = format!("How is it going? {}", mark_of(project));
        let send = Command::SendMessage { to: Party::Agent(agent(to)), content, related_task: None };
        self.project(project).await.submit(owner(), send).await.unwrap();
    }

    /// Claims as the runner does: the session and its credential.
    pub(crate) async fn claim(
        &self,
        project: &str,
        who: &AgentId,
        purpose: Purpose,
    ) -> Result<(SessionId, String), control::ControlError> {
        let secret = NewSecret::for_session(&project.parse().unwrap()).unwrap();
        let spawn = format!("s{}", self.spawned.fetch_add(1, Ordering::Relaxed)).parse().unwrap();
        let claim = Command::Claim {
            agent: who.clone(),
            purpose,
            driver: Driver::Runner { runner: runner(), spawn },
            credential: Some(token_hash(secret.reveal())),
            forced: false,
        };
        let receipt = self.project(project).await.submit(Actor::Runner(runner()), claim).await?;
        let session = receipt.after.session_with(&token_hash(secret.reveal())).unwrap().id;
        Ok((session, secret.reveal().to_owned()))
    }

    /// The credential of an agent that works on a new task.
    pub(crate) async fn at_work(&self, project: &str, who: &str) -> String {
        let task = self.started(project, who).await;
        self.claim(project, &agent(who), Purpose::Task(task)).await.unwrap().1
    }

    /// The credential of an agent that chats with the owner.
    pub(crate) async fn chatting(&self, project: &str, who: &str) -> String {
        self.write_to(project, who).await;
        self.claim(project, &agent(who), Purpose::Chat).await.unwrap().1
    }

    pub(crate) fn client(&self, bearer: Option<&str>) -> Client {
        Client::http(&self.url, bearer)
    }

    /// Closes the server; what it remembers is written then.
    pub(crate) async fn close(&self) {
        self.state.close().await;
    }

    /// The last event of each project.
    pub(crate) async fn heads(&self) -> Vec<u64> {
        let mut heads = Vec::new();
        for (name, _) in PROJECTS {
            heads.push(self.store.head(&Project::stream(&name.parse().unwrap())).await.unwrap().seq);
        }
        heads
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}
