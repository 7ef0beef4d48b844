//! Which projects are there, and how does each stand?

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use board::{SessionStatus, Status};

use super::layout::{Answer, Layout, NavItem, PageUser, error_page, page};
use super::parts::Age;
use crate::AppState;

#[derive(Debug, Template)]
#[template(path = "projects.html")]
struct Projects {
    layout: Layout,
    projects: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    id: String,
    name: String,
    path: String,
    paused: bool,
    running: usize,
    queued: usize,
    open: usize,
    stuck: usize,
    done: usize,
    last: Option<Age>,
}

/// With one project there is nothing to choose: what it does now is shown.
pub(super) async fn root(State(state): State<AppState>, PageUser(_): PageUser) -> Answer {
    let installation = state.server.installation().state();
    let mut projects = installation.projects.keys();
    Ok(match (projects.next(), projects.next()) {
        (Some(only), None) => Redirect::to(&format!("/p/{only}/now")).into_response(),
        (_, _) => Redirect::to("/projects").into_response(),
    })
}

pub(super) async fn projects(State(state): State<AppState>, PageUser(person): PageUser) -> Answer {
    let layout = Layout::new(person.clone(), person.say("Projects", "プロジェクト"), NavItem::Projects, None);
    let mut projects = Vec::new();
    for (id, known) in &state.server.installation().state().projects {
        let Ok(open) = state.project(&person, id.as_str()).await.map_err(error_page(&person)) else { continue };
        let count = |wanted: &dyn Fn(Status) -> bool| {
            open.board.tasks.values().filter(|task| !task.is_step() && wanted(task.status)).count()
        };
        let live =
            |wanted: fn(SessionStatus) -> bool| open.board.all_live_sessions().filter(|s| wanted(s.status)).count();
        let changed = open.board.tasks.values().map(|task| task.updated_at).max();
        projects.push(Row {
            id: id.to_string(),
            name: open.board.settings.name.clone(),
            path: known.path.clone(),
            paused: open.board.paused,
            running: live(|status| matches!(status, SessionStatus::Starting | SessionStatus::Running)),
            queued: live(|status| status == SessionStatus::Verifying),
            open: count(&|status| matches!(status, Status::Backlog | Status::Todo | Status::InProgress)),
            stuck: count(&|status| matches!(status, Status::Blocked | Status::Failed)),
            done: count(&|status| status == Status::Done),
            last: changed.map(|at| Age { at, now: open.now, language: person.language }),
        });
    }
    page(&Projects { layout, projects })
}
