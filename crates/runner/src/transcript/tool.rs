//! What does a tool do that is called with these arguments? Its file or command, and the change that it makes.

use board::{FileEdit, ToolUse};
use serde_json::Value;
use similar::TextDiff;

use super::{MOST_OF_TOOL, shortened, text_of};

/// The arguments that tell one call from another, the most telling first.
const TELLING: [&str; 14] = [
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "task_id",
    "title",
    "status",
    "result",
    "description",
];

/// Longer texts are not compared line by line.
const MOST_COMPARED: usize = 64 * 1024;

/// Edits of one call that are shown, at most.
const MOST_EDITS: usize = 20;

pub(super) fn tool_use(call: &str, name: &str, input: &Value) -> ToolUse {
    let (server, name) = match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, tool)) => (Some(server.to_owned()), tool),
        None => (None, name),
    };
    let telling = TELLING.iter().find_map(|key| input.get(*key).filter(|value| !value.is_null()));
    let about = shortened(&telling.map(text_of).unwrap_or_default(), MOST_OF_TOOL);
    let edits = edits(input);
    let only_telling = input.as_object().is_none_or(|arguments| arguments.len() <= usize::from(telling.is_some()));
    let input = if only_telling || !edits.is_empty() { String::new() } else { input.to_string() };
    ToolUse {
        call: call.to_owned(),
        name: name.to_owned(),
        server,
        about,
        input: shortened(&input, MOST_OF_TOOL),
        edits,
    }
}

/// The change of a file that a tool of any client is called for.
fn edits(input: &Value) -> Vec<FileEdit> {
    let text = |value: &Value, keys: &[&str]| keys.iter().find_map(|key| value[*key].as_str()).map(str::to_owned);
    let Some(file) = text(input, &["file_path", "filePath", "path"]) else { return Vec::new() };
    let replacement = |value: &Value| {
        let (old, new) = (text(value, &["old_string", "oldString"])?, text(value, &["new_string", "newString"])?);
        Some(FileEdit { file: file.clone(), diff: difference(&old, &new) })
    };
    if let Some(edits) = input["edits"].as_array() {
        return edits.iter().filter_map(replacement).take(MOST_EDITS).collect();
    }
    let written = || text(input, &["content", "contents"]).map(|new| difference("", &new));
    let whole = || written().map(|diff| FileEdit { file: file.clone(), diff });
    replacement(input).or_else(whole).into_iter().collect()
}

/// What becomes of a text, as lines that were taken out and put in.
pub(super) fn difference(old: &str, new: &str) -> String {
    if old.len() + new.len() > MOST_COMPARED {
        return format!("@@ -{} +{} @@", old.lines().count(), new.lines().count());
    }
    let diff = TextDiff::from_lines(old, new);
    let text = diff.unified_diff().context_radius(2).missing_newline_hint(false).to_string();
    shortened(&text, MOST_OF_TOOL)
}
