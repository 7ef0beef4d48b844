//! Which shape do a session and its evidence have on the wire?

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::action::StopCause;
use crate::evidence::{DodResult, EndReason, Usage, Verdict, WorkspaceFacts};
use crate::examination::{Waiting, waiting};
use crate::session::{self, CompletionReport, ModelReport, SessionStatus};
use crate::spending::Spent;
use crate::{AgentId, Board, Driver, RunnerId, SessionId, TaskId, Timestamp};

/// One run of one agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Session {
    pub id: SessionId,
    pub task_id: Option<TaskId>,
    pub agent_id: AgentId,
    /// `task` or `chat`.
    pub purpose: &'static str,
    pub status: SessionStatus,
    pub end_reason: Option<EndReason>,
    pub exit_code: Option<i32>,
    pub signal: Option<String>,
    pub dod_result: Option<DodResult>,
    /// `none`, `failed`, `blocked`, `rejected` or `done`.
    pub verdict: Option<&'static str>,
    pub verdict_detail: Option<Verdict>,
    pub artifacts: Vec<String>,
    /// A text; of a session that was driven by hand, what was recorded.
    pub error: Option<Value>,
    pub model: Option<ModelReport>,
    pub usage: Option<Usage>,
    /// What that comes to, by the client's word or by the price of its model.
    pub spent: Spent,
    /// Who sees to its end: `runner`, `attached` or `hand`.
    pub driver: &'static str,
    /// Which runner that is. One on another host is named by the id of its token.
    pub runner_id: Option<RunnerId>,
    pub calls: u32,
    pub last_call_at: Timestamp,
    /// When its process last printed anything.
    pub last_output_at: Option<Timestamp>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub duration_ms: Option<i64>,
}

impl From<&session::Session> for Session {
    fn from(session: &session::Session) -> Self {
        let end = session.end.as_ref();
        Self {
            id: session.id,
            task_id: session.task(),
            agent_id: session.agent.clone(),
            purpose: session.purpose.as_str(),
            status: session.status,
            end_reason: end.map(|end| end.reason),
            exit_code: end.and_then(|end| end.exit_code),
            signal: end.and_then(|end| end.signal.clone()),
            dod_result: session.dod_result,
            verdict: session.verdict.as_ref().map(Verdict::as_str),
            verdict_detail: session.verdict.clone(),
            artifacts: session.artifacts.clone(),
            error: end.and_then(|end| end.error.as_deref()).map(|error| error_value(session, error)),
            model: session.model.clone(),
            usage: session.usage,
            spent: session.spent,
            driver: session.driver.as_str(),
            runner_id: match &session.driver {
                Driver::Runner { runner, .. } => Some(runner.clone()),
                Driver::Attached | Driver::Hand => None,
            },
            calls: session.calls,
            last_call_at: session.last_call_at,
            last_output_at: session.last_output_at,
            started_at: session.claimed_at,
            ended_at: session.ended_at,
            duration_ms: session.ended_at.map(|ended| (ended - session.claimed_at).0),
        }
    }
}

/// By hand an error is recorded as JSON; clients print texts.
fn error_value(session: &session::Session, error: &str) -> Value {
    let recorded = (session.driver == Driver::Hand).then(|| serde_json::from_str(error).ok()).flatten();
    recorded.unwrap_or_else(|| Value::String(error.to_owned()))
}

/// A session with the evidence about its work.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionDetail {
    #[serde(flatten)]
    pub session: Session,
    pub workspace: Option<WorkspaceFacts>,
    /// What its agent reported.
    #[serde(rename = "claim")]
    pub report: Option<CompletionReport>,
    /// Why it was told to stop.
    pub stop: Option<StopCause>,
    /// What keeps its work from being merged, for people.
    pub waits_on: Option<String>,
    /// The same, for programs.
    pub waiting: Option<Waiting>,
}

impl SessionDetail {
    /// `say` words what it waits for, in the reader's language.
    pub fn of(board: &Board, session: &session::Session, now: Timestamp, say: impl FnOnce(&Waiting) -> String) -> Self {
        let waiting = waiting(board, session, now);
        Self {
            session: session.into(),
            workspace: session.workspace.clone(),
            report: session.report.clone(),
            stop: session.stop,
            waits_on: waiting.as_ref().map(say),
            waiting,
        }
    }
}

/// What was observed of a session, as an agent is told.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Evidence {
    pub session_id: SessionId,
    pub end_reason: Option<EndReason>,
    pub exit_code: Option<i32>,
    pub signal: Option<String>,
    pub dod_result: Option<DodResult>,
    pub verdict: Option<&'static str>,
    pub changed_files: Vec<String>,
}

impl From<&session::Session> for Evidence {
    fn from(session: &session::Session) -> Self {
        let end = session.end.as_ref();
        Self {
            session_id: session.id,
            end_reason: end.map(|end| end.reason),
            exit_code: end.and_then(|end| end.exit_code),
            signal: end.and_then(|end| end.signal.clone()),
            dod_result: session.dod_result,
            verdict: session.verdict.as_ref().map(Verdict::as_str),
            changed_files: session.artifacts.clone(),
        }
    }
}
