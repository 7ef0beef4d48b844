//! What should the runner do next? Pure: what is wanted, what it has, what room there is, and the time.
//!
//! Nothing is remembered of how a state came about. Whatever was lost, doubled or late, the next look compares what
//! should be with what is, and names the difference.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use board::{Generation, Seq, SessionId, SessionStatus, SpawnId, TaskId, Timestamp, Waiting};
use dispatch::{ExamineItem, Offer, SessionState, Wanted};

use super::messages::{Message, Outcome, Step};

/// How long a client may live on after its report or logout (V2).
const END_AFTER_REPORT: Duration = Duration::from_secs(60);

/// When an offer that could not be claimed is tried again.
const CLAIM_AGAIN: Duration = Duration::from_secs(1);

/// How often a full disk, files of the user that are in the way, and a red target are looked at again.
const DISK_AGAIN: Duration = Duration::from_secs(15);
const FILES_AGAIN: Duration = Duration::from_secs(2);
const TARGET_AGAIN: Duration = Duration::from_secs(2);

/// Trouble of our own is tried again after this long, and after twice as long each time.
const TROUBLE_AGAIN: Duration = Duration::from_secs(2);
const TROUBLE_AGAIN_MOST: Duration = Duration::from_secs(60);

/// How often a right of way that may have lapsed is looked at again.
const RIGHT_OF_WAY_AGAIN: Duration = Duration::from_secs(30);

/// How many examinations go on at once. Only one of them tests and merges; the others fetch what was done.
const EXAMINED_AT_ONCE: usize = 4;

/// What a runner has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mine {
    pub sessions: BTreeMap<SessionId, Supervised>,
    /// Offers that are being claimed, with the spawn of their session.
    pub claiming: BTreeMap<Offer, SpawnId>,
    /// Offers that could not be claimed, and when they are tried again.
    pub refused: BTreeMap<Offer, Duration>,
    /// How many offers were claimed so far.
    pub claimed: usize,
    pub checking_target: bool,
}

/// A session that this runner is responsible for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervised {
    pub generation: Generation,
    pub phase: Phase,
    /// What it works on; `None` for a chat, which takes no slot (A6).
    pub task: Option<TaskId>,
    /// The board knows it from this event on.
    pub since: Seq,
    /// It was told to end.
    pub stopping: bool,
    /// When a client that has reported or logged out is ended.
    pub must_end_by: Option<Duration>,
    pub last_call: Timestamp,
    /// How often in a row its work could not be looked at.
    pub troubles: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// What became of it is being found out.
    Adopting,
    /// Its process runs, or is about to.
    Running,
    /// Its process is over.
    Ended,
    /// Its work is being examined.
    Examining,
    /// Its work waits. It is looked at again then, or before if the board says that the wait is over.
    Aside { until: Duration, told: bool },
}

/// What the runner may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Clients at once.
    pub slots: usize,
    pub disk_full: bool,
    /// Only offers of this task are taken.
    pub only: Option<TaskId>,
    /// How many offers are taken in all; `None`: as many as there are.
    pub most_claims: Option<usize>,
    /// The commit that the target is at, if somebody looked.
    pub target: Option<String>,
}

/// What is to be done now, and when to look again even if nothing happens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Plan {
    pub steps: Vec<Step>,
    pub wake_at: Option<Duration>,
}

impl Plan {
    fn wake(&mut self, at: Duration) {
        self.wake_at = Some(self.wake_at.map_or(at, |known| known.min(at)));
    }
}

/// The difference between what should be and what is.
pub fn reconcile(wanted: &Wanted, mine: &Mine, room: &Room, now: Duration) -> Plan {
    let mut plan = Plan::default();
    adopt(wanted, mine, &mut plan);
    let adopting = mine.sessions.values().any(|session| session.phase == Phase::Adopting) || !plan.steps.is_empty();
    supervise(wanted, mine, now, &mut plan);
    examine(wanted, mine, now, &mut plan);
    check_target(wanted, mine, room, now, &mut plan);
    // What an earlier runner left is settled before anything is claimed (S2).
    if !adopting {
        claim(wanted, mine, room, now, &mut plan);
    }
    plan
}

