//! Which shape does a project have on the wire?

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::board::Board;
use crate::settings::{Dod, Goal, Isolation, Language, Limits, MergeStrategy, Sandbox, SandboxLimits};
use crate::spending::{Budget, Price, Spent, day_of};
use crate::task::{Completion, Status, TaskType};
use crate::{ProjectId, Seq, Timestamp};

/// A project and how it stands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Project {
    pub id: ProjectId,
    pub name: String,
    /// Where its repository is.
    pub path: String,
    /// No task session starts; chats go on.
    pub paused: bool,
    /// How many tasks and steps have each status.
    pub tasks: BTreeMap<&'static str, usize>,
    pub running_sessions: usize,
    /// What was used today; a day begins at midnight UTC.
    pub spent_today: Spent,
    /// The number of its newest event.
    pub events: Seq,
}

impl Project {
    pub fn of(board: &Board, path: String, now: Timestamp) -> Self {
        Self {
            id: board.settings.id.clone(),
            name: board.settings.name.clone(),
            path,
            paused: board.paused,
            tasks: Status::ALL.iter().map(|status| (status.as_str(), board.count(*status))).collect(),
            running_sessions: board.all_live_sessions().count(),
            spent_today: board.days.get(&day_of(now)).copied().unwrap_or_default(),
            events: board.seq,
        }
    }
}

/// What must be seen in the difference before a task of a type is done.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TypeGoals {
    #[serde(rename = "type")]
    pub task_type: TaskType,
    pub goals: Vec<Goal>,
}

/// A project with its settings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProjectDetail {
    #[serde(flatten)]
    pub project: Project,
    /// How many are or were on the roster.
    pub agents: usize,
    pub language: Language,
    pub target_branch: String,
    pub completion: Completion,
    pub sandbox: Sandbox,
    /// What agents and checks may read besides their workspace.
    pub sandbox_read: Vec<String>,
    /// The TCP ports that they may connect to; `null`: all.
    pub sandbox_connect: Option<Vec<u16>>,
    /// What each of them may use of the machine.
    pub sandbox_limits: SandboxLimits,
    pub merge: MergeStrategy,
    pub isolation: Isolation,
    pub dod: Dod,
    pub goals: Vec<TypeGoals>,
    pub limits: Limits,
    /// Seconds that the workspace of a failed task is kept.
    pub keep_failed: u64,
    /// Clients at once on one runner; `null`: as many as it has cores.
    pub max_parallel: Option<u32>,
    pub budget: Budget,
    pub prices: Vec<Price>,
}

impl ProjectDetail {
    pub fn of(board: &Board, path: String, now: Timestamp) -> Self {
        let settings = &board.settings;
        let goals = settings.goals.iter().cloned().map(|(task_type, goals)| TypeGoals { task_type, goals });
        Self {
            project: Project::of(board, path, now),
            agents: board.agents.len(),
            language: settings.language,
            target_branch: settings.target_branch.clone(),
            completion: settings.completion,
            sandbox: settings.sandbox,
            sandbox_read: settings.sandbox_read.clone(),
            sandbox_connect: settings.sandbox_connect.clone(),
            sandbox_limits: settings.sandbox_limits.clone(),
            merge: settings.merge,
            isolation: settings.isolation,
            dod: settings.dod.clone(),
            goals: goals.collect(),
            limits: settings.limits.clone(),
            keep_failed: settings.keep_failed,
            max_parallel: settings.max_parallel,
            budget: settings.budget.clone(),
            prices: settings.prices.clone(),
        }
    }
}
