//! What is a runner on another host answered? What a runner in this process would be, about its own sessions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{DefaultBodyLimit, State};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use board::{Installation, RunnerId, RunnerOffer, Token};
use control::{LocalDispatch, RunnerHeartbeat};
use dispatch::{AtWork, Dispatch as _, FactReport, Inventory};
use http::StatusCode;
use serde::Serialize;
use server::ServerState;

use crate::caller::{Answer, Caller, InProject, Refused};
use crate::protocol::{
    AnswerClaim, AnswerExamineOrder, AnswerStep, AnswerTargetOrder, AnswerWanted, AskClaim, AskRegister,
    AskReportTarget, AskStep, AskWanted, BASE, Nothing, PIECE, Registered, SessionRef,
};
use crate::state::RunnerService;
use crate::{git_http, output, repository, uploads};

/// How long a runner waits for news in one request: below what proxies allow, and often enough to be known to be there.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// How often what a runner says of itself is written down if it has not changed.
const HEARTBEAT_WRITTEN: Duration = Duration::from_secs(10);

/// A request, besides pieces of what is long. Results of checks bring their output.
const LONGEST_REQUEST: usize = 16 << 20;

/// The routes for runners on other hosts. `home` is where this installation keeps its files.
pub fn router(server: Arc<ServerState>, home: PathBuf) -> Router {
    let service = RunnerService::new(server, home);
    let of_project = Router::new()
        .route("/wanted", post(wanted))
        .route("/claim", post(claim))
        .route("/renew", post(renew))
        .route("/fact", post(fact))
        .route("/target-checks", post(report_target))
        .route("/target-order", post(target_order))
        .route("/examine-order", post(examine_order))
        .route("/examination-step", post(examination_step))
        .route("/inventory", post(inventory))
        .route("/ref", post(repository::commit_of))
        .route("/publish", post(repository::publish))
        .route("/move", post(repository::move_target))
        .route("/still-waiting", post(repository::still_waiting))
        .route("/git/info/refs", get(git_http::info_refs))
        .route("/git/git-upload-pack", post(git_http::upload_pack))
        .layer(DefaultBodyLimit::max(LONGEST_REQUEST));
    let pieces = Router::new()
        .route("/uploads/{session}", put(uploads::piece))
        .route("/output/{output}", put(output::piece).get(output::kept))
        .layer(DefaultBodyLimit::max(PIECE + 1024));
    let routes = Router::new()
        .route("/register", post(register))
        .route("/leave", post(leave))
        .route("/demand", get(demand))
        .nest("/projects/{project}", of_project.merge(pieces));
    Router::new().nest(BASE, routes).with_state(service)
}

impl RunnerService {
    /// A runner was heard of.
    async fn hear(&self, caller: &Caller, heartbeat: &RunnerHeartbeat) -> Result<(), Refused> {
        let runner = &caller.runner;
        let known = self.written().get(runner).cloned();
        if let Some((at, same)) = &known
            && at.elapsed() < HEARTBEAT_WRITTEN
            && same == heartbeat
        {
            return Ok(());
        }
        if known.is_none_or(|(_, known)| known.home != heartbeat.home) {
            self.check_alone(runner, heartbeat).await?;
        }
        self.server().control().hear_runner(runner, heartbeat).await?;
        self.written().insert(runner.clone(), (Instant::now(), heartbeat.clone()));
        Ok(())
    }

    /// Two installations under one token would take over each other's agents.
    async fn check_alone(&self, runner: &RunnerId, heartbeat: &RunnerHeartbeat) -> Result<(), Refused> {
        let installation = self.server().installation().state();
        let known = self.server().control().remote_runners(&installation).await?;
        let now = self.server().now();
        let other = known.into_iter().find(|known| known.id == *runner && known.is_present(now));
        match other.filter(|other| other.heartbeat.home != heartbeat.home && !other.heartbeat.home.is_empty()) {
            None => Ok(()),
            Some(other) => Err(Refused::new(
                StatusCode::CONFLICT,
                "token_in_use",
                format!(
                    "the runner on {} works with this token: make one for each, with `saihai token create --role runner`; \
                     if that one is gone, wait a minute",
                    other.heartbeat.name
                ),
            )),
        }
    }
}

async fn register(
    caller: Caller,
    State(service): State<RunnerService>,
    Json(asked): Json<AskRegister>,
) -> Answer<Registered> {
    let protocol = Caller::check_protocol(&asked.heartbeat)?;
    service.hear(&caller, &asked.heartbeat).await?;
    let mut projects = Vec::new();
    for id in service.server().installation().newest().await?.projects.keys() {
        if let Some(project) = service.server().project(id).await? {
            projects.push(repository::project_info(&service, id, &project));
        }
    }
    Ok(Json(Registered { runner: caller.runner, protocol, projects }))
}

