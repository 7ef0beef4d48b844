//! Can a hostile client get anything that is not its own (G4, S3, F36)? Several at once try.

mod answers;
mod arguments;
mod oracle;
mod rules;
mod staff;

use std::collections::BTreeSet;
use std::sync::Arc;

use board::lifecycle::Move;
use board::{Board, Limits, Tool};
use control::Project;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use testkit::mcp::Http;
use testkit::seed::Seed;
use tokio::sync::watch;

use self::answers::{Answers, By, ids_in, no_secret};
use self::arguments::{Prey, wanted};
use self::oracle::Oracle;
use self::staff::{Loot, Staff, Stolen};
use crate::test_server::{BY_HAND, PROJECTS, TestServer};

const CONNECTIONS: u64 = 8;
/// Every run has a fresh seed, so that many runs try more than one long one.
const CALLS: u64 = 20_000;
/// So many calls between two rounds of ordinary life.
const PACE: u64 = 40;

/// Small enough to be spent within the test.
fn small() -> Limits {
    Limits {
        max_children: 3,
        max_children_ever: 8,
        max_depth: 2,
        max_task_sessions: 10,
        max_calls: 150,
        max_messages: 2,
        ..Limits::default()
    }
}

/// One hostile connection.
struct Attacker {
    server: Arc<TestServer>,
    loot: Arc<Loot>,
    answers: Arc<Answers>,
    projects: Vec<Project>,
    dice: ChaCha8Rng,
    http: Http,
    sent: u64,
}

/// The secret that a call comes with.
struct Disguise {
    bearer: Option<String>,
    session: Option<Stolen>,
    token: bool,
}

/// Where its project is among all.
fn place(stolen: &Stolen) -> usize {
    PROJECTS.iter().position(|(name, _)| *name == stolen.project).unwrap()
}

fn is_live(boards: &[Arc<Board>], stolen: &Stolen) -> bool {
    boards[place(stolen)].sessions.get(&stolen.session).is_some_and(|session| session.can_call())
}

/// Known to be over; of a session that is too new nothing is known yet.
fn is_over(boards: &[Arc<Board>], stolen: &Stolen) -> bool {
    boards[place(stolen)].sessions.get(&stolen.session).is_some_and(|session| !session.can_call())
}

/// Only the owner's orchestrator has it.
fn is_for_orchestrators(tool: Tool) -> bool {
    matches!(
        tool,
        Tool::GetOverview
            | Tool::ExplainTask
            | Tool::CreateTasks
            | Tool::StartTasks
            | Tool::RetryTask
            | Tool::ReviewTask
            | Tool::GetDiff
            | Tool::GetSessionLog
            | Tool::WaitForChanges
    )
}

/// A coordinator's tool.
fn is_for_tokens(tool: &str) -> bool {
    [Tool::GetAgentAction, Tool::ListActiveProjectsWithAgents, Tool::HealthCheck].iter().any(|own| own.as_str() == tool)
}

impl Attacker {
    async fn new(server: &Arc<TestServer>, loot: &Arc<Loot>, answers: &Arc<Answers>, seed: u64) -> Self {
        let mut projects = Vec::new();
        for (name, _) in PROJECTS {
            projects.push(server.project(name).await);
        }
        Self {
            server: Arc::clone(server),
            loot: Arc::clone(loot),
            answers: Arc::clone(answers),
            projects,
            dice: ChaCha8Rng::seed_from_u64(seed),
            http: Http::new(&server.url, None),
            sent: 0,
        }
    }

    /// Mostly somebody's credential; sometimes a token, a passkey, half of something, or nothing.
    fn disguise(&mut self, boards: &[Arc<Board>]) -> Disguise {
        let nobody = |bearer: Option<String>| Disguise { bearer, session: None, token: false };
        let stolen = self.loot.pick(&mut self.dice, |stolen| is_live(boards, stolen));
        match (self.dice.random_range(0..60), stolen) {
            (0, _) => nobody(None),
            (1, _) => {
                // An orchestrator's would be the owner's hand.
                let of_strangers: Vec<_> =
                    self.server.tokens.iter().filter(|(role, _)| **role != "orchestrator").collect();
                let (role, token) = *of_strangers.choose(&mut self.dice).unwrap();
                Disguise { bearer: Some(token.clone()), session: None, token: *role != "viewer" }
            }
            (2, _) => nobody(Some(self.server.passkeys[PROJECTS.choose(&mut self.dice).unwrap().0].clone())),
            (3, Some(stolen)) => nobody(Some(stolen.secret[..stolen.secret.len() - 1].to_owned())),
            (4, Some(stolen)) => {
                let other = PROJECTS.iter().find(|(name, _)| *name != stolen.project).unwrap().0;
                nobody(Some(stolen.secret.replace(stolen.project, other)))
            }
            (5, Some(stolen)) => nobody(Some(stolen.secret.to_uppercase())),
            (_, Some(stolen)) => Disguise { bearer: Some(stolen.secret.clone()), session: Some(stolen), token: false },
            (_, None) => nobody(None),
        }
    }

