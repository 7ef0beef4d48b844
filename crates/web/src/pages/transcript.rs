//! How does a session's conversation look (W8)? Each entry of its transcript is a part of the page with an address.

use askama::Template;
use askama::filters::HtmlSafe;
use board::{FileEdit, ToolOutcome, ToolUse, TranscriptEntry, TranscriptEvent, Usage, clean};

use super::ansi::{ColouredText, coloured};
use crate::person::Person;

/// Entries that a search shows, at most.
const MOST_FOUND: usize = 200;

/// How much of a thought is shown before it is unfolded.
const FIRST_WORDS: usize = 80;

/// A part of a conversation, as HTML.
#[derive(Debug, Template)]
#[template(path = "transcript.html")]
pub(super) struct Transcript {
    person: Person,
    parts: Vec<Part>,
    /// Shown because a search has found them: each leads to its place.
    found: bool,
}

impl HtmlSafe for Transcript {}

impl Transcript {
    fn t<'a>(&self, en: &'a str, ja: &'a str) -> &'a str {
        self.person.say(en, ja)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// An entry with where it is: in the transcript, and in what was printed.
#[derive(Debug)]
struct Part {
    start: u64,
    position: u64,
    at: String,
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    Started { model: String },
    Text(String),
    Thinking { first_words: String, text: String },
    Tool(Tool),
    Finished { failed: bool, text: String, numbers: String },
    Error(String),
    Output(ColouredText),
}

#[derive(Debug)]
struct Tool {
    use_: ToolUse,
    edits: Vec<Edit>,
    /// What it answered; `None` while it works.
    answer: Option<ToolAnswer>,
}

#[derive(Debug)]
struct ToolAnswer {
    failed: bool,
    output: String,
    took: String,
}

#[derive(Debug)]
struct Edit {
    file: String,
    added: usize,
    removed: usize,
    lines: Vec<(&'static str, String)>,
}

/// The entries of whole lines that begin at a position of the transcript.
pub(super) fn read(bytes: &[u8], start: u64, person: &Person) -> Transcript {
    show(entries(bytes, start), person, false)
}

fn entries(bytes: &[u8], mut start: u64) -> Vec<(u64, TranscriptEntry)> {
    let mut entries = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        // What a newer program has written may not be known here.
        if let Ok(entry) = serde_json::from_slice(line) {
            entries.push((start, entry));
        }
        start += line.len() as u64;
    }
    entries
}

/// Looks for a word in a whole transcript, piece by piece.
#[derive(Debug)]
pub(super) struct Search {
    word: String,
    found: Vec<(u64, TranscriptEntry)>,
}

impl Search {
    pub(super) fn new(word: &str) -> Self {
        Self { word: word.to_lowercase(), found: Vec::new() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= MOST_FOUND
    }

    pub(super) fn look(&mut self, bytes: &[u8], start: u64) {
        let has =
            |entry: &TranscriptEntry| texts(&entry.said).iter().any(|text| text.to_lowercase().contains(&self.word));
        let mut found: Vec<_> = entries(bytes, start).into_iter().filter(|(_, entry)| has(entry)).collect();
        found.truncate(MOST_FOUND - self.found.len());
        self.found.append(&mut found);
    }

    pub(super) fn found(self, person: &Person) -> Transcript {
        show(self.found, person, true)
    }
}

/// All that an entry says.
fn texts(said: &TranscriptEvent) -> Vec<&str> {
    fn of_tool(tool: &ToolUse) -> Vec<&str> {
        let edits = tool.edits.iter().flat_map(|edit| [edit.file.as_str(), &edit.diff]);
        [tool.name.as_str(), &tool.about, &tool.input].into_iter().chain(edits).collect()
    }
    match said {
        TranscriptEvent::Started { model } => model.iter().map(String::as_str).collect(),
        TranscriptEvent::Text { text, .. }
        | TranscriptEvent::Thinking { text }
        | TranscriptEvent::Error { text }
        | TranscriptEvent::Output { text } => vec![text],
        TranscriptEvent::ToolCall { tool } => of_tool(tool),
        TranscriptEvent::ToolResult { tool, output, .. } => [of_tool(tool), vec![output]].concat(),
        TranscriptEvent::Finished { text, .. } => vec![text],
    }
}

fn show(entries: Vec<(u64, TranscriptEntry)>, person: &Person, found: bool) -> Transcript {
    let mut parts: Vec<Part> = Vec::new();
    for (start, entry) in entries {
        if let Some(rest) = goes_on(&mut parts, entry) {
            parts.push(part(start, rest, person));
        }
    }
    Transcript { person: person.clone(), parts, found }
}

/// Puts an entry into the part that it belongs to: a result to its call, text to the text before. Gives it back if there is none.
fn goes_on(parts: &mut [Part], entry: TranscriptEntry) -> Option<TranscriptEntry> {
    match entry.said {
        TranscriptEvent::Text { ref text, continues: true } => match parts.last_mut().map(|part| &mut part.shown) {
            Some(Shown::Text(before)) => before.push_str(&clean(text)),
            Some(_) | None => return Some(entry),
        },
        TranscriptEvent::ToolResult { tool, outcome, output, duration_ms } => {
            let call = parts.iter_mut().rev().find_map(|part| match &mut part.shown {
                Shown::Tool(known) if known.answer.is_none() && known.use_.call == tool.call => Some(known),
                Shown::Tool(_)
                | Shown::Started { .. }
                | Shown::Text(_)
                | Shown::Thinking { .. }
                | Shown::Finished { .. }
                | Shown::Error(_)
                | Shown::Output(_) => None,
            });
            match call {
                Some(call) => call.answer = Some(answer(outcome, &output, duration_ms)),
                None => {
                    let said = TranscriptEvent::ToolResult { tool, outcome, output, duration_ms };
                    return Some(TranscriptEntry { said, ..entry });
                }
            }
        }
        TranscriptEvent::Started { .. }
        | TranscriptEvent::Text { .. }
        | TranscriptEvent::Thinking { .. }
        | TranscriptEvent::ToolCall { .. }
        | TranscriptEvent::Finished { .. }
        | TranscriptEvent::Error { .. }
        | TranscriptEvent::Output { .. } => return Some(entry),
    }
    None
}

fn part(start: u64, entry: TranscriptEntry, person: &Person) -> Part {
    let shown = match entry.said {
        TranscriptEvent::Started { model } => Shown::Started { model: model.unwrap_or_default() },
        TranscriptEvent::Text { text, .. } => Shown::Text(clean(&text)),
        TranscriptEvent::Thinking { text } => {
            let first_words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let first_words: String = first_words.chars().take(FIRST_WORDS).collect();
            Shown::Thinking { first_words: clean(&first_words), text: clean(&text) }
        }
        TranscriptEvent::ToolCall { tool } => Shown::Tool(Tool { edits: edits(&tool), use_: tool, answer: None }),
        TranscriptEvent::ToolResult { tool, outcome, output, duration_ms } => {
            Shown::Tool(Tool { edits: edits(&tool), use_: tool, answer: Some(answer(outcome, &output, duration_ms)) })
        }
        TranscriptEvent::Finished { outcome, text, usage, duration_ms } => Shown::Finished {
            failed: outcome == ToolOutcome::Failed,
            text: clean(&text),
            numbers: numbers(usage, duration_ms, person),
        },
        TranscriptEvent::Error { text } => Shown::Error(clean(&text)),
        TranscriptEvent::Output { text } => Shown::Output(coloured(text.as_bytes())),
    };
    Part { start, position: entry.position, at: entry.at.to_string(), shown }
}

fn answer(outcome: ToolOutcome, output: &str, duration_ms: Option<i64>) -> ToolAnswer {
    let took = duration_ms.map(seconds).unwrap_or_default();
    ToolAnswer { failed: outcome == ToolOutcome::Failed, output: clean(output), took }
}

/// As a person reads it: `0.3 s`, `2 min 5 s`.
fn seconds(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..60 => format!("{:.1} s", milliseconds as f64 / 1000.0),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

fn numbers(usage: Option<Usage>, duration_ms: Option<i64>, person: &Person) -> String {
    let tokens = usage.map(|usage| {
        let (given, made) = (usage.input_tokens, usage.output_tokens);
        match person.language {
            board::Language::En => format!("{given} tokens in, {made} out"),
            board::Language::Ja => format!("入力 {given} トークン、出力 {made} トークン"),
        }
    });
    let cost = usage.and_then(|usage| usage.cost_micros).map(|micros| format!("${:.2}", micros as f64 / 1e6));
    [duration_ms.map(seconds), tokens, cost].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn edits(tool: &ToolUse) -> Vec<Edit> {
    let edit = |edit: &FileEdit| {
        let lines: Vec<_> = edit.diff.lines().map(|line| (line_class(line), clean(line))).collect();
        let count = |class: &str| lines.iter().filter(|(found, _)| *found == class).count();
        Edit { file: clean(&edit.file), added: count("added"), removed: count("removed"), lines }
    };
    tool.edits.iter().map(edit).collect()
}

fn line_class(line: &str) -> &'static str {
    match line.as_bytes().first() {
        Some(b'+') => "added",
        Some(b'-') => "removed",
        Some(b'@') => "hunk",
        Some(_) | None => "",
    }
}
