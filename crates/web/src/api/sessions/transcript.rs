//! What did an agent say and do, whatever its client (W8)? A piece of it, never the whole.

use axum::Json;
use axum::extract::State;
use board::{OutputName, SessionId, TranscriptEntry};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::{Path, Query, described, page};
use super::log::{LogQuery, no_log};
use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;

const DEFAULT: usize = 64 * 1024;
const MOST: usize = 1024 * 1024;

/// A piece of a session's conversation. Positions are bytes of the whole of it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Transcript {
    id: String,
    start: u64,
    /// Where to read on.
    end: u64,
    /// The oldest position that is kept.
    oldest: u64,
    /// Where it ends by now.
    newest: u64,
    #[schema(value_type = Vec<described::TranscriptEntry>)]
    entries: Vec<TranscriptEntry>,
}

/// What an agent said and did: text, thoughts, tools with their results, edits
///
/// Entries are made from the client's own output. Reading on from `end` misses nothing.
#[utoipa::path(
    get, path = "/projects/{project}/sessions/{session}/transcript", tag = "sessions",
    params(("project" = String, Path), ("session" = String, Path), LogQuery),
    responses((status = 200, body = Transcript))
)]
pub(super) async fn transcript(
    State(state): State<AppState>,
    person: Person,
    Path((project, session)): Path<(String, SessionId)>,
    Query(wanted): Query<LogQuery>,
) -> Result<Json<Transcript>, Problem> {
    let (limit, from) = (page::within(wanted.limit, DEFAULT, MOST)?, wanted.from()?);
    let open = state.project(&person, &project).await?;
    open.board.session(session).map_err(|refusal| person.refused(&refusal))?;
    let name = OutputName::transcript(session);
    let page = state.session_output(&person, &open.id, name, from, limit).await?;
    let mut page = page.ok_or_else(|| no_log(&person, session))?;
    let whole = page.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    page.bytes.truncate(whole);
    // What a newer program has written may not be known here.
    let entries = page.bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let (entries, start, end) = (entries.collect(), page.start, page.end());
    Ok(Json(Transcript { id: session.to_string(), start, end, oldest: page.oldest, newest: page.newest, entries }))
}
