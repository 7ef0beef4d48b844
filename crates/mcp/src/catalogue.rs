//! Which tools are there, who may call them, and how are they described (M2)?

use std::sync::{Arc, LazyLock};

use board::{Hierarchy, Purpose, Role, Tool};
use control::ControlError;
use futures::future::{BoxFuture, FutureExt as _};
use rmcp::model::{CallToolResult, JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::answers::IntoToolResult;
use super::arguments::{input_schema, output_schema, read};
use super::call::Call;
use super::caller::{Caller, CallingSession};
use super::tools::{authentication, chat, coordination, managing, own, tasks};

/// Whose a tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllowedCaller {
    Anyone,
    Session,
    TaskSession,
    /// A task session, or the chat of a manager.
    Creator,
    Manager,
    /// A manager in the session of its task.
    ManagerAtWork,
    Chat,
    Coordinator,
}

impl AllowedCaller {
    pub(crate) fn admits(self, caller: &Caller) -> bool {
        match (self, caller) {
            (Self::Anyone, _) => true,
            (Self::Coordinator, Caller::Token(role)) => match role {
                Role::Owner | Role::Runner | Role::Coordinator => true,
                Role::Viewer => false,
            },
            (Self::Coordinator, Caller::Nobody | Caller::Session(_)) => false,
            (_, Caller::Session(session)) => self.admits_session(session),
            (_, Caller::Nobody | Caller::Token(_)) => false,
        }
    }

    fn admits_session(self, session: &CallingSession) -> bool {
        let (Ok(known), Ok(agent)) = (session.session(), session.agent()) else { return false };
        let (at_work, manager) = (known.purpose != Purpose::Chat, agent.spec.hierarchy == Hierarchy::Manager);
        match self {
            Self::Anyone | Self::Session => true,
            Self::TaskSession => at_work,
            Self::Creator => at_work || manager,
            Self::Manager => manager,
            Self::ManagerAtWork => manager && at_work,
            Self::Chat => !at_work,
            Self::Coordinator => false,
        }
    }
}

/// What a call may do to the board, for clients that ask before they let a tool run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Read,
    /// Calling it again with the same arguments changes nothing more.
    Idempotent,
    Add,
}

/// A tool: its arguments are the type that implements this.
pub(crate) trait ToolHandler: DeserializeOwned + JsonSchema + Send + 'static {
    const TOOL: Tool;
    const WHO: AllowedCaller;
    const EFFECT: Effect;
    /// For a language model: what it does and when, in a line.
    const ABOUT: &'static str;
    type Answer: IntoToolResult + JsonSchema + Send;

    fn run(self, call: Call) -> impl Future<Output = Result<Self::Answer, ControlError>> + Send;
}

type Run = fn(JsonObject, Call) -> BoxFuture<'static, Result<CallToolResult, ControlError>>;

/// A tool as the server knows it.
pub(crate) struct Entry {
    pub(crate) tool: Tool,
    pub(crate) who: AllowedCaller,
    pub(crate) effect: Effect,
    pub(crate) about: &'static str,
    pub(crate) run: Run,
    /// As it is listed for callers with a credential, and for callers who pass `session_token`.
    listed: [rmcp::model::Tool; 2],
}

static CATALOGUE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    vec![
        entry::<authentication::Authenticate>(),
        entry::<authentication::Help>(),
        entry::<own::GetNextAction>(),
        entry::<own::ReportModel>(),
        entry::<own::GetMyProfile>(),
        entry::<own::GetMyTask>(),
        entry::<tasks::ListTasks>(),
        entry::<tasks::GetTask>(),
        entry::<tasks::CreateTask>(),
        entry::<tasks::CreateTasksBatch>(),
        entry::<tasks::UpdateTaskStatus>(),
        entry::<own::ReportCompleted>(),
        entry::<own::SaveContext>(),
        entry::<own::Logout>(),
        entry::<managing::SelectAction>(),
        entry::<managing::AssignTask>(),
        entry::<managing::UpdateTask>(),
        entry::<managing::CancelTask>(),
        entry::<managing::BlockTask>(),
        entry::<managing::UpdateTaskDependencies>(),
        entry::<managing::GetRecentCompletions>(),
        entry::<managing::ListSubordinates>(),
        entry::<managing::GetSubordinateProfile>(),
        entry::<chat::GetPendingMessages>(),
        entry::<chat::SendMessage>(),
        entry::<coordination::GetAgentAction>(),
        entry::<coordination::ListActiveProjectsWithAgents>(),
        entry::<coordination::HealthCheck>(),
    ]
});

pub(crate) fn all() -> &'static [Entry] {
    &CATALOGUE
}

pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.tool.as_str() == name)
}

/// The tools a caller may use. Somebody who has not said who they are sees what any agent could
/// use, and is refused until they do.
pub(crate) fn open_to(caller: &Caller) -> impl Iterator<Item = &'static Entry> {
    CATALOGUE.iter().filter(move |entry| match caller {
        Caller::Nobody => entry.who != AllowedCaller::Coordinator,
        Caller::Session(_) | Caller::Token(_) => entry.who.admits(caller),
    })
}

