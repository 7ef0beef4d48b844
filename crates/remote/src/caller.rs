//! Which runner asks? One that shows a runner's token. It can be told about nothing but its own sessions.

use axum::Json;
use axum::extract::{FromRequestParts, Path};
use axum::response::{IntoResponse, Response};
use board::{Driver, ProjectId, Role, RunnerId, RunnerOffer, SessionId, Token, TokenUse};
use control::{ControlError, LocalDispatch, Project, RunnerHeartbeat, permitted, token_hash};
use dispatch::DispatchError;
use http::request::Parts;
use http::{StatusCode, header};
use serde::Deserialize;
use server::Connection;

use crate::protocol::{PROTOCOL, Trouble, in_common};
use crate::state::RunnerService;

/// Why a request is not answered.
#[derive(Debug)]
pub(crate) struct Refused {
    status: StatusCode,
    trouble: Trouble,
}

impl Refused {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self { status, trouble: Trouble { code: code.into(), message: message.into() } }
    }

    /// The server cannot do it now.
    pub(crate) fn unavailable(message: impl ToString) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message.to_string())
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }
}

impl From<ControlError> for Refused {
    fn from(error: ControlError) -> Self {
        Self::unavailable(error)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.trouble)).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        }
        response
    }
}

pub(crate) type Answer<T> = Result<Json<T>, Refused>;

/// A runner that never had an answer may ask again, so whatever stands in its way now is no verdict.
impl From<DispatchError> for Refused {
    fn from(error: DispatchError) -> Self {
        Self::unavailable(error)
    }
}

/// A runner that has shown its token.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) runner: RunnerId,
    pub(crate) token: Token,
}

impl FromRequestParts<RunnerService> for Caller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, service: &RunnerService) -> Result<Self, Refused> {
        let unknown = || {
            let message = "this is no good runner's token: `saihai token create --role runner` makes one";
            Refused::new(StatusCode::UNAUTHORIZED, "not_authenticated", message)
        };
        let shown = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let secret = shown.and_then(|value| value.split_once(' ')).map(|(_, secret)| secret.trim());
        let secret = secret.ok_or_else(unknown)?;
        let installation = service.server().installation().newest().await?;
        let token = installation.token(&token_hash(secret), &[TokenUse::Bearer], service.server().now());
        let token = token.filter(|token| token.role == Role::Runner).ok_or_else(unknown)?.clone();
        if let Some(connection) = parts.extensions.get::<Connection>() {
            let _ = connection.authenticated(|| token.id.clone());
        }
        Ok(Self { runner: token.id.parse().map_err(|_| unknown())?, token })
    }
}

impl Caller {
    /// What it has for agents, as far as its token lets it.
    pub(crate) fn offer(&self, offer: &RunnerOffer) -> RunnerOffer {
        permitted(offer, &self.token)
    }

    /// A program that speaks no version of ours is told so, in words for its user.
    pub(crate) fn check_protocol(heartbeat: &RunnerHeartbeat) -> Result<u32, Refused> {
        in_common(PROTOCOL, heartbeat.protocol).ok_or_else(|| {
            let (least, most) = PROTOCOL;
            let message = format!(
                "this server speaks the versions {least} to {most} of the runners' protocol, and the runner (saihai {}) {} to {}: \
                 update the older one",
                heartbeat.version, heartbeat.protocol.0, heartbeat.protocol.1
            );
            Refused::new(StatusCode::UPGRADE_REQUIRED, "protocol", message)
        })
    }
}

#[derive(Debug, Deserialize)]
struct Place {
    project: String,
}

/// A runner, and the project that it asks about.
#[derive(Debug)]
pub(crate) struct InProject {
    pub(crate) caller: Caller,
    pub(crate) id: ProjectId,
    pub(crate) project: Project,
}

impl FromRequestParts<RunnerService> for InProject {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, service: &RunnerService) -> Result<Self, Refused> {
        let caller = Caller::from_request_parts(parts, service).await?;
        let Path(place) = Path::<Place>::from_request_parts(parts, service)
            .await
            .map_err(|error| Refused::not_found(error.body_text()))?;
        let unknown = || Refused::not_found(format!("there is no project {}", place.project));
        let id: ProjectId = place.project.parse().map_err(|_| unknown())?;
        if !service.server().installation().state().projects.contains_key(&id) {
            return Err(unknown());
        }
        let project = service.server().project(&id).await?.ok_or_else(unknown)?;
        Ok(Self { caller, id, project })
    }
}

impl InProject {
    /// Only whoever runs a session says what it has printed, and sends its work.
    pub(crate) async fn check_owner(&self, session: SessionId) -> Result<(), Refused> {
        // Another server may have admitted the claim a moment ago.
        let board = self.project.newest().await?;
        let driver = board.session(session).ok().map(|session| &session.driver);
        match driver {
            Some(Driver::Runner { runner, .. }) if *runner == self.caller.runner => Ok(()),
            Some(_) | None => {
                let message = format!("{session} is not a session of this runner");
                Err(Refused::new(StatusCode::FORBIDDEN, "not_allowed", message))
            }
        }
    }

    /// The port that a runner in this process would have.
    pub(crate) fn dispatch(&self, service: &RunnerService, offer: &RunnerOffer) -> LocalDispatch {
        LocalDispatch::new(self.project.clone(), self.caller.runner.clone())
            .offering(self.caller.offer(offer))
            .knowing(service.server().installation().clone())
    }
}
