//! How is the trace of a session or agent read and printed (E6)?

use board::{Language, Seq, Timestamp};
use control::Decision;
use serde_json::{Value, json};

use crate::context::{Context, OpenProject, say_in};
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
    let word = |name: &str| entry[name].as_str();
    let asked = match decision.kind.as_str() {
        "next_action" => "get_next_action".to_owned(),
        "staffing" => "get_agent_action".to_owned(),
        "call" => {
            let arguments = entry["arguments"].as_object();
            let told = arguments
                .into_iter()
                .flatten()
                .map(|(_, value)| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            [vec![word("tool").unwrap_or("?").to_owned()], told.collect()].concat().join(" ")
        }
        kind => kind.to_owned(),
    };
    let answered = match (word("refused"), word("failed"), word("action"), word("verdict")) {
        (Some(code), ..) => say_in(language, format!("refused: {code}"), format!("拒否: {code}")),
        (_, Some(error), ..) => say_in(language, format!("failed: {error}"), format!("失敗: {error}")),
        (_, _, Some(action), _) => {
            let reason = word("reason").map(|reason| format!(": {reason}")).unwrap_or_default();
            let of = word("state").or_else(|| entry["purpose"]["task"].as_str()).or_else(|| word("purpose"));
            let until =
                word("until").map(|until| say_in(language, format!(", until {until}"), format!("、{until} まで")));
            let until = until.unwrap_or_default();
            format!("{action}{reason}{}{until}", of.map(|of| format!(" ({of})")).unwrap_or_default())
        }
        (_, _, _, Some(verdict)) => verdict.to_owned(),
        _ => "ok".to_owned(),
    };
    let row = word("row").map(|row| format!("  {row}")).unwrap_or_default();
    let times = entry["times"].as_u64().map(|times| format!("  ×{times}")).unwrap_or_default();
    clean(&format!("{} {:>6}  {asked} → {answered}{row}{times}", local_time(Timestamp(decision.at)), decision.seq))
}
