//! What do people see? Pages, rendered here and kept up by the browser.
//!
//! Most files are a page with its own URL; `layout`, `parts`, `prose`, `sentence`, `graph` and `ansi` are what pages are made of. A page
//! only shows: what it offers to do is what the board would admit, and it is done through the API.

mod agents;
mod ansi;
mod board;
mod board_query;
mod chat;
mod columns;
mod graph;
mod graph_layout;
mod history;
mod layout;
mod memory;
mod now;
mod parts;
mod projects;
mod prose;
mod queue;
mod runners;
mod sentence;
mod session;
mod sessions;
mod settings;
mod task;
mod trace;
mod transcript;
mod tree;

use axum::Router;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderMap, StatusCode};

use self::layout::ErrorPage;
use super::AppState;
use super::person::language_of;
use super::problem::Problem;

pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/", get(projects::root))
        .route("/projects", get(projects::projects))
        .route("/runners", get(runners::runners))
        .route("/p/{project}", get(board::board))
        .route("/p/{project}/now", get(now::now))
        .route("/p/{project}/tasks/{task}", get(task::task))
        .route("/p/{project}/tasks/{task}/diff", get(task::diff))
        .route("/p/{project}/agents", get(agents::agents))
        .route("/p/{project}/agents/{agent}", get(agents::agent))
        .route("/p/{project}/sessions", get(sessions::sessions))
        .route("/p/{project}/sessions/{session}", get(session::session))
        .route("/p/{project}/sessions/{session}/log", get(session::log))
        .route("/p/{project}/sessions/{session}/conversation", get(session::conversation))
        .route("/p/{project}/queue", get(queue::queue))
        .route("/p/{project}/chat", get(chat::chats))
        .route("/p/{project}/chat/{agent}", get(chat::chat))
        .route("/p/{project}/memory", get(memory::memories))
        .route("/p/{project}/memory/{*path}", get(memory::entry))
        .route("/p/{project}/history", get(history::newest))
        .route("/p/{project}/history/{event}", get(history::history))
        .route("/p/{project}/settings", get(settings::settings))
}

/// For programs and people alike.
pub(super) async fn not_found(headers: HeaderMap) -> Response {
    let problem = Problem::new(StatusCode::NOT_FOUND, "not_found", "There is no such page.", "Go to the board.");
    let html =
        headers.get(http::header::ACCEPT).is_some_and(|accept| accept.to_str().is_ok_and(|a| a.contains("text/html")));
    if html { ErrorPage { problem, language: language_of(&headers) }.into_response() } else { problem.into_response() }
}
