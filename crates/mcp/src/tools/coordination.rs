//! What a coordinator asks: which agents should be running?

use board::{AgentId, ProjectId, Purpose, RefusalReason, Staffing, TaskId, Timestamp, Tool};
use control::{ControlError, Project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answers::refuse;
use crate::call::{Call, unknown_project};
use crate::phrase::{Phrase, phrase};
use crate::tool::{AllowedCaller, Effect, ToolHandler};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetAgentAction {
    agent_id: String,
    project_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentAction {
    action: &'static str,
    reason: &'static str,
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purpose: Option<&'static str>,
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
}

impl AgentAction {
    fn of(staffing: &Staffing) -> Self {
        Self {
            action: staffing.action.as_str(),
            reason: staffing.reason.as_str(),
            task_id: staffing.purpose.and_then(Purpose::task),
            purpose: staffing.purpose.map(Purpose::as_str),
            until: staffing.until,
        }
    }
}

impl ToolHandler for GetAgentAction {
    const TOOL: Tool = Tool::GetAgentAction;
    const WHO: AllowedCaller = AllowedCaller::Coordinator;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase = phrase(
        "Whether an agent should be started, held or stopped, and why.",
        "エージェントを起動、現状維持、停止のどれにすべきかと、その理由を返します。",
    );
    type Answer = AgentAction;

    async fn run(self, call: Call) -> Result<AgentAction, ControlError> {
        let project = project(&call, &self.project_id).await?;
        project.newest().await?;
        let bad = |_| refuse(RefusalReason::BadArguments("agent_id is not an agent's id".into()));
        let agent: AgentId = self.agent_id.parse().map_err(bad)?;
        Ok(AgentAction::of(&project.staffing(&agent).await?))
    }
}

async fn project(call: &Call, name: &str) -> Result<Project, ControlError> {
    let id: ProjectId = name.parse().map_err(|_| unknown_project(name))?;
    call.server().project(&id).await?.ok_or_else(|| unknown_project(name))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListActiveProjectsWithAgents {}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ActiveProjects {
    projects: Vec<ActiveProject>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ActiveProject {
    project_id: String,
    working_directory: String,
    agents: Vec<String>,
}

impl ToolHandler for ListActiveProjectsWithAgents {
    const TOOL: Tool = Tool::ListActiveProjectsWithAgents;
    const WHO: AllowedCaller = AllowedCaller::Coordinator;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase = phrase(
        "Projects that are not paused, with the agents on their rosters.",
        "一時停止していないプロジェクトと、その名簿のエージェントを返します。",
    );
    type Answer = ActiveProjects;

    async fn run(self, call: Call) -> Result<ActiveProjects, ControlError> {
        let installation = call.server().installation().newest().await?;
        let mut projects = Vec::new();
        for known in installation.projects.values() {
            let Some(project) = call.server().project(&known.id).await? else { continue };
            let board = project.newest().await?;
            if board.paused {
                continue;
            }
            let active = board.agents.values().filter(|agent| agent.active);
            projects.push(ActiveProject {
                project_id: known.id.to_string(),
                working_directory: known.path.clone(),
                agents: active.map(|agent| agent.id().to_string()).collect(),
            });
        }
        Ok(ActiveProjects { projects })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HealthCheck {}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    status: &'static str,
    version: &'static str,
}

impl ToolHandler for HealthCheck {
    const TOOL: Tool = Tool::HealthCheck;
    const WHO: AllowedCaller = AllowedCaller::Coordinator;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase =
        phrase("Whether the server and its store answer.", "サーバーとストアが応答するかを返します。");
    type Answer = Health;

    async fn run(self, call: Call) -> Result<Health, ControlError> {
        call.server().control().log().streams().await?;
        Ok(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
    }
}
