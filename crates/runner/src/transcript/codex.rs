//! What does a line of `codex exec --json` say?

use board::{FileEdit, ToolOutcome, ToolUse, TranscriptEvent, Usage};
use serde_json::{Value, json};

use super::tool::tool_use;
use super::{TranscriptReader, outcome, text_of};

/// `false` if the line is to be shown as it is.
pub(super) fn read(reader: &mut TranscriptReader, event: &Value) -> bool {
    let item = &event["item"];
    match event["type"].as_str() {
        Some("thread.started") => reader.say(TranscriptEvent::Started { model: None }),
        Some("turn.started" | "item.updated") => {}
        Some("item.started") => {
            if let Some((name, input)) = tool(item) {
                reader.call(id(item), &name, &input);
            }
        }
        Some("item.completed") => return completed(reader, item),
        Some("turn.completed") => {
            let tokens = |name: &str| event["usage"][name].as_u64().unwrap_or(0);
            let usage = Usage {
                input_tokens: tokens("input_tokens"),
                output_tokens: tokens("output_tokens"),
                cost_micros: None,
            };
            let (outcome, text) = (ToolOutcome::Succeeded, String::new());
            reader.say(TranscriptEvent::Finished { outcome, text, usage: Some(usage), duration_ms: None });
        }
        Some("turn.failed") => reader.error(&text_of(&event["error"]["message"])),
        Some("error") => reader.error(&text_of(&event["message"])),
        Some(_) | None => return false,
    }
    true
}

fn id(item: &Value) -> &str {
    item["id"].as_str().unwrap_or_default()
}

fn completed(reader: &mut TranscriptReader, item: &Value) -> bool {
    let text = || text_of(&item["text"]);
    match item["type"].as_str() {
        Some("agent_message") => reader.text(&text()),
        Some("reasoning") => reader.thinking(&text()),
        Some("error") => reader.error(&text_of(&item["message"])),
        Some("file_change") => {
            let edits = item["changes"].as_array().into_iter().flatten().map(edit).collect();
            let tool = || ToolUse { call: id(item).to_owned(), name: "edit".into(), edits, ..ToolUse::default() };
            reader.result(id(item), tool, outcome(item["status"] == "failed"), "");
        }
        Some(_) => {
            let Some((name, input)) = tool(item) else { return false };
            let failed = item["status"] == "failed"
                || !item["error"].is_null()
                || item["exit_code"].as_i64().is_some_and(|code| code != 0);
            let output = match item["type"].as_str() {
                Some("command_execution") => text_of(&item["aggregated_output"]),
                _ if !item["error"].is_null() => text_of(&item["error"]["message"]),
                _ => text_of(&item["result"]["content"]),
            };
            reader.result(id(item), || tool_use(id(item), &name, &input), outcome(failed), &output);
        }
        None => return false,
    }
    true
}

/// The tool that an item is about, and what it was called with.
fn tool(item: &Value) -> Option<(String, Value)> {
    match item["type"].as_str()? {
        "command_execution" => Some(("shell".into(), json!({ "command": item["command"] }))),
        "mcp_tool_call" => {
            let (server, tool) = (item["server"].as_str()?, item["tool"].as_str()?);
            Some((format!("mcp__{server}__{tool}"), item["arguments"].clone()))
        }
        "web_search" => Some(("web_search".into(), json!({ "query": item["query"] }))),
        _ => None,
    }
}

/// It names the file and what became of it; only some versions tell the difference.
fn edit(change: &Value) -> FileEdit {
    let text = |key: &str| change[key].as_str().unwrap_or_default().to_owned();
    let diff = if change["diff"].is_string() { text("diff") } else { format!("@@ {} @@", text("kind")) };
    FileEdit { file: text("path"), diff }
}
