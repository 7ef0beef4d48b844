//! What is true of the whole installation: which projects it has, and which tokens are valid?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::field::Field;
use crate::refusal::{Refusal, RefusalReason};
use crate::text_limits;
use crate::words::words;
use crate::{Actor, ProjectId, RunnerId, SecretHash, Seq, Timestamp};

words! {
    /// What a token lets its bearer do (S4).
    Role {
        Owner = "owner",
        Viewer = "viewer",
        Runner = "runner",
        Coordinator = "coordinator",
        Orchestrator = "orchestrator",
    }
}

words! {
    /// How a token is used. A link is good for one login; a browser's was given for one.
    TokenUse { Bearer = "bearer", Link = "link", Browser = "browser" }
}

/// The public part of a token: enough to list and revoke it, useless to log in with.
pub type TokenId = String;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub id: ProjectId,
    /// Where its repository is.
    pub path: String,
    pub added_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub id: TokenId,
    pub role: Role,
    pub name: String,
    pub hash: SecretHash,
    pub used_as: TokenUse,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// The token that a browser logged in with: it is good as long as that one is.
    pub given_for: Option<TokenId>,
    pub revoked: bool,
    /// A runner's: what it may offer to agents; empty: whatever it likes. Older logs have none.
    #[serde(default)]
    pub labels: Vec<String>,
    /// A runner's: it is to finish what it has, and to begin nothing.
    #[serde(default)]
    pub draining: bool,
}

impl Token {
    fn is_good(&self, now: Timestamp) -> bool {
        !self.revoked && self.expires_at.is_none_or(|end| now < end)
    }
}

/// A token that is to be made. Its secret stays with its bearer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    pub id: TokenId,
    pub role: Role,
    pub name: String,
    pub hash: SecretHash,
    pub used_as: TokenUse,
    pub expires_at: Option<Timestamp>,
    pub given_for: Option<TokenId>,
    pub labels: Vec<String>,
}

impl NewToken {
    /// One that programs show with every call, until it is revoked.
    pub fn bearer(id: TokenId, role: Role, name: String, hash: SecretHash) -> Self {
        Self { id, role, name, hash, used_as: TokenUse::Bearer, expires_at: None, given_for: None, labels: Vec::new() }
    }
}

/// The installation, folded from its own stream (E2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    pub seq: Seq,
    pub projects: BTreeMap<ProjectId, Project>,
    /// Projects that nobody works on any more. Their ids stay taken, because their boards are still there.
    #[serde(default)]
    pub removed: BTreeMap<ProjectId, Project>,
    pub tokens: BTreeMap<TokenId, Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallationCommand {
    AddProject {
        id: ProjectId,
        path: String,
    },
    /// Its repository is elsewhere now. One that was removed is there again.
    MoveProject {
        id: ProjectId,
        path: String,
    },
    /// Its board is kept, and comes back with `MoveProject`.
    RemoveProject {
        id: ProjectId,
    },
    CreateToken(NewToken),
    /// Gives a browser a token of its own for the one that its user has shown. A link is spent by it.
    LogIn {
        with: TokenId,
        id: TokenId,
        hash: SecretHash,
        expires_at: Timestamp,
    },
    RevokeToken {
        id: TokenId,
    },
    /// A runner is to begin nothing any more, or may again.
    DrainRunner {
        id: TokenId,
        drain: Drain,
    },
}

