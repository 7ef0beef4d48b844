//! Messages: what is said between the owner and the agents?

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use board::{AgentId, Command, EventKind, MessageId, Party, TaskId};
use http::StatusCode;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::described;
use super::page::{self, Page};
use super::{Body, NoQuery, Path, Query};
use crate::AppState;
use crate::person::{Owner, Person};
use crate::problem::Problem;
use board::wire::{Comment, Message};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list, send))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct MessageQuery {
    /// Only those to or from this agent.
    #[param(value_type = Option<String>)]
    agent: Option<AgentId>,
    /// Only those about this task.
    #[param(value_type = Option<String>)]
    task: Option<TaskId>,
    /// How many at most: 1 to 500, 100 if not said.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// Messages, newest first
#[utoipa::path(
    get, path = "/projects/{project}/messages", tag = "messages", params(("project" = String, Path), MessageQuery),
    responses((status = 200, body = Page<described::Message>))
)]
async fn list(
    State(state): State<AppState>,
    person: Person,
    Path(project): Path<String>,
    Query(wanted): Query<MessageQuery>,
) -> Result<Json<Page<Message>>, Problem> {
    let limit = page::limit(wanted.limit)?;
    let before: Option<MessageId> = page::cursor(wanted.after.as_deref())?;
    let open = state.project(&person, &project).await?;
    let board = &open.board;
    wanted.agent.as_ref().map(|agent| board.agent(agent)).transpose().map_err(|refusal| person.refused(&refusal))?;
    wanted.task.map(|task| board.task(task)).transpose().map_err(|refusal| person.refused(&refusal))?;
    let party = wanted.agent.map(Party::Agent);
    let older = board.messages.iter().rev().filter(|message| before.is_none_or(|before| message.id < before));
    let found = older.filter(|message| {
        party.as_ref().is_none_or(|party| message.from == *party || message.to == *party)
            && wanted.task.is_none_or(|task| message.related_task == Some(task))
    });
    Ok(Json(Page::of(found, limit, |message| message.id, |message| Message::of(board, message))))
}

/// A message that is to be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Send {
    /// An agent.
    #[schema(value_type = String)]
    to: AgentId,
    content: String,
    /// The task it is about.
    #[schema(value_type = Option<String>)]
    related_task: Option<TaskId>,
}

/// Write to an agent; a runner starts it for a chat
///
/// What is written about a task of the agent's own is a comment on that task.
#[utoipa::path(
    post, path = "/projects/{project}/messages", tag = "messages", params(("project" = String, Path)),
    request_body = Send,
    responses(
        (status = 201, body = described::Message),
        (status = 200, description = "A comment on the agent's task", body = described::Comment),
    )
)]
async fn send(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path(project): Path<String>,
    _: Query<NoQuery>,
    Body(send): Body<Send>,
) -> Result<Response, Problem> {
    let open = state.project(&person, &project).await?;
    let Send { to, content, related_task } = send;
    let command = Command::SendMessage { to: Party::Agent(to), content, related_task };
    let receipt = open.project.submit(person.actor(), command).await.map_err(|error| person.problem(&error))?;
    let commented = receipt.events.iter().find_map(|event| match &event.what {
        EventKind::CommentAdded { task, .. } => receipt.after.tasks.get(task),
        _ => None,
    });
    if let Some((task, comment)) = commented.and_then(|task| Some((task, task.comments.last()?))) {
        return Ok(Json(Comment::of(&receipt.after, task, comment)).into_response());
    }
    let message = receipt.after.messages.last().expect("a message was just sent");
    Ok((StatusCode::CREATED, Json(Message::of(&receipt.after, message))).into_response())
}
