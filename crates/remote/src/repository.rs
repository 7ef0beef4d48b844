//! What does a server do in its own repository for runners on other hosts? It tells where refs are, takes in work, and moves
//! the target, one merge at a time.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use board::{ProjectId, RunnerOffer};
use control::Project;
use dispatch::{Dispatch as _, ExamineOrder};
use git::AsyncGit;
use http::StatusCode;
use runner::clients::User;
use runner::{IncomingWork, RunnerHost, RunnerPaths};

use crate::caller::{Answer, InProject, Refused};
use crate::protocol::{
    AnswerMove, AnswerRef, AnswerStillWaiting, AskMove, AskPublish, AskRef, AskStillWaiting, Nothing, Origin,
    ProjectInfo, SessionRef,
};
use crate::state::RunnerService;
use crate::uploads;

pub(crate) fn project_info(service: &RunnerService, id: &ProjectId, project: &Project) -> ProjectInfo {
    let board = project.board();
    let settings = &board.settings;
    let origin = match (&settings.remote, own_repository(service, id)) {
        (Some(remote), _) => Origin::Remote(remote.clone()),
        (None, Ok(_)) => Origin::Server,
        (None, Err(_)) => Origin::Missing,
    };
    ProjectInfo {
        id: id.clone(),
        began: board.began,
        target_branch: settings.target_branch.clone(),
        sandbox: settings.sandbox,
        origin,
    }
}

/// The server's own repository. Others may have been registered on other machines that share the store.
pub(crate) fn own_repository(service: &RunnerService, id: &ProjectId) -> Result<PathBuf, Refused> {
    let known = service.server().repository(id).filter(|path| path.exists());
    known.ok_or_else(|| {
        let message = format!(
            "this server does not have the repository of {id}: where several servers share a store, set `remote` in \
             .saihai/config.yaml to one that every host can reach"
        );
        Refused::new(StatusCode::CONFLICT, "no_repository", message)
    })
}

/// The server's repository, with its place for files.
fn host(service: &RunnerService, place: &InProject) -> Result<RunnerHost, Refused> {
    Ok(RunnerHost {
        project: place.id.clone(),
        began: place.project.board().began,
        repository: own_repository(service, &place.id)?,
        paths: RunnerPaths::new(service.home(), &place.id),
        user: User::default(),
        upstream: None,
    })
}

/// What the board says of the session now. It is the caller's, or there is none.
async fn order(service: &RunnerService, place: &InProject, of: SessionRef) -> Result<ExamineOrder, Refused> {
    let port = place.dispatch(service, &RunnerOffer::default());
    let order = port.examine_order(of.session, of.generation).await?;
    order.ok_or_else(|| {
        let message = format!("nobody waits for the work of {} from this runner", of.session);
        Refused::new(StatusCode::CONFLICT, "stale_session", message)
    })
}

pub(crate) async fn commit_of(
    place: InProject,
    State(service): State<RunnerService>,
    Json(asked): Json<AskRef>,
) -> Answer<AnswerRef> {
    let repository = own_repository(&service, &place.id)?;
    Ok(Json(AnswerRef { commit: AsyncGit::in_repository(repository).commit(&asked.reference).await }))
}

pub(crate) async fn publish(
    place: InProject,
    State(service): State<RunnerService>,
    Json(asked): Json<AskPublish>,
) -> Answer<Nothing> {
    let (host, order) = (host(&service, &place)?, order(&service, &place, asked.of).await?);
    let bundle = uploads::arrived(uploads::file(&service, &place, asked.of.session), &asked.bundle).await?;
    let published = IncomingWork { host: &host, order: &order }.publish(&bundle, &asked.head).await;
    let _ = std::fs::remove_file(&bundle);
    published.map_err(Refused::unavailable)?;
    Ok(Json(Nothing {}))
}

pub(crate) async fn move_target(
    place: InProject,
    State(service): State<RunnerService>,
    Json(asked): Json<AskMove>,
) -> Answer<AnswerMove> {
    let host = host(&service, &place)?;
    let bundle = uploads::arrived(uploads::file(&service, &place, asked.of.session), &asked.bundle).await?;
    let _turn = service.merge_turn().await;
    let order = order(&service, &place, asked.of).await?;
    let work = IncomingWork { host: &host, order: &order };
    let moved = work.move_target(&bundle, &asked.from, &asked.to).await;
    if moved.is_ok() {
        let _ = std::fs::remove_file(&bundle);
    }
    Ok(Json(AnswerMove { outcome: moved.map_err(Refused::unavailable)? }))
}

pub(crate) async fn still_waiting(
    place: InProject,
    State(service): State<RunnerService>,
    Json(asked): Json<AskStillWaiting>,
) -> Answer<AnswerStillWaiting> {
    let (host, order) = (host(&service, &place)?, order(&service, &place, asked.of).await?);
    let work = IncomingWork { host: &host, order: &order };
    Ok(Json(AnswerStillWaiting { waiting: work.still_waiting(&asked.from, &asked.to, &asked.files).await }))
}
