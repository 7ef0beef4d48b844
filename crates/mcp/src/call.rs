//! What does a tool have to work with besides its arguments?

use std::sync::Arc;

use board::RefusalReason;
use control::ControlError;
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
}
