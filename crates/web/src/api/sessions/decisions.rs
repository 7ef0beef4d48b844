//! What was a session told, and why?

use std::collections::HashMap;
use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use board::{SessionId, Timestamp};
use serde::Deserialize;
use utoipa::IntoParams;

use super::super::page::{self, Page};
use super::super::shapes::Decision;
use super::super::{Path, Query};
use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Paging {
    /// How many at most: 1 to 500, 100 if not said.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// The place of a decision: when it was made, and which of that instant it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DecisionCursor(i64, usize);

impl std::fmt::Display for DecisionCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl FromStr for DecisionCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (at, which) = text.split_once('.').ok_or(())?;
        Ok(Self(at.parse().map_err(drop)?, which.parse().map_err(drop)?))
    }
}

/// Every call of a session, what it was told and why, newest first
///
/// The newest 100,000 of a project are kept. Calls that only repeated themselves are one, with how often.
#[utoipa::path(
    get, path = "/projects/{project}/sessions/{session}/decisions", tag = "sessions",
    params(("project" = String, Path), ("session" = String, Path), Paging),
    responses((status = 200, body = Page<Decision>))
)]
pub(super) async fn decisions(
    State(state): State<AppState>,
    person: Person,
    Path((project, session)): Path<(String, SessionId)>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Decision>>, Problem> {
    let limit = page::limit(paging.limit)?;
    let before: Option<DecisionCursor> = page::cursor(paging.after.as_deref())?;
    let open = state.project(&person, &project).await?;
    open.board.session(session).map_err(|refusal| person.refused(&refusal))?;
    let found = open.project.decisions(&session.to_string(), usize::MAX).await;
    let mut found = placed(found.map_err(|error| person.problem(&error))?);
    found.retain(|(place, _)| before.is_none_or(|before| *place < before));
    Ok(Json(Page::of(found.into_iter().rev(), limit, |(place, _)| *place, |(_, decision)| shape(&decision))))
}

/// Verdicts are written at once, calls a little later: time puts them in order.
fn placed(mut found: Vec<store::Decision>) -> Vec<(DecisionCursor, store::Decision)> {
    found.sort_by_key(|decision| decision.at);
    let mut of_instant: HashMap<i64, usize> = HashMap::new();
    let place = |decision: store::Decision| {
        let which = of_instant.entry(decision.at).or_default();
        *which += 1;
        (DecisionCursor(decision.at, *which), decision)
    };
    found.into_iter().map(place).collect()
}

fn shape(decision: &store::Decision) -> Decision {
    let body = serde_json::from_str(&decision.body).unwrap_or_default();
    Decision { at: Timestamp(decision.at), seq: decision.seq, kind: decision.kind.clone(), body }
}
