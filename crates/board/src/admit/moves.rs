//! May this task change its status?

use super::{AdmitContext, AdmitResult, stop_live_session, under_judgement};
use crate::action::StopCause;
use crate::command::Destination;
use crate::event::EventKind;
use crate::evidence::{Inconclusive, Verdict};
use crate::examination;
use crate::field::Field;
use crate::lifecycle::{self, Guard, Rule, TaskRole};
use crate::obstacle::Obstacle;
use crate::readiness;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::Session;
use crate::task::{Kind, Status, Task};
use crate::text_limits;
use crate::{Actor, Party, TaskId};

/// What the owner adds to a move.
#[derive(Clone, Copy)]
pub(super) struct OwnerOverride {
    pub(super) forced: bool,
    /// The caller has seen the branch in the target.
    pub(super) merged: bool,
}

impl AdmitContext<'_> {
    pub(super) fn move_task(
        &self,
        id: TaskId,
        to: Destination,
        reason: Option<&str>,
        overrides: OwnerOverride,
    ) -> AdmitResult {
        let task = self.board.task(id)?;
        self.check_force(overrides.forced)?;
        let before = task.block.as_ref().map(|block| block.before);
        let to = match to {
            Destination::Status(status) => status,
            Destination::By(name) => lifecycle::leads_to(name, task.status, before)
                .ok_or(RefusalReason::NotThatMove { task: id, name, status: task.status })?,
        };
        if task.status == to {
            return Err(RefusalReason::AlreadyThere { task: id, status: to }.into());
        }
        let rule = lifecycle::rule(task.status, to, before).ok_or_else(|| RefusalReason::IllegalMove {
            task: id,
            from: task.status,
            to,
            legal: lifecycle::successors(task.status, before),
        })?;
        self.may_move(task, rule, overrides)?;
        if let Some(reason) = reason {
            text_limits::check(Field::Reason, reason)?;
        }
        for guard in rule.guards {
            self.check_guard(task, *guard, rule, reason)?;
        }
        self.moved(task, to, reason, overrides.forced)
    }

    /// Is the actor one of those whom the row names?
    fn may_move(&self, task: &Task, rule: &Rule, overrides: OwnerOverride) -> Result<(), Refusal> {
        let roles = self.roles(task, overrides)?;
        if rule.by.iter().any(|who| roles.contains(who)) || overrides.forced {
            return Ok(());
        }
        let step = task.kind == Kind::Step;
        Err(match self.actor {
            _ if matches!(rule.name, lifecycle::Move::Unblock | lifecycle::Move::Requeue) && owners_block(task) => {
                RefusalReason::OwnersBlock { task: task.id }.into()
            }
            Actor::Owner(_) if rule.name == lifecycle::Move::Finish => {
                RefusalReason::NotMerged { task: task.id, branch: task.branch.clone() }.into()
            }
            Actor::Owner(_) if rule.name == lifecycle::Move::Fail => {
                RefusalReason::VerdictDecides { task: task.id }.into()
            }
            Actor::Session(_) if matches!(rule.name, lifecycle::Move::Finish | lifecycle::Move::Fail) && !step => {
                RefusalReason::VerdictDecides { task: task.id }.into()
            }
            Actor::Owner(_) | Actor::Session(_) | Actor::Runner(_) | Actor::System => {
                RefusalReason::NotTheMover { task: task.id, mover: self.board.mover(task) }.into()
            }
        })
    }

    /// Everything that the actor is to the task.
    fn roles(&self, task: &Task, overrides: OwnerOverride) -> Result<Vec<TaskRole>, Refusal> {
        let mut roles = Vec::new();
        if self.is_mover(task)? {
            roles.push(TaskRole::Mover);
        }
        if let Actor::Owner(_) = self.actor {
            roles.push(TaskRole::Owner);
            if overrides.merged || task.has_no_runner() {
                roles.push(TaskRole::OwnerMerged);
            }
            if task.by_hand || task.has_no_runner() {
                roles.push(TaskRole::OwnerByHand);
            }
        }
        if let Actor::Session(id) = self.actor {
            let session = self.board.session(*id)?;
            let own = session.task();
            if own == Some(task.id) && task.assignee.as_ref() == Some(&session.agent) {
                roles.push(TaskRole::Assignee);
            }
            if task.is_step() && task.parent.is_some() && own == task.parent {
                roles.extend([TaskRole::Assignee, TaskRole::Doer]);
            }
        }
        let blocker = task.block.as_ref().map(|block| &block.by);
        let party = self.party()?;
        // What Saihai itself blocked does not lift itself (G3).
        let own = party != Party::System && blocker == Some(&party);
        if own || (blocker == Some(&Party::System) && self.is_owner()) {
            roles.push(TaskRole::Blocker);
        }
        Ok(roles)
    }

    fn check_guard(&self, task: &Task, guard: Guard, rule: &Rule, reason: Option<&str>) -> Result<(), Refusal> {
        let refused = match guard {
            Guard::Reason => {
                reason.is_none_or(|text| text.trim().is_empty()).then_some(RefusalReason::ReasonNeeded(rule.name))
            }
            Guard::Ready => self.not_ready(task),
            Guard::ReadyIfItWas => match task.block.as_ref().map(|block| block.before) {
                Some(Status::InProgress) => self.not_ready(task),
                Some(_) | None => None,
            },
            Guard::OwnersBlock => {
                (owners_block(task) && !self.is_owner()).then_some(RefusalReason::OwnersBlock { task: task.id })
            }
            Guard::ChildrenSettled => {
                let open: Vec<_> = self.board.unsettled_children(task).map(|child| child.id).collect();
                (!open.is_empty()).then_some(RefusalReason::ChildrenOpen { task: task.id, open })
            }
            Guard::RetriesLeft => {
                let limit = self.board.settings.limits.max_retries;
                let spent = !self.is_owner() && task.used.retries_by_agents >= limit;
                spent.then_some(RefusalReason::RetriesSpent { task: task.id, limit })
            }
            Guard::ParentUnsettled => {
                let settled = self.board.ancestors(task).find(|ancestor| ancestor.is_settled());
                settled.map(|parent| RefusalReason::ParentSettled { parent: parent.id, status: parent.status })
            }
            Guard::NotUnderJudgement => {
                let judged = task.parent.filter(|parent| under_judgement(self.board, *parent));
                judged.map(|parent| RefusalReason::UnderJudgement { task: parent })
            }
        };
        refused.map_or(Ok(()), |because| Err(because.into()))
    }

    pub(super) fn not_ready(&self, task: &Task) -> Option<RefusalReason> {
        let obstacles = readiness::obstacles(self.board, task);
        // The owner grants new fuel by starting or unblocking.
        let obstacles: Vec<_> = obstacles
            .into_iter()
            .filter(|obstacle| !(self.is_owner() && matches!(obstacle, Obstacle::FuelSpent(_))))
            .collect();
        (!obstacles.is_empty()).then_some(RefusalReason::NotReady { task: task.id, obstacles })
    }

    /// The events of a move that is allowed. Only a cancellation reaches further than its task (L8).
    fn moved(&self, task: &Task, to: Status, reason: Option<&str>, forced: bool) -> AdmitResult {
        let by = self.party()?;
        let moved = |task: &Task, to| EventKind::TaskMoved {
            task: task.id,
            from: task.status,
            to,
            by: by.clone(),
            reason: reason.map(|text| text.trim().to_owned()),
            forced,
        };
        let mut happened = vec![moved(task, to)];
        let ended_work = examination::ended_work(self.board, task);
        let stops = matches!(task.status, Status::InProgress | Status::Blocked);
        if to == Status::Todo && stops && ended_work.is_none() {
            happened.extend(stop_live_session(task, StopCause::Unstarted));
        }
        // Ended work is kept through everything but the end of its task (V12).
        if to.is_settled() {
            happened.extend(ended_work.and_then(drop_work));
        }
        if to == Status::Cancelled {
            let below = self.board.descendants(task).into_iter().filter_map(|id| self.board.tasks.get(&id));
            for task in below.filter(|task| !task.is_settled()) {
                happened.push(moved(task, to));
                happened.extend(examination::ended_work(self.board, task).and_then(drop_work));
            }
        }
        Ok(happened)
    }

    /// A retry starts at once where the one who retries may start (L12).
    pub(super) fn retry_task(&self, id: TaskId, reason: Option<&str>, forced: bool, later: bool) -> AdmitResult {
        let overrides = OwnerOverride { forced, merged: false };
        let mut happened = self.move_task(id, Destination::By(lifecycle::Move::Retry), reason, overrides)?;
        if later {
            return Ok(happened);
        }
        let board = self.board_after(&happened);
        let after = AdmitContext { board: &board, ..*self };
        let started = after.move_task(id, Destination::Status(Status::InProgress), None, overrides);
        happened.extend(started.unwrap_or_default());
        Ok(happened)
    }
}

/// The work of a session is not wanted any more. What is being merged is not dropped: what became of it will be told.
pub(super) fn drop_work(session: &Session) -> Option<EventKind> {
    let verdict = Some(Verdict::None(Inconclusive::Stopped));
    session.merging.is_none().then_some(EventKind::Judged { session: session.id, verdict })
}

fn owners_block(task: &Task) -> bool {
    task.block.as_ref().is_some_and(|block| block.by == Party::Owner)
}
