//! Who is it, and what may they call?

use board::{Actor, Command, Driver, ProjectId, RefusalReason, TaskId, Tool, replies};
use control::{ControlError, NewSecret, Project, passkey_matches, passkey_may_match, token_hash};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::McpState;
use crate::answers::refuse;
use crate::call::Call;
use crate::caller::{Caller, CallingSession};
use crate::phrase::{Phrase, phrase};
use crate::tool::{AllowedCaller, Effect, ToolHandler};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Authenticate {
    agent_id: Option<String>,
    passkey: Option<String>,
    project_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Authenticated {
    success: bool,
    /// Pass it to every call. Only agents attached by hand get one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_token: Option<String>,
    agent_id: String,
    agent_name: String,
    session_id: String,
    project_id: String,
    /// Seconds.
    expires_in: u32,
    system_prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    working_directory: Option<String>,
    instruction: String,
}

impl ToolHandler for Authenticate {
    const TOOL: Tool = Tool::Authenticate;
    const WHO: AllowedCaller = AllowedCaller::Anyone;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "Call this first. Needs no arguments if you were started by Saihai; otherwise your \
         agent_id, the project_id if there are several, and the passkey unless your client sends it.",
        "最初に呼んでください。Saihai が起動した場合、引数は不要です。それ以外では agent_id、プロジェクトが複数あれば project_id、クライアントが送らない場合は passkey が必要です。",
    );
    type Answer = Authenticated;

    async fn run(self, call: Call) -> Result<Authenticated, ControlError> {
        if let Caller::Session(session) = &*call.caller {
            return welcome(&call.state, session, None);
        }
        let known = self.prove(&call).await?;
        attach(&call.state, known).await
    }
}

/// How long whoever has guessed a few times waits for each answer.
const GUESSED: std::time::Duration = std::time::Duration::from_secs(1);

/// An agent that there is.
struct KnownAgent {
    project: Project,
    project_id: ProjectId,
    agent: board::Agent,
}

impl Authenticate {
    /// Whose passkey this is. A project, an agent and a passkey that are wrong are refused alike.
    async fn prove(self, call: &Call) -> Result<KnownAgent, ControlError> {
        let state = &call.state;
        let configured = call.bearer.as_ref().map(|bearer| bearer.reveal().to_owned());
        let (agent, passkey) = match (self.agent_id, self.passkey.or(configured)) {
            (Some(agent), Some(passkey)) => (agent, passkey),
            (None, Some(_)) => return Err(missing("say which agent you are: agent_id is needed")),
            (_, None) => return Err(missing("to attach an agent, give agent_id and passkey")),
        };
        let known = state.known(self.project_id.as_deref(), &agent).await?;
        let whose = known.as_ref().map(|known| (known.project_id.clone(), known.agent.id().clone()));
        let hash = known.as_ref().and_then(|known| known.agent.passkey.clone());
        let matching = match hash.filter(|hash| passkey_may_match(&passkey, hash)) {
            None => Ok(false),
            Some(hash) => {
                let _turn = state.passkey_checks.acquire().await;
                // Slow on purpose, so not on a thread of the runtime.
                tokio::task::spawn_blocking(move || passkey_matches(&passkey, &hash)).await
            }
        };
        let known = known.filter(|known| known.agent.passkey.is_some());
        match (matching, known) {
            (Ok(true), Some(known)) => {
                state.attempts.succeeded(&whose);
                Ok(known)
            }
            // Only wrong ones are counted, so nobody can lock out the right one by guessing.
            _ => match state.attempts.attempt(&whose, state.server.now()) {
                Ok(()) => Err(refuse(RefusalReason::WrongPasskey)),
                Err(seconds) => {
                    tokio::time::sleep(GUESSED).await;
                    Err(refuse(RefusalReason::TooManyTries { seconds }))
                }
            },
        }
    }
}

fn missing(what: &str) -> ControlError {
    refuse(RefusalReason::BadArguments(what.into()))
}

impl McpState {
    /// The agent of that name. Without a project's name it is the only one there is.
    async fn known(&self, project: Option<&str>, agent: &str) -> Result<Option<KnownAgent>, ControlError> {
        let installation = self.server.installation().newest().await?;
        let named = match (project, installation.projects.len()) {
            (Some(name), _) => name.parse().ok(),
            (None, 1) => installation.projects.keys().next().cloned(),
            (None, _) => {
                return Err(refuse(RefusalReason::BadArguments("say which project: project_id is needed".into())));
            }
        };
        let Some(project_id) = named else { return Ok(None) };
        let Some(project) = self.server.project(&project_id).await? else { return Ok(None) };
        let board = project.newest().await?;
        let agent = agent.parse().ok().and_then(|id| board.active_agent(&id).cloned());
        Ok(agent.map(|agent| KnownAgent { project, project_id, agent }))
    }

    /// Where the agent works, as far as this server knows.
    pub(crate) fn working_directory(&self, session: &CallingSession) -> Option<String> {
        let known = session.session().ok()?;
        let made = self.server.workspace_of(&session.board.settings.id, known);
        if let Some(made) = made {
            return Some(made.display().to_string());
        }
        let attached = known.driver == Driver::Attached;
        let installation = self.server.installation().state();
        let project = installation.projects.get(&session.board.settings.id);
        project.filter(|_| attached).map(|project| project.path.clone())
    }
}

