//! What must always be true, and what must be true when nothing moves any more?

use std::collections::{BTreeMap, BTreeSet};

use board::{
    Action, Actor, Board, CheckOutcome, Completion, Event, EventKind, Kind, Merge, Mode, Outcome, Party, Purpose,
    Rejection, RunnerView, Seq, SessionStatus, Settings, Status, Task, TaskId, Timestamp, Verdict, WorkspaceFacts,
    apply, lifecycle, staffing, why,
};
use control::{Decider as _, Project};
use store::EventLog as _;

use super::world::World;

/// Folds every event in the store a second time, and checks each one.
pub(super) struct Invariants {
    replayed: Board,
    /// The last events, in which a verdict's reason is looked for.
    recent: Vec<Event>,
    /// How often each task was done.
    dones: BTreeMap<TaskId, usize>,
}

impl Invariants {
    pub(super) fn new(world: &World) -> Self {
        Self {
            replayed: Board::new(Settings::new(world.project_id().clone())),
            recent: Vec::new(),
            dones: BTreeMap::new(),
        }
    }

    pub(super) async fn check(&mut self, world: &World) -> Result<(), String> {
        let stream = Project::stream(world.project_id());
        let events = world.memory().read(&stream, self.replayed.seq, usize::MAX).await.map_err(|e| e.to_string())?;
        for stored in &events {
            let event = Board::decode(stored).map_err(|error| error.to_string())?;
            self.check_event(stored.seq, &event)?;
            if let EventKind::TaskMoved { task, to: Status::Done, .. } = event.what {
                *self.dones.entry(task).or_default() += 1;
            }
            apply(&mut self.replayed, &event);
            self.recent.push(event);
        }
        world.check_processes().map_err(|what| format!("{what}\n{}", self.describe(world)))?;
        if events.is_empty() {
            return Ok(());
        }
        if let Some(ahead) = world.boards().find(|board| board.seq > self.replayed.seq) {
            return Err(format!("a server is at event {}, the log at {}", ahead.seq, self.replayed.seq));
        }
        for board in world.boards().filter(|board| board.seq == self.replayed.seq) {
            if *board != self.replayed {
                return Err(format!("replay differs from the live board at event {}", board.seq));
            }
        }
        let snapshot = board::snapshot::decode(&board::snapshot::encode(&self.replayed)).map_err(|e| e.to_string())?;
        if snapshot != self.replayed {
            return Err("a snapshot does not read back".into());
        }
        self.replayed.tasks.values().try_for_each(|task| self.check_task(task, world.now()))?;
        self.merges_are_known(world)?;
        // One merge may not have been told yet.
        self.check_merges(world, 1)?;
        self.check_sessions()
    }

    /// How everything stands, for finding the cause of a failure.
    pub(super) fn describe(&self, world: &World) -> String {
        let last: Vec<_> = self.recent.iter().rev().take(10).map(|event| format!("{:?}", event.what)).collect();
        let tasks = describe_tasks(&self.replayed, world.now());
        format!("{}\n{tasks}\n{}", last.join("\n"), world.describe_runner())
    }

