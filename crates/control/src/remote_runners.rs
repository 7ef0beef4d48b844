//! Which runners on other hosts are there (R10)? Each says so with everything that it asks; what it said last is kept where
//! all servers find it, and not in the log.

use std::collections::BTreeMap;

use board::{
    Actor, Command, EventKind, Installation, InstallationCommand, ProjectId, RUNNER_SILENT, RunnerId, RunnerOffer,
    RunnerState, RunnerStatus, SessionId, Span, Timestamp, Token, TokenId,
};
use serde::{Deserialize, Serialize};

use crate::{Control, ControlError, Writer};

/// What a runner says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunnerHeartbeat {
    /// The name of its host.
    pub name: String,
    /// What it has for agents.
    pub offer: RunnerOffer,
    pub version: String,
    /// The versions of the protocol that it speaks, the oldest and the newest.
    pub protocol: (u32, u32),
    /// Which installation of the program it is: two may not work under one token.
    pub home: String,
    /// How it stands with each project that it works for.
    pub projects: BTreeMap<ProjectId, RunnerStatus>,
}

/// A runner on another host, as it was last heard of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteRunner {
    pub id: RunnerId,
    pub heard_at: Timestamp,
    pub heartbeat: RunnerHeartbeat,
}

impl RemoteRunner {
    /// How long it was not heard of.
    pub fn silence(&self, now: Timestamp) -> Span {
        Span((now - self.heard_at).0.max(0))
    }

    /// How many clients it runs at once: projects share them.
    pub fn slots(&self) -> u32 {
        self.heartbeat.projects.values().map(|status| status.slots).max().unwrap_or_default()
    }

    /// How many it runs now.
    pub fn busy(&self) -> usize {
        self.heartbeat.projects.values().map(|status| status.busy.len()).sum()
    }

    /// How it stands, in short.
    pub fn state(&self, now: Timestamp) -> RunnerState {
        match (self.is_present(now), self.heartbeat.offer.draining) {
            (false, _) => RunnerState::Silent,
            (true, true) => RunnerState::Draining,
            (true, false) if self.heartbeat.projects.values().any(|status| status.disk.is_some()) => {
                RunnerState::DiskFull
            }
            (true, false) if self.heartbeat.projects.values().any(|status| status.trouble.is_some()) => {
                RunnerState::Trouble
            }
            (true, false) => RunnerState::Here,
        }
    }

    /// Is it known to be there?
    pub fn is_present(&self, now: Timestamp) -> bool {
        self.silence(now) < RUNNER_SILENT
    }
}

/// What a runner may offer: what it says that it has, as far as its token lets it, or else what its token says.
pub fn permitted(offer: &RunnerOffer, token: &Token) -> RunnerOffer {
    let mut offer = offer.clone();
    if offer.labels.is_empty() {
        offer.labels.clone_from(&token.labels);
    } else if !token.labels.is_empty() {
        offer.labels.retain(|label| token.labels.contains(label));
    }
    offer.draining |= token.draining;
    offer
}

impl Control {
    /// A runner was heard of.
    pub async fn hear_runner(&self, runner: &RunnerId, heartbeat: &RunnerHeartbeat) -> Result<(), ControlError> {
        let body = serde_json::to_string(heartbeat).expect("a heartbeat is JSON");
        self.put_presence(runner.as_str(), body).await
    }

    /// It has gone, or is not to be known any more.
    pub async fn forget_runner(&self, runner: &RunnerId) -> Result<(), ControlError> {
        self.remove_presence(runner.as_str()).await
    }

    /// Makes a token useless from now on. With it goes the runner that it is for.
    pub async fn revoke_token(
        &self,
        installation: &Writer<Installation>,
        by: &Actor,
        id: &TokenId,
    ) -> Result<(), ControlError> {
        let runner = installation.newest().await?.runner_token(id).and_then(|token| token.id.parse().ok());
        match runner {
            Some(runner) => self.remove_runner(installation, by, &runner).await.map(drop),
            None => {
                let revoke = InstallationCommand::RevokeToken { id: id.clone() };
                installation.submit(by.clone(), revoke).await.map(drop)
            }
        }
    }

    /// Removes a runner for good: its token opens nothing any more, what it ran is given up, and what it had finished is
    /// examined by another. Returns the sessions that were given up.
    pub async fn remove_runner(
        &self,
        installation: &Writer<Installation>,
        by: &Actor,
        runner: &RunnerId,
    ) -> Result<Vec<(ProjectId, SessionId)>, ControlError> {
        // First, so that nothing is begun there while its sessions are given up.
        let revoke = InstallationCommand::RevokeToken { id: runner.to_string() };
        let projects: Vec<_> = installation.submit(by.clone(), revoke).await?.after.projects.keys().cloned().collect();
        let mut given_up = Vec::new();
        for id in projects {
            let drop = Command::DropRunner { runner: runner.clone() };
            let dropped = self.project(&id).await?.submit(by.clone(), drop).await?;
            let ended = |event: &board::Event| match event.what {
                EventKind::ProcessEnded { session, .. } => Some((id.clone(), session)),
                _ => None,
            };
            given_up.extend(dropped.events.iter().filter_map(ended));
        }
        self.forget_runner(runner).await?;
        Ok(given_up)
    }

    /// Those whose token is good, with what they may offer, whether they are there now or not.
    pub async fn remote_runners(&self, installation: &Installation) -> Result<Vec<RemoteRunner>, ControlError> {
        let known = self.presence().await?;
        let runners = known.into_iter().filter_map(|present| {
            let token = installation.runner_token(&present.key)?;
            // Written by another version, and not readable to this one: it will be heard of again.
            let mut heartbeat: RunnerHeartbeat = serde_json::from_str(&present.body).unwrap_or_default();
            heartbeat.offer = permitted(&heartbeat.offer, token);
            Some(RemoteRunner { id: present.key.parse().ok()?, heard_at: Timestamp(present.at), heartbeat })
        });
        Ok(runners.collect())
    }

    /// How those stand that are there now and work for a project.
    pub async fn runners_of(
        &self,
        installation: &Installation,
        project: &ProjectId,
    ) -> Result<Vec<RunnerStatus>, ControlError> {
        let now = self.clock().now();
        let present = self.remote_runners(installation).await?.into_iter().filter(|runner| runner.is_present(now));
        let status = |runner: RemoteRunner| {
            let status = runner.heartbeat.projects.get(project)?.clone();
            Some(RunnerStatus { offer: runner.heartbeat.offer, ..status })
        };
        Ok(present.filter_map(status).collect())
    }
}
