//! What can keep a task from starting (L3)?

use serde::Serialize;

use crate::settings::Fuel;
use crate::task::Status;
use crate::{AgentId, TaskId};

/// One thing that must change before a task can start (L3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    ProjectPaused,
    Unassigned,
    AssigneeInactive(AgentId),
    /// A dependency that is not done yet.
    Waiting {
        on: TaskId,
        status: Status,
    },
    /// A dependency that can never be done (L5).
    DependencyCancelled(TaskId),
    /// An ancestor is not in progress (L4).
    Held {
        by: TaskId,
    },
    FuelSpent(Fuel),
}
