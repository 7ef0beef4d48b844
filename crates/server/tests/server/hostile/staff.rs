//! Ordinary life meanwhile: the owner gives work, the runner starts agents and reports their ends.

use std::sync::{Arc, Mutex};

use board::{
    Action, Actor, Command, Driver, EndReason, Examination, Fact, Generation, Merge, ProcessEnd, Purpose, Session,
    SessionId, SessionStatus, Status, WorkspaceFacts, staffing,
};
use control::{Clock as _, Project};
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use crate::test_server::{BY_HAND, TestServer, agent, moving, owner, runner};

/// A credential, and the session it was given for. They stay when the session is over.
#[derive(Clone, Debug)]
pub(super) struct Stolen {
    pub(super) project: &'static str,
    pub(super) session: SessionId,
    pub(super) secret: String,
}

/// What the hostile clients have got hold of.
#[derive(Debug, Default)]
pub(super) struct Loot(Mutex<Vec<Stolen>>);

impl Loot {
    pub(super) fn add(&self, stolen: Stolen) {
        self.0.lock().unwrap().push(stolen);
    }

    /// Mostly one that may still be of use, as far as is known; sometimes any.
    pub(super) fn pick(&self, dice: &mut ChaCha8Rng, useful: impl Fn(&Stolen) -> bool) -> Option<Stolen> {
        let loot = self.0.lock().unwrap();
        let newest = &loot[loot.len().saturating_sub(100)..];
        let live: Vec<_> = newest.iter().filter(|stolen| useful(stolen)).collect();
        match (dice.random_range(0..10), live.choose(dice)) {
            (0..8, Some(live)) => Some((*live).clone()),
            (8, _) => newest.choose(dice).cloned(),
            _ => loot.choose(dice).cloned(),
        }
    }
}

pub(super) struct Staff {
    server: Arc<TestServer>,
    loot: Arc<Loot>,
    name: &'static str,
    project: Project,
    dice: ChaCha8Rng,
}

impl Staff {
    pub(super) async fn new(server: &Arc<TestServer>, loot: &Arc<Loot>, name: &'static str, seed: u64) -> Self {
        let project = server.project(name).await;
        let dice = ChaCha8Rng::seed_from_u64(seed);
        Self { server: Arc::clone(server), loot: Arc::clone(loot), name, project, dice }
    }

    /// One round of everything.
    pub(super) async fn round(&mut self) {
        self.server.clock.pass(self.dice.random_range(0..25));
        self.renew().await;
        self.end_some().await;
        self.give_work().await;
        self.intervene().await;
        self.start_agents().await;
    }

    async fn submit(&self, actor: Actor, command: Command) {
        // What was true a moment ago may not be now: the board is not ours alone.
        let _ = self.project.submit(actor, command).await;
    }

    async fn renew(&self) {
        let board = self.project.board();
        let sessions: Vec<(SessionId, Generation)> =
            board.all_live_sessions().map(|session| (session.id, session.generation)).collect();
        // Now and then one is forgotten, and lost.
        let kept = sessions.into_iter().filter(|(id, _)| id.0 % 17 != 0).collect();
        self.submit(
            Actor::Runner(runner()),
            Command::RenewLeases { sessions: kept, quiet: std::collections::BTreeMap::new() },
        )
        .await;
    }

    /// Whoever has left, reported or been interrupted is over; now and then somebody crashes.
    async fn end_some(&mut self) {
        let board = self.project.board();
        let live: Vec<Session> = board.all_live_sessions().cloned().collect();
        for session in live {
            if session.status == SessionStatus::Verifying {
                let merge = match self.dice.random_ratio(2, 3) {
                    true => Merge::Merged { commit: "1234567".into() },
                    false => Merge::Conflict { files: vec!["src/lib.rs".into()] },
                };
                let facts = Box::new(WorkspaceFacts {
                    commits: 1,
                    changed: vec!["src/lib.rs".into()],
                    outside_scope: Vec::new(),
                    checks: Vec::new(),
                    judge_changes: board::JudgeChanges::default(),
                    goals_unmet: Vec::new(),
                    merge,
                    target: None,
                    candidate: None,
                    tree: None,
                    undone_by_git: false,
                });
                self.tell(&session, Fact::Examined(Examination::Found(facts))).await;
                continue;
            }
            let over = session.logged_out || session.report.is_some() || board::interrupt(&board, &session).is_some();
            let end = match over {
                true => ProcessEnd::exited(0),
                false if self.dice.random_ratio(1, 150) => ProcessEnd::because(EndReason::Signaled),
                false => continue,
            };
            if over && self.dice.random_ratio(1, 2) || session.driver == Driver::Attached && !over {
                continue;
            }
            self.tell(&session, Fact::Exit { end, usage: None }).await;
        }
    }

