//! What does an agent do at this moment (W7, W8)? The last that it said or did, as its transcript has it.

use board::{OutputName, ProjectId, SessionId, Timestamp, TranscriptEntry};
use server::LogFrom;

use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;

/// The end of a transcript in which its last entry is.
const END: usize = 24 * 1024;

/// How much of a line is shown.
const MOST: usize = 160;

/// The last entry, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Activity {
    pub(crate) at: Timestamp,
    pub(crate) line: String,
}

impl AppState {
    /// `None` for a session that has said nothing, or whose program is older.
    pub(crate) async fn activity(
        &self,
        person: &Person,
        project: &ProjectId,
        session: SessionId,
    ) -> Result<Option<Activity>, Problem> {
        let name = OutputName::transcript(session);
        let page = self.session_output(person, project, name, LogFrom::Tail, END).await?;
        Ok(page.and_then(|page| last(&page.bytes)))
    }
}

/// The last whole line that says something.
fn last(bytes: &[u8]) -> Option<Activity> {
    let lines = bytes.split(|byte| *byte == b'\n').rev();
    lines.filter_map(|line| serde_json::from_slice::<TranscriptEntry>(line).ok()).find_map(|entry| {
        let summary = board::clean(&entry.summary());
        let line: String = summary.chars().take(MOST).collect();
        (!line.is_empty()).then_some(Activity { at: entry.at, line })
    })
}

#[cfg(test)]
mod tests {
    use super::last;

    /// W7: what is being written at this moment is passed over, and so is what says nothing.
    #[test]
    fn the_last_line_that_says_something() {
        let entry = |text: &str| {
            format!(r#"{{"at":"2026-11-20T01:00:00Z","position":0,"said":{{"type":"text","text":"{text}"}}}}"#)
        };
        let bytes = format!("{}\n{}\n{}", entry("one\\ntwo"), entry(" "), &entry("three")[..20]);
        assert_eq!(last(bytes.as_bytes()).map(|found| found.line), Some("two".into()));
        assert_eq!(last(b""), None);
    }
}