pub(crate) fn listed(caller: &Caller) -> Vec<rmcp::model::Tool> {
    open_to(caller).map(|entry| entry.shown_to(caller).clone()).collect()
}

impl Entry {
    pub(crate) fn shown_with_credential(&self) -> &rmcp::model::Tool {
        &self.listed[0]
    }

    pub(crate) fn shown_to(&self, caller: &Caller) -> &rmcp::model::Tool {
        match caller {
            Caller::Session(_) | Caller::Token(_) => &self.listed[0],
            Caller::Nobody => &self.listed[1],
        }
    }
}

fn entry<T: ToolHandler>() -> Entry {
    let with_credential = input_schema::<T>();
    let mut naming = with_credential.clone();
    if T::WHO != AllowedCaller::Anyone {
        name_session(&mut naming);
    }
    let output = Arc::new(output_schema::<T::Answer>());
    let tool = |input| {
        rmcp::model::Tool::new(T::TOOL.as_str(), T::ABOUT, Arc::new(input))
            .with_raw_output_schema(Arc::clone(&output))
            .with_annotations(annotations(T::EFFECT))
    };
    let run: Run = |arguments, call| {
        async move {
            let handle: T = read(arguments)?;
            Ok(handle.run(call).await?.into_tool_result())
        }
        .boxed()
    };
    Entry {
        tool: T::TOOL,
        who: T::WHO,
        effect: T::EFFECT,
        about: T::ABOUT,
        run,
        listed: [tool(with_credential), tool(naming)],
    }
}

fn name_session(schema: &mut JsonObject) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        let about = "from authenticate";
        properties.insert("session_token".into(), json!({ "type": "string", "description": about }));
    }
}

/// Nothing here destroys: tasks are cancelled, never deleted. Nothing reaches outside.
fn annotations(effect: Effect) -> ToolAnnotations {
    let known = ToolAnnotations::new().destructive(false).open_world(false);
    match effect {
        Effect::Read => known.read_only(true).idempotent(true),
        Effect::Idempotent => known.read_only(false).idempotent(true),
        Effect::Add => known.read_only(false).idempotent(false),
    }
}

#[cfg(test)]
mod tests {
    use board::Tool;
    use serde_json::Value;

    use super::CATALOGUE;

    /// M1: every tool of the specification is there, once.
    #[test]
    fn every_tool_is_in_the_catalogue() {
        let found: Vec<_> = CATALOGUE.iter().map(|entry| entry.tool).collect();
        assert_eq!(found, Tool::ALL);
    }

    /// M2: clients check arguments by the schema before they send them, so only what is needed is
    /// required there.
    #[test]
    fn what_may_be_left_out_is_not_required() {
        let required = |schema: &Value| -> Vec<String> {
            let names = schema["required"].as_array().into_iter().flatten();
            names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
        };
        let schema = |tool: Tool| {
            let entry = CATALOGUE.iter().find(|entry| entry.tool == tool).expect("every tool is there");
            entry.listed[0].schema_as_json_value()
        };
        for (tool, needed) in [
            (Tool::Authenticate, &[][..]),
            (Tool::ListTasks, &[]),
            (Tool::CreateTask, &["title", "description"]),
            (Tool::CreateTasksBatch, &["tasks"]),
            (Tool::UpdateTask, &["task_id"]),
            (Tool::UpdateTaskStatus, &["task_id", "status"]),
            (Tool::ReportCompleted, &["result", "summary"]),
            (Tool::GetRecentCompletions, &[]),
        ] {
            assert_eq!(required(&schema(tool)), needed, "{}", tool.as_str());
        }
        let item = &schema(Tool::CreateTasksBatch)["properties"]["tasks"]["items"];
        assert_eq!(required(item), ["local_id", "title", "description"]);
    }

    /// M5: what is left out of an answer when it is empty is not required of it.
    #[test]
    fn what_an_answer_may_leave_out_is_not_required() {
        let entry = CATALOGUE.iter().find(|entry| entry.tool == Tool::GetNextAction).expect("it is there");
        let schema = entry.listed[0].output_schema.as_ref().expect("it has one");
        let [answer, refusal] = schema["anyOf"].as_array().expect("two choices").as_slice() else {
            panic!("{schema:?}")
        };
        assert_eq!(answer["required"], serde_json::json!(["action", "state", "instruction", "tools"]));
        assert_eq!(refusal["required"], serde_json::json!(["code", "message", "hint", "tools"]));
        for entry in CATALOGUE.iter() {
            let schema = entry.listed[0].output_schema.as_ref().expect("it has one");
            let text = serde_json::to_string(schema).expect("it is JSON");
            assert!(!text.contains("\"format\":\"uint"), "{}: {text}", entry.tool.as_str());
        }
    }
}
