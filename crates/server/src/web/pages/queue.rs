//! What waits to be merged, on what, and what was merged of late?

use askama::Template;
use axum::extract::State;
use board::{Board, Session, Timestamp};

use super::parts::{Age, Mention};
use super::shell::{Answer, Here, Path, Shell, Visitor, page, trouble};
use super::task::{CheckRow, evidence};
use crate::web::Window;
use crate::web::merges::{in_the_way, merge_commit, merged};

#[derive(Debug, Template)]
#[template(path = "queue.html")]
struct Queue {
    shell: Shell,
    target: String,
    waiting: Vec<Row>,
    merged: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    session: board::SessionId,
    agent: String,
    task: Option<Mention>,
    since: Option<Age>,
    waits: Option<String>,
    files: Vec<String>,
    checks: Vec<CheckRow>,
    commit: Option<String>,
    changed: usize,
}

pub(super) async fn queue(
    State(window): State<Window>,
    Visitor(person): Visitor,
    Path(project): Path<String>,
) -> Answer {
    let open = window.project(&person, &project).await.map_err(trouble(&person))?;
    let board: &Board = &open.board;
    let row = |(session, since): (&Session, Option<Timestamp>)| {
        let found = evidence(session, &person);
        Row {
            session: session.id,
            agent: session.agent.to_string(),
            task: session.task().and_then(|id| board.tasks.get(&id)).map(|task| Mention::of(task, person.language)),
            since: since.map(|at| Age { at, now: open.now }),
            waits: session.waits_to_merge().map(board::clean),
            files: in_the_way(session).to_vec(),
            changed: found.as_ref().map_or(0, |found| found.changed.len()),
            checks: found.map(|found| found.checks).unwrap_or_default(),
            commit: merge_commit(session).map(|commit| commit.chars().take(10).collect()),
        }
    };
    let waiting = window.verifying(&person, &open).await.map_err(trouble(&person))?;
    page(&Queue {
        target: board.settings.target_branch.clone(),
        waiting: waiting.into_iter().map(row).collect(),
        merged: merged(board).into_iter().map(|session| row((session, session.ended_at))).collect(),
        shell: Shell::new(person.clone(), person.say("Merge queue", "マージ待ち"), Here::Queue, Some(&open)),
    })
}
