//! The simulated runner: the real reconciler and the real decision to merge, on processes and a repository that are
//! only pretended.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use board::{
    EndReason, Examination, ExaminationStep, Fact, Generation, Mode, ProcessEnd, Rejection, Repairs, RunnerId,
    RunnerOffer, SecretHash, SessionId, SpawnId, TaskId, WorkspaceFacts,
};
use control::{Clock as _, LocalDispatch};
use dispatch::{AtWork, Claim, FactReport, Offer, SessionState, Wanted, WorkOrder};
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use runner::{Message, Mine, Outcome, Plan, Room, Step, reconcile};

use super::agents::Behaviour;
use super::network::Way;
use super::world::World;

/// A client under its shim. It lives on when the runner ends, and its exit stays on the disk until it was told.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) session: SessionId,
    pub(super) generation: Generation,
    pub(super) task: Option<TaskId>,
    pub(super) mode: Mode,
    pub(super) behaviour: Behaviour,
    /// `None` for an agent that was attached by hand: no runner knows it.
    spawn: Option<SpawnId>,
    exit: Option<ProcessEnd>,
    /// The last fact that was told.
    facts: u32,
}

impl Process {
    pub(super) fn attached(session: SessionId, task: Option<TaskId>) -> Self {
        Self {
            session,
            generation: Generation(0),
            task,
            mode: Mode::Guided,
            behaviour: Behaviour::Obedient,
            spawn: None,
            exit: None,
            facts: 0,
        }
    }

    pub(super) fn is_attached(&self) -> bool {
        self.spawn.is_none()
    }

    pub(super) fn runs(&self) -> bool {
        self.exit.is_none()
    }
}

/// An examination on its way.
#[derive(Clone, Debug)]
struct Examining {
    generation: Generation,
    task: TaskId,
    facts: u32,
    reported_merges: Vec<String>,
    found: Option<WorkspaceFacts>,
    /// The board has said to merge it. That takes a while, and others act meanwhile.
    to_merge: bool,
}

/// What a runner knows, all of which is gone when it is killed.
#[derive(Debug, Default)]
pub(super) struct SimRunner {
    mine: Mine,
    wanted: Option<Wanted>,
    examining: BTreeMap<SessionId, Examining>,
    /// Who tests and merges.
    turn: Option<SessionId>,
    pub(super) wake_at: Option<Duration>,
}

pub(super) fn runner_id() -> RunnerId {
    "runner".parse().expect("a good name")
}

impl World {
    fn dispatch(&mut self) -> Way {
        let (server, is_sound) = (self.any_server(), self.faults_over());
        self.network.way(LocalDispatch::new(server, runner_id()), is_sound)
    }

    /// The runner looks, and begins what is to be done. False if there was nothing.
    pub(super) async fn runner_acts(&mut self) -> bool {
        let at = LocalDispatch::new(self.any_server(), runner_id());
        self.network.late_arrival(&at).await;
        let begins = self.runner.wanted.is_none();
        if begins || self.faults_over() || self.rng().random_bool(0.8) {
            let board = self.board();
            self.runner.wanted = Some(dispatch::wanted(&board, &runner_id(), &RunnerOffer::default(), self.now()));
        }
        if begins {
            self.stop_orphans();
        }
        let Some(wanted) = self.runner.wanted.clone() else { return false };
        let room = Room {
            slots: 3,
            disk_full: false,
            only: None,
            most_claims: None,
            target: Some(self.repository.target_commit()),
        };
        let now = self.clock().monotonic();
        let Plan { steps, wake_at } = reconcile(&wanted, &self.runner.mine, &room, now);
        self.runner.wake_at = wake_at;
        for step in &steps {
            self.perform(step).await;
        }
        !steps.is_empty()
    }

    /// A runner that begins ends processes that the board does not wait for.
    fn stop_orphans(&mut self) {
        let Some(wanted) = &self.runner.wanted else { return };
        let waits =
            |process: &Process| wanted.sessions.iter().any(|state| Some(&state.spawn) == process.spawn.as_ref());
        self.processes.retain(|process| process.is_attached() || waits(process));
    }

