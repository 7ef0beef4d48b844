//! Which runs were there, and what does one of them print?

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use board::{Driver, Session, SessionId};
use http::HeaderName;
use serde::Deserialize;

use super::ansi;
use super::layout::{Answer, Layout, NavItem, PageUser, Path, Query, error_page, page, refused};
use super::parts::{Age, Note, TaskLink, of_session};
use super::task::{Evidence, SessionRow, evidence, session_row};
use crate::AppState;
use crate::problem::Problem;
use server::{LogFrom, LogPage};

const SHOWN: usize = 100;

/// How much of a log is sent at once.
const PAGE: usize = 64 * 1024;

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

#[derive(Debug, Template)]
#[template(path = "session.html")]
struct SessionPage {
    layout: Layout,
    row: SessionRow,
    task: Option<TaskLink>,
    note: Note,
    live: bool,
    may_stop: bool,
    driver: String,
    model: Option<String>,
    usage: Option<String>,
    error: Option<String>,
    ended: Option<Age>,
    /// From its start to its end.
    took: Option<String>,
    evidence: Option<Evidence>,
    log: Option<LogView>,
}

/// A piece of a log, as the page shows it first.
#[derive(Debug)]
struct LogView {
    start: u64,
    end: u64,
    oldest: u64,
    html: ansi::ColouredText,
}

pub(super) async fn session(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path((project, id)): Path<(String, SessionId)>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let session = open.board.session(id).map_err(refused(&person))?;
    let read = state.session_output(&person, &open.id, id, LogFrom::Tail, PAGE).await;
    let log = read.map_err(error_page(&person))?.map(|page| whole_lines(page, session.end.is_some()));
    let stop = board::Command::StopSession { session: id, restart: false };
    let may_stop = person.is_owner()
        && board::admit(&open.board, &person.actor(), &stop, open.now).is_ok_and(|events| !events.is_empty());
    let usage = session.usage.map(|usage| {
        let cost = usage.cost_micros.map(|micros| format!(", ${:.4}", micros as f64 / 1e6)).unwrap_or_default();
        format!("{} → {}{cost}", usage.input_tokens, usage.output_tokens)
    });
    page(&SessionPage {
        row: session_row(&open.board, session, open.now, &person),
        task: session.task().and_then(|id| open.board.tasks.get(&id)).map(|task| TaskLink::of(task, person.language)),
        note: of_session(&open.board, session, open.now, person.language),
        live: session.end.is_none(),
        may_stop,
        driver: driver_name(&state, &session.driver),
        model: session.model.as_ref().map(|model| format!("{} {}", model.provider, model.model_id)),
        usage,
        error: session.end.as_ref().and_then(|end| end.error.as_deref()).map(board::clean),
        took: session.ended_at.map(|at| board::say_span(at - session.claimed_at, person.language)),
        ended: session.ended_at.map(|at| Age { at, now: open.now, language: person.language }),
        evidence: evidence(session, &person).map(|found| Evidence { elsewhere: false, ..found }),
        log: log.map(|page| LogView {
            start: page.start,
            end: page.end(),
            oldest: page.oldest,
            html: ansi::coloured(&page.bytes),
        }),
        layout: Layout::new(person, format!("{id}"), NavItem::Sessions, Some(&open)),
    })
}

/// Who sees to its end. A runner on another host is named.
fn driver_name(state: &AppState, driver: &Driver) -> String {
    let named = match driver {
        Driver::Runner { runner, .. } => state.server.installation().state().runner_name(runner).map(str::to_owned),
        Driver::Attached | Driver::Hand => None,
    };
    named.unwrap_or_else(|| driver.as_str().to_owned())
}

#[derive(Debug, Deserialize)]
pub(super) struct Piece {
    from: Option<u64>,
    /// The piece that ends here.
    until: Option<u64>,
}

/// A further piece of a log, for the page that shows it.
pub(super) async fn log(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path((project, id)): Path<(String, SessionId)>,
    Query(piece): Query<Piece>,
) -> Result<Response, Problem> {
    let open = state.project(&person, &project).await?;
    let session = open.board.session(id).map_err(|refusal| Problem::refused(&refusal, person.language))?;
    let over = session.end.is_some();
    let from = piece.from.or(piece.until.map(|until| until.saturating_sub(PAGE as u64))).unwrap_or(0);
    let most = piece.until.map_or(PAGE, |until| usize::try_from(until.saturating_sub(from)).unwrap_or(PAGE).min(PAGE));
    let read = state.session_output(&person, &open.id, id, LogFrom::Position(from), most).await?;
    let mut page = read.ok_or_else(|| {
        let hint = person
            .say("Only sessions that a runner has started have one.", "ランナーが起動したセッションにだけあります。");
        Problem::not_found(person.say("There is no log.", "ログはありません。"), hint)
    })?;
    if let Some(until) = piece.until
        && page.start >= until
    {
        page.bytes.clear();
    }
    match piece.until {
        // An earlier piece begins with a whole line.
        Some(_) if page.start > page.oldest => {
            let cut = page.bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            // A line that is longer than a page is shown in pieces.
            let cut = if cut == page.bytes.len() { 0 } else { cut };
            page.bytes.drain(..cut);
            page.start += cut as u64;
        }
        Some(_) => {}
        None => page = whole_lines(page, over),
    }
    let header = |name: &'static str, value: u64| (HeaderName::from_static(name), value.to_string());
    let more = u64::from(!over || page.end() < page.newest);
    let headers = [
        header("x-log-start", page.start),
        header("x-log-end", page.end()),
        header("x-log-oldest", page.oldest),
        header("x-log-more", more),
    ];
    Ok((headers, Html(ansi::coloured(&page.bytes).to_string())).into_response())
}

/// What is being printed at this moment is shown when its line is whole, or very long.
fn whole_lines(mut page: LogPage, over: bool) -> LogPage {
    let last = page.bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    if let Some(end) = last.filter(|_| !over || page.end() < page.newest) {
        page.bytes.truncate(end);
    } else if !over && page.bytes.len() < PAGE / 2 && last.is_none() {
        page.bytes.clear();
    }
    page
}
