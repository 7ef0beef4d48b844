//! How is the trace of a session or agent read and printed (E6)?

use board::{DecisionText, Language, Seq, Timestamp, say_decision};
use control::Decision;
use serde_json::{Value, json};

use crate::context::{Context, OpenProject};
use crate::failure::Failure;
use crate::show::{clean, local_time};

/// Prints the newest decisions about a session or agent, the oldest of them first.
pub(crate) async fn print(
    context: &Context,
    opened: &OpenProject,
    subject: &str,
    limit: Option<usize>,
    none: String,
) -> Result<(), Failure> {
    let found = opened.project.decisions(subject, u64::MAX, limit.unwrap_or(usize::MAX)).await;
    let found = found.map_err(|error| opened.failure(error))?;
    let mut found: Vec<_> = found.into_iter().rev().map(|one| one.decision).collect();
    // Verdicts are written at once, calls a little later.
    found.sort_by_key(|decision| decision.at);
    let entries: Vec<_> = found.iter().map(entry).collect();
    let seqs = || found.iter().map(|decision| Seq::to_string(&decision.seq)).collect();
    context.format.print(&entries, seqs, || {
        if found.is_empty() {
            return none;
        }
        found
            .iter()
            .zip(&entries)
            .map(|(decision, entry)| line(opened.language, decision, entry))
            .collect::<Vec<_>>()
            .join("\n")
    })
}

fn entry(decision: &Decision) -> Value {
    let mut entry = json!({ "at": Timestamp(decision.at), "seq": decision.seq, "kind": decision.kind });
    if let (Ok(Value::Object(body)), Value::Object(entry)) = (serde_json::from_str(&decision.body), &mut entry) {
        entry.extend(body);
    }
    entry
}

fn line(language: Language, decision: &Decision, entry: &Value) -> String {
    let DecisionText { asked, answered, row, times } = say_decision(&decision.kind, entry, language);
    let row = row.map(|row| format!("  {row}")).unwrap_or_default();
    let times = times.map(|times| format!("  ×{times}")).unwrap_or_default();
    clean(&format!("{} {:>6}  {asked} → {answered}{row}{times}", local_time(Timestamp(decision.at)), decision.seq))
}