/// Sessions of this runner that it does not know: it was started anew, or never heard that its claim was admitted.
fn adopt(wanted: &Wanted, mine: &Mine, plan: &mut Plan) {
    let claiming: BTreeSet<&SpawnId> = mine.claiming.values().collect();
    for state in &wanted.sessions {
        if state.status != SessionStatus::Verifying
            && !mine.sessions.contains_key(&state.session)
            && !claiming.contains(&state.spawn)
        {
            plan.steps.push(Step::Adopt { state: state.clone() });
        }
    }
}

/// Ends processes whose session is over or may not go on, and forgets what nobody waits for.
fn supervise(wanted: &Wanted, mine: &Mine, now: Duration, plan: &mut Plan) {
    let states: BTreeMap<_, _> =
        wanted.sessions.iter().map(|state| ((state.session, state.generation), state)).collect();
    let waiting: BTreeSet<_> = wanted.examine.iter().map(|item| (item.session, item.generation)).collect();
    for (id, session) in &mine.sessions {
        let state = states.get(&(*id, session.generation)).copied();
        let waits = waiting.contains(&(*id, session.generation));
        match session.phase {
            Phase::Adopting => {}
            Phase::Running => match state {
                // The board has given the session up, so this process works for nobody.
                None if !session.stopping && wanted.revision >= session.since => {
                    plan.steps.push(Step::Stop { session: *id })
                }
                None => {}
                Some(state) => supervise_running(*id, session, state, now, plan),
            },
            Phase::Examining if !waits => plan.steps.push(Step::BreakOff { session: *id }),
            Phase::Examining => {}
            Phase::Ended | Phase::Aside { .. } if !waits && state.is_none() => {
                plan.steps.push(Step::Forget { session: *id });
            }
            Phase::Ended | Phase::Aside { .. } => {}
        }
    }
}

fn supervise_running(id: SessionId, session: &Supervised, state: &SessionState, now: Duration, plan: &mut Plan) {
    if state.last_call_at > session.last_call {
        plan.steps.push(Step::NoteCall { session: id, at: state.last_call_at });
    }
    if session.stopping {
        return;
    }
    if state.stop.is_some() {
        plan.steps.push(Step::Stop { session: id });
        return;
    }
    match (state.finished, session.must_end_by) {
        (true, None) => {
            plan.steps.push(Step::EndBy { session: id, by: now + END_AFTER_REPORT });
            plan.wake(now + END_AFTER_REPORT);
        }
        (true, Some(by)) if by <= now => plan.steps.push(Step::Finish { session: id }),
        (true, Some(by)) => plan.wake(by),
        (false, _) => {}
    }
}

/// Examines ended work in the order of the queue. What waits steps aside, and the others go on (V11).
fn examine(wanted: &Wanted, mine: &Mine, now: Duration, plan: &mut Plan) {
    let mut busy = mine.sessions.values().filter(|session| session.phase == Phase::Examining).count();
    for item in &wanted.examine {
        if !is_due(item, mine, now, plan) {
            continue;
        }
        // An examination that ends looks here again.
        if busy >= EXAMINED_AT_ONCE {
            return;
        }
        busy += 1;
        plan.steps.push(Step::Examine { session: item.session, generation: item.generation });
    }
}

fn is_due(item: &ExamineItem, mine: &Mine, now: Duration, plan: &mut Plan) -> bool {
    let known = mine.sessions.get(&item.session).filter(|session| session.generation == item.generation);
    let phase = known.map_or(&Phase::Ended, |session| &session.phase);
    // Looking at it again may end some waits, and not others: those end with a change of the board.
    let looked_at = match &item.waiting {
        None | Some(Waiting::Files { .. } | Waiting::Trouble { .. }) => true,
        Some(Waiting::RightOfWay { .. }) => {
            plan.wake(now + RIGHT_OF_WAY_AGAIN);
            false
        }
        Some(
            Waiting::NotInProgress { .. }
            | Waiting::Held { .. }
            | Waiting::TargetRed { .. }
            | Waiting::Behind { .. }
            | Waiting::Turn { .. },
        ) => false,
    };
    match phase {
        Phase::Adopting | Phase::Running | Phase::Examining => false,
        Phase::Ended => looked_at,
        Phase::Aside { told: true, .. } if item.waiting.is_none() => true,
        Phase::Aside { until, .. } if looked_at && *until > now => {
            plan.wake(*until);
            false
        }
        Phase::Aside { .. } => looked_at,
    }
}

