//! Pages and an HTTP API for people, over the same commands as every other entry point.
//!
//! [`request_guard`] decides which requests come in, [`person`] who sent them, `api` answers programs and
//! `pages` people. Pages keep themselves up to date with `api::event_stream` and change things through the API, so there
//! is one way for each change.

mod activity;
mod api;
mod assets;
mod historical_boards;
mod live_pages;
mod login;
mod merge_queue;
pub(crate) mod metrics;
mod notice;
mod page_changes;
mod pages;
mod person;
mod problem;
mod remedies;
mod request_guard;
mod search;
mod task_events;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use board::{NewToken, ProjectId, Refusal, RefusalReason, Role, Span, TokenUse};
use control::{ControlError, NewSecret, Project, token_hash};
use server::{AttemptLimiter, LocalFiles, ServerState};
use tokio::sync::watch;

use self::historical_boards::HistoricalBoards;
use self::person::Person;
use self::problem::Problem;

/// A change is text of bounded length.
const MAX_BODY: usize = 1024 * 1024;

/// How long a link for a login is good.
const LINK: Span = Span::minutes(30);

/// What people see and use. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Web {
    state: AppState,
}

/// What every request works with.
#[derive(Clone, Debug)]
pub(crate) struct AppState {
    server: Arc<ServerState>,
    local_files: Arc<dyn LocalFiles>,
    boards_before: Arc<HistoricalBoards>,
    attempts: Arc<AttemptLimiter<()>>,
    /// Up to which event of each project the metrics are counted.
    counted: watch::Receiver<metrics::Counted>,
}

impl Web {
    /// Starts to count events for the metrics.
    pub fn new(server: Arc<ServerState>, local_files: Arc<dyn LocalFiles>) -> Self {
        server.provide_local_files(Arc::clone(&local_files));
        let counted = metrics::begin(&server);
        let (boards_before, attempts) = (Arc::default(), Arc::default());
        Self { state: AppState { server, local_files, boards_before, attempts, counted } }
    }

    /// Pages, API, metrics and assets. Requests must name one of `hosts`.
    pub fn router(&self, hosts: &[String]) -> Router {
        let (api, document) = api::router();
        let state = self.state.clone();
        Router::new()
            .nest("/api/v1", api.merge(api::served(document)))
            .merge(pages::router().layer(middleware::from_fn_with_state(
                Arc::<live_pages::SentPages>::default(),
                live_pages::send_what_changed,
            )))
            .route("/login", get(login::page).post(login::log_in))
            .route("/logout", post(login::log_out))
            .route("/metrics", get(metrics::metrics))
            .route("/assets/{version}/{name}", get(assets::asset))
            .fallback(pages::not_found)
            .layer(middleware::from_fn(metrics::measure))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .layer(middleware::from_fn_with_state(
                request_guard::Hosts::from(hosts.to_vec()),
                request_guard::guard_request,
            ))
            .with_state(state)
    }
}

impl Web {
    /// A link's secret for the owner.
    pub async fn offer_login(&self, by: board::Actor) -> Result<NewSecret, ControlError> {
        let name = match &by {
            board::Actor::Owner(name) => name.to_string(),
            board::Actor::Session(_) | board::Actor::Runner(_) | board::Actor::System => String::new(),
        };
        let server = &self.state.server;
        offer_login(server.installation(), by, Role::Owner, name, server.now()).await
    }
}

/// Makes a link's secret, which is good for one login soon.
pub async fn offer_login(
    installation: &control::Writer<board::Installation>,
    by: board::Actor,
    role: Role,
    name: String,
    now: board::Timestamp,
) -> Result<NewSecret, ControlError> {
    let secret = NewSecret::generate("shl")?;
    let hash = token_hash(secret.reveal());
    let id = format!("tok_{}", &hash.0[..8]);
    let new = NewToken {
        id,
        role,
        name,
        hash,
        used_as: TokenUse::Link,
        expires_at: Some(now + LINK),
        given_for: None,
        labels: Vec::new(),
    };
    installation.submit(by, board::InstallationCommand::CreateToken(new)).await?;
    Ok(secret)
}

impl AppState {
    /// A project that exists.
    async fn project(&self, person: &Person, id: &str) -> Result<ProjectRequest, Problem> {
        let refused = || Problem::refused(&Refusal::from(RefusalReason::NoSuchProject(id.into())), person.language);
        let id: ProjectId = id.parse().map_err(|_| refused())?;
        let opened = self.server.project(&id).await.map_err(|error| person.problem(&error))?;
        let project = opened.ok_or_else(refused)?;
        let board = project.newest().await.map_err(|error| person.problem(&error))?;
        Ok(ProjectRequest { id, project, board, now: self.server.now() })
    }

    /// Is the token that a person logged in with still valid?
    fn still_valid(&self, person: &Person) -> bool {
        let now = self.server.now();
        let installation = self.server.installation().state();
        installation.tokens.get(&person.token).is_some_and(|token| installation.is_valid(token, now))
    }

    /// Where the repository of a project is.
    fn repository(&self, id: &ProjectId) -> std::path::PathBuf {
        self.server.repository(id).unwrap_or_default()
    }

    /// The runners of a project, here and on other hosts.
    async fn runner_view(&self, person: &Person, id: &ProjectId) -> Result<board::RunnerView, Problem> {
        self.server.runner_view(id).await.map_err(|error| person.problem(&error))
    }

    /// A piece of a session's output.
    async fn session_output(
        &self,
        person: &Person,
        id: &ProjectId,
        output: board::OutputName,
        from: server::LogFrom,
        most: usize,
    ) -> Result<Option<server::LogPage>, Problem> {
        self.server.session_output(id, output, from, most).await.map_err(|error| person.problem(&error))
    }

    /// Looks at files or git, off the runtime.
    async fn with_local_files<T: Send + 'static>(
        &self,
        look: impl FnOnce(&dyn LocalFiles) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let local_files = Arc::clone(&self.local_files);
        tokio::task::spawn_blocking(move || look(&*local_files)).await.map_err(|error| {
            Problem::new(http::StatusCode::INTERNAL_SERVER_ERROR, "failed", error.to_string(), "Try again.")
        })
    }
}

/// A project as of one request.
#[derive(Debug)]
struct ProjectRequest {
    id: ProjectId,
    project: Project,
    board: Arc<board::Board>,
    now: board::Timestamp,
}