/// Opens a session for an agent that was attached by hand, if there is work for it (S3).
async fn attach(state: &McpState, known: KnownAgent) -> Result<Authenticated, ControlError> {
    let KnownAgent { project, project_id, agent } = known;
    let secret = NewSecret::for_session(&project_id)?;
    let credential = token_hash(secret.reveal());
    let attach = async |can_make_workspace| {
        let command = Command::Attach { agent: agent.id().clone(), credential: credential.clone(), can_make_workspace };
        project.submit(Actor::System, command).await
    };
    let attached = attach(false).await;
    // Some of its work needs a workspace: if a runner makes it, that work can be begun after all.
    let attached = match needed_workspace(&attached) {
        Some(task) if workspace_made(state, &project_id, &agent, task).await => attach(true).await,
        Some(_) | None => attached,
    };
    let receipt = attached?;
    let session = receipt.after.session_with(&credential).map(|session| session.id);
    let session = session.ok_or_else(|| refuse(RefusalReason::NotAuthenticated))?;
    let session = CallingSession::new(project, receipt.after, session);
    welcome(state, &session, Some(secret.reveal().to_owned()))
}

/// The task whose workspace is missing, if that is why it was refused.
fn needed_workspace<T>(attached: &Result<T, ControlError>) -> Option<TaskId> {
    match attached {
        Err(ControlError::Refused(refusal)) => match &*refusal.0 {
            RefusalReason::NeedsWorkspace { task } => Some(*task),
            _ => None,
        },
        Ok(_) | Err(_) => None,
    }
}

async fn workspace_made(state: &McpState, project: &ProjectId, agent: &board::Agent, task: TaskId) -> bool {
    let Some(workspaces) = state.server.workspaces() else { return false };
    match workspaces.prepare(project, agent.id(), task).await {
        Some(Ok(_)) => true,
        Some(Err(error)) => {
            tracing::warn!(error, "no workspace for an attached agent");
            false
        }
        None => false,
    }
}

fn welcome(
    state: &McpState,
    session: &CallingSession,
    session_token: Option<String>,
) -> Result<Authenticated, ControlError> {
    let (board, agent) = (&session.board, session.agent()?);
    let known = session.session()?;
    let now = session.project.clock().now();
    let seconds = match known.driver {
        Driver::Attached => known.lease_until.map_or(0, |until| (until - now).0 / 1000),
        Driver::Runner { .. } | Driver::Hand => i64::from(agent.spec.timeout) - (now - known.claimed_at).0 / 1000,
    };
    Ok(Authenticated {
        success: true,
        instruction: replies::authenticated(session_token.is_some(), board.settings.language),
        session_token,
        agent_id: agent.id().to_string(),
        agent_name: agent.spec.name.clone(),
        session_id: known.id.to_string(),
        project_id: board.settings.id.to_string(),
        expires_in: u32::try_from(seconds.max(0)).unwrap_or(u32::MAX),
        system_prompt: agent.spec.system_prompt.clone(),
        working_directory: state.working_directory(session),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Help {
    tool_name: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HelpAnswer {
    message: &'static str,
    /// What you may call.
    tools: Vec<ToolHelp>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ToolHelp {
    name: &'static str,
    description: &'static str,
    /// The JSON schema of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
}

const HOW_TO_GO_ON: Phrase = phrase(
    "Call get_next_action: it tells you which of these to call. Give tool_name for the arguments.",
    "get_next_action を呼ぶと、このうちどれを呼ぶかが分かります。引数は tool_name を指定すると分かります。",
);

/// The same for the owner's own client.
const WHERE_TO_BEGIN: Phrase = phrase(
    "Begin with get_overview. Give tool_name for the arguments.",
    "get_overview から始めてください。引数は tool_name を指定すると分かります。",
);

impl ToolHandler for Help {
    const TOOL: Tool = Tool::Help;
    const WHO: AllowedCaller = AllowedCaller::Anyone;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase = phrase("What you may call, and how.", "呼べるツールとその使い方を返します。");
    type Answer = HelpAnswer;

    async fn run(self, call: Call) -> Result<HelpAnswer, ControlError> {
        let language = call.caller.language();
        let open = call.state.catalogue.open_to(&call.caller);
        let tools: Vec<_> = match &self.tool_name {
            None => open
                .map(|entry| ToolHelp {
                    name: entry.tool.as_str(),
                    description: entry.about.say(language),
                    arguments: None,
                })
                .collect(),
            Some(name) => {
                let unknown = || refuse(RefusalReason::NoSuchTool(name.chars().take(80).collect()));
                let entry = call.state.catalogue.find(name).ok_or_else(unknown)?;
                if !call.state.catalogue.open_to(&call.caller).any(|open| open.tool == entry.tool) {
                    return Err(refuse(RefusalReason::NotYourTool(entry.tool)));
                }
                let arguments = Some(entry.shown_to(&call.caller).schema_as_json_value());
                vec![ToolHelp { name: entry.tool.as_str(), description: entry.about.say(language), arguments }]
            }
        };
        let go_on = if call.caller.is_orchestrator() { WHERE_TO_BEGIN } else { HOW_TO_GO_ON };
        Ok(HelpAnswer { message: go_on.say(language), tools })
    }
}
