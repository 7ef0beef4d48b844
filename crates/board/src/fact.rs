//! What does a runner report of a session?

use serde::{Deserialize, Serialize};

use crate::evidence::{Examination, ProcessEnd, Usage};

/// A fact about a session, as its runner saw it. Facts of a session are numbered from 1; one that is told again
/// changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Its client runs.
    Running,
    /// The branch of its work, and the commit where that begins.
    Branch { branch: String, base: String },
    /// What its client has used so far, where it tells.
    UsageSoFar(Usage),
    /// Its process is over.
    Exit { end: ProcessEnd, usage: Option<Usage> },
    /// What was found of its work.
    Examined(Examination),
}
