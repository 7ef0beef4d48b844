//! What does an agent's session read as? A conversation of typed entries, whatever client said them (W8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::Usage;
use crate::words::words;
use crate::{BadId, SessionId, Timestamp};

/// A part of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptEntry {
    pub at: Timestamp,
    /// Where the line that says it begins in the session's output.
    pub position: u64,
    pub said: TranscriptEvent,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TranscriptEvent {
    /// The client has begun.
    Started {
        model: Option<String>,
    },
    Text {
        text: String,
        /// It goes on with the entry before.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        continues: bool,
    },
    Thinking {
        text: String,
    },
    /// A tool was called. Its result follows.
    ToolCall {
        tool: ToolUse,
    },
    /// What was said in a call before is left out.
    ToolResult {
        tool: ToolUse,
        outcome: ToolOutcome,
        output: String,
        duration_ms: Option<i64>,
    },
    /// The client says that it is through.
    Finished {
        outcome: ToolOutcome,
        text: String,
        usage: Option<Usage>,
        duration_ms: Option<i64>,
    },
    Error {
        text: String,
    },
    /// What is meant for people, or not known.
    Output {
        text: String,
    },
}

words! {
    ToolOutcome { Succeeded = "succeeded", Failed = "failed" }
}

/// A tool, and what it is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolUse {
    /// The same for a call and its result.
    pub call: String,
    pub name: String,
    /// The MCP server that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// A file, a command: what tells this call from others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// All that it was called with, if `about` does not say it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub input: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<FileEdit>,
}

/// A change of a file, as far as the client tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileEdit {
    pub file: String,
    /// Lines that begin with `+`, `-`, a space, or `@@`.
    pub diff: String,
}

impl ToolUse {
    /// In one line: `Bash: npm test`.
    pub fn title(&self) -> String {
        match self.about.as_str() {
            "" => self.name.clone(),
            about => format!("{}: {}", self.name, about.split_whitespace().collect::<Vec<_>>().join(" ")),
        }
    }
}

impl TranscriptEntry {
    /// What an agent does now, in one line.
    pub fn summary(&self) -> String {
        let last_line =
            |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned();
        match &self.said {
            TranscriptEvent::Started { model } => model.clone().unwrap_or_default(),
            TranscriptEvent::Text { text, .. }
            | TranscriptEvent::Thinking { text }
            | TranscriptEvent::Error { text }
            | TranscriptEvent::Output { text } => last_line(text),
            TranscriptEvent::ToolCall { tool } | TranscriptEvent::ToolResult { tool, .. } => tool.title(),
            TranscriptEvent::Finished { text, .. } => last_line(text),
        }
    }
}

words! {
    /// What is kept of what a session's process prints: every byte of it, and as it reads.
    OutputKind { Raw = "raw", Transcript = "transcript" }
}

/// One kind of output of a session, as stores and the network name it: `ses_3`, `ses_3.transcript`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutputName {
    pub session: SessionId,
    pub kind: OutputKind,
}

impl OutputName {
    pub fn raw(session: SessionId) -> Self {
        Self { session, kind: OutputKind::Raw }
    }

    pub fn transcript(session: SessionId) -> Self {
        Self { session, kind: OutputKind::Transcript }
    }
}

impl std::fmt::Display for OutputName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            OutputKind::Raw => write!(f, "{}", self.session),
            OutputKind::Transcript => write!(f, "{}.{}", self.session, self.kind),
        }
    }
}

impl std::str::FromStr for OutputName {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        match text.strip_suffix(".transcript") {
            Some(session) => session.parse().map(Self::transcript),
            None => text.parse().map(Self::raw),
        }
    }
}

impl<'de> Deserialize<'de> for OutputName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{OutputName, ToolOutcome, ToolUse, TranscriptEntry, TranscriptEvent};
    use crate::{SessionId, Timestamp};

    /// W8: one line says what an agent does.
    #[test]
    fn an_entry_is_summed_up_in_one_line() {
        let tool = ToolUse { name: "Bash".into(), about: "npm test\n&& true".into(), ..ToolUse::default() };
        let entry = |said| TranscriptEntry { at: Timestamp(1), position: 0, said };
        let text = TranscriptEvent::Text { text: "First.\n\nThen this.\n".into(), continues: false };
        assert_eq!(entry(text).summary(), "Then this.");
        assert_eq!(entry(TranscriptEvent::ToolCall { tool }).summary(), "Bash: npm test && true");
    }

    /// W8: what is written is read again, and what a newer program adds is passed over.
    #[test]
    fn entries_are_lines_of_json() {
        let result = TranscriptEvent::ToolResult {
            tool: ToolUse { call: "1".into(), name: "Read".into(), ..ToolUse::default() },
            outcome: ToolOutcome::Failed,
            output: "no such file".into(),
            duration_ms: Some(12),
        };
        let entry = TranscriptEntry { at: Timestamp(1_000), position: 7, said: result };
        let line = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<TranscriptEntry>(&line).unwrap(), entry);
        let newer = line.replacen('{', r#"{"mood":"good","#, 1);
        assert_eq!(serde_json::from_str::<TranscriptEntry>(&newer).unwrap(), entry);
    }

    #[test]
    fn outputs_have_names() {
        for name in [OutputName::raw(SessionId(3)), OutputName::transcript(SessionId(3))] {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert!("ses_3.other".parse::<OutputName>().is_err());
    }
}
