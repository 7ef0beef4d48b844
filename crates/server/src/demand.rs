//! How much work waits for runners (R10)? For whoever starts and ends machines.

use std::collections::BTreeMap;

use board::{Action, AgentSpec, Board, Driver, SessionStatus, Timestamp, startable_work};
use control::ControlError;
use serde::Serialize;

use crate::ServerState;

/// Work of agents that need no label.
const ANY: &str = "any";

/// The sessions of agents that ask for one label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LabelDemand {
    /// Could run, if there were a runner with room.
    pub waiting: usize,
    pub running: usize,
}

/// Adds what one project has to do.
pub fn add_demand(board: &Board, now: Timestamp, demand: &mut BTreeMap<String, LabelDemand>) {
    for agent in board.agents.values() {
        for label in labels(&agent.spec) {
            demand.entry(label).or_default();
        }
    }
    for work in startable_work(board, now).into_iter().filter(|work| work.answer.action == Action::Start) {
        for label in labels(&work.agent.spec) {
            demand.entry(label).or_default().waiting += 1;
        }
    }
    let by_runner = |session: &&board::Session| {
        matches!(session.driver, Driver::Runner { .. }) && session.status != SessionStatus::Verifying
    };
    for session in board.all_live_sessions().filter(by_runner) {
        let agent = board.agents.get(&session.agent);
        for label in agent.map_or_else(|| vec![ANY.to_owned()], |agent| labels(&agent.spec)) {
            demand.entry(label).or_default().running += 1;
        }
    }
}

fn labels(agent: &AgentSpec) -> Vec<String> {
    if agent.runs_on.is_empty() { vec![ANY.to_owned()] } else { agent.runs_on.clone() }
}

impl ServerState {
    /// What all projects have to do, by the labels that their agents ask for.
    pub async fn demand(&self) -> Result<BTreeMap<String, LabelDemand>, ControlError> {
        let mut demand = BTreeMap::from([(ANY.to_owned(), LabelDemand::default())]);
        let now = self.now();
        let projects: Vec<_> = self.installation().state().projects.keys().cloned().collect();
        for id in projects {
            if let Some(project) = self.project(&id).await? {
                add_demand(&project.board(), now, &mut demand);
            }
        }
        Ok(demand)
    }
}
