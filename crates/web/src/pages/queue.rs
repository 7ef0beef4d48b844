//! What waits to be merged, on what, and what was merged of late?

use askama::Template;
use axum::extract::State;
use board::{Board, Session, Timestamp};

use super::layout::{Answer, Layout, NavItem, PageUser, Path, error_page, page};
use super::parts::{Age, TaskLink};
use super::task::{CheckRow, evidence};
use crate::AppState;
use crate::merge_queue::{ended_at, in_the_way, merge_commit, merged, verifying};

#[derive(Debug, Template)]
#[template(path = "queue.html")]
struct Queue {
    layout: Layout,
    target: String,
    waiting: Vec<Row>,
    merged: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    session: board::SessionId,
    agent: String,
    task: Option<TaskLink>,
    since: Option<Age>,
    waits: Option<String>,
    files: Vec<String>,
    checks: Vec<CheckRow>,
    commit: Option<String>,
    changed: usize,
}

pub(super) async fn queue(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(project): Path<String>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let board: &Board = &open.board;
    let row = |(session, since): (&Session, Option<Timestamp>)| {
        let found = evidence(session, &person);
        Row {
            session: session.id,
            agent: session.agent.to_string(),
            task: session.task().and_then(|id| board.tasks.get(&id)).map(|task| TaskLink::of(task, person.language)),
            since: since.map(|at| Age { at, now: open.now, language: person.language }),
            waits: board::waiting(board, session, open.now)
                .map(|waiting| board::clean(&board::say_waiting(&waiting, person.language))),
            files: in_the_way(session).to_vec(),
            changed: found.as_ref().map_or(0, |found| found.changed.len()),
            checks: found.map(|found| found.checks).unwrap_or_default(),
            commit: merge_commit(session).map(|commit| commit.chars().take(10).collect()),
        }
    };
    page(&Queue {
        target: board.settings.target_branch.clone(),
        waiting: verifying(board).into_iter().map(|session| row((session, ended_at(session)))).collect(),
        merged: merged(board).into_iter().map(|session| row((session, session.ended_at))).collect(),
        layout: Layout::new(person.clone(), person.say("Merge queue", "マージ待ち"), NavItem::Queue, Some(&open)),
    })
}
