//! What can an agent be told to do next, and why can it be told to stop?

use serde::{Deserialize, Serialize};

use crate::TaskId;
use crate::words::words;

words! {
    /// What a manager may choose to do (N4).
    Choice { Start = "start", Adjust = "adjust", Wait = "wait" }
}

words! {
    /// Why a session was told to stop. Nobody requests `Reassigned` any more: it follows from the board; older logs have
    /// it.
    StopCause { Owner = "stopped_by_owner", Unstarted = "unstarted", Reassigned = "reassigned", NoProgress = "no_progress", FuelSpent = "fuel_spent", Paused = "project_paused" }
}

/// Why a session is interrupted. Derived from the board, and addressed to one session (F24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interrupt {
    Stopped(StopCause),
    Cancelled,
    Blocked,
    Reassigned,
    Held { by: TaskId },
    ProjectPaused,
}

impl Interrupt {
    /// The word that answers and traces carry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stopped(cause) => cause.as_str(),
            Self::Cancelled => "cancelled",
            Self::Blocked => "blocked",
            Self::Reassigned => "reassigned",
            Self::Held { .. } => "held",
            Self::ProjectPaused => "project_paused",
        }
    }
}

/// The next action of a session. What it is called on the wire is in its methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextAction {
    Stop(Interrupt),
    ReportModel,
    GetPendingMessages,
    WaitForMessages,
    LeaveChat,
    LogOut,
    GetTask,
    CreateSubtasks,
    Work,
    Rework,
    Start,
    Adjust,
    Wait,
    ReportCompletion,
    ExecuteSubtask(TaskId),
    StartSubtask(TaskId),
    ReviewBlocks,
    SituationalAwareness,
}

impl NextAction {
    /// The `action` on the wire.
    pub fn action(self) -> &'static str {
        match self {
            Self::Stop(_) => "stop",
            Self::ReportModel => "report_model",
            Self::GetPendingMessages => "get_pending_messages",
            Self::WaitForMessages => "wait_for_messages",
            Self::LeaveChat | Self::LogOut => "logout",
            Self::GetTask => "get_task",
            Self::CreateSubtasks => "create_subtasks",
            Self::Work | Self::Rework => "work",
            Self::Start => "start",
            Self::Adjust => "adjust",
            Self::Wait => "wait",
            Self::ReportCompletion => "report_completion",
            Self::ExecuteSubtask(_) => "execute_subtask",
            Self::StartSubtask(_) => "start_subtask",
            Self::ReviewBlocks => "review_and_resolve_blocks",
            Self::SituationalAwareness => "situational_awareness",
        }
    }

    /// The `state` on the wire.
    pub fn state(self) -> &'static str {
        match self {
            Self::Stop(_) => "interrupted",
            Self::ReportModel => "needs_model_verification",
            Self::GetPendingMessages => "chat_session",
            Self::WaitForMessages => "chat_waiting",
            Self::LeaveChat => "chat_timeout",
            Self::LogOut => "no_task",
            Self::GetTask => "needs_task",
            Self::CreateSubtasks => "needs_subtask_creation",
            Self::Work => "execute_task",
            Self::Rework => "rework",
            Self::Start => "start",
            Self::Adjust => "adjust",
            Self::Wait => "waiting_for_workers",
            Self::ReportCompletion => "needs_completion",
            Self::ExecuteSubtask(_) => "executing_subtask",
            Self::StartSubtask(_) => "start_next_subtask",
            Self::ReviewBlocks => "needs_review",
            Self::SituationalAwareness => "situational_awareness",
        }
    }

    /// Why, where the action itself does not say it.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Stop(interrupt) => Some(interrupt.as_str()),
            _ => None,
        }
    }
}
