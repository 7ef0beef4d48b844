//! What is happening? Events as they come, from where the reader was last (W4).
//!
//! Nothing is queued for a reader: one that is slow is served from the log, and costs one page of events.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use board::wire;
use board::{Board, ProjectId, Refusal, RefusalReason, Seq};
use control::Project;
use futures::stream::{self, Stream};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use server::ProjectFollower;
use utoipa::IntoParams;

use super::Query;
use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;

/// Events that are read at once for one reader.
const PAGE: usize = 64;

/// How often a silent stream shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamQuery {
    /// Only this project; otherwise all.
    #[param(value_type = Option<String>)]
    project: Option<ProjectId>,
    /// From where on, as the `id` of an event, if `Last-Event-ID` does not say. `0`: everything. Default: from now on.
    after: Option<String>,
}

/// Where a reader is in each project: `web:12,api:3`; `0` at the beginning of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct StreamCursor(BTreeMap<ProjectId, Seq>);

impl std::fmt::Display for StreamCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // An empty id would be none, and its reader sent to the end.
        if self.0.is_empty() {
            return f.write_str("0");
        }
        for (index, (id, seq)) in self.0.iter().enumerate() {
            write!(f, "{}{id}:{seq}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::str::FromStr for StreamCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let one = |part: &str| {
            let (id, seq) = part.rsplit_once(':').ok_or(())?;
            Ok((id.parse().map_err(drop)?, seq.parse().map_err(drop)?))
        };
        if text == "0" { Ok(Self::default()) } else { text.split(',').map(one).collect::<Result<_, ()>>().map(Self) }
    }
}

/// An event of a project.
#[derive(Debug, Serialize)]
struct StreamedEvent<'a> {
    project: &'a ProjectId,
    #[serde(flatten)]
    event: wire::Event,
    /// It only keeps the books: pages need not be shown anew for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bookkeeping: bool,
}

/// One reader.
struct Reader {
    state: AppState,
    person: Person,
    cursor: StreamCursor,
    projects: ProjectFollower,
    ready: VecDeque<Message>,
}

/// Events as they happen
///
/// Each event has an `id`. A reader who comes back with the last one as `Last-Event-ID` misses none and gets none twice.
#[utoipa::path(
    get, path = "/events", tag = "events", params(StreamQuery, ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, content_type = "text/event-stream", body = String))
)]
pub(super) async fn events(
    State(state): State<AppState>,
    person: Person,
    headers: HeaderMap,
    Query(wanted): Query<StreamQuery>,
) -> Result<Sse<impl Stream<Item = Result<Message, Infallible>>>, Problem> {
    if !person.has_place {
        return Err(Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_connections",
            person.say("This login has too many open connections.", "このログインの接続が多すぎます。"),
            person.say("Close some of its pages or programs.", "いくつかのページやプログラムを閉じてください。"),
        ));
    }
    let named = headers.get("last-event-id").and_then(|value| value.to_str().ok()).filter(|id| !id.is_empty());
    let named = named.or(wanted.after.as_deref());
    let named_cursor = named.map(str::parse::<StreamCursor>).transpose().map_err(|()| no_such_event())?;
    let mut projects = ProjectFollower::new(Arc::clone(&state.server), wanted.project.clone());
    let named = match named_cursor {
        Some(cursor) => Some(state.known(&person, cursor).await?),
        None => None,
    };
    // Without a cursor: from now on.
    let after = |id: &ProjectId, board: &Board| match &named {
        Some(cursor) => cursor.0.get(id).copied().unwrap_or(0),
        None => board.seq,
    };
    projects.find_new(after).await.map_err(|error| person.problem(&error))?;
    if let Some(id) = wanted.project.filter(|_| projects.is_empty()) {
        return Err(person.refused(&Refusal::from(RefusalReason::NoSuchProject(id.to_string()))));
    }
    let cursor =
        named.unwrap_or_else(|| StreamCursor(projects.positions().map(|(id, seq)| (id.clone(), seq)).collect()));
    let mut reader = Reader { person, cursor, projects, ready: VecDeque::new(), state };
    // Sent at once, so that a reader who is cut off before the first event can come back as well.
    // Browsers drop an event without data.
    let cursor = reader.cursor.to_string();
    reader.ready.push_back(Message::default().event("place").id(&cursor).data(&cursor));
    let told = stream::unfold(reader, |mut reader| async move {
        let next = reader.next().await?;
        Some((Ok(next), reader))
    });
    Ok(Sse::new(told).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

fn no_such_event() -> Problem {
    Problem::bad_argument("This is not the id of an event.", "Send the `id` of the last event, or 0 for all of them.")
}

impl AppState {
    /// A cursor that a reader can have been given. From one beyond the end of the log, events would be missed.
    async fn known(&self, person: &Person, cursor: StreamCursor) -> Result<StreamCursor, Problem> {
        // Every event repeats the cursor, so it may only name projects that exist: its length is bounded.
        let installation = self.server.installation().state();
        for (id, seq) in &cursor.0 {
            if !installation.projects.contains_key(id) {
                return Err(no_such_event());
            }
            let end = self.server.control().log().end(&Project::stream(id)).await;
            if *seq > end.map_err(|error| person.problem(&error))? {
                return Err(no_such_event());
            }
        }
        Ok(cursor)
    }
}

impl Reader {
    /// The next message; `None` when the server closes or the reader may not read any more.
    async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            // A project that is added later is sent from its first event.
            self.projects.find_new(|_, _| 0).await.ok()?;
            if !self.state.still_valid(&self.person) {
                return None;
            }
            self.fill().await?;
            if self.ready.is_empty() {
                self.projects.changed().await?;
            }
        }
    }

    /// The next events of the first project that has any.
    async fn fill(&mut self) -> Option<()> {
        let Some((id, events)) = self.projects.events(PAGE).await.ok()? else { return Some(()) };
        for (seq, event) in events {
            self.cursor.0.insert(id.clone(), seq);
            let bookkeeping = event.what.is_bookkeeping();
            let streamed = StreamedEvent { project: &id, event: wire::Event::of(seq, &event), bookkeeping };
            let message = Message::default().id(self.cursor.to_string());
            self.ready.push_back(message.json_data(&streamed).ok()?);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::StreamCursor;

    /// W4
    #[test]
    fn a_place_is_read_as_it_was_written() {
        let cursor: StreamCursor = "api:3,my.web:12".parse().unwrap();
        assert_eq!(cursor.to_string(), "api:3,my.web:12");
        assert_eq!("0".parse(), Ok(StreamCursor::default()));
        assert_eq!(StreamCursor::default().to_string(), "0");
        for wrong in ["", "12", "web:", "web:x", ":3", "web:1,,"] {
            assert!(wrong.parse::<StreamCursor>().is_err(), "{wrong}");
        }
    }
}
