//! What does a line of Claude Code's `stream-json` say?

use board::{ToolUse, TranscriptEvent, Usage};
use serde_json::Value;

use super::{MOST_TEXT, TranscriptReader, outcome, shortened, text_of};

/// `false` if the line is to be shown as it is.
pub(super) fn read(reader: &mut TranscriptReader, event: &Value) -> bool {
    match (event["type"].as_str(), event["subtype"].as_str()) {
        (Some("system"), Some("init")) => {
            reader.say(TranscriptEvent::Started { model: event["model"].as_str().map(str::to_owned) });
        }
        (Some("system"), Some("api_retry")) => {
            let status = text_of(&event["error_status"]);
            reader.error(&format!("{} {status}", event["error"].as_str().unwrap_or("api_retry")));
        }
        (Some("assistant"), _) if event["error"].is_string() => reader.error(&text_of(&event["message"]["content"])),
        (Some("assistant"), _) => parts(event).for_each(|part| said(reader, part)),
        (Some("user"), _) => {
            let results = parts(event).filter(|part| part["type"] == "tool_result");
            results.for_each(|part| {
                let call = part["tool_use_id"].as_str().unwrap_or_default();
                let failed = part["is_error"] == true;
                reader.result(call, ToolUse::default, outcome(failed), &text_of(&part["content"]));
            });
        }
        (Some("result"), _) => {
            let text = match event["result"].as_str() {
                Some(text) => text.to_owned(),
                None => event["subtype"].as_str().unwrap_or_default().to_owned(),
            };
            let usage = &event["usage"];
            let tokens = |names: &[&str]| names.iter().map(|name| usage[*name].as_u64().unwrap_or(0)).sum();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it saturates, and is positive"
            )]
            let cost = event["total_cost_usd"].as_f64().map(|dollars| (dollars * 1e6).round() as u64);
            let usage = Usage {
                input_tokens: tokens(&["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]),
                output_tokens: tokens(&["output_tokens"]),
                cost_micros: cost,
            };
            reader.say(TranscriptEvent::Finished {
                outcome: outcome(event["is_error"] == true),
                text: shortened(&text, MOST_TEXT),
                usage: Some(usage),
                duration_ms: event["duration_ms"].as_i64(),
            });
        }
        // What it does by itself, and says nothing to anybody.
        (Some("rate_limit_event"), _) => return event["rate_limit_info"]["status"] != "rejected",
        (Some("system"), Some("status" | "hook_started" | "hook_response" | "thinking_tokens")) => {}
        _ => return false,
    }
    true
}

fn parts(event: &Value) -> impl Iterator<Item = &Value> {
    event["message"]["content"].as_array().into_iter().flatten()
}

fn said(reader: &mut TranscriptReader, part: &Value) {
    let text = |key: &str| part[key].as_str().unwrap_or_default();
    match part["type"].as_str() {
        Some("text") => reader.text(text("text")),
        Some("thinking") => reader.thinking(text("thinking")),
        Some("tool_use" | "server_tool_use") => reader.call(text("id"), text("name"), &part["input"]),
        Some("redacted_thinking") => {}
        Some(_) | None => reader.text(&text_of(part)),
    }
}
