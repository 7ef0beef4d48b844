//! What is one run of one agent, and what is known of it?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::StopCause;
use crate::action::{Choice, NextAction};
use crate::evidence::DodResult;
use crate::evidence::ProcessEnd;
use crate::evidence::Usage;
use crate::evidence::{Verdict, WorkspaceFacts};
use crate::spending::Spent;
use crate::words::words;
use crate::{AgentId, Generation, MessageId, RunnerId, Seq, SessionId, SpawnId, TaskId, Timestamp};

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    Task(TaskId),
    Chat,
}

impl Purpose {
    pub fn task(self) -> Option<TaskId> {
        match self {
            Self::Task(task) => Some(task),
            Self::Chat => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Task(_) => "task",
            Self::Chat => "chat",
        }
    }
}

/// Who sees to it that the session ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// A runner, which renews the lease.
    Runner { runner: RunnerId, spawn: SpawnId },
    /// An agent attached with a passkey; its own calls renew the lease.
    Attached,
    /// A person who orchestrates by hand and reports the end.
    Hand,
}

impl Driver {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Runner { .. } => "runner",
            Self::Attached => "attached",
            Self::Hand => "hand",
        }
    }
}

words! {
    SessionStatus { Starting = "starting", Running = "running", Verifying = "verifying", Ended = "ended" }
}

words! {
    /// What an agent claims with `report_completed`.
    Outcome { Success = "success", Failed = "failed", Blocked = "blocked" }
}

/// "I am finished": a request to be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionReport {
    pub result: Outcome,
    pub summary: String,
    pub next_steps: Option<String>,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelReport {
    pub provider: String,
    pub model_id: String,
    pub matches: bool,
}

/// How often each answer was given since the last new fact (G2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionCounts {
    pub since_fact: Seq,
    pub counts: Vec<(NextAction, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub agent: AgentId,
    pub purpose: Purpose,
    pub driver: Driver,
    pub generation: Generation,
    pub status: SessionStatus,
    /// Without one (driven by hand) the session never lapses.
    pub lease_until: Option<Timestamp>,
    pub claimed_at: Timestamp,
    /// The event that claimed it.
    pub claimed_seq: Seq,
    /// The last event it caused.
    pub last_call_at: Timestamp,
    /// When its process last printed anything, as its runner says.
    pub last_output_at: Option<Timestamp>,
    pub model: Option<ModelReport>,
    pub fetched: bool,
    /// It knows the task's comments up to this event.
    pub comments_read: Seq,
    pub choice: Option<Choice>,
    /// The event of that choice: what the manager knew of the board when it chose.
    pub chosen: Seq,
    /// It was told to `wait`, having chosen so at this event.
    pub wait_given: Option<Seq>,
    pub report: Option<CompletionReport>,
    pub logged_out: bool,
    pub stop: Option<StopCause>,
    pub answers_given: ActionCounts,
    pub calls: u32,
    pub messages: u32,
    /// The newest message it was shown; acknowledged by its next call.
    pub shown_upto: Option<MessageId>,
    pub end: Option<ProcessEnd>,
    /// When its process ended, and the event that told so. It is `ended` when its work was judged.
    pub process_ended: Option<(Seq, Timestamp)>,
    pub ended_at: Option<Timestamp>,
    pub dod_result: Option<DodResult>,
    pub workspace: Option<WorkspaceFacts>,
    /// The candidate to which the target is being moved. What became of that has to be known before anything else is
    /// concluded of the work.
    pub merging: Option<String>,
    /// Why its work could not be looked at, if that is so: trouble of our own.
    pub trouble: Option<String>,
    /// The number of the last fact that its runner reported.
    pub facts: u32,
    pub artifacts: Vec<String>,
    pub usage: Option<Usage>,
    /// The same as tokens and money.
    pub spent: Spent,
    pub verdict: Option<Verdict>,
}

impl Session {
    /// An attached agent that has not called for so long may have gone.
    pub const SILENT: crate::Span = crate::Span::minutes(1);

    /// When it was last heard of: its calls, or what its process prints (W8).
    pub fn heard_at(&self) -> Timestamp {
        self.last_output_at.map_or(self.last_call_at, |output| output.max(self.last_call_at))
    }

    /// It holds its task: running, about to run, or under verification.
    pub fn is_live(&self) -> bool {
        self.status != SessionStatus::Ended
    }

    /// Its agent may still call.
    pub fn can_call(&self) -> bool {
        matches!(self.status, SessionStatus::Starting | SessionStatus::Running) && !self.logged_out
    }

    pub fn task(&self) -> Option<TaskId> {
        self.purpose.task()
    }
}
