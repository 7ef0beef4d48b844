//! What can a coordinator be told about an agent (A1)?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::{Purpose, Session};
use crate::words::words;
use crate::{SessionId, TaskId, Timestamp};

words! {
    Action { Start = "start", NoChange = "hold", Stop = "stop" }
}

words! {
    Reason {
        ProjectPaused = "project_paused",
        AgentNotAssigned = "agent_not_assigned",
        Cancelled = "cancelled",
        Blocked = "blocked",
        Held = "held",
        Unstarted = "unstarted",
        Reassigned = "reassigned",
        StoppedByOwner = "stopped_by_owner",
        NoProgress = "no_progress",
        FuelSpent = "fuel_spent",
        BudgetSpent = "budget_spent",
        AlreadyRunning = "already_running",
        ProjectFull = "project_full",
        CoolingDown = "cooling_down",
        RightOfWay = "right_of_way",
        AttachedOnly = "attached_only",
        WorkerBlocked = "worker_blocked",
        WorkersProgressed = "workers_progressed",
        WaitingForWorkers = "waiting_for_workers",
        HasPendingPurpose = "has_pending_purpose",
        MessageExpired = "message_expired",
        HasInProgressTask = "has_in_progress_task",
        BlockedWithoutInProgress = "blocked_without_in_progress",
        NoInProgressTask = "no_in_progress_task",
    }
}

/// What should happen with an agent, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[must_use]
pub struct Staffing {
    pub action: Action,
    pub reason: Reason,
    pub purpose: Option<Purpose>,
    /// The session that should stop.
    pub session: Option<SessionId>,
    /// Until when it holds, where that is known.
    pub until: Option<Timestamp>,
}

impl Staffing {
    pub(crate) fn start(reason: Reason, purpose: Purpose) -> Self {
        Self { action: Action::Start, reason, purpose: Some(purpose), session: None, until: None }
    }

    pub(crate) fn no_change(reason: Reason, purpose: Option<Purpose>) -> Self {
        Self { action: Action::NoChange, reason, purpose, session: None, until: None }
    }

    pub(crate) fn stop(reason: Reason, session: &Session) -> Self {
        Self { action: Action::Stop, reason, purpose: Some(session.purpose), session: Some(session.id), until: None }
    }

    pub(crate) fn until(self, until: Timestamp) -> Self {
        Self { until: Some(until), ..self }
    }

    pub fn task(&self) -> Option<TaskId> {
        self.purpose.and_then(Purpose::task)
    }
}
