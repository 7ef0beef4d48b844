//! Which shape does an agent have on the wire?

use schemars::JsonSchema;
use serde::Serialize;

use crate::agent::{self, AgentSpec, Client, Hierarchy, Mode};
use crate::board::Board;
use crate::coordination::Staffing;
use crate::{AgentId, SessionId, TaskId};

/// An agent on the roster.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Agent {
    pub id: AgentId,
    pub name: String,
    pub hierarchy_type: Hierarchy,
    pub role_type: String,
    pub skills: Vec<String>,
    /// Labels that a runner must have.
    pub runs_on: Vec<String>,
    /// The manager it works for.
    pub parent: Option<AgentId>,
    pub mode: Mode,
    pub client: Client,
    pub model: Option<String>,
    /// It is on the roster; one that left stays for the record.
    pub active: bool,
    pub has_passkey: bool,
    pub max_sessions: u32,
    pub running: Vec<SessionId>,
    pub open_tasks: Vec<TaskId>,
}

impl Agent {
    pub fn of(board: &Board, agent: &agent::Agent) -> Self {
        let spec = &agent.spec;
        Self {
            id: spec.id.clone(),
            name: spec.name.clone(),
            hierarchy_type: spec.hierarchy,
            role_type: spec.role.clone(),
            skills: spec.skills.clone(),
            runs_on: spec.runs_on.clone(),
            parent: spec.parent.clone(),
            mode: spec.mode,
            client: spec.client,
            model: spec.model.clone(),
            active: agent.active,
            has_passkey: agent.passkey.is_some(),
            max_sessions: spec.max_sessions,
            running: board.live_sessions(agent.id()).map(|session| session.id).collect(),
            open_tasks: board.open_tasks(agent.id()).iter().map(|task| task.id).collect(),
        }
    }
}

/// An agent, its definition, and whether it should be running.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgentDetail {
    pub agent: Agent,
    /// The values of its environment are hidden.
    pub definition: AgentSpec,
    pub staffing: Staffing,
}