/// It goes, and says so: nobody need wonder where it is.
async fn leave(caller: Caller, State(service): State<RunnerService>, Json(_): Json<Nothing>) -> Answer<Nothing> {
    service.written().remove(&caller.runner);
    service.server().control().forget_runner(&caller.runner).await?;
    Ok(Json(Nothing {}))
}

async fn wanted(
    place: InProject,
    State(service): State<RunnerService>,
    Json(asked): Json<AskWanted>,
) -> Answer<AnswerWanted> {
    Caller::check_protocol(&asked.heartbeat)?;
    service.hear(&place.caller, &asked.heartbeat).await?;
    let offer = &asked.heartbeat.offer;
    let dispatch = place.dispatch(&service, offer);
    let shutdown = service.server().shutdown().clone();
    let wanted = tokio::select! {
        wanted = dispatch.wanted(asked.after) => wanted?,
        // Told whole although the board is the same: whatever else has changed heals so.
        () = tokio::time::sleep(LONGEST_WAIT) => dispatch.wanted(None).await?,
        token = changed_token(&service, &place.caller) => {
            InProject { caller: Caller { token, ..place.caller }, ..place }.dispatch(&service, offer).wanted(None).await?
        }
        () = shutdown.cancelled() => return Err(Refused::unavailable("the server is ending")),
    };
    Ok(Json(AnswerWanted { wanted }))
}

/// Waits until the runner is told to begin nothing, or that it may again; or is removed.
async fn changed_token(service: &RunnerService, caller: &Caller) -> Token {
    let mut states = service.server().installation().watch();
    let changed = |installation: &Arc<Installation>| installation.tokens.get(&caller.token.id) != Some(&caller.token);
    let found = states.wait_for(changed).await.map(|state| state.tokens.get(&caller.token.id).cloned());
    match found {
        Ok(token) => token.unwrap_or_else(|| caller.token.clone()),
        Err(_) => std::future::pending().await,
    }
}

async fn claim(
    place: InProject,
    State(service): State<RunnerService>,
    Json(asked): Json<AskClaim>,
) -> Answer<AnswerClaim> {
    let order = place.dispatch(&service, &asked.offer).claim(&asked.claim).await?;
    Ok(Json(AnswerClaim { order }))
}

/// The port, where it does not matter what the runner has for agents.
fn port(place: &InProject, service: &RunnerService) -> LocalDispatch {
    place.dispatch(service, &RunnerOffer::default())
}

async fn renew(place: InProject, State(service): State<RunnerService>, Json(at_work): Json<AtWork>) -> Answer<Nothing> {
    port(&place, &service).renew(&at_work).await?;
    Ok(Json(Nothing {}))
}

async fn fact(
    place: InProject,
    State(service): State<RunnerService>,
    Json(report): Json<FactReport>,
) -> Answer<Nothing> {
    port(&place, &service).report(&report).await?;
    Ok(Json(Nothing {}))
}

async fn report_target(
    place: InProject,
    State(service): State<RunnerService>,
    Json(asked): Json<AskReportTarget>,
) -> Answer<Nothing> {
    port(&place, &service).report_target(&asked.commit, &asked.results).await?;
    Ok(Json(Nothing {}))
}

async fn target_order(
    place: InProject,
    State(service): State<RunnerService>,
    Json(_): Json<Nothing>,
) -> Answer<AnswerTargetOrder> {
    Ok(Json(AnswerTargetOrder { order: port(&place, &service).target_order().await? }))
}

async fn examine_order(
    place: InProject,
    State(service): State<RunnerService>,
    Json(of): Json<SessionRef>,
) -> Answer<AnswerExamineOrder> {
    let order = port(&place, &service).examine_order(of.session, of.generation).await?;
    Ok(Json(AnswerExamineOrder { order }))
}

async fn examination_step(
    place: InProject,
    State(service): State<RunnerService>,
    Json(asked): Json<AskStep>,
) -> Answer<AnswerStep> {
    let AskStep { of, number, found } = asked;
    let port = port(&place, &service);
    let step = port.examination_step(of.session, of.generation, number, found.as_ref()).await?;
    Ok(Json(AnswerStep { step }))
}

/// What a runner has to know to remove what nobody needs any more (R9).
async fn inventory(place: InProject, State(_): State<RunnerService>, Json(_): Json<Nothing>) -> Answer<Inventory> {
    Ok(Json(Inventory::from(&*place.project.newest().await?)))
}

/// How many sessions wait for a runner, and run, by what they ask for: for whoever starts and ends machines.
#[derive(Debug, Serialize)]
struct Demand {
    labels: BTreeMap<String, server::LabelDemand>,
}

async fn demand(_: Caller, State(service): State<RunnerService>) -> Answer<Demand> {
    let labels = service.server().demand().await?;
    Ok(Json(Demand { labels }))
}
