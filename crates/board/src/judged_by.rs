//! What will the work on a task be judged by (N8)? Agents are told, so that none learns a rule by losing an attempt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{AgentSpec, Scope};
use crate::settings::{Check, Settings};
use crate::task::{Completion, TaskType};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedBy {
    /// `merged`: what is in the target counts. `reported`: what you report counts.
    pub completion: Completion,
    /// The only files that may change, as gitignore patterns. Files in `.saihai/` must be named to be among them.
    pub may_change: Vec<String>,
    /// Files that are not there for you.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_for_you: Vec<String>,
    /// Runs before the checks, on your work merged with the target.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub setup: Option<String>,
    /// Each must exit with 0 on your work merged with the target.
    pub checks: Vec<Check>,
    /// Taken from the target while the checks run: to change them here does not help.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub protected: Vec<String>,
    /// What a task of this type must contain.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub goals: Vec<String>,
}

impl JudgedBy {
    pub fn of(settings: &Settings, spec: &AgentSpec, task_type: TaskType, completion: Option<Completion>) -> Self {
        let Scope { write, exclude, .. } = &spec.scope;
        let goals = settings.goals.iter().filter(|(of, _)| *of == task_type).flat_map(|(_, goals)| goals);
        Self {
            completion: completion.unwrap_or(settings.completion),
            may_change: write.clone(),
            not_for_you: exclude.clone(),
            setup: settings.dod.setup.clone(),
            checks: settings.dod.checks.clone(),
            protected: settings.dod.protect.clone(),
            goals: goals.map(|goal| format!("{} {}", goal.kind, goal.pattern)).collect(),
        }
    }
}
