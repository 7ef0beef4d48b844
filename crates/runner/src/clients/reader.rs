//! What does a client tell while it runs, and what does its end mean?

use board::{Client, Timestamp, TranscriptEntry, Usage};
use serde_json::Value;

use super::vendor::{VendorFailure, VendorRefusal};
use super::{OutputSummary, claude_code, codex, gemini, opencode};
use crate::transcript::TranscriptReader;

/// Longer lines are skipped: to parse them takes several times their size, and no event that matters is as long.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Reads the machine output of a client, line by line.
#[derive(Debug)]
pub struct OutputReader {
    client: Client,
    state: OutputState,
    transcript: TranscriptReader,
}

/// What the output has said so far.
#[derive(Debug, Default)]
pub(super) struct OutputState {
    pub(super) session: Option<String>,
    pub(super) usage: Option<Usage>,
    /// The last message whose usage was added, where one message is told in several events.
    pub(super) counted_message: Option<String>,
    /// The failure that the client tries to get over; forgotten as soon as it does.
    pub(super) waiting: Option<VendorFailure>,
    /// The failure that the client gave up on.
    pub(super) failed: Option<VendorFailure>,
    /// What it said at the end, where only the exit code tells what that means.
    pub(super) final_message: Option<(String, Timestamp)>,
    /// When the vendor's limit is lifted, told apart from the failure.
    pub(super) reset: Option<Timestamp>,
}

impl OutputState {
    /// The vendor answers again, so earlier failures are over.
    pub(super) fn recovered(&mut self) {
        self.waiting = None;
        self.failed = None;
    }

    pub(super) fn add_usage(&mut self, usage: Usage) {
        let sum = self.usage.get_or_insert_default();
        sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
        sum.cost_micros = match (sum.cost_micros, usage.cost_micros) {
            (Some(sum), Some(cost)) => Some(sum.saturating_add(cost)),
            (sum, cost) => sum.or(cost),
        };
    }
}

impl OutputReader {
    pub fn new(client: Client) -> Self {
        Self { client, state: OutputState::default(), transcript: TranscriptReader::new(client) }
    }

    /// Reads a line that came `now` and begins at a position of the output. Lines that are no JSON object are meant for
    /// people.
    pub fn line(&mut self, line: &[u8], position: u64, now: Timestamp) {
        let short = Some(line).filter(|line| line.len() <= LONGEST_LINE);
        let event = short.and_then(|line| serde_json::from_slice(line).ok()).filter(Value::is_object);
        if let Some(event) = &event {
            match self.client {
                Client::ClaudeCode => claude_code::read(&mut self.state, event, now),
                Client::Codex => codex::read(&mut self.state, event, now),
                Client::Gemini => gemini::read(&mut self.state, event, now),
                Client::Opencode => opencode::read(&mut self.state, event, now),
                Client::Command | Client::Attached => {}
            }
        }
        self.transcript.line(line, event.as_ref(), position, now);
    }

    /// Reads a line that is meant for people.
    pub fn line_for_people(&mut self, line: &[u8], position: u64, now: Timestamp) {
        self.transcript.line(line, None, position, now);
    }

    /// What has been said since it was asked last, as far as it is whole.
    pub fn entries(&mut self, now: Timestamp) -> Vec<TranscriptEntry> {
        self.transcript.take(now)
    }

    /// The same, when nothing follows any more.
    pub fn last_entries(&mut self) -> Vec<TranscriptEntry> {
        self.transcript.finish()
    }

    /// What the client has used so far, where it tells.
    pub fn usage(&self) -> Option<Usage> {
        self.state.usage
    }

    /// What the output means now that the client has ended; no exit code is an end by a signal. Failures that
    /// the client got over do not count.
    pub fn finish(self, exit_code: Option<i32>) -> OutputSummary {
        let Self { client, state, transcript: _ } = self;
        let failure = match (exit_code, client) {
            (Some(0), _) | (_, Client::Command | Client::Attached) => None,
            (Some(code), Client::Gemini) => gemini::ended(code, state.final_message.as_ref()),
            // It may have been ended because it waited in silence: some wait for hours.
            (Some(_) | None, Client::ClaudeCode | Client::Codex | Client::Gemini | Client::Opencode) => {
                state.failed.or(state.waiting)
            }
        };
        let login = failure.as_ref().filter(|failure| failure.refusal == VendorRefusal::LoggedOut);
        OutputSummary {
            usage: state.usage,
            vendor_session: state.session,
            login: login.map(|failure| failure.advice(client)),
            trouble: failure.and_then(|failure| failure.trouble()),
        }
    }
}

/// A number of tokens.
pub(super) fn tokens(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Dollars in millionths. Some clients print zero where they do not know.
pub(super) fn micros(dollars: &Value) -> Option<u64> {
    let micros = (dollars.as_f64()? * 1e6).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates, and is positive")]
    (micros > 0.0).then_some(micros as u64)
}