    /// Adds a session's token to the arguments; who the caller then is.
    fn name_session(&mut self, disguise: Disguise, arguments: &mut Value) -> Disguise {
        let (roll, named) = (self.dice.random_range(0..60), self.loot.pick(&mut self.dice, |_| true));
        let Some(named) = named else { return disguise };
        let nobody = |bearer| Disguise { bearer, session: None, token: false };
        match roll {
            // Its own, or the one that the bearer has not.
            0..3 => {
                arguments["session_token"] = json!(named.secret);
                match disguise.session {
                    None => Disguise { session: Some(named), token: false, ..disguise },
                    Some(own) if own.secret == named.secret => Disguise { session: Some(own), ..disguise },
                    Some(_) => nobody(disguise.bearer),
                }
            }
            3 => {
                arguments["session_token"] = json!({ "of": "the owner" });
                nobody(disguise.bearer)
            }
            4 => {
                arguments["session_token"] = json!("ses.web_0");
                nobody(disguise.bearer)
            }
            _ => disguise,
        }
    }

    async fn call(&mut self) {
        // Whoever is over stays so: what is known before the call holds after it.
        let boards: Vec<_> = self.projects.iter().map(Project::board).collect();
        let disguise = self.disguise(&boards);
        let home = disguise.session.as_ref().map_or(self.dice.random_range(0..PROJECTS.len()), place);
        let session = disguise.session.as_ref().map(|stolen| stolen.session);
        let prey = Prey { board: &boards[home], session };
        let mut wanted = wanted(&mut self.dice, &prey);
        // Tokens are seldom used and open three tools: half of their calls are for those, so that each is tried.
        while disguise.token && !is_for_tokens(&wanted.tool) && self.dice.random_ratio(19, 20) {
            wanted = arguments::wanted(&mut self.dice, &prey);
        }
        let mut arguments = wanted.arguments;
        let mut disguise = self.name_session(disguise, &mut arguments);
        if wanted.tool == "authenticate" && self.dice.random_ratio(1, 2) {
            self.attach(&mut disguise, &mut arguments);
        }
        let answer = self.post(&disguise, &wanted.tool, &arguments).await;
        let home = disguise.session.as_ref().map_or(home, place);
        let over = disguise.session.as_ref().is_some_and(|stolen| is_over(&boards, stolen));
        let newest = self.projects[home].newest().await.unwrap();
        let by = By { session: disguise.session.as_ref(), board: &newest, over, token: disguise.token };
        if let Some(stolen) = self.answers.check(&by, &wanted.tool, &arguments, &answer) {
            self.loot.add(stolen);
        }
    }

    /// Tries to attach as the agent that people attach by hand, or as another one.
    fn attach(&mut self, disguise: &mut Disguise, arguments: &mut Value) {
        let (project, _) = *PROJECTS.choose(&mut self.dice).unwrap();
        let right = self.dice.random_ratio(2, 3);
        let whose = if right { project } else { PROJECTS.choose(&mut self.dice).unwrap().0 };
        let agent = if self.dice.random_ratio(4, 5) { BY_HAND } else { "boss" };
        *arguments = json!({ "agent_id": agent, "passkey": self.server.passkeys[whose], "project_id": project });
        if self.dice.random_ratio(1, 8) {
            arguments["passkey"] = json!("guessed");
        }
        *disguise = Disguise { bearer: None, session: None, token: false };
    }

    async fn post(&mut self, disguise: &Disguise, tool: &str, arguments: &Value) -> Value {
        self.http.headers.truncate(2);
        self.http
            .headers
            .extend(disguise.bearer.iter().map(|bearer| ("Authorization".to_owned(), format!("Bearer {bearer}"))));
        self.sent += 1;
        let params = json!({ "name": tool, "arguments": arguments });
        let request = json!({ "jsonrpc": "2.0", "id": self.sent, "method": "tools/call", "params": params });
        let reply = self.http.post(request.to_string().as_bytes()).await.unwrap();
        let text = String::from_utf8(reply.body).unwrap();
        assert_eq!(reply.status, 200, "{tool} {arguments}: {text}");
        no_secret(&reply.head);
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["id"], self.sent);
        answer
    }
}