    /// The last events about a task, for finding the cause of a failure.
    fn events_of(&self, task: &Task) -> String {
        let seqs: Vec<_> = task.events.iter().collect();
        let seqs = &seqs[seqs.len().saturating_sub(60)..];
        let line = |seq: &Seq| format!("{seq} {:?}", self.recent.get(*seq as usize - 1).map(|event| &event.what));
        seqs.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The board knows of every merge before the target moves, whatever becomes of the task (V10).
    fn merges_are_known(&self, world: &World) -> Result<(), String> {
        for task in self.replayed.tasks.values() {
            let sessions = task.sessions.iter().filter_map(|id| self.replayed.sessions.get(id));
            let merges_of = |session: &&std::sync::Arc<board::Session>| {
                session.merging.is_some() || session.workspace.as_ref().is_some_and(WorkspaceFacts::is_merged)
            };
            let (known, merges) = (sessions.filter(merges_of).count(), world.repository.merges(task.id));
            if merges > known {
                let what = format!("the work of {} was merged {merges} times, and the board knows of {known}", task.id);
                return Err(format!("{what}\n{}", self.events_of(task)));
            }
        }
        Ok(())
    }

    /// Work is merged as often as it is done, and never twice (V12).
    fn check_merges(&self, world: &World, untold: usize) -> Result<(), String> {
        for task in self.replayed.tasks.values().filter(|task| task.status != Status::Cancelled) {
            let (merges, dones) = (world.repository.merges(task.id), self.dones.get(&task.id).copied().unwrap_or(0));
            // Merged in the moment in which its task was blocked: it is done when the block is lifted.
            let put_off = usize::from(task.live.is_some());
            if merges > dones + untold.max(put_off) {
                let what = format!("the work of {} was merged {merges} times and done {dones} times", task.id);
                return Err(format!("{what}\n{}", self.events_of(task)));
            }
        }
        Ok(())
    }

    /// Checks one event against the board before it.
    fn check_event(&self, seq: Seq, event: &Event) -> Result<(), String> {
        match &event.what {
            EventKind::TaskMoved { task, from, to, forced, .. } => {
                let Some(task) = self.replayed.tasks.get(task) else {
                    return Err(format!("event {seq} moves nothing"));
                };
                let before = task.block.as_ref().map(|block| block.before);
                if task.status != *from || lifecycle::rule(*from, *to, before).is_none() {
                    return Err(format!("event {seq}: {} went from {} to {to}", task.id, task.status));
                }
                if *forced && !matches!(event.by, Actor::Owner(_)) {
                    return Err(format!("event {seq}: an agent forced {}", task.id));
                }
                if *to == Status::Done && !self.has_evidence(task, event) {
                    let all = self.events_of(task);
                    return Err(format!("event {seq}: {} is done without evidence\n{all}", task.id));
                }
                Ok(())
            }
            EventKind::TasksCreated { tasks, .. } => {
                let parent = tasks.first().and_then(|task| task.parent).and_then(|id| self.replayed.tasks.get(&id));
                let open = parent.map_or(0, |parent| self.replayed.unsettled_children(parent).count() + tasks.len());
                let most = self.replayed.settings.limits.max_children as usize;
                if open > most { Err(format!("event {seq}: {open} children are open at once")) } else { Ok(()) }
            }
            EventKind::SessionClaimed { session, agent, purpose: Purpose::Chat, .. } => {
                match self.replayed.agents.get(agent).and_then(|agent| agent.chat.live) {
                    Some(live) => Err(format!("{session} chats beside {live}")),
                    None => Ok(()),
                }
            }
            EventKind::SessionClaimed { session, purpose, .. } => {
                match purpose.task().and_then(|id| self.replayed.tasks.get(&id)) {
                    Some(task) if task.live.is_some() => {
                        Err(format!("{session} claims {}, which is held by {:?}", task.id, task.live))
                    }
                    Some(_) | None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Done by the session that does the step, by the owner, or by a verdict on this task in the same
    /// commit, whose facts are checked again.
    fn has_evidence(&self, task: &Task, event: &Event) -> bool {
        if let Actor::Owner(_) = event.by {
            return true;
        }
        if task.kind == Kind::Step {
            return matches!(event.by, Actor::Session(_));
        }
        let Some(EventKind::Judged { session, verdict: Some(Verdict::Done) }) =
            self.recent.last().map(|event| &event.what)
        else {
            return false;
        };
        let Some(session) = self.replayed.sessions.get(session) else { return false };
        let ended_well = session.end.as_ref().is_some_and(|end| end.exit_code == Some(0) && end.signal.is_none());
        let agent = self.replayed.agents.get(&session.agent);
        let claimed = session.report.as_ref().map_or_else(
            || agent.is_some_and(|agent| agent.spec.mode == Mode::OneShot),
            |report| report.result == Outcome::Success,
        );
        let manager = agent.is_some_and(|agent| agent.is_manager());
        let merged = session.workspace.as_ref().is_some_and(|facts| {
            matches!(facts.merge, Merge::Merged { .. })
                && facts.outside_scope.is_empty()
                && facts.checks.iter().all(|check| check.outcome == CheckOutcome::Pass)
        });
        let work = if manager {
            self.replayed.children(task).any(|child| child.status == Status::Done)
        } else {
            self.replayed.settings.completion == Completion::Reported || merged
        };
        session.task() == Some(task.id) && ended_well && claimed && work
    }

    fn check_task(&self, task: &Task, now: Timestamp) -> Result<(), String> {
        let (board, limits, id) = (&self.replayed, &self.replayed.settings.limits, task.id);
        let unsettled = board.unsettled_children(task).count() as u32;
        // A cancelled child cannot come back, but a done one can be reopened by the owner.
        let fault = |what: &str| Err(format!("{id}: {what}"));
        if task.children.len() as u32 > limits.max_children_ever {
            return fault("too many children");
        }
        if task.depth > limits.max_depth {
            return fault("too deep");
        }
        if task.used.conflicts > limits.max_conflicts
            || task.used.attempts > limits.max_attempts
            || task.used.idle_sessions > limits.max_idle_sessions
        {
            return fault("more attempts than allowed");
        }
        if task.used.sessions > limits.max_task_sessions {
            return fault("more sessions than allowed");
        }
        if task.used.retries_by_agents > limits.max_retries {
            return fault("more retries than allowed");
        }
        if task.status == Status::Done && unsettled > 0 {
            return fault("done before its children");
        }
        if task.status == Status::Cancelled && unsettled > 0 {
            return fault("cancelled without its children");
        }
        if (task.status == Status::Blocked) != task.block.is_some() {
            return fault("blocked without a reason, or a reason without a block");
        }
        if let Some(block) = &task.block
            && block.reason.is_empty()
        {
            return fault("blocked without a reason");
        }
        match why(board, id, now, &RunnerView::Unknown) {
            Ok(why) if !why.lines.is_empty() => Ok(()),
            Ok(_) | Err(_) => fault("nobody can say why it is where it is"),
        }
    }

    fn check_sessions(&self) -> Result<(), String> {
        let board = &self.replayed;
        for session in board.sessions.values() {
            let slack = board.settings.limits.max_children_ever + 10;
            if session.calls > board.settings.limits.max_calls + slack {
                let of = |event: &&Event| event.by == Actor::Session(session.id);
                let made: Vec<_> = self.recent.iter().filter(of).map(|event| format!("{:?}", event.what)).collect();
                return Err(format!("{} made {} calls\n{}", session.id, session.calls, made.join("\n")));
            }
            if session.messages > board.settings.limits.max_messages {
                return Err(format!("{} sent {} messages", session.id, session.messages));
            }
            if let Some(task) = session.task().and_then(|id| board.tasks.get(&id)) {
                let holds = task.live == Some(session.id);
                if holds != session.is_live() {
                    return Err(format!("{} and {} do not agree on who holds it", session.id, task.id));
                }
            }
            if session.status == SessionStatus::Ended && session.end.is_none() {
                return Err(format!("{} ended without a fact", session.id));
            }
        }
        Ok(())
    }

    /// When nothing changes any more, every task is settled or waits for somebody who is named, and
    /// none waits for an agent that will never be started.
    pub(super) fn at_rest(&self, world: &World) -> Result<(), String> {
        let (board, now) = (&*world.board(), world.now());
        self.check_merges(world, 0)?;
        if *board != self.replayed {
            return Err("the live board is behind".into());
        }
        for agent in board.agents.keys() {
            let answer = staffing(board, agent, now).map_err(|refusal| refusal.to_string())?;
            if answer.action != Action::NoChange {
                let what = format!("at rest, and {agent} should {}: {}", answer.action, answer.reason);
                return Err(format!("{what}\n{}\n{}", describe_tasks(board, now), world.describe_runner()));
            }
        }
        for task in board.tasks.values().filter(|task| task.kind == Kind::Task) {
            let stuck = task.status == Status::InProgress
                && !task.by_hand
                && board.held_by(task).is_none()
                && !self.waits_for_owner(board, task);
            if stuck {
                let all = describe_tasks(board, now);
                return Err(format!("{} is in progress for ever\n{all}\n{}", task.id, world.describe_runner()));
            }
        }
        Ok(())
    }

    /// Every task that was not cancelled is done, with at most so many conflicts on the way.
    pub(super) fn all_landed(&self, world: &World, most: usize) -> Result<(), String> {
        for task in self.replayed.tasks.values().filter(|task| task.status != Status::Cancelled) {
            let collided = |event: &&Event| match &event.what {
                EventKind::Judged { session, verdict: Some(Verdict::Rejected(Rejection::Conflict { .. })) } => {
                    task.sessions.contains(session)
                }
                _ => false,
            };
            let conflicts = self.recent.iter().filter(collided).count();
            if task.status != Status::Done || conflicts > most {
                let what = format!("{} is {} after {conflicts} conflicts", task.id, task.status);
                return Err(format!("{what}\n{}", self.describe(world)));
            }
        }
        Ok(())
    }

    /// Must the owner act on some task below it, or on one that those wait for: by a dependency, or because it is held?
    fn waits_for_owner(&self, board: &Board, task: &Task) -> bool {
        let limits = &board.settings.limits;
        let needs_owner = |task: &Task| {
            let mover_is_owner = board.mover(task) == Party::Owner;
            let spent = task.used.sessions >= limits.max_task_sessions;
            match task.status {
                Status::Blocked => {
                    mover_is_owner || spent || task.block.as_ref().is_some_and(|block| block.by == Party::Owner)
                }
                Status::Failed => mover_is_owner || task.used.retries_by_agents >= limits.max_retries,
                Status::Backlog | Status::Todo => mover_is_owner,
                // A person drives it.
                Status::InProgress => task.by_hand,
                Status::Done | Status::Cancelled => false,
            }
        };
        let mut next = board.descendants(task);
        let mut seen = BTreeSet::new();
        while let Some(id) = next.pop() {
            let Some(task) = board.tasks.get(&id).filter(|task| seen.insert(task.id) && !task.is_settled()) else {
                continue;
            };
            if needs_owner(task) {
                return true;
            }
            next.extend(&task.dependencies);
            next.extend(board.held_by(task));
            if task.status == Status::InProgress {
                next.extend(&task.children);
            }
        }
        false
    }
}

/// Every task with its reasons, for finding the cause of a failure.
fn describe_tasks(board: &Board, now: Timestamp) -> String {
    let line = |task: &Task| {
        let why = why(board, task.id, now, &RunnerView::Unknown).map(|why| why.lines);
        format!(
            "{} {} {} below {:?}, {:?}, {:?}: {why:?}",
            task.id, task.kind, task.status, task.parent, task.assignee, task.used
        )
    };
    board.tasks.values().map(|task| line(task)).collect::<Vec<_>>().join("\n")
}
