//! What does a vendor's refusal mean, and until when does it hold?

use board::{Client, Span, Timestamp, VendorTrouble};

/// How long a limit is taken to last if the vendor does not say.
const DEFAULT_LIMIT: Span = Span::seconds(60);

/// How long a limit is taken to last at least. A client that was told to come back in a second has tried so
/// several times before it ended: to start it again at once would be refused again (F33).
const SHORTEST_LIMIT: Span = Span::seconds(10);

/// No vendor's limit lasts longer; a time beyond this was misread.
const LONGEST_LIMIT: Span = Span::minutes(32 * 24 * 60);

/// How much of the vendor's message is quoted.
const LONGEST_QUOTE: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VendorRefusal {
    /// Until the time that the vendor named, if it did.
    RateLimited(Option<Timestamp>),
    Unavailable,
    LoggedOut,
}

impl VendorRefusal {
    pub(super) fn of_status(status: u64, until: Option<Timestamp>) -> Option<Self> {
        match status {
            429 => Some(Self::RateLimited(until)),
            401 | 403 => Some(Self::LoggedOut),
            500..600 => Some(Self::Unavailable),
            _ => None,
        }
    }
}

/// A refusal, when it came and in which words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VendorFailure {
    pub(super) refusal: VendorRefusal,
    pub(super) said: String,
    pub(super) at: Timestamp,
}

impl VendorFailure {
    pub(super) fn new(refusal: VendorRefusal, said: &str, at: Timestamp) -> Self {
        Self { refusal, said: said.chars().take(LONGEST_QUOTE).collect(), at }
    }

    pub(super) fn trouble(&self) -> Option<VendorTrouble> {
        match self.refusal {
            VendorRefusal::RateLimited(until) => {
                let until = until.filter(|until| *until > self.at && *until < self.at + LONGEST_LIMIT);
                let until = until.map_or(self.at + DEFAULT_LIMIT, |until| until.max(self.at + SHORTEST_LIMIT));
                Some(VendorTrouble::RateLimited { until })
            }
            VendorRefusal::Unavailable => Some(VendorTrouble::Unavailable),
            VendorRefusal::LoggedOut => None,
        }
    }

    /// What to do about a login that was refused.
    pub(super) fn advice(&self, client: Client) -> String {
        let advice = match client {
            Client::ClaudeCode => {
                "Claude Code is not logged in: run `claude` and /login, or set ANTHROPIC_API_KEY for the agent"
            }
            Client::Codex => "Codex is not logged in: run `codex login`, or set OPENAI_API_KEY for the agent",
            Client::Gemini => {
                "Gemini CLI is not logged in: run `gemini` and log in there, or set GEMINI_API_KEY for the agent"
            }
            Client::Opencode => {
                "opencode is not logged in: run `opencode auth login`, or set the key of the model's vendor for the agent"
            }
            Client::Command | Client::Attached => "The agent's program is not logged in",
        };
        match self.said.trim() {
            "" => advice.to_owned(),
            said => format!("{advice}. It said: {said}"),
        }
    }
}
