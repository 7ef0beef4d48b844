//! Runners on other hosts: which are there, and what are they to do with new work (R10)?

use axum::Json;
use axum::extract::State;
use board::{Drain, InstallationCommand, RefusalReason, RunnerId, SessionId, Timestamp};
use control::RemoteRunner;
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{NoQuery, Path, Query, described};
use crate::AppState;
use crate::person::{Owner, Person};
use crate::problem::Problem;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(remove)).routes(routes!(drain)).routes(routes!(resume))
}

/// A runner on another host, as it was last heard of.
#[derive(Debug, Serialize, ToSchema)]
struct Runner {
    /// The id of its token.
    id: String,
    /// The name of its host.
    name: String,
    /// Whether it is known to be there.
    present: bool,
    #[schema(value_type = described::Time)]
    heard_at: Timestamp,
    version: String,
    /// What it has for agents that ask for it with `runs_on`.
    labels: Vec<String>,
    /// The vendors' programs that are installed there; null: not known.
    clients: Option<Vec<String>>,
    /// It finishes what it has, and begins nothing.
    draining: bool,
    /// How many agents it runs at once.
    slots: u32,
    /// How many it runs now.
    busy: usize,
}

impl Runner {
    fn of(runner: &RemoteRunner, now: Timestamp) -> Self {
        let (heartbeat, offer) = (&runner.heartbeat, &runner.heartbeat.offer);
        Self {
            id: runner.id.to_string(),
            name: heartbeat.name.clone(),
            present: runner.is_present(now),
            heard_at: runner.heard_at,
            version: heartbeat.version.clone(),
            labels: offer.labels.clone(),
            clients: offer.clients.as_ref().map(|clients| clients.iter().map(ToString::to_string).collect()),
            draining: offer.draining,
            slots: runner.slots(),
            busy: runner.busy(),
        }
    }
}

/// The runners on other hosts, by id
#[utoipa::path(get, path = "/runners", tag = "runners", responses((status = 200, body = Vec<Runner>)))]
async fn list(State(state): State<AppState>, person: Person, _: Query<NoQuery>) -> Result<Json<Vec<Runner>>, Problem> {
    let known = state.remote_runners(&person).await?;
    let now = state.server.now();
    Ok(Json(known.iter().map(|runner| Runner::of(runner, now)).collect()))
}

/// A session that was given up, to be started elsewhere.
#[derive(Debug, Serialize, ToSchema)]
struct GivenUp {
    project: String,
    #[schema(value_type = String)]
    session: SessionId,
}

/// Remove a runner that is not coming back, or shall not
///
/// Its token is revoked, and what it ran is started elsewhere. What it had finished is examined by another runner.
#[utoipa::path(
    delete, path = "/runners/{runner}", tag = "runners", params(("runner" = String, Path)),
    responses((status = 200, body = Vec<GivenUp>))
)]
async fn remove(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path(id): Path<String>,
    _: Query<NoQuery>,
) -> Result<Json<Vec<GivenUp>>, Problem> {
    let id = state.runner_id(&person, id)?;
    let server = &state.server;
    let given_up = server.control().remove_runner(server.installation(), &person.actor(), &id).await;
    let given_up = given_up.map_err(|error| person.problem(&error))?;
    let said = |(project, session): (board::ProjectId, SessionId)| GivenUp { project: project.to_string(), session };
    Ok(Json(given_up.into_iter().map(said).collect()))
}

/// Let a runner finish what it has, and begin nothing more
#[utoipa::path(
    post, path = "/runners/{runner}/drain", tag = "runners", params(("runner" = String, Path)),
    responses((status = 204, description = "It begins nothing more."))
)]
async fn drain(
    state: State<AppState>,
    owner: Owner,
    id: Path<String>,
    _: Query<NoQuery>,
) -> Result<StatusCode, Problem> {
    tell(state, owner, id, Drain::BeginNothing).await
}

/// Let a runner begin work again
#[utoipa::path(
    post, path = "/runners/{runner}/resume", tag = "runners", params(("runner" = String, Path)),
    responses((status = 204, description = "It begins work again."))
)]
async fn resume(
    state: State<AppState>,
    owner: Owner,
    id: Path<String>,
    _: Query<NoQuery>,
) -> Result<StatusCode, Problem> {
    tell(state, owner, id, Drain::Resume).await
}

async fn tell(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path(id): Path<String>,
    drain: Drain,
) -> Result<StatusCode, Problem> {
    let command = InstallationCommand::DrainRunner { id, drain };
    state.server.installation().submit(person.actor(), command).await.map_err(|error| person.problem(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

impl AppState {
    /// The runners on other hosts.
    pub(crate) async fn remote_runners(&self, person: &Person) -> Result<Vec<RemoteRunner>, Problem> {
        let installation = self.server.installation().state();
        self.server.control().remote_runners(&installation).await.map_err(|error| person.problem(&error))
    }

    /// The id of a runner whose token is good.
    fn runner_id(&self, person: &Person, id: String) -> Result<RunnerId, Problem> {
        let known = self.server.installation().state().runner_token(&id).is_some();
        let parsed = id.parse().ok().filter(|_| known);
        parsed.ok_or_else(|| Problem::refused(&RefusalReason::NoSuchToken(id).into(), person.language))
    }
}
