//! May the project, its roster or its accounts be changed like this?

use std::collections::BTreeSet;

use super::{AdmitContext, AdmitResult};
use crate::action::StopCause;
use crate::agent::AgentSpec;
use crate::event::EventKind;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::{Driver, Session, SessionStatus};
use crate::settings::Settings;
use crate::task::Status;
use crate::{Actor, Agent, AgentId, Client, Decompose, Hierarchy, Mode, SecretHash, Span, Task, TaskId, Timestamp};

impl AdmitContext<'_> {
    pub(super) fn configure(&self, settings: &Settings) -> AdmitResult {
        self.owner_only()?;
        if let Some((name, range)) = settings.limits.out_of_range() {
            let (least, most) = (*range.start(), *range.end());
            return Err(RefusalReason::LimitOutOfRange { name, least, most }.into());
        }
        let unchanged = self.board.configured > 0 && *self.board.settings == *settings;
        Ok(if unchanged {
            Vec::new()
        } else {
            vec![EventKind::ProjectConfigured { settings: Box::new(settings.clone()) }]
        })
    }

    /// Nothing starts any more; what runs goes on, unless it is to stop at once (L11).
    pub(super) fn pause(&self, now: bool) -> AdmitResult {
        self.owner_only()?;
        let mut happened = if self.board.paused { Vec::new() } else { vec![EventKind::ProjectPaused] };
        if now {
            let works = |session: &&Session| {
                session.task().is_some()
                    && session.driver != Driver::Hand
                    && session.status != SessionStatus::Verifying
                    && session.stop.is_none()
            };
            let stopped = self.board.all_live_sessions().filter(works);
            happened.extend(
                stopped.map(|session| EventKind::StopRequested { session: session.id, cause: StopCause::Paused }),
            );
        }
        Ok(happened)
    }

    pub(super) fn resume(&self) -> AdmitResult {
        self.owner_only()?;
        Ok(if self.board.paused { vec![EventKind::ProjectResumed] } else { Vec::new() })
    }

    /// The difference between the roster as it is and as it should be.
    pub(super) fn apply_roster(&self, agents: &[AgentSpec]) -> AdmitResult {
        self.owner_only()?;
        if let Some(twice) = first_twice(agents) {
            return Err(RefusalReason::AgentTwice(twice).into());
        }
        agents.iter().try_for_each(check_manager)?;
        check_parents(agents)?;
        let wanted: BTreeSet<_> = agents.iter().map(|spec| &spec.id).collect();
        let known = |id: &AgentId| self.board.agents.get(id).filter(|agent| agent.active);
        let present: Vec<_> =
            agents.iter().filter(|spec| known(&spec.id).is_none_or(|agent| agent.spec != **spec)).cloned().collect();
        let left: Vec<_> = self
            .board
            .agents
            .values()
            .filter(|agent| agent.active && !wanted.contains(agent.id()))
            .map(|agent| agent.id().clone())
            .collect();
        left.iter().try_for_each(|id| self.has_no(id, |task| task.status == Status::InProgress))?;
        for spec in &present {
            // Also of one that had left: its tasks are still its own. Steps are a worker's, subtasks a manager's.
            if self.board.agents.get(&spec.id).is_some_and(|agent| agent.spec.hierarchy != spec.hierarchy) {
                self.has_no(&spec.id, |_| true)?;
            }
        }
        Ok(if present.is_empty() && left.is_empty() {
            Vec::new()
        } else {
            vec![EventKind::RosterApplied { present, left }]
        })
    }

    /// An agent that has such work cannot leave or change its rank: its work would never be finished.
    fn has_no(&self, id: &AgentId, such: impl Fn(&Task) -> bool) -> Result<(), Refusal> {
        let tasks: Vec<TaskId> =
            self.board.open_tasks(id).iter().filter(|task| such(task)).map(|task| task.id).collect();
        if tasks.is_empty() { Ok(()) } else { Err(RefusalReason::AgentInUse { agent: id.clone(), tasks }.into()) }
    }

    /// A reset time that a client misread parks its account for a week at most, and a runner's
    /// report never shortens another's.
    pub(super) fn parked(&self, account: &str, until: Timestamp) -> EventKind {
        let until = until.min(self.now + Span::minutes(7 * 24 * 60)).in_range();
        let known = self.board.parked.get(account).copied().filter(|_| !self.is_owner());
        EventKind::AccountParked { account: account.to_owned(), until: known.map_or(until, |known| known.max(until)) }
    }

    pub(super) fn set_passkey(&self, agent: &AgentId, hash: &SecretHash) -> AdmitResult {
        self.owner_only()?;
        let agent: &Agent = self.board.agent(agent)?;
        if !agent.active {
            return Err(RefusalReason::AgentInactive(agent.id().clone()).into());
        }
        Ok(vec![EventKind::PasskeySet { agent: agent.id().clone(), hash: hash.clone() }])
    }

    pub(super) fn park_account(&self, account: &str, until: Timestamp) -> AdmitResult {
        match self.actor {
            Actor::Owner(_) | Actor::Runner(_) => {
                account.parse::<Client>().map_err(|_| RefusalReason::NobodyThere)?;
                Ok(vec![self.parked(account, until)])
            }
            Actor::Session(_) | Actor::System => Err(RefusalReason::RunnersOnly.into()),
        }
    }
}

fn first_twice(agents: &[AgentSpec]) -> Option<AgentId> {
    let mut seen = BTreeSet::new();
    agents.iter().find(|spec| !seen.insert(&spec.id)).map(|spec| spec.id.clone())
}

/// A manager splits every task, and does so through the server (N3).
fn check_manager(spec: &AgentSpec) -> Result<(), Refusal> {
    match (spec.hierarchy, spec.mode, spec.decompose) {
        (Hierarchy::Worker, _, _) | (Hierarchy::Manager, Mode::Guided, Decompose::Auto) => Ok(()),
        (Hierarchy::Manager, Mode::OneShot, _) => Err(RefusalReason::ManagerNotGuided(spec.id.clone()).into()),
        (Hierarchy::Manager, Mode::Guided, Decompose::Never) => {
            Err(RefusalReason::ManagerMustSplit(spec.id.clone()).into())
        }
    }
}

/// Every parent is a manager on the roster, and there is no cycle.
fn check_parents(agents: &[AgentSpec]) -> Result<(), Refusal> {
    let find = |id: &AgentId| agents.iter().find(|spec| spec.id == *id);
    for spec in agents {
        let Some(parent) = &spec.parent else { continue };
        let manager = find(parent).is_some_and(|parent| parent.hierarchy == Hierarchy::Manager);
        let chain = std::iter::successors(Some(parent), |id| find(id).and_then(|spec| spec.parent.as_ref()));
        let circular = chain.take(agents.len() + 1).any(|id| *id == spec.id);
        if !manager || circular {
            return Err(RefusalReason::BadRoster { agent: spec.id.clone(), parent: parent.clone() }.into());
        }
    }
    Ok(())
}
