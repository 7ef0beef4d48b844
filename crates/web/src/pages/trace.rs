//! How do the decisions behind a session look? What was asked, what was answered, and by which rule (E6).

use board::{DecisionText, SessionId, Timestamp, say_decision};
use serde_json::Value;

use super::parts::Age;
use crate::ProjectRequest;
use crate::person::Person;
use crate::problem::Problem;

/// Decisions that are shown, the newest.
const SHOWN: usize = 300;

/// One decision.
#[derive(Debug)]
pub(super) struct TraceLine {
    pub(super) at: Age,
    pub(super) seq: board::Seq,
    pub(super) text: DecisionText,
    /// All of it.
    pub(super) body: String,
}

/// Oldest first, as they were made.
pub(super) async fn trace_lines(
    open: &ProjectRequest,
    session: SessionId,
    person: &Person,
) -> Result<Vec<TraceLine>, Problem> {
    let found = open.project.decisions(&session.to_string(), u64::MAX, SHOWN).await;
    let mut found: Vec<_> =
        found.map_err(|error| person.problem(&error))?.into_iter().rev().map(|one| one.decision).collect();
    // Verdicts are written at once, calls a little later.
    found.sort_by_key(|decision| decision.at);
    let line = |decision: control::Decision| {
        let body: Value = serde_json::from_str(&decision.body).unwrap_or_default();
        TraceLine {
            at: Age { at: Timestamp(decision.at), now: open.now, language: person.language },
            seq: decision.seq,
            text: say_decision(&decision.kind, &body, person.language),
            body: board::clean(&serde_json::to_string_pretty(&body).unwrap_or_default()),
        }
    };
    Ok(found.into_iter().map(line).collect())
}
