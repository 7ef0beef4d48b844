//! What has a session's process printed? A piece of it, never the whole.

use axum::Json;
use axum::extract::State;
use board::{OutputName, SessionId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::{Path, Query, page};
use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;
use server::{LogFrom, LogPage};

const DEFAULT: usize = 64 * 1024;
const MOST: usize = 1024 * 1024;

/// A piece of a session's output. Positions are bytes of the whole output.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Log {
    id: String,
    start: u64,
    /// Where to read on.
    end: u64,
    /// The oldest position that is kept.
    oldest: u64,
    /// Where the output ends by now.
    newest: u64,
    /// What is not UTF-8 is replaced.
    text: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct LogQuery {
    /// A position in the whole output, or `tail` for the last of it, which is also the default.
    from: Option<String>,
    /// How many bytes at most: 1 to 1,048,576, 65,536 if not said.
    pub(super) limit: Option<usize>,
}

impl LogQuery {
    pub(super) fn from(&self) -> Result<LogFrom, Problem> {
        match self.from.as_deref() {
            None | Some("tail") => Ok(LogFrom::Tail),
            Some(position) => position.parse().map(LogFrom::Position).map_err(|_| {
                Problem::bad_argument("`from` is not a position.", "Send the `end` of the piece before, 0, or `tail`.")
            }),
        }
    }
}

pub(super) fn no_log(person: &Person, session: SessionId) -> Problem {
    Problem::not_found(
        match person.language {
            board::Language::En => format!("There is no log of {session}."),
            board::Language::Ja => format!("{session} のログはありません。"),
        },
        person.say(
            "Sessions that a runner has started have one; gc removes old ones.",
            "ランナーが起動したセッションにだけあります。古いものは gc が削除します。",
        ),
    )
}

/// What a session's process has printed
///
/// The newest 16 MiB are kept. Reading on from `end` misses nothing.
#[utoipa::path(
    get, path = "/projects/{project}/sessions/{session}/log", tag = "sessions",
    params(("project" = String, Path), ("session" = String, Path), LogQuery),
    responses((status = 200, body = Log))
)]
pub(super) async fn log(
    State(state): State<AppState>,
    person: Person,
    Path((project, session)): Path<(String, SessionId)>,
    Query(wanted): Query<LogQuery>,
) -> Result<Json<Log>, Problem> {
    let limit = page::within(wanted.limit, DEFAULT, MOST)?;
    let from = wanted.from()?;
    let open = state.project(&person, &project).await?;
    let known = open.board.session(session).map_err(|refusal| person.refused(&refusal))?;
    let goes_on = known.end.is_none();
    let page = state.session_output(&person, &open.id, OutputName::raw(session), from, limit).await?;
    let mut page = page.ok_or_else(|| no_log(&person, session))?;
    page.bytes.truncate(whole(&page, goes_on));
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    let (start, end) = (page.start, page.end());
    Ok(Json(Log { id: session.to_string(), start, end, oldest: page.oldest, newest: page.newest, text }))
}

/// How many bytes of a page end with a whole character: the rest of the last one is in the next page, or not
/// written yet. What nothing can complete is shown as it is.
fn whole(page: &LogPage, goes_on: bool) -> usize {
    let length = page.bytes.len();
    let begun = (1..=length.min(3)).find(|back| page.bytes[length - back] & 0xC0 == 0xC0);
    let Some(back) = begun else { return length };
    let needed = match page.bytes[length - back] {
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    let more = page.newest > page.end() || goes_on;
    // A page that is too small for one character is given as it is, or it would never end.
    let stuck = back == length && page.newest > page.end();
    if back < needed && more && !stuck { length - back } else { length }
}

#[cfg(test)]
mod tests {
    use super::{LogPage, whole};

    #[test]
    fn characters_are_not_cut_in_two() {
        let page = |bytes: &[u8], newest: u64| LogPage { start: 0, bytes: bytes.to_vec(), oldest: 0, newest };
        let text = "a日".as_bytes();
        assert_eq!(whole(&page(text, 4), true), 4);
        assert_eq!(whole(&page(&text[..3], 4), false), 1, "the rest is in the next page");
        assert_eq!(whole(&page(&text[..2], 2), true), 1, "the rest is not written yet");
        assert_eq!(whole(&page(&text[..2], 2), false), 2, "nothing follows");
        assert_eq!(whole(&page(&text[1..3], 4), true), 2, "no page could hold more");
        assert_eq!(whole(&page(b"", 0), true), 0);
        assert_eq!(whole(&page(b"\xff\x80\x80\x80\x80", 9), true), 5);
    }
}
