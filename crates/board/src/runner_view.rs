//! What is known of the runners of a project (L9, R10)?

use serde::{Deserialize, Serialize};

use crate::agent::{AgentSpec, Client};
use crate::settings::Limits;
use crate::{SessionId, Span, Timestamp};

/// The runners, as far as whoever asks can see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunnerView {
    /// They cannot be seen from here.
    Unknown,
    /// There is none.
    Missing,
    Present(Vec<RunnerStatus>),
}

impl RunnerView {
    /// Both of what is seen in two places.
    #[must_use]
    pub fn and(self, others: Vec<RunnerStatus>) -> Self {
        match self {
            Self::Unknown | Self::Missing if others.is_empty() => self,
            Self::Unknown | Self::Missing => Self::Present(others),
            Self::Present(known) => Self::Present(known.into_iter().chain(others).collect()),
        }
    }
}

/// How a runner stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunnerStatus {
    /// How many clients it runs at once.
    pub slots: u32,
    /// The sessions that have a slot.
    pub busy: Vec<SessionId>,
    /// Its disk, if that is too full to start anything.
    pub disk: Option<DiskSpace>,
    /// Why it cannot work for the project.
    pub trouble: Option<String>,
    pub offer: RunnerOffer,
    /// It works for servers, which know it by what it tells them.
    pub for_servers: bool,
}

/// What a runner has for agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunnerOffer {
    /// What agents may ask for with `runs_on`.
    pub labels: Vec<String>,
    /// The vendors' programs that are installed there; `None`: nobody has looked, and whoever starts one finds out.
    pub clients: Option<Vec<Client>>,
    /// It is to finish what it has, and to begin nothing.
    pub draining: bool,
}

impl RunnerOffer {
    /// Can the agent run there?
    pub fn suits(&self, agent: &AgentSpec) -> bool {
        let labelled = agent.runs_on.iter().all(|label| self.labels.contains(label));
        let installed = match (&self.clients, agent.client) {
            (None, _) | (_, Client::Command) => true,
            (Some(clients), client) => clients.contains(&client),
        };
        labelled && installed && !self.draining
    }
}

/// Bytes that are free on a disk, and that must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSpace {
    pub free: u64,
    pub floor: u64,
}

/// After so much silence it is told that a runner on another host was not heard of. It asks twice as often.
pub const RUNNER_SILENT: Span = Span::seconds(60);

/// Is a runner that was heard of then given up, so that what it had ended is another's (V12)? What it ran is lost by then.
pub fn is_given_up(heard_at: Timestamp, limits: &Limits, now: Timestamp) -> bool {
    now >= heard_at + limits.remote_lease + RUNNER_SILENT
}

/// How a runner on another host stands, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerState {
    Silent,
    Draining,
    DiskFull,
    Trouble,
    Here,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R10: an agent runs where its labels are and its client is installed, and where work is begun.
    #[test]
    fn agents_run_where_they_suit() {
        let agent = |client, runs_on: &[&str]| AgentSpec {
            client,
            runs_on: runs_on.iter().map(|label| (*label).to_owned()).collect(),
            ..AgentSpec::worker("w".parse().unwrap())
        };
        let has = RunnerOffer { labels: vec!["gpu".into()], clients: Some(vec![Client::Codex]), draining: false };
        assert!(has.suits(&agent(Client::Command, &[])) && has.suits(&agent(Client::Codex, &["gpu"])));
        assert!(!has.suits(&agent(Client::ClaudeCode, &[])) && !has.suits(&agent(Client::Codex, &["gpu", "mac"])));
        assert!(RunnerOffer::default().suits(&agent(Client::ClaudeCode, &[])), "nobody has looked");
        assert!(!RunnerOffer { draining: true, ..has }.suits(&agent(Client::Command, &[])));
    }
}
