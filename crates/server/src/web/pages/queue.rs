//! What waits to be merged, on what, and what was merged of late?

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use board::{Board, Merge, Session, SessionStatus};

use super::parts::{Age, Mention};
use super::shell::{Answer, Here, Path, Shell, Visitor, page, trouble};
use super::task::{CheckRow, evidence};
use crate::web::Window;

/// Merges that are shown, and how many sessions are looked through for them.
const MERGES: usize = 20;
const LOOKED: usize = 2_000;

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
    let row = |session: &Session| {
        let found = evidence(session, &person);
        let (commit, files) = match session.workspace.as_ref().map(|facts| &facts.merge) {
            Some(Merge::Merged { commit }) => (Some(commit.chars().take(10).collect()), Vec::new()),
            Some(Merge::Waiting { files, .. }) => (None, files.clone()),
            Some(Merge::NotTried | Merge::Conflict { .. }) | None => (None, Vec::new()),
        };
        Row {
            session: session.id,
            agent: session.agent.to_string(),
            task: session.task().and_then(|id| board.tasks.get(&id)).map(|task| Mention::of(task, person.language)),
            since: Some(Age { at: session.ended_at.unwrap_or(session.last_call_at), now: open.now }),
            waits: session.waits_to_merge().map(board::clean),
            files,
            changed: found.as_ref().map_or(0, |found| found.changed.len()),
            checks: found.map(|found| found.checks).unwrap_or_default(),
            commit,
        }
    };
    let mut waiting: Vec<&Session> =
        board.all_live_sessions().filter(|session| session.status == SessionStatus::Verifying).collect();
    waiting.sort_by_key(|session| (session.ended_at, session.id));
    let newest = board.sessions.values().rev().map(Arc::as_ref).take(LOOKED);
    let is_merged = |session: &&Session| {
        session.workspace.as_ref().is_some_and(|facts| matches!(facts.merge, Merge::Merged { .. }))
    };
    page(&Queue {
        target: board.settings.target_branch.clone(),
        waiting: waiting.into_iter().map(row).collect(),
        merged: newest.filter(is_merged).take(MERGES).map(row).collect(),
        shell: Shell::new(person.clone(), person.say("Merge queue", "マージ待ち"), Here::Queue, Some(&open)),
    })
}