    fn happened(&mut self, message: &Message) {
        let now = self.clock().monotonic();
        let SimRunner { mine, wanted, .. } = &mut self.runner;
        if let Some(wanted) = wanted {
            mine.happened(message, wanted, now);
        }
    }

    async fn perform(&mut self, step: &Step) {
        let spawn = match step {
            Step::Claim { .. } => Some(self.next_spawn()),
            _ => None,
        };
        self.runner.mine.begun(step, spawn.clone());
        match step {
            Step::Claim { offer } => self.claim(offer, spawn.expect("a claim has a spawn")).await,
            Step::Adopt { state } => self.adopt(state).await,
            Step::Stop { session } => self.end(*session, ProcessEnd::because(EndReason::Stopped)).await,
            Step::Finish { session } => self.end(*session, ProcessEnd::exited(0)).await,
            Step::EndBy { .. } | Step::NoteCall { .. } | Step::Forget { .. } => {}
            Step::Examine { session, generation } => {
                let order = self.dispatch().examine_order(*session, *generation).await;
                match order {
                    Ok(Some(order)) => {
                        let (task, facts, reported_merges) = (order.task.id, order.facts, order.reported_merges);
                        let found = order.known.filter(WorkspaceFacts::is_merged);
                        let generation = *generation;
                        let examining = Examining { generation, task, facts, reported_merges, found, to_merge: false };
                        self.runner.examining.insert(*session, examining);
                    }
                    Ok(None) => self.happened(&Message::Examined { session: *session, outcome: Outcome::Over }),
                    Err(_) => {
                        let outcome = Outcome::Aside { waiting: None };
                        self.happened(&Message::Examined { session: *session, outcome });
                    }
                }
            }
            Step::BreakOff { session } => self.examined(*session, Outcome::BrokenOff),
            Step::CheckTarget => {
                if let Ok(Some(order)) = self.dispatch().target_order().await {
                    let results = self.repository.check(&order.run, None);
                    let target = self.repository.target_commit();
                    let _ = self.dispatch().report_target(&target, &results).await;
                }
                self.happened(&Message::TargetChecked);
            }
        }
    }

    async fn claim(&mut self, offer: &Offer, spawn: SpawnId) {
        let claim = |spawn: &SpawnId| Claim {
            offer: offer.clone(),
            spawn: spawn.clone(),
            credential: SecretHash(format!("hash of {spawn}")),
        };
        // Sometimes two ask at once.
        if !self.faults_over() && self.rng().random_bool(0.05) {
            let other = self.next_spawn();
            let order = self.dispatch().claim(&claim(&other)).await;
            if let Ok(Some(order)) = order {
                self.claimed(offer, order, other).await;
            }
        }
        let order = self.dispatch().claim(&claim(&spawn)).await;
        // The answer may be lost: then the session is on the board, and nobody runs it.
        let lost = !self.faults_over() && self.rng().random_bool(0.03);
        match order {
            Ok(Some(order)) if !lost => self.claimed(offer, order, spawn).await,
            Ok(_) | Err(_) => self.happened(&Message::NotClaimed { offer: offer.clone() }),
        }
    }

    async fn claimed(&mut self, offer: &Offer, order: WorkOrder, spawn: SpawnId) {
        let (session, generation, revision) = (order.session, order.generation, order.revision);
        self.happened(&Message::Claimed { offer: offer.clone(), session, generation, revision });
        self.launch(order, spawn).await;
    }

    async fn launch(&mut self, order: WorkOrder, spawn: SpawnId) {
        let behaviour = match self.faults_over() || self.rng().random_bool(0.5) {
            true => Behaviour::Obedient,
            false => *Behaviour::ALL.choose(self.rng()).expect("the list is not empty"),
        };
        let task = order.task.as_ref().map(|task| task.id);
        if let Some(brief) = &order.task {
            let repairs = self.board().task(brief.id).is_ok_and(|task| task.repairs == Some(Repairs::Target));
            let after_conflict = matches!(brief.feedback, Some(Rejection::Conflict { .. }));
            self.repository.begin(brief.id, after_conflict, repairs);
        }
        let process = Process {
            session: order.session,
            generation: order.generation,
            task,
            mode: order.agent.mode,
            behaviour,
            spawn: Some(spawn),
            exit: None,
            facts: 0,
        };
        self.processes.push(process);
        self.tell(order.session, Fact::Running).await;
    }

