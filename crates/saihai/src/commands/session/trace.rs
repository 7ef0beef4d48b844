//! `saihai session trace`

use board::{SessionId, Timestamp};
use clap::Args;
use control::Decision;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{clean, local_time};

/// Show every call of a session, what it was told and why, in order
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is one call: when, on which event of the log, what was asked, what was answered. The last
column names the rule that decided (N2.10 is row 10 of the table N2 in docs/requirements.md). Repeated
calls are one line with their number. The newest 100,000 lines of a project are kept.")]
pub(crate) struct Trace {
    /// Its id, such as ses_3 or 3
    id: SessionId,
    /// Only the newest N
    #[arg(long, short = 'n', value_name = "N")]
    lines: Option<usize>,
}

impl Trace {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        opened.board().session(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let limit = self.lines.unwrap_or(usize::MAX);
        let found = opened.project.decisions(&self.id.to_string(), u64::MAX, limit).await;
        let found = found.map_err(|error| opened.failure(error))?;
        let mut found: Vec<_> = found.into_iter().rev().map(|one| one.decision).collect();
        // Verdicts are written at once, calls a little later.
        found.sort_by_key(|decision| decision.at);
        let entries: Vec<_> = found.iter().map(entry).collect();
        let seqs = || found.iter().map(|decision| decision.seq.to_string()).collect();
        context.format.print(&entries, seqs, || {
            if found.is_empty() {
                return opened.say("The session has made no calls yet.", "まだ呼び出しはありません。");
            }
            found.iter().zip(&entries).map(|(decision, entry)| line(decision, entry)).collect::<Vec<_>>().join("\n")
        })
    }
}

fn entry(decision: &Decision) -> Value {
    let mut entry = json!({ "at": Timestamp(decision.at), "seq": decision.seq, "kind": decision.kind });
    if let (Ok(Value::Object(body)), Value::Object(entry)) = (serde_json::from_str(&decision.body), &mut entry) {
        entry.extend(body);
    }
    entry
}

fn line(decision: &Decision, entry: &Value) -> String {
    let word = |name: &str| entry[name].as_str();
    let asked = match decision.kind.as_str() {
        "next_action" => "get_next_action".to_owned(),
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
        (Some(code), ..) => format!("refused: {code}"),
        (_, Some(error), ..) => format!("failed: {error}"),
        (_, _, Some(action), _) => {
            let reason = word("reason").map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{action}{reason} ({})", word("state").unwrap_or("?"))
        }
        (_, _, _, Some(verdict)) => verdict.to_owned(),
        _ => "ok".to_owned(),
    };
    let row = word("row").map(|row| format!("  {row}")).unwrap_or_default();
    let times = entry["times"].as_u64().map(|times| format!("  ×{times}")).unwrap_or_default();
    clean(&format!("{} {:>6}  {asked} → {answered}{row}{times}", local_time(Timestamp(decision.at)), decision.seq))
}
