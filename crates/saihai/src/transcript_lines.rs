//! How is a session's conversation printed (W8)?

use board::{ToolOutcome, TranscriptEntry, TranscriptEvent};

use crate::context::say_in;
use crate::show::{clean, local_time};

/// Lines of a tool's output, or of an edit, that are shown.
const MOST_LINES: usize = 12;

/// The entries of whole lines. What a newer program has written may not be known here.
pub(crate) fn entries(bytes: &[u8]) -> Vec<TranscriptEntry> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// An entry for people, perhaps of several lines.
pub(crate) fn line(entry: &TranscriptEntry, language: board::Language) -> String {
    let at = local_time(entry.at);
    let at = at.rsplit(' ').next().unwrap_or(&at);
    let mark = |outcome: ToolOutcome| match outcome {
        ToolOutcome::Succeeded => String::new(),
        ToolOutcome::Failed => say_in(language, " failed", " 失敗"),
    };
    let took = |duration: Option<i64>| duration.map(|ms| format!(" ({:.1} s)", ms as f64 / 1000.0)).unwrap_or_default();
    let said = match &entry.said {
        TranscriptEvent::Started { model } => {
            let model = model.as_deref().unwrap_or_default();
            say_in(language, format!("started {model}"), format!("開始 {model}"))
        }
        TranscriptEvent::Text { text, .. } => text.trim_end().to_owned(),
        TranscriptEvent::Thinking { text } => format!("{} {}", say_in(language, "thinks:", "思考:"), text.trim_end()),
        TranscriptEvent::ToolCall { tool } => {
            let edits = tool.edits.iter().map(|edit| format!("\n{}\n{}", edit.file, beginning(&edit.diff)));
            format!("→ {}{}", tool.title(), edits.collect::<String>())
        }
        TranscriptEvent::ToolResult { tool, outcome, output, duration_ms } => {
            let head = format!("← {}{}{}", tool.title(), mark(*outcome), took(*duration_ms));
            if output.trim().is_empty() { head } else { format!("{head}\n{}", beginning(output)) }
        }
        TranscriptEvent::Finished { outcome, text, usage, duration_ms } => {
            let tokens = usage.map(|usage| format!(" {} → {}", usage.input_tokens, usage.output_tokens));
            let cost = usage.and_then(|usage| usage.cost_micros).map(|micros| format!(" ${:.2}", micros as f64 / 1e6));
            let numbers = [tokens, cost].into_iter().flatten().collect::<String>();
            let word = say_in(language, "finished", "終了");
            format!("{word}{}{}{numbers}\n{}", mark(*outcome), took(*duration_ms), text.trim_end())
                .trim_end()
                .to_owned()
        }
        TranscriptEvent::Error { text } => format!("{} {}", say_in(language, "error:", "エラー:"), text.trim_end()),
        TranscriptEvent::Output { text } => text.clone(),
    };
    format!("{at}  {}", clean(&said).replace('\n', "\n          "))
}

/// The first lines of a text that may be long.
fn beginning(text: &str) -> String {
    let mut lines: Vec<_> = text.trim_end().lines().take(MOST_LINES + 1).collect();
    if lines.len() > MOST_LINES {
        lines[MOST_LINES] = "…";
    }
    lines.join("\n")
}
