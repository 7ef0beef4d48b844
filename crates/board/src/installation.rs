//! What is true of the whole installation: which projects it has, and which tokens are valid?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::refusal::{Because, Refusal};
use crate::text_limits::{self, Field};
use crate::words::words;
use crate::{Actor, ProjectId, SecretHash, Seq, Timestamp};

words! {
    /// What a token lets its bearer do (S4).
    Role { Owner = "owner", Viewer = "viewer", Runner = "runner", Coordinator = "coordinator" }
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
    pub created_at: Timestamp,
    pub revoked: bool,
}

/// The installation, folded from its own stream (E2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    pub seq: Seq,
    pub projects: BTreeMap<ProjectId, Project>,
    pub tokens: BTreeMap<TokenId, Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallationCommand {
    AddProject { id: ProjectId, path: String },
    CreateToken { id: TokenId, role: Role, name: String, hash: SecretHash },
    RevokeToken { id: TokenId },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallationEvent {
    pub at: Timestamp,
    pub by: Actor,
    pub what: InstallationWhat,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstallationWhat {
    ProjectAdded { id: ProjectId, path: String },
    TokenCreated { id: TokenId, role: Role, name: String, hash: SecretHash },
    TokenRevoked { id: TokenId },
}

impl Installation {
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
        let Actor::Owner(_) = actor else { return Err(Because::OwnersOnly.into()) };
        let what = match command {
            // One project for each path, whoever was first.
            InstallationCommand::AddProject { path, .. } if self.project_at(path).is_some() => return Ok(Vec::new()),
            InstallationCommand::AddProject { id, path } => match self.projects.get(id) {
                Some(_) => return Err(Because::ProjectTaken(id.clone()).into()),
                None => InstallationWhat::ProjectAdded { id: id.clone(), path: path.clone() },
            },
            InstallationCommand::CreateToken { id, .. } if self.tokens.contains_key(id) => {
                return Err(Because::TokenTaken(id.clone()).into());
            }
            InstallationCommand::CreateToken { id, role, name, hash } => {
                if !name.is_empty() {
                    text_limits::check(Field::Name, name)?;
                }
                InstallationWhat::TokenCreated { id: id.clone(), role: *role, name: name.clone(), hash: hash.clone() }
            }
            InstallationCommand::RevokeToken { id } => match self.tokens.get(id) {
                None => return Err(Because::NoSuchToken(id.clone()).into()),
                Some(token) if token.revoked => return Ok(Vec::new()),
                Some(_) => InstallationWhat::TokenRevoked { id: id.clone() },
            },
        };
        Ok(vec![InstallationEvent { at: now, by: actor.clone(), what }])
    }

    pub fn apply(&mut self, event: &InstallationEvent) {
        self.seq += 1;
        match &event.what {
            InstallationWhat::ProjectAdded { id, path } => {
                let project = Project { id: id.clone(), path: path.clone(), added_at: event.at };
                self.projects.insert(id.clone(), project);
            }
            InstallationWhat::TokenCreated { id, role, name, hash } => {
                let token = Token {
                    id: id.clone(),
                    role: *role,
                    name: name.clone(),
                    hash: hash.clone(),
                    created_at: event.at,
                    revoked: false,
                };
                self.tokens.insert(id.clone(), token);
            }
            InstallationWhat::TokenRevoked { id } => {
                if let Some(token) = self.tokens.get_mut(id) {
                    token.revoked = true;
                }
            }
        }
    }
}

impl InstallationEvent {
    pub const VERSION: u16 = 1;

    pub fn kind(&self) -> &'static str {
        match self.what {
            InstallationWhat::ProjectAdded { .. } => "project_added",
            InstallationWhat::TokenCreated { .. } => "token_created",
            InstallationWhat::TokenRevoked { .. } => "token_revoked",
        }
    }
}
