//! What does a line of `opencode run --format json` say?

use board::TranscriptEvent;
use serde_json::Value;

use super::tool::tool_use;
use super::{MOST_OF_TOOL, TranscriptReader, outcome, shortened, text_of};

/// `false` if the line is to be shown as it is.
pub(super) fn read(reader: &mut TranscriptReader, event: &Value) -> bool {
    let part = &event["part"];
    match event["type"].as_str() {
        Some("step_start" | "step_finish") => {}
        Some("text") => reader.text(&text_of(&part["text"])),
        Some("reasoning") => reader.thinking(&text_of(&part["text"])),
        Some("tool_use") => tool_result(reader, part),
        Some("error") => {
            let data = &event["error"]["data"];
            let said = if data["message"].is_string() { &data["message"] } else { &event["error"]["name"] };
            reader.error(&text_of(said));
        }
        Some(_) | None => return false,
    }
    true
}

/// A call is told when it is over.
fn tool_result(reader: &mut TranscriptReader, part: &Value) {
    let text = |key: &str| part[key].as_str().unwrap_or_default();
    let state = &part["state"];
    let tool = tool_use(text("callID"), &tool_name(text("tool")), &state["input"]);
    let failed = state["status"] == "error";
    let output = text_of(if failed { &state["error"] } else { &state["output"] });
    let took =
        state["time"]["end"].as_i64().zip(state["time"]["start"].as_i64()).map(|(end, start)| (end - start).max(0));
    let output = shortened(&output, MOST_OF_TOOL);
    reader.say(TranscriptEvent::ToolResult { tool, outcome: outcome(failed), output, duration_ms: took });
}

/// `SERVER_TOOL` of the one server that it has, as others write it.
fn tool_name(name: &str) -> String {
    match name.strip_prefix("saihai_") {
        Some(tool) => format!("mcp__saihai__{tool}"),
        None => name.to_owned(),
    }
}
