//! What does a tool have to work with besides its arguments?

use std::sync::Arc;

use board::{Actor, Board, Command, ProjectId, RefusalReason, Role};
use control::{ControlError, Project, Receipt};
use serde_json::Value;
use server::ServerState;
use tokio_util::sync::CancellationToken;

use crate::McpState;
use crate::answers::refuse;
use crate::caller::{Bearer, Caller, CallingSession};

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) state: Arc<McpState>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) bearer: Option<Bearer>,
    /// Which project an orchestrator means.
    pub(crate) project_id: Option<Value>,
    /// Cancelled when the client no longer waits for the answer.
    pub(crate) gone: CancellationToken,
}

impl Call {
    pub(crate) fn server(&self) -> &ServerState {
        &self.state.server
    }

    /// The session that calls. The catalogue has made sure that there is one.
    pub(crate) fn session(&self) -> Result<&CallingSession, ControlError> {
        match &*self.caller {
            Caller::Session(session) => Ok(session),
            Caller::Nobody | Caller::Token(_) => Err(refuse(RefusalReason::NotAuthenticated)),
        }
    }

    /// The board that the caller works on: that of its session, or the one that an orchestrator names.
    pub(crate) async fn board_access(&self) -> Result<BoardAccess<'_>, ControlError> {
        match &*self.caller {
            Caller::Session(session) => Ok(BoardAccess::Session(session)),
            Caller::Token(token) if token.role == Role::Orchestrator => {
                let project = self.named_project().await?;
                let board = project.newest().await?;
                Ok(BoardAccess::Orchestrator { project, board, actor: token.actor() })
            }
            Caller::Nobody | Caller::Token(_) => Err(refuse(RefusalReason::NotAuthenticated)),
        }
    }

    /// The project that is named, or the only one there is.
    async fn named_project(&self) -> Result<Project, ControlError> {
        let installation = self.server().installation().newest().await?;
        let known: Vec<_> = installation.projects.keys().collect();
        let id: ProjectId = match (&self.project_id, known.as_slice()) {
            (None | Some(Value::Null), [only]) => (*only).clone(),
            (None | Some(Value::Null), known) => {
                let names = known.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                return Err(refuse(RefusalReason::BadArguments(format!("`project_id` is needed; there are: {names}"))));
            }
            (Some(Value::String(name)), _) => name.parse().map_err(|_| unknown_project(name))?,
            (Some(_), _) => return Err(refuse(RefusalReason::BadArguments("`project_id` is a text".into()))),
        };
        self.server().project(&id).await?.ok_or_else(|| unknown_project(id.as_str()))
    }
}

pub(crate) fn unknown_project(name: &str) -> ControlError {
    refuse(RefusalReason::NoSuchProject(name.chars().take(80).collect()))
}

/// A board, and as whom it is changed.
#[derive(Debug)]
pub(crate) enum BoardAccess<'a> {
    Session(&'a CallingSession),
    /// For the owner, whose orchestrator may do what the owner may but insist.
    Orchestrator {
        project: Project,
        board: Arc<Board>,
        actor: Actor,
    },
}

impl BoardAccess<'_> {
    pub(crate) fn project(&self) -> &Project {
        match self {
            Self::Session(session) => &session.project,
            Self::Orchestrator { project, .. } => project,
        }
    }

    /// As of the beginning of the call.
    pub(crate) fn board(&self) -> &Arc<Board> {
        match self {
            Self::Session(session) => &session.board,
            Self::Orchestrator { board, .. } => board,
        }
    }

    pub(crate) async fn submit(&self, command: Command) -> Result<Receipt<Board>, ControlError> {
        match self {
            Self::Session(session) => session.submit(command).await,
            Self::Orchestrator { project, actor, .. } => project.submit(actor.clone(), command).await,
        }
    }
}