/// What a runner is to do with new work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    BeginNothing,
    Resume,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallationEvent {
    pub at: Timestamp,
    pub by: Actor,
    pub what: InstallationEventKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstallationEventKind {
    ProjectAdded {
        id: ProjectId,
        path: String,
    },
    ProjectMoved {
        id: ProjectId,
        path: String,
    },
    ProjectRemoved {
        id: ProjectId,
    },
    TokenCreated {
        id: TokenId,
        role: Role,
        name: String,
        hash: SecretHash,
        #[serde(default = "bearer")]
        used_as: TokenUse,
        #[serde(default)]
        expires_at: Option<Timestamp>,
        #[serde(default)]
        given_for: Option<TokenId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        labels: Vec<String>,
    },
    TokenRevoked {
        id: TokenId,
    },
    RunnerDrained {
        id: TokenId,
    },
    RunnerResumed {
        id: TokenId,
    },
}

/// What all tokens were before there were logins.
fn bearer() -> TokenUse {
    TokenUse::Bearer
}

impl Installation {
    /// The token with this hash, if it is good for such a use now.
    pub fn token(&self, hash: &SecretHash, used_as: &[TokenUse], now: Timestamp) -> Option<&Token> {
        let known = self.tokens.values().find(|token| token.hash == *hash);
        known.filter(|token| used_as.contains(&token.used_as) && self.is_valid(token, now))
    }

    /// Is it neither revoked nor too old, and neither is the one that it was given for?
    pub fn is_valid(&self, token: &Token, now: Timestamp) -> bool {
        let given_for = token.given_for.as_ref().map(|id| self.tokens.get(id));
        token.is_good(now) && given_for.is_none_or(|found| found.is_some_and(|found| found.is_good(now)))
    }

    /// A project that there is, or that was removed.
    pub fn project(&self, id: &ProjectId) -> Option<&Project> {
        self.projects.get(id).or_else(|| self.removed.get(id))
    }

    pub fn project_at(&self, path: &str) -> Option<&Project> {
        self.projects.values().find(|project| project.path == path)
    }

    /// Judges a command of the owner.
    pub fn admit(
        &self,
        actor: &Actor,
        command: &InstallationCommand,
        now: Timestamp,
    ) -> Result<Vec<InstallationEvent>, Refusal> {
        match actor {
            // Anybody may log in and out: the caller has checked the secret before.
            Actor::Owner(_) | Actor::System => {}
            Actor::Session(_) | Actor::Runner(_) => return Err(RefusalReason::OwnersOnly.into()),
        }
        let event = |what| InstallationEvent { at: now, by: actor.clone(), what };
        let what = match command {
            // One project for each path: the first one keeps it.
            InstallationCommand::AddProject { path, .. } if self.project_at(path).is_some() => return Ok(Vec::new()),
            InstallationCommand::AddProject { id, path } => match self.project(id) {
                Some(_) => return Err(RefusalReason::ProjectTaken(id.clone()).into()),
                None => InstallationEventKind::ProjectAdded { id: id.clone(), path: path.clone() },
            },
            InstallationCommand::MoveProject { id, path } => match (self.project_at(path), self.project(id)) {
                (Some(there), _) if there.id == *id => return Ok(Vec::new()),
                (Some(there), _) => {
                    return Err(RefusalReason::PathTaken { path: path.clone(), by: there.id.clone() }.into());
                }
                (None, None) => return Err(RefusalReason::NoSuchProject(id.to_string()).into()),
                (None, Some(_)) => InstallationEventKind::ProjectMoved { id: id.clone(), path: path.clone() },
            },
            InstallationCommand::RemoveProject { id } if self.removed.contains_key(id) => return Ok(Vec::new()),
            InstallationCommand::RemoveProject { id } => match self.projects.get(id) {
                None => return Err(RefusalReason::NoSuchProject(id.to_string()).into()),
                Some(_) => InstallationEventKind::ProjectRemoved { id: id.clone() },
            },
            InstallationCommand::CreateToken(new) => self.create(new)?,
            InstallationCommand::LogIn { with, id, hash, expires_at } => {
                let shown = self.tokens.get(with).ok_or_else(|| RefusalReason::NoSuchToken(with.clone()))?;
                if !shown.is_good(now) || shown.used_as == TokenUse::Browser {
                    return Err(RefusalReason::NotAuthenticated.into());
                }
                let created = self.create(&NewToken {
                    id: id.clone(),
                    role: shown.role,
                    name: shown.name.clone(),
                    hash: hash.clone(),
                    used_as: TokenUse::Browser,
                    expires_at: Some(*expires_at),
                    // A link is spent; what it gave stands on its own.
                    given_for: (shown.used_as == TokenUse::Bearer).then(|| with.clone()),
                    labels: Vec::new(),
                })?;
                let spent =
                    (shown.used_as == TokenUse::Link).then(|| InstallationEventKind::TokenRevoked { id: with.clone() });
                return Ok(spent.into_iter().chain([created]).map(event).collect());
            }
            InstallationCommand::RevokeToken { id } => match self.tokens.get(id) {
                None => return Err(RefusalReason::NoSuchToken(id.clone()).into()),
                Some(token) if token.revoked => return Ok(Vec::new()),
                Some(_) => InstallationEventKind::TokenRevoked { id: id.clone() },
            },
            InstallationCommand::DrainRunner { id, drain } => match (self.runner_token(id), drain) {
                (None, _) => return Err(RefusalReason::NoSuchToken(id.clone()).into()),
                (Some(token), _) if token.draining == (*drain == Drain::BeginNothing) => return Ok(Vec::new()),
                (Some(_), Drain::BeginNothing) => InstallationEventKind::RunnerDrained { id: id.clone() },
                (Some(_), Drain::Resume) => InstallationEventKind::RunnerResumed { id: id.clone() },
            },
        };
        Ok(vec![event(what)])
    }

    fn create(&self, new: &NewToken) -> Result<InstallationEventKind, Refusal> {
        let NewToken { id, role, name, hash, used_as, expires_at, given_for, labels } = new.clone();
        if self.tokens.contains_key(&id) {
            return Err(RefusalReason::TokenTaken(id).into());
        }
        if !name.is_empty() {
            text_limits::check(Field::Name, &name)?;
        }
        for label in &labels {
            text_limits::check(Field::Name, label)?;
        }
        Ok(InstallationEventKind::TokenCreated { id, role, name, hash, used_as, expires_at, given_for, labels })
    }

    /// The name of a runner on another host, whether its token is still good or not.
    pub fn runner_name(&self, runner: &RunnerId) -> Option<&str> {
        self.tokens.get(runner.as_str()).map(|token| token.name.as_str())
    }

    /// The token of a runner on another host, as long as it is good.
    pub fn runner_token(&self, id: &str) -> Option<&Token> {
        self.tokens.get(id).filter(|token| token.role == Role::Runner && !token.revoked)
    }

    pub fn apply(&mut self, event: &InstallationEvent) {
        self.seq += 1;
        match &event.what {
            InstallationEventKind::ProjectAdded { id, path } => {
                let project = Project { id: id.clone(), path: path.clone(), added_at: event.at };
                self.projects.insert(id.clone(), project);
            }
            InstallationEventKind::ProjectMoved { id, path } => {
                if let Some(known) = self.projects.remove(id).or_else(|| self.removed.remove(id)) {
                    self.projects.insert(id.clone(), Project { path: path.clone(), ..known });
                }
            }
            InstallationEventKind::ProjectRemoved { id } => {
                if let Some(known) = self.projects.remove(id) {
                    self.removed.insert(id.clone(), known);
                }
            }
            InstallationEventKind::TokenCreated { id, role, name, hash, used_as, expires_at, given_for, labels } => {
                let token = Token {
                    id: id.clone(),
                    role: *role,
                    name: name.clone(),
                    hash: hash.clone(),
                    used_as: *used_as,
                    created_at: event.at,
                    expires_at: *expires_at,
                    given_for: given_for.clone(),
                    revoked: false,
                    labels: labels.clone(),
                    draining: false,
                };
                self.tokens.insert(id.clone(), token);
            }
            InstallationEventKind::TokenRevoked { id } => {
                if let Some(token) = self.tokens.get_mut(id) {
                    token.revoked = true;
                }
            }
            InstallationEventKind::RunnerDrained { id } => {
                if let Some(token) = self.tokens.get_mut(id) {
                    token.draining = true;
                }
            }
            InstallationEventKind::RunnerResumed { id } => {
                if let Some(token) = self.tokens.get_mut(id) {
                    token.draining = false;
                }
            }
        }
    }
}

impl InstallationEvent {
    pub const VERSION: u16 = 1;

    pub fn name(&self) -> &'static str {
        match self.what {
            InstallationEventKind::ProjectAdded { .. } => "project_added",
            InstallationEventKind::ProjectMoved { .. } => "project_moved",
            InstallationEventKind::ProjectRemoved { .. } => "project_removed",
            InstallationEventKind::TokenCreated { .. } => "token_created",
            InstallationEventKind::TokenRevoked { .. } => "token_revoked",
            InstallationEventKind::RunnerDrained { .. } => "runner_drained",
            InstallationEventKind::RunnerResumed { .. } => "runner_resumed",
        }
    }
}
