//! What was done in a stretch of time, by whom, and at what cost (C7)?

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::board::Board;
use crate::evidence::{Usage, Verdict, WorkspaceFacts};
use crate::session::Session;
use crate::task::{Kind, Status, Task};
use crate::{AgentId, Span, TaskId, Timestamp};

/// What was done between two instants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    pub since: Timestamp,
    pub until: Timestamp,
    /// Tasks that came to their end, or stopped, in that time. Oldest first; steps belong to their tasks.
    pub tasks: Vec<ReportedTask>,
    /// In progress at the end of it.
    pub in_progress: Vec<TaskId>,
    pub agents: BTreeMap<AgentId, Work>,
    pub total: Work,
}

/// A task that is done, failed, blocked or cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedTask {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
    pub at: Timestamp,
    pub assignee: Option<AgentId>,
    /// Why it did not get done.
    pub reason: Option<String>,
    /// The commit that brought its work into the target.
    pub merged_as: Option<String>,
    /// All of it, also what was before that time.
    pub work: Work,
}

/// What sessions did and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Work {
    pub sessions: u32,
    /// Sessions whose work was sent back.
    pub sent_back: u32,
    /// How long they ran.
    pub milliseconds: i64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Sessions whose client did not tell what it used: their tokens are in no sum.
    pub unmetered: u32,
    /// In millionths of a US dollar.
    pub cost_micros: u64,
    /// How much of that follows from a price, and was not told by a client.
    pub estimated_micros: u64,
    /// Sessions of which nobody knows what they cost: that is in no sum.
    pub unpriced: u32,
}

impl Work {
    fn add(&mut self, session: &Session, since: Timestamp, until: Timestamp) {
        let ended = session.process_ended.map(|(_, at)| at).or(session.ended_at).unwrap_or(until);
        let Span(ran) = ended.min(until) - session.claimed_at.max(since);
        self.sessions += 1;
        self.sent_back += u32::from(matches!(session.verdict, Some(Verdict::Rejected(_))));
        self.milliseconds += ran.max(0);
        let Usage { input_tokens, output_tokens, .. } = session.usage.unwrap_or_default();
        self.input_tokens += input_tokens;
        self.output_tokens += output_tokens;
        self.cost_micros += session.spent.cost_micros;
        self.estimated_micros += session.spent.estimated_micros;
        self.unmetered += u32::from(session.usage.is_none());
        self.unpriced += u32::from(session.usage.is_none() || session.spent.unpriced_tokens > 0);
    }

    fn of<'a>(sessions: impl Iterator<Item = &'a Session>, since: Timestamp, until: Timestamp) -> Self {
        let mut work = Self::default();
        sessions.for_each(|session| work.add(session, since, until));
        work
    }
}

impl Report {
    pub fn of(board: &Board, since: Timestamp, until: Timestamp) -> Self {
        let is_in_time = |session: &&Session| {
            let ended = session.process_ended.map(|(_, at)| at).or(session.ended_at);
            session.claimed_at <= until && ended.is_none_or(|ended| ended >= since)
        };
        let sessions: Vec<&Session> = board.sessions.values().map(AsRef::as_ref).filter(is_in_time).collect();
        let mut agents: BTreeMap<AgentId, Work> = BTreeMap::new();
        for session in &sessions {
            agents.entry(session.agent.clone()).or_default().add(session, since, until);
        }
        let tasks = || board.tasks.values().map(AsRef::as_ref).filter(|task: &&Task| task.kind == Kind::Task);
        let stopped = |task: &&Task| match task.status {
            Status::Done | Status::Failed | Status::Blocked | Status::Cancelled => {
                (since..=until).contains(&task.status_at)
            }
            Status::Backlog | Status::Todo | Status::InProgress => false,
        };
        let mut reported: Vec<_> = tasks().filter(stopped).map(|task| ReportedTask::of(board, task)).collect();
        reported.sort_by_key(|task| (task.at, task.id));
        Self {
            since,
            until,
            tasks: reported,
            in_progress: tasks().filter(|task| task.status == Status::InProgress).map(|task| task.id).collect(),
            agents,
            total: Work::of(sessions.into_iter(), since, until),
        }
    }

    /// How many of its tasks have this status.
    pub fn count(&self, status: Status) -> usize {
        self.tasks.iter().filter(|task| task.status == status).count()
    }
}

impl ReportedTask {
    fn of(board: &Board, task: &Task) -> Self {
        let sessions = || task.sessions.iter().filter_map(|id| board.sessions.get(id)).map(AsRef::as_ref);
        let conclusion = task.conclusion.as_ref().map(|conclusion| &conclusion.reason);
        let reason = task.block.as_ref().map(|block| &block.reason).or(conclusion).cloned();
        Self {
            id: task.id,
            title: task.title.clone(),
            status: task.status,
            at: task.status_at,
            assignee: task.assignee.clone(),
            reason,
            merged_as: sessions()
                .filter_map(|session| session.workspace.as_ref().and_then(WorkspaceFacts::merged_as))
                .next_back()
                .map(str::to_owned),
            work: Work::of(sessions(), Timestamp(i64::MIN).in_range(), task.status_at),
        }
    }
}