/// A red target that has moved is tested again, so that work that waits for it goes on.
fn check_target(wanted: &Wanted, mine: &Mine, room: &Room, now: Duration, plan: &mut Plan) {
    let Some(red) = &wanted.target_red else { return };
    if mine.checking_target {
        return;
    }
    match &room.target {
        Some(target) if target != red => plan.steps.push(Step::CheckTarget),
        Some(_) | None => plan.wake(now + TARGET_AGAIN),
    }
}

/// Claims as many offers as there is room for, most urgent first.
fn claim(wanted: &Wanted, mine: &Mine, room: &Room, now: Duration, plan: &mut Plan) {
    if let Some(span) = wanted.next_offer {
        plan.wake(now + Duration::from_millis(span.0.max(0).unsigned_abs() + 1));
    }
    let running = mine.sessions.values().filter(|session| session.phase == Phase::Running).filter_map(|s| s.task);
    let running: BTreeSet<TaskId> = running.collect();
    let mut claims_left = room.most_claims.map(|most| most.saturating_sub(mine.claimed + mine.claiming.len()));
    let mut busy = running.len() + mine.claiming.keys().filter(|offer| offer.task.is_some()).count();
    for offer in &wanted.offers {
        // A process that works for nobody any more is still in the workspace.
        if offer.task.is_some_and(|task| running.contains(&task)) {
            continue;
        }
        if room.only.is_some_and(|only| offer.task != Some(only)) || mine.claiming.contains_key(offer) {
            continue;
        }
        if room.disk_full {
            plan.wake(now + DISK_AGAIN);
            return;
        }
        if let Some(again) = mine.refused.get(offer).filter(|again| **again > now) {
            plan.wake(*again);
            continue;
        }
        // A session that ends makes room, and is a reason to look again.
        if offer.task.is_some() && busy >= room.slots {
            continue;
        }
        if claims_left == Some(0) {
            return;
        }
        claims_left = claims_left.map(|left| left - 1);
        busy += usize::from(offer.task.is_some());
        plan.steps.push(Step::Claim { offer: offer.clone() });
    }
}

impl Mine {
    /// The step was begun. `spawn` is that of a claim's session.
    pub fn begun(&mut self, step: &Step, spawn: Option<SpawnId>) {
        match step {
            Step::Claim { offer } => {
                if let Some(spawn) = spawn {
                    self.claiming.insert(offer.clone(), spawn);
                }
            }
            Step::Adopt { state } => {
                let adopted = Supervised {
                    task: state.purpose.task(),
                    last_call: state.last_call_at,
                    ..Supervised::new(state.generation, Phase::Adopting)
                };
                self.sessions.insert(state.session, adopted);
            }
            Step::Stop { session } | Step::Finish { session } => {
                self.change(*session, |session| session.stopping = true);
            }
            Step::EndBy { session, by } => self.change(*session, |session| session.must_end_by = Some(*by)),
            Step::NoteCall { session, at } => self.change(*session, |session| session.last_call = *at),
            Step::Examine { session, generation } => {
                let new = || Supervised::new(*generation, Phase::Ended);
                let known = self.sessions.entry(*session).or_insert_with(new);
                known.generation = *generation;
                known.phase = Phase::Examining;
            }
            Step::BreakOff { .. } => {}
            Step::CheckTarget => self.checking_target = true,
            Step::Forget { session } => drop(self.sessions.remove(session)),
        }
    }