    async fn adopt(&mut self, state: &SessionState) {
        let id = state.session;
        let found = self.processes.iter_mut().find(|process| process.spawn.as_ref() == Some(&state.spawn));
        match found {
            Some(process) if process.runs() => {
                process.facts = process.facts.max(state.facts);
                self.happened(&Message::Adopted { session: id, running: true });
            }
            Some(process) => {
                process.facts = process.facts.max(state.facts);
                self.happened(&Message::Adopted { session: id, running: false });
            }
            None => {
                self.happened(&Message::Adopted { session: id, running: false });
                let lost = Message::Ended { session: id };
                let (generation, number) = (state.generation, state.facts + 1);
                let fact = Fact::Exit { end: ProcessEnd::because(EndReason::Lost), usage: None };
                let report = FactReport { session: id, generation, number, fact };
                // If nobody hears it, the next look finds the session again.
                match self.dispatch().report(&report).await {
                    Ok(()) => self.happened(&lost),
                    Err(_) => drop(self.runner.mine.sessions.remove(&id)),
                }
            }
        }
    }

    /// Tells a fact of a process; `false` if nobody heard it.
    async fn tell(&mut self, session: SessionId, fact: Fact) -> bool {
        let Some(process) = self.processes.iter().find(|process| process.session == session) else { return true };
        let (generation, number) = (process.generation, process.facts + 1);
        let report = FactReport { session, generation, number, fact };
        // Sometimes it is told twice.
        if self.rng().random_bool(0.1) {
            let _ = self.dispatch().report(&report).await;
        }
        let heard = self.dispatch().report(&report).await.is_ok();
        if let Some(process) = self.processes.iter_mut().find(|process| heard && process.session == session) {
            process.facts = number;
        }
        heard
    }

    /// A process ends. Its record is on the disk until a runner has told it.
    pub(super) async fn end(&mut self, session: SessionId, end: ProcessEnd) {
        if let Some(process) = self.processes.iter_mut().find(|process| process.session == session && process.runs()) {
            process.exit = Some(end);
        }
        self.collect_exits().await;
    }

    /// The runner tells the ends that it has seen. False if there were none.
    pub(super) async fn collect_exits(&mut self) -> bool {
        let mut told = false;
        let ended: Vec<_> = self.processes.iter().filter(|process| !process.runs()).cloned().collect();
        for process in ended {
            let watched = self.runner.mine.sessions.contains_key(&process.session);
            let Some(end) = process.exit.clone().filter(|_| watched) else { continue };
            if self.tell(process.session, Fact::Exit { end, usage: None }).await {
                self.processes.retain(|other| other.session != process.session);
                self.happened(&Message::Ended { session: process.session });
                told = true;
            }
        }
        told
    }

    fn examined(&mut self, session: SessionId, outcome: Outcome) {
        self.runner.examining.remove(&session);
        if self.runner.turn == Some(session) {
            self.runner.turn = None;
        }
        self.happened(&Message::Examined { session, outcome });
    }