    /// The runner tells a fact.
    async fn tell(&mut self, session: &Session, fact: Fact) {
        let (session, generation, number) = (session.id, session.generation, session.facts + 1);
        self.submit(Actor::Runner(runner()), Command::Report { session, generation, number, fact }).await;
    }

    /// New work for whoever has little.
    async fn give_work(&mut self) {
        let board = self.project.board();
        if board.paused {
            return;
        }
        for name in ["boss", "sub", "w1", "solo", BY_HAND] {
            let open = board.open_tasks(&agent(name)).len();
            if open < 3 {
                self.server.started(self.name, name).await;
            }
        }
    }

    /// The owner lifts blocks, retries, writes, stops, pauses.
    async fn intervene(&mut self) {
        let board = self.project.board();
        for task in board.tasks.values().filter(|task| !task.is_settled() && task.parent.is_none()) {
            let to = match task.status {
                Status::Blocked => board::Destination::By(board::lifecycle::Move::Unblock),
                Status::Failed => board::Destination::By(board::lifecycle::Move::Retry),
                Status::Todo | Status::Backlog => board::Destination::Status(Status::InProgress),
                Status::InProgress | Status::Done | Status::Cancelled => continue,
            };
            // What has used up its sessions is given up.
            let to = if task.used.sessions > 8 { board::Destination::Status(Status::Cancelled) } else { to };
            let reason = Some("the owner says so".into());
            self.submit(owner(), Command::MoveTask { task: task.id, to, reason, forced: false, merged: false }).await;
        }
        let everybody: Vec<_> = board.agents.keys().cloned().collect();
        match self.dice.random_range(0..60) {
            0..8 => {
                let to = everybody.choose(&mut self.dice).unwrap();
                self.server.write_to(self.name, to.as_str()).await;
            }
            8 => self.submit(owner(), Command::Pause { now: true }).await,
            9..12 => {
                let live: Vec<_> = board.all_live_sessions().map(|session| session.id).collect();
                if let Some(session) = live.choose(&mut self.dice) {
                    self.submit(owner(), Command::StopSession { session: *session, restart: true }).await;
                }
            }
            12 => {
                let unsettled: Vec<_> = board.tasks.values().filter(|task| !task.is_settled()).collect();
                if let Some(task) = unsettled.choose(&mut self.dice) {
                    let to = *[Status::Cancelled, Status::Blocked].choose(&mut self.dice).unwrap();
                    self.submit(owner(), moving(task.id, to)).await;
                }
            }
            _ => {}
        }
        if board.paused {
            self.submit(owner(), Command::Resume).await;
        }
    }

    /// Starts whom staffing names; their credentials are stolen at once.
    async fn start_agents(&mut self) {
        let board = self.project.board();
        for who in board.agents.keys().filter(|who| who.as_str() != BY_HAND) {
            for _ in 0..3 {
                let answer = staffing(&self.project.board(), who, self.server.clock.now()).unwrap();
                let (Action::Start, Some(purpose)) = (answer.action, answer.purpose) else { break };
                let Ok((session, secret)) = self.server.claim(self.name, who, purpose).await else { break };
                self.loot.add(Stolen { project: self.name, session, secret });
                if let (Purpose::Task(_), true) = (purpose, self.dice.random_ratio(2, 3)) {
                    let claimed = self.project.board().session(session).unwrap().clone();
                    self.tell(&claimed, Fact::Running).await;
                }
            }
        }
    }
}
