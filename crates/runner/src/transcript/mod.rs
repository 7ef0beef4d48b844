//! How is what a client prints told as a conversation (W8)? Each line that a client means for programs becomes entries; what
//! is meant for people, or not known, stays as it is.

mod claude_code;
mod codex;
mod gemini;
mod opencode;
mod tool;

use std::collections::BTreeMap;

use board::{Client, Span, Timestamp, ToolOutcome, ToolUse, TranscriptEntry, TranscriptEvent};
use serde_json::Value;

/// Text of one entry, at most, in characters. The output has the rest.
const MOST_TEXT: usize = 16 * 1024;

/// What a tool answered or was given, at most.
const MOST_OF_TOOL: usize = 4 * 1024;

/// Calls whose results are waited for, at most.
const MOST_CALLS: usize = 256;

/// For so long text that comes in pieces is gathered.
const GATHER: Span = Span(1_000);

/// Reads the output of a client, line by line.
#[derive(Debug)]
pub(crate) struct TranscriptReader {
    client: Client,
    at: Timestamp,
    position: u64,
    entries: Vec<TranscriptEntry>,
    /// When each call that has no result yet was made, and what it is.
    calls: BTreeMap<String, (Timestamp, ToolUse)>,
    /// Lines for people, which are told together.
    lines: Option<Gathered>,
    /// Text that comes in pieces.
    text: Option<Gathered>,
    /// The last entry was text that goes on.
    text_goes_on: bool,
}

#[derive(Debug)]
struct Gathered {
    at: Timestamp,
    position: u64,
    text: String,
}

impl TranscriptReader {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            at: Timestamp::default(),
            position: 0,
            entries: Vec::new(),
            calls: BTreeMap::new(),
            lines: None,
            text: None,
            text_goes_on: false,
        }
    }

    /// Reads a line that came `at` a time and begins at a position of the output. `event` is what it says to programs.
    pub(crate) fn line(&mut self, line: &[u8], event: Option<&Value>, position: u64, at: Timestamp) {
        (self.at, self.position) = (at, position);
        let known = event.is_some_and(|event| match self.client {
            Client::ClaudeCode => claude_code::read(self, event),
            Client::Codex => codex::read(self, event),
            Client::Gemini => gemini::read(self, event),
            Client::Opencode => opencode::read(self, event),
            Client::Command | Client::Attached => false,
        });
        if !known {
            self.gather_line(&String::from_utf8_lossy(line));
        }
    }

    /// What there is to write down by now. Whoever waits for more calls it again.
    pub(crate) fn take(&mut self, now: Timestamp) -> Vec<TranscriptEntry> {
        self.end_lines();
        if self.text.as_ref().is_some_and(|text| now - text.at >= GATHER) {
            self.end_text(true);
        }
        std::mem::take(&mut self.entries)
    }

    /// What is left when there will be no more.
    pub(crate) fn finish(&mut self) -> Vec<TranscriptEntry> {
        self.end_lines();
        self.end_text(false);
        std::mem::take(&mut self.entries)
    }

    /// Adds an entry after whatever was gathered.
    fn say(&mut self, said: TranscriptEvent) {
        self.end_lines();
        self.end_text(false);
        self.entries.push(TranscriptEntry { at: self.at, position: self.position, said });
    }

    fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.say(TranscriptEvent::Text { text: shortened(text, MOST_TEXT), continues: false });
        }
    }

    fn thinking(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.say(TranscriptEvent::Thinking { text: shortened(text, MOST_TEXT) });
        }
    }

    fn error(&mut self, text: &str) {
        self.say(TranscriptEvent::Error { text: shortened(text, MOST_TEXT) });
    }

    /// A piece of a text that goes on with the next line of the output.
    fn text_piece(&mut self, piece: &str) {
        self.end_lines();
        let (at, position) = (self.at, self.position);
        let text = self.text.get_or_insert_with(|| Gathered { at, position, text: String::new() });
        text.text.push_str(piece);
        if text.text.len() >= MOST_OF_TOOL {
            self.end_text(true);
        }
    }

    fn end_text(&mut self, goes_on: bool) {
        if let Some(Gathered { at, position, text }) = self.text.take() {
            let said = TranscriptEvent::Text { text: shortened(&text, MOST_TEXT), continues: self.text_goes_on };
            self.entries.push(TranscriptEntry { at, position, said });
        }
        self.text_goes_on = goes_on;
    }

    fn gather_line(&mut self, line: &str) {
        self.end_text(false);
        if self.lines.as_ref().is_some_and(|lines| lines.text.len() + line.len() > MOST_OF_TOOL) {
            self.end_lines();
        }
        let (at, position) = (self.at, self.position);
        let lines = self.lines.get_or_insert_with(|| Gathered { at, position, text: String::new() });
        lines.text.push_str(&shortened(line, MOST_OF_TOOL));
    }

    fn end_lines(&mut self) {
        if let Some(Gathered { at, position, text }) = self.lines.take()
            && !text.trim().is_empty()
        {
            let said = TranscriptEvent::Output { text: text.trim_end().to_owned() };
            self.entries.push(TranscriptEntry { at, position, said });
        }
    }

    /// A tool was called.
    fn call(&mut self, call: &str, name: &str, input: &Value) {
        let tool = tool::tool_use(call, name, input);
        let known = ToolUse { input: String::new(), edits: Vec::new(), ..tool.clone() };
        if self.calls.len() < MOST_CALLS {
            self.calls.insert(call.to_owned(), (self.at, known));
        }
        self.say(TranscriptEvent::ToolCall { tool });
    }

    /// A tool has answered. `tool` says what it was if its call was not told.
    fn result(&mut self, call: &str, tool: impl FnOnce() -> ToolUse, outcome: ToolOutcome, output: &str) {
        let (duration_ms, tool) = match self.calls.remove(call) {
            Some((began, tool)) => (Some((self.at - began).0.max(0)), tool),
            None => (None, tool()),
        };
        self.say(TranscriptEvent::ToolResult { tool, outcome, output: shortened(output, MOST_OF_TOOL), duration_ms });
    }
}

/// Did something go well, by a client's own word?
fn outcome(failed: bool) -> ToolOutcome {
    if failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded }
}

/// The beginning of a text that is too long.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A text that is told as a string, as a list of parts, or as anything else.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => match part.get("text").or_else(|| part.get("content")) {
            Some(text) => text_of(text),
            None => value.to_string(),
        },
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
