//! What does a line of Gemini CLI's `stream-json` say?

use board::{ToolUse, TranscriptEvent, Usage};
use serde_json::Value;

use super::{TranscriptReader, outcome, text_of};

/// `false` if the line is to be shown as it is.
pub(super) fn read(reader: &mut TranscriptReader, event: &Value) -> bool {
    let text = |key: &str| event[key].as_str().unwrap_or_default();
    match event["type"].as_str() {
        Some("init") => reader.say(TranscriptEvent::Started { model: event["model"].as_str().map(str::to_owned) }),
        // What it was given to read.
        Some("message") if event["role"] == "user" => {}
        Some("message") if event["delta"] == true => reader.text_piece(&text_of(&event["content"])),
        Some("message") => reader.text(&text_of(&event["content"])),
        Some("thought") => reader.thinking(&text_of(&event["content"])),
        Some("tool_use") => reader.call(text("tool_id"), &tool_name(text("tool_name")), &event["parameters"]),
        Some("tool_result") => {
            let failed = event["status"] == "error";
            let output = if failed { text_of(&event["error"]["message"]) } else { text_of(&event["output"]) };
            reader.result(text("tool_id"), ToolUse::default, outcome(failed), &output);
        }
        Some("error") => reader.error(&text_of(&event["message"])),
        Some("result") => {
            let (stats, failed) = (&event["stats"], event["status"] == "error");
            let tokens = |name: &str| stats[name].as_u64().unwrap_or(0);
            let usage = Usage {
                input_tokens: tokens("input_tokens"),
                output_tokens: tokens("output_tokens"),
                cost_micros: None,
            };
            reader.say(TranscriptEvent::Finished {
                outcome: outcome(failed),
                text: if failed { text_of(&event["error"]["message"]) } else { String::new() },
                usage: Some(usage),
                duration_ms: stats["duration_ms"].as_i64(),
            });
        }
        Some(_) | None => return false,
    }
    true
}

/// `mcp_SERVER_TOOL`, as others write it.
fn tool_name(name: &str) -> String {
    match name.strip_prefix("mcp_").and_then(|rest| rest.split_once('_')) {
        Some((server, tool)) => format!("mcp__{server}__{tool}"),
        None => name.to_owned(),
    }
}