    /// One examination goes one step further.
    pub(super) async fn examination_goes_on(&mut self) {
        let all: Vec<_> = self.runner.examining.keys().copied().collect();
        let Some(session) = all.choose(self.rng()).copied() else { return };
        if self.runner.turn.is_some_and(|turn| turn != session) {
            return;
        }
        self.runner.turn = Some(session);
        if std::mem::take(&mut self.runner.examining.get_mut(&session).expect("it is one of them").to_merge) {
            let task = self.runner.examining[&session].task;
            return self.merge(session, task);
        }
        let trouble = !self.faults_over() && self.rng().random_bool(0.03);
        let found = match (&self.runner.examining[&session].found, trouble) {
            (_, true) => Some(Examination::Failed { reason: "no space left".into() }),
            (Some(facts), false) => Some(Examination::Found(Box::new(facts.clone()))),
            (None, false) => None,
        };
        let examining = self.runner.examining.get_mut(&session).expect("it is one of them");
        examining.facts += 1;
        let Examining { generation, task, facts: number, .. } = *examining;
        let step = self.dispatch().examination_step(session, generation, number, found.as_ref()).await;
        let step = match step {
            Ok(Some(step)) => step,
            Ok(None) => return self.examined(session, Outcome::Over),
            Err(_) => return self.examined(session, Outcome::Aside { waiting: None }),
        };
        match step {
            ExaminationStep::Conclude(_) => self.examined(session, Outcome::Over),
            ExaminationStep::Wait(waiting) => self.examined(session, Outcome::Aside { waiting: Some(waiting) }),
            ExaminationStep::Look => match self.repository.look(task, &self.runner.examining[&session].reported_merges)
            {
                Some(facts) => self.found(session, facts),
                None => {
                    let gone = Examination::Gone;
                    let _ = self.dispatch().examination_step(session, generation, number + 1, Some(&gone)).await;
                    self.examined(session, Outcome::Over);
                }
            },
            ExaminationStep::RunChecks(run) => {
                let checks = self.repository.check(&run, Some(task));
                if let Some(facts) = self.runner.examining[&session].found.clone() {
                    self.found(session, WorkspaceFacts { checks, ..facts });
                }
            }
            ExaminationStep::CheckTarget(run) => {
                let results = self.repository.check(&run, None);
                let target = self.runner.examining[&session].found.as_ref().and_then(|facts| facts.target.clone());
                // It was tested on a target that is still there, or is tested again.
                if target.as_ref() == Some(&self.repository.target_commit()) {
                    let _ = self.dispatch().report_target(&target.unwrap_or_default(), &results).await;
                } else {
                    self.look_again(session);
                }
            }
            ExaminationStep::Merge => {
                if let Some(examining) = self.runner.examining.get_mut(&session) {
                    examining.to_merge = true;
                }
            }
        }
    }

    fn merge(&mut self, session: SessionId, task: TaskId) {
        let Some(facts) = self.runner.examining[&session].found.clone() else { return };
        match self.repository.merge(task, &facts) {
            None => self.look_again(session),
            Some(merge) => {
                let crashed = !self.faults_over() && self.rng().random_bool(0.05);
                self.found(session, WorkspaceFacts { merge, ..facts });
                if crashed {
                    // Killed between the merge and telling it.
                    self.runner = SimRunner::default();
                }
            }
        }
    }

    fn found(&mut self, session: SessionId, facts: WorkspaceFacts) {
        if let Some(examining) = self.runner.examining.get_mut(&session) {
            examining.found = Some(facts);
        }
    }

    fn look_again(&mut self, session: SessionId) {
        if let Some(examining) = self.runner.examining.get_mut(&session) {
            examining.found = None;
        }
    }

    pub(super) fn examinations(&self) -> usize {
        self.runner.examining.len()
    }

    pub(super) async fn renew(&mut self) {
        let sessions = self.runner.mine.at_work();
        if !sessions.is_empty() {
            let _ = self.dispatch().renew(&AtWork { sessions, ..AtWork::default() }).await;
        }
    }

    /// No task has two processes, and no work was merged more often than it was done.
    pub(super) fn check_processes(&self) -> Result<(), String> {
        let mut tasks = BTreeSet::new();
        for process in self.processes.iter().filter(|process| process.runs() && !process.is_attached()) {
            if let Some(task) = process.task.filter(|task| !tasks.insert(*task)) {
                return Err(format!("two processes work on {task}"));
            }
        }
        Ok(())
    }

    /// What the runner believes, for finding the cause of a failure.
    pub(super) fn describe_runner(&self) -> String {
        format!("{:?} {:?}\n{:?}", self.clock().monotonic(), self.runner, self.processes)
    }
}