    /// Something has happened, at `now`. The known wish is brought up to date with it, so that nothing is begun twice
    /// before the board is heard again.
    pub fn happened(&mut self, message: &Message, wanted: &mut Wanted, now: Duration) {
        match message {
            Message::Claimed { offer, session, generation, revision } => {
                self.claiming.remove(offer);
                self.claimed += 1;
                wanted.offers.retain(|other| other != offer);
                let running =
                    Supervised { since: *revision, task: offer.task, ..Supervised::new(*generation, Phase::Running) };
                self.sessions.insert(*session, running);
            }
            Message::NotClaimed { offer } => {
                self.claiming.remove(offer);
                self.refused.insert(offer.clone(), now + CLAIM_AGAIN);
            }
            Message::Adopted { session, running: true } => {
                self.change(*session, |session| session.phase = Phase::Running);
            }
            // Its end is being told.
            Message::Adopted { running: false, .. } => {}
            Message::Ended { session } => self.change(*session, |session| {
                if matches!(session.phase, Phase::Running | Phase::Adopting) {
                    session.phase = Phase::Ended;
                }
            }),
            Message::Examined { session, outcome } => self.examined(*session, outcome, wanted, now),
            Message::TargetChecked => self.checking_target = false,
        }
        self.refused.retain(|offer, _| wanted.offers.contains(offer));
    }

    fn examined(&mut self, id: SessionId, outcome: &Outcome, wanted: &mut Wanted, now: Duration) {
        match outcome {
            Outcome::Over => {
                wanted.examine.retain(|item| item.session != id);
                wanted.sessions.retain(|state| state.session != id);
                self.sessions.remove(&id);
            }
            Outcome::BrokenOff => self.change(id, |session| session.phase = Phase::Ended),
            Outcome::Aside { waiting } => {
                if let Some(item) = wanted.examine.iter_mut().find(|item| item.session == id) {
                    item.waiting.clone_from(waiting);
                }
                let trouble = matches!(waiting, None | Some(Waiting::Trouble { .. }));
                self.change(id, |session| {
                    session.troubles = if trouble { session.troubles + 1 } else { 0 };
                    let after = if trouble { trouble_again(session.troubles) } else { FILES_AGAIN };
                    session.phase = Phase::Aside { until: now + after, told: waiting.is_some() };
                });
            }
        }
    }

    fn change(&mut self, id: SessionId, change: impl FnOnce(&mut Supervised)) {
        if let Some(session) = self.sessions.get_mut(&id) {
            change(session);
        }
    }

    /// Sessions whose processes are there, or whose work is being examined: what they hold on the board is renewed.
    pub fn at_work(&self) -> Vec<(SessionId, Generation)> {
        let at_work = |session: &Supervised| matches!(session.phase, Phase::Running | Phase::Examining);
        let sessions = self.sessions.iter().filter(|(_, session)| at_work(session));
        sessions.map(|(id, session)| (*id, session.generation)).collect()
    }

    /// Sessions whose processes run, and were not told to end.
    pub(super) fn to_be_stopped(&self) -> Vec<SessionId> {
        let runs = |session: &Supervised| session.phase == Phase::Running && !session.stopping;
        self.sessions.iter().filter(|(_, session)| runs(session)).map(|(id, _)| *id).collect()
    }

    /// How many slots are taken, also by sessions that are being claimed.
    pub(super) fn slots_taken(&self) -> usize {
        self.busy().len() + self.claiming.keys().filter(|offer| offer.task.is_some()).count()
    }

    /// Sessions that have a slot.
    pub fn busy(&self) -> Vec<SessionId> {
        let busy = |session: &Supervised| session.phase == Phase::Running && session.task.is_some();
        self.sessions.iter().filter(|(_, session)| busy(session)).map(|(id, _)| *id).collect()
    }
}

impl Supervised {
    fn new(generation: Generation, phase: Phase) -> Self {
        Self {
            generation,
            phase,
            task: None,
            since: 0,
            stopping: false,
            must_end_by: None,
            last_call: Timestamp(0),
            troubles: 0,
        }
    }
}

fn trouble_again(troubles: u32) -> Duration {
    TROUBLE_AGAIN.saturating_mul(1 << troubles.saturating_sub(1).min(10)).min(TROUBLE_AGAIN_MOST)
}
