//! The merge queue: whose work is being verified, and what was merged of late?

use axum::Json;
use axum::extract::State;
use board::{Timestamp, say_waiting};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::described;
use super::{NoQuery, Path, Query};
use crate::AppState;
use crate::merge_queue::{ended_at, in_the_way, merge_commit, merged, verifying};
use crate::person::Person;
use crate::problem::Problem;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(queue))
}

/// A session whose work is being verified.
#[derive(Debug, Serialize, ToSchema)]
struct Verifying {
    session_id: String,
    task_id: Option<String>,
    agent_id: String,
    title: Option<String>,
    /// When its process ended.
    #[schema(value_type = Option<described::Time>)]
    since: Option<Timestamp>,
    /// What keeps its work from being merged; `null` while it is looked at.
    waits_on: Option<String>,
    /// The files that are in the way.
    files: Vec<String>,
}

/// Work that is in the target.
#[derive(Debug, Serialize, ToSchema)]
struct Merged {
    session_id: String,
    task_id: Option<String>,
    agent_id: String,
    title: Option<String>,
    commit: String,
    #[schema(value_type = Option<described::Time>)]
    at: Option<Timestamp>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Queue {
    /// In the order in which they came.
    verifying: Vec<Verifying>,
    /// The last 20, newest first.
    merged: Vec<Merged>,
}

/// Whose work is being verified, and what was merged of late
#[utoipa::path(
    get, path = "/projects/{project}/queue", tag = "queue", params(("project" = String, Path)),
    responses((status = 200, body = Queue))
)]
async fn queue(
    State(state): State<AppState>,
    person: Person,
    Path(project): Path<String>,
    _: Query<NoQuery>,
) -> Result<Json<Queue>, Problem> {
    let open = state.project(&person, &project).await?;
    let board = &open.board;
    let title = |session: &board::Session| session.task().and_then(|id| Some(board.tasks.get(&id)?.title.clone()));
    let verifying = verifying(board).into_iter().map(|session| Verifying {
        session_id: session.id.to_string(),
        task_id: session.task().map(|id| id.to_string()),
        agent_id: session.agent.to_string(),
        title: title(session),
        since: ended_at(session),
        waits_on: board::waiting(board, session, open.now).map(|waiting| say_waiting(&waiting, person.language)),
        files: in_the_way(session).to_vec(),
    });
    let merged = merged(board).into_iter().filter_map(|session| {
        Some(Merged {
            session_id: session.id.to_string(),
            task_id: session.task().map(|id| id.to_string()),
            agent_id: session.agent.to_string(),
            title: title(session),
            commit: merge_commit(session)?.to_owned(),
            at: session.ended_at,
        })
    });
    Ok(Json(Queue { verifying: verifying.collect(), merged: merged.collect() }))
}