/// G4, M4, S3, S4, F27, F36: whatever hostile clients call, with whatever credentials and arguments:
/// every event of a session was allowed by the rules of its task's lifecycle, role and limits; what
/// answers claim is in the log, and only that; every refusal can be read and suggests no harm;
/// nothing is read across projects; no secret is in an answer, in the trace or in the log that
/// people see; every answer is what its schema says (M2).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_clients_get_nothing_that_is_not_theirs() {
    let run = Seed::for_test("server", "hostile::hostile_clients_get_nothing_that_is_not_theirs");
    let seed = run.value();
    let server = Arc::new(TestServer::open(small()).await);
    let (loot, answers) = (Arc::new(Loot::default()), Arc::new(Answers::new(&server).await));
    let (made, making) = watch::channel(0);
    let made = Arc::new(made);
    let mut staff = Vec::new();
    for (n, (name, _)) in PROJECTS.into_iter().enumerate() {
        let mut one = Staff::new(&server, &loot, name, seed ^ (0xa << n)).await;
        one.round().await;
        staff.push(one);
    }
    let attackers = (0..CONNECTIONS).map(|n| {
        let (server, loot, answers, made) =
            (Arc::clone(&server), Arc::clone(&loot), Arc::clone(&answers), Arc::clone(&made));
        tokio::spawn(async move {
            let mut attacker = Attacker::new(&server, &loot, &answers, seed.wrapping_mul(31) + n).await;
            for _ in 0..CALLS / CONNECTIONS {
                attacker.call().await;
                made.send_modify(|made| *made += 1);
            }
        })
    });
    let attackers: Vec<_> = attackers.collect();
    drop(made);
    let life = staff.into_iter().zip(PROJECTS).map(|(mut staff, (name, _))| {
        let (mut making, server) = (making.clone(), Arc::clone(&server));
        tokio::spawn(async move {
            let mut oracle = Oracle::new(name);
            let mut next = PACE;
            while making.wait_for(|made| *made >= next).await.is_ok() {
                next = *making.borrow() + PACE;
                staff.round().await;
                oracle.read(&server).await;
            }
            oracle
        })
    });
    let life: Vec<_> = life.collect();
    for attacker in attackers {
        attacker.await.unwrap();
    }
    let mut oracles = Vec::new();
    for life in life {
        oracles.push(life.await.unwrap());
    }
    server.close().await;
    for oracle in &mut oracles {
        oracle.read(&server).await;
        check_claims(oracle, &answers);
        check_log(&server, oracle).await;
    }
    check_breadth(&oracles);
    let seen = answers.seen.lock().unwrap();
    for tool in Tool::ALL.iter().filter(|tool| !is_for_orchestrators(**tool)) {
        assert!(seen.accepted.contains_key(tool.as_str()), "{tool} was never accepted");
    }
    assert!(seen.refused.len() >= 12, "only these refusals were seen: {:?}", seen.refused);
}

/// The run proves something: the boards changed, and agents changed them. Every seed must pass this, so it asks
/// for what happens at least ten times in a usual run.
fn check_breadth(oracles: &[Oracle]) {
    for oracle in oracles {
        let sessions = oracle.board.sessions.len();
        assert!(oracle.judged > 800 && sessions > 40, "{} events of {sessions} sessions", oracle.judged);
    }
    let moves: BTreeSet<_> = oracles.iter().flat_map(|oracle| oracle.moves.keys().copied()).collect();
    for name in [Move::Start, Move::Block, Move::Cancel] {
        assert!(moves.contains(name.as_str()), "no agent could {name}: {moves:?}");
    }
    assert!(moves.len() >= 5, "agents made only these moves: {moves:?}");
}

/// What answers claimed happened, and nothing else did.
fn check_claims(oracle: &Oracle, answers: &Answers) {
    let name = oracle.board.settings.id.as_str();
    let seen = answers.seen.lock().unwrap();
    let (claims, created) = (&seen.claims[name], &seen.created[name]);
    for (claim, times) in claims {
        let happened = oracle.deeds.get(claim).copied().unwrap_or(0);
        // Assigning to whoever has it already is answered, and nothing happens.
        let again = claim.contains(" assigned ");
        assert!(happened == *times || again, "{name}: {claim}: claimed {times} times, happened {happened} times");
    }
    for (deed, times) in &oracle.deeds {
        let claimed = claims.get(deed).copied().unwrap_or(0);
        let by_key = deed.contains(" created ") && ids_in(deed).all(|id| created.contains(id));
        assert!(claimed >= *times || by_key, "{name}: {deed}: happened {times} times, claimed {claimed} times");
    }
    let made: BTreeSet<_> =
        oracle.deeds.keys().filter(|deed| deed.contains(" created ")).flat_map(|d| ids_in(d)).collect();
    for id in created {
        assert!(made.contains(id.as_str()), "{name}: {id} was claimed and never created");
    }
}

/// The log folds to the live board, and neither it nor the trace shows a secret.
async fn check_log(server: &TestServer, oracle: &Oracle) {
    let name = oracle.board.settings.id.clone();
    let project = server.project(name.as_str()).await;
    assert_eq!(*project.newest().await.unwrap(), oracle.board, "the live board is not its log");
    let stream = Project::stream(&name);
    let report = server.control.log().verify(&stream, Board::new(board::Settings::new(name))).await.unwrap();
    assert!(report.is_sound(), "{report:?}");
    let mut after = 0;
    loop {
        let page = server.control.log().events_after::<Board>(&stream, after, 1_000).await.unwrap();
        let Some((last, _)) = page.last() else { break };
        after = *last;
        page.iter().for_each(|(_, event)| no_secret(&event.redacted().encode()));
    }
    let sessions = oracle.board.sessions.keys().map(ToString::to_string);
    for subject in sessions.chain(oracle.board.agents.keys().map(ToString::to_string)) {
        for decision in project.decisions(&subject, u64::MAX, 10_000).await.unwrap() {
            no_secret(&decision.decision.body);
        }
    }
}
