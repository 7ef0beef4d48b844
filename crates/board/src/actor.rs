//! Who does it? Every command names an actor; every record names a party.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentId, RunnerId, SessionId};

/// Who submits a command. Mandatory: every change has an author (F17).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A human with the owner's rights, by name.
    Owner(Arc<str>),
    /// An agent, through one of its sessions.
    Session(SessionId),
    /// A runner, which reports what it observed.
    Runner(RunnerId),
    /// Saihai itself: what follows from time alone.
    System,
}

/// Whom a record names: sessions end, their agents stay.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Party {
    Owner,
    Agent(AgentId),
    System,
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.pad("owner"),
            Self::Agent(agent) => f.pad(agent.as_str()),
            Self::System => f.pad("saihai"),
        }
    }
}
