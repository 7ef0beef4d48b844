//! How was it? The board as of any event, replayed from the log.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use board::{Seq, Task};

use super::board_query::BoardQuery;
use super::columns::{Column, Folds, card, columns};
use super::layout::{Answer, Layout, NavItem, PageUser, Path, Query, error_page, page};
use super::parts::Age;
use super::task::{Line, lines};
use crate::AppState;
use crate::problem::Problem;

/// Events that are told around the one that is shown.
const AROUND: u64 = 25;

#[derive(Debug, Template)]
#[template(path = "history.html")]
struct History {
    layout: Layout,
    at: Seq,
    newest: Seq,
    when: Option<Age>,
    columns: Vec<Column>,
    lines: Vec<Line>,
}

impl History {
    /// Is it the event that the board is shown at?
    fn is_shown(&self, line: &Line) -> bool {
        line.seq == self.at
    }
}

pub(super) async fn newest(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(project): Path<String>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    Ok(Redirect::to(&format!("/p/{}/history/{}", open.id, open.board.seq)).into_response())
}

pub(super) async fn history(
    State(state): State<AppState>,
    PageUser(mut person): PageUser,
    Path((project, at)): Path<(String, Seq)>,
    Query(wanted): Query<BoardQuery>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let newest = open.board.seq;
    if at > newest {
        let (detail, hint) = (
            person.say("That event has not happened yet.", "そのイベントはまだ起きていません。"),
            person.say("Choose an earlier one.", "前のものを選んでください。"),
        );
        return Err(error_page(&person)(Problem::not_found(detail, hint)));
    }
    let failed = |error| error_page(&person)(person.problem(&error));
    let then = state.boards_before.board(&open, at).await.map_err(failed)?;
    let first = at.saturating_sub(AROUND);
    let around = open.project.events_after(first, 2 * AROUND as usize).await;
    let around = around.map_err(failed)?;
    let when = around.iter().find(|(seq, _)| *seq == at).map(|(_, event)| event.at);
    let layout = Layout::new(person.clone(), person.say("History", "履歴"), NavItem::History, Some(&open));
    let mut told: Vec<Line> =
        around.iter().flat_map(|(seq, event)| lines(&open.board, *seq, event, None, open.now, &person)).collect();
    told.reverse();
    // What was cannot be changed.
    person.role = board::Role::Viewer;
    let now = when.unwrap_or(open.now);
    let tasks: Vec<&Task> = then.tasks.values().map(Arc::as_ref).filter(|task| !task.is_step()).collect();
    let card = |task: &Task| card(&then, &person, task, now);
    let columns = columns(&then, tasks, &wanted, &Folds::Never, &card, person.language);
    page(&History {
        layout,
        at,
        newest,
        when: when.map(|at| Age { at, now: open.now, language: person.language }),
        columns,
        lines: told,
    })
}
