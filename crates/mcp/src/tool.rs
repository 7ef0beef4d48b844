//! What is a tool: its arguments, who may call it, and how is it described (M2)?

use std::sync::Arc;

use board::{Hierarchy, Language, Purpose, Role, Tool};
use control::ControlError;
use futures::future::{BoxFuture, FutureExt as _};
use rmcp::model::{CallToolResult, JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::answers::IntoToolResult;
use crate::arguments::{input_schema, output_schema, read};
use crate::call::Call;
use crate::caller::{Caller, CallingSession};
use crate::phrase::{Phrase, describe_in_japanese, phrase};

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
    Orchestrator,
}

impl AllowedCaller {
    pub(crate) fn admits(self, caller: &Caller) -> bool {
        match (self, caller) {
            (Self::Anyone, _) => true,
            (Self::Coordinator, Caller::Token(token)) => match token.role {
                Role::Owner | Role::Runner | Role::Coordinator => true,
                Role::Viewer | Role::Orchestrator => false,
            },
            (Self::Orchestrator, Caller::Token(token)) => token.role == Role::Orchestrator,
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
            Self::Coordinator | Self::Orchestrator => false,
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
    /// The owner's orchestrator has it too.
    const FOR_ORCHESTRATOR: bool = false;
    /// For a language model: what it does and when, in a line, in the language of its project.
    const ABOUT: Phrase;
    type Answer: IntoToolResult + JsonSchema + Send;

    fn run(self, call: Call) -> impl Future<Output = Result<Self::Answer, ControlError>> + Send;
}

type Run = fn(JsonObject, Call) -> BoxFuture<'static, Result<CallToolResult, ControlError>>;

/// A tool as the server knows it.
pub(crate) struct Entry {
    pub(crate) tool: Tool,
    pub(crate) who: AllowedCaller,
    pub(crate) effect: Effect,
    pub(crate) about: Phrase,
    pub(crate) run: Run,
    pub(crate) for_orchestrator: bool,
    english: Listed,
    japanese: Listed,
}

/// How a tool is listed.
struct Listed {
    with_credential: rmcp::model::Tool,
    /// For callers who pass `session_token`.
    naming: rmcp::model::Tool,
    /// For orchestrators, who pass `project_id`.
    directing: rmcp::model::Tool,
}

impl Entry {
    #[cfg(test)]
    pub(crate) fn shown_with_credential_in(&self, language: Language) -> &rmcp::model::Tool {
        &self.listed(language).with_credential
    }

    pub(crate) fn shown_with_credential(&self) -> &rmcp::model::Tool {
        &self.english.with_credential
    }

    pub(crate) fn shown_to(&self, caller: &Caller) -> &rmcp::model::Tool {
        let listed = self.listed(caller.language());
        match caller {
            caller if caller.is_orchestrator() => &listed.directing,
            Caller::Session(_) | Caller::Token(_) => &listed.with_credential,
            Caller::Nobody => &listed.naming,
        }
    }

    fn listed(&self, language: Language) -> &Listed {
        match language {
            Language::En => &self.english,
            Language::Ja => &self.japanese,
        }
    }

    pub(crate) fn admits(&self, caller: &Caller) -> bool {
        self.who.admits(caller) || (self.for_orchestrator && caller.is_orchestrator())
    }
}

pub(crate) fn entry<T: ToolHandler>() -> Entry {
    let output = Arc::new(output_schema::<T::Answer>());
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
        for_orchestrator: T::FOR_ORCHESTRATOR,
        english: listed::<T>(Language::En, &output),
        japanese: listed::<T>(Language::Ja, &output),
    }
}

const SESSION_TOKEN: Phrase = phrase("from authenticate", "authenticate が返したもの");
const PROJECT_ID: Phrase = phrase("needed if there are several projects", "プロジェクトが複数ある場合に必要です");

fn listed<T: ToolHandler>(language: Language, output: &Arc<JsonObject>) -> Listed {
    let mut with_credential = input_schema::<T>();
    match language {
        Language::En => {}
        Language::Ja => describe_in_japanese(&mut with_credential),
    }
    let (mut naming, mut directing) = (with_credential.clone(), with_credential.clone());
    if T::WHO != AllowedCaller::Anyone {
        add_text(&mut naming, "session_token", SESSION_TOKEN.say(language));
        add_text(&mut directing, "project_id", PROJECT_ID.say(language));
    }
    let tool = |input| {
        rmcp::model::Tool::new(T::TOOL.as_str(), T::ABOUT.say(language), Arc::new(input))
            .with_raw_output_schema(Arc::clone(output))
            .with_annotations(annotations(T::EFFECT))
    };
    Listed { with_credential: tool(with_credential), naming: tool(naming), directing: tool(directing) }
}

/// An argument that is read before the tool's own.
fn add_text(schema: &mut JsonObject, name: &str, about: &str) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(name.into(), json!({ "type": "string", "description": about }));
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

/// All tools.
pub(crate) struct Catalogue(Vec<Entry>);

impl Catalogue {
    pub(crate) fn new(entries: Vec<Entry>) -> Self {
        Self(entries)
    }

    pub(crate) fn all(&self) -> &[Entry] {
        &self.0
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.tool.as_str() == name)
    }

    /// The tools a caller may use. Somebody who has not said who they are sees what any agent could
    /// use, and is refused until they do.
    pub(crate) fn open_to(&self, caller: &Caller) -> impl Iterator<Item = &Entry> {
        self.0.iter().filter(move |entry| match caller {
            Caller::Nobody => !matches!(entry.who, AllowedCaller::Coordinator | AllowedCaller::Orchestrator),
            Caller::Session(_) | Caller::Token(_) => entry.admits(caller),
        })
    }

    pub(crate) fn listed(&self, caller: &Caller) -> Vec<rmcp::model::Tool> {
        self.open_to(caller).map(|entry| entry.shown_to(caller).clone()).collect()
    }
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|entry| entry.tool)).finish()
    }
}
