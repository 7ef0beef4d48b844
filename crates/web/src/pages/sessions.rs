//! Which runs were there?

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use board::{Session, SessionId};
use serde::Deserialize;

use super::layout::{Answer, Layout, NavItem, PageUser, Path, Query, error_page, page};
use super::task::{SessionRow, session_row};
use crate::AppState;

const SHOWN: usize = 100;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SessionQuery {
    running: Option<String>,
    agent: String,
    before: Option<SessionId>,
}

#[derive(Debug, Template)]
#[template(path = "sessions.html")]
struct Sessions {
    layout: Layout,
    wanted: SessionQuery,
    rows: Vec<SessionRow>,
    earlier: Option<SessionId>,
    agents: Vec<String>,
}

pub(super) async fn sessions(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(project): Path<String>,
    Query(wanted): Query<SessionQuery>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let takes = |session: &&Session| {
        (wanted.running.is_none() || session.is_live())
            && (wanted.agent.is_empty() || session.agent.as_str() == wanted.agent)
            && wanted.before.is_none_or(|before| session.id < before)
    };
    let all = open.board.sessions.values().rev().map(Arc::as_ref);
    let found: Vec<&Session> = all.filter(takes).take(SHOWN + 1).collect();
    let earlier = (found.len() > SHOWN).then(|| found[SHOWN - 1].id);
    page(&Sessions {
        rows: found.iter().take(SHOWN).map(|session| session_row(&open.board, session, open.now, &person)).collect(),
        earlier,
        agents: open.board.agents.keys().map(ToString::to_string).collect(),
        layout: Layout::new(person.clone(), person.say("Sessions", "セッション"), NavItem::Sessions, Some(&open)),
        wanted,
    })
}
