//! May the project, its roster or its accounts be changed like this?

use std::collections::BTreeSet;

use super::{Decision, Desk};
use crate::agent::AgentSpec;
use crate::event::What;
use crate::refusal::{Because, Refusal};
use crate::settings::Settings;
use crate::task::Status;
use crate::{Actor, Agent, AgentId, SecretHash, TaskId, Timestamp};

impl Desk<'_> {
    pub(super) fn configure(&self, settings: &Settings) -> Decision {
        self.owner_only()?;
        let unchanged = self.board.configured > 0 && *self.board.settings == *settings;
        Ok(if unchanged { Vec::new() } else { vec![What::ProjectConfigured { settings: Box::new(settings.clone()) }] })
    }

    pub(super) fn pause(&self) -> Decision {
        self.owner_only()?;
        Ok(if self.board.paused { Vec::new() } else { vec![What::ProjectPaused] })
    }

    pub(super) fn resume(&self) -> Decision {
        self.owner_only()?;
        Ok(if self.board.paused { vec![What::ProjectResumed] } else { Vec::new() })
    }

    /// The difference between the roster as it is and as it should be.
    pub(super) fn apply_roster(&self, agents: &[AgentSpec]) -> Decision {
        self.owner_only()?;
        let wanted: BTreeSet<_> = agents.iter().map(|spec| &spec.id).collect();
        if let (Some(twice), true) = (first_twice(agents), wanted.len() < agents.len()) {
            return Err(Because::AgentTwice(twice).into());
        }
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
        left.iter().try_for_each(|id| self.not_in_use(id, Status::InProgress))?;
        for spec in &present {
            if known(&spec.id).is_some_and(|agent| agent.spec.hierarchy != spec.hierarchy) {
                self.keeps_rank(&spec.id)?;
            }
        }
        Ok(if present.is_empty() && left.is_empty() { Vec::new() } else { vec![What::RosterApplied { present, left }] })
    }

    /// An agent with a task in progress cannot leave: nobody would ever finish it.
    fn not_in_use(&self, id: &AgentId, status: Status) -> Result<(), Refusal> {
        let tasks: Vec<TaskId> =
            self.board.open_tasks(id).iter().filter(|task| task.status == status).map(|task| task.id).collect();
        if tasks.is_empty() { Ok(()) } else { Err(Because::AgentInUse { agent: id.clone(), tasks }.into()) }
    }

    /// A worker's steps and a manager's subtasks are not each other's.
    fn keeps_rank(&self, id: &AgentId) -> Result<(), Refusal> {
        let tasks: Vec<TaskId> = self.board.open_tasks(id).iter().map(|task| task.id).collect();
        if tasks.is_empty() { Ok(()) } else { Err(Because::AgentInUse { agent: id.clone(), tasks }.into()) }
    }

    pub(super) fn set_passkey(&self, agent: &AgentId, hash: &SecretHash) -> Decision {
        self.owner_only()?;
        let agent: &Agent = self.board.agent(agent)?;
        if !agent.active {
            return Err(Because::AgentInactive(agent.id().clone()).into());
        }
        Ok(vec![What::PasskeySet { agent: agent.id().clone(), hash: hash.clone() }])
    }

    pub(super) fn park_account(&self, account: &str, until: Timestamp) -> Decision {
        match self.actor {
            Actor::Owner(_) | Actor::Runner(_) => Ok(vec![What::AccountParked { account: account.to_owned(), until }]),
            Actor::Session(_) | Actor::System => Err(Because::RunnersOnly.into()),
        }
    }
}

fn first_twice(agents: &[AgentSpec]) -> Option<AgentId> {
    let mut seen = BTreeSet::new();
    agents.iter().find(|spec| !seen.insert(&spec.id)).map(|spec| spec.id.clone())
}
