//! Which tasks are there, now or at an earlier event?

use std::cmp::Reverse;
use std::str::FromStr;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use board::{AgentId, Board, Priority, Seq, StatusFilter, TaskId};
use serde::Deserialize;
use utoipa::IntoParams;

use super::super::described;
use super::super::page::{self, Page};
use super::super::{Path, Query};
use crate::person::Person;
use crate::problem::Problem;
use crate::search::Search;
use crate::{AppState, ProjectRequest};
use board::wire::Task;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskQuery {
    /// Only these, with commas between them; `open` is all that is neither settled nor in progress.
    status: Option<String>,
    /// Only those of this agent.
    #[param(value_type = Option<String>)]
    assignee: Option<AgentId>,
    /// Only the children of this task.
    #[param(value_type = Option<String>)]
    parent: Option<TaskId>,
    /// Only those with this label.
    label: Option<String>,
    /// Only those whose title has all of these words; the id of a task is one too.
    q: Option<String>,
    /// Also done and cancelled ones, if no status is asked for.
    #[serde(default)]
    all: bool,
    /// As they were after the event with this number.
    as_of: Option<Seq>,
    /// How many at most: 1 to 500, 100 if not said.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// The place of a task in the list, most urgent first: `high.12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TaskCursor(Reverse<Priority>, TaskId);

impl TaskCursor {
    fn of(task: &board::Task) -> Self {
        Self(Reverse(task.priority), task.id)
    }
}

impl std::fmt::Display for TaskCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0.0, self.1.0)
    }
}

impl FromStr for TaskCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (priority, id) = text.split_once('.').ok_or(())?;
        Ok(Self(Reverse(priority.parse().map_err(drop)?), id.parse().map_err(drop)?))
    }
}

/// Tasks, most urgent first
#[utoipa::path(
    get, path = "/projects/{project}/tasks", tag = "tasks", params(("project" = String, Path), TaskQuery),
    responses((status = 200, body = Page<described::Task>))
)]
pub(super) async fn list(
    State(state): State<AppState>,
    person: Person,
    Path(project): Path<String>,
    Query(wanted): Query<TaskQuery>,
) -> Result<Json<Page<Task>>, Problem> {
    let limit = page::limit(wanted.limit)?;
    let after: Option<TaskCursor> = page::cursor(wanted.after.as_deref())?;
    let filter = Filter::new(&wanted)?;
    let open = state.project(&person, &project).await?;
    let board = match wanted.as_of {
        Some(seq) => state.board_at(&person, &open, seq).await?,
        None => Arc::clone(&open.board),
    };
    wanted.assignee.as_ref().map(|agent| board.agent(agent)).transpose().map_err(|refusal| person.refused(&refusal))?;
    wanted.parent.map(|task| board.task(task)).transpose().map_err(|refusal| person.refused(&refusal))?;
    let mut found: Vec<&board::Task> = board
        .tasks
        .values()
        .map(AsRef::as_ref)
        .filter(|task| after.is_none_or(|after| TaskCursor::of(task) > after) && filter.wants(task))
        .collect();
    found.sort_by_key(|task| TaskCursor::of(task));
    Ok(Json(Page::of(found, limit, |task| TaskCursor::of(task), Task::from)))
}

impl AppState {
    /// The board as it was after an event.
    async fn board_at(&self, person: &Person, open: &ProjectRequest, seq: Seq) -> Result<Arc<Board>, Problem> {
        if seq == 0 || seq > open.board.seq {
            return Err(Problem::bad_argument(
                format!("There is no event {seq}."),
                format!("Ask for one from 1 to {}.", open.board.seq),
            ));
        }
        let board = self.boards_before.board(open, seq).await;
        board.map_err(|error| person.problem(&error))
    }
}

/// What is asked for, read.
struct Filter<'a> {
    wanted: &'a TaskQuery,
    statuses: Vec<StatusFilter>,
    search: Search,
}

impl<'a> Filter<'a> {
    fn new(wanted: &'a TaskQuery) -> Result<Self, Problem> {
        let statuses =
            wanted.status.iter().flat_map(|list| list.split(',')).map(|word| StatusFilter::parse(word.trim()));
        let statuses = statuses.collect::<Result<_, _>>();
        let statuses = statuses
            .map_err(|error| Problem::bad_argument(format!("`status`: {error}"), "Put commas between several."))?;
        let search = Search::new(wanted.q.as_deref().unwrap_or_default());
        Ok(Self { wanted, statuses, search })
    }

    fn wants(&self, task: &board::Task) -> bool {
        let TaskQuery { assignee, parent, label, all, .. } = self.wanted;
        let status = match self.statuses.as_slice() {
            [] => *all || !task.is_settled(),
            wanted => wanted.iter().any(|filter| filter.matches(task.status)),
        };
        status
            && assignee.as_ref().is_none_or(|agent| task.assignee.as_ref() == Some(agent))
            && parent.is_none_or(|parent| task.parent == Some(parent))
            && label.as_ref().is_none_or(|label| task.labels.contains(label))
            && self.search.finds(task)
    }
}
