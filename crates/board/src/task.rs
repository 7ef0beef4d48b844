//! What is a task?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event_numbers::EventNumbers;
use crate::evidence::Rejection;
use crate::session::CompletionReport;
use crate::spending::Spent;
use crate::words::words;
use crate::{AgentId, Generation, MessageId, Party, Seq, SessionId, TaskId, Timestamp};

words! {
    Status {
        Backlog = "backlog",
        Todo = "todo",
        InProgress = "in_progress",
        Blocked = "blocked",
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl Status {
    /// Done or cancelled: nothing more is expected of it. The one definition (F7).
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }

    /// Reads a status as people write it: `open` means `todo`.
    pub fn parse(word: &str) -> Result<Self, crate::UnknownWord> {
        if word == "open" { Ok(Self::Todo) } else { word.parse() }
    }
}

/// Which tasks are listed (C7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusFilter {
    /// Neither settled nor in progress.
    Open,
    Only(Status),
}

impl StatusFilter {
    pub fn parse(word: &str) -> Result<Self, crate::UnknownWord> {
        if word == "open" { Ok(Self::Open) } else { word.parse().map(Self::Only) }
    }

    pub fn matches(self, status: Status) -> bool {
        match self {
            Self::Open => !status.is_settled() && status != Status::InProgress,
            Self::Only(only) => status == only,
        }
    }
}

words! {
    /// Ordered by urgency, never as text (F20).
    Priority { Low = "low", Medium = "medium", High = "high", Critical = "critical" }
}

words! {
    TaskType {
        Task = "task",
        Feature = "feature",
        Bug = "bug",
        Refactor = "refactor",
        Docs = "docs",
        Test = "test",
        Research = "research",
    }
}

words! {
    /// When is a task done: merged into the target, or reported (V7)?
    Completion { Merged = "merged", Reported = "reported" }
}

words! {
    /// What the work is meant to repair. Work that repairs the target goes through although a check fails there (V9).
    Repairs { Target = "target" }
}

words! {
    /// A task is given to an agent with a session of its own; a step is done by the worker of its
    /// parent, inside that worker's session.
    Kind { Task = "task", Step = "step" }
}

/// What a task undoes: the merged work of another (V14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reverts {
    pub task: TaskId,
    /// Commits of the target, the newest first.
    pub commits: Vec<String>,
}

/// Why a task is blocked, by whom, and what it goes back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub by: Party,
    pub reason: String,
    pub before: Status,
}

/// Why a task failed or was cancelled, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conclusion {
    pub by: Party,
    pub reason: String,
}

/// What was written about a task, for whoever works on it (L10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    pub by: Party,
    pub text: String,
    pub at: Timestamp,
    /// The event that added it.
    pub seq: Seq,
}

words! {
    /// What the owner said of a proposal.
    ProposalAnswer { Accepted = "accepted", Declined = "declined" }
}

/// What an agent wants the project to remember. The owner answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The event that made it.
    pub seq: Seq,
    pub by: AgentId,
    pub text: String,
    pub at: Timestamp,
    pub answer: Option<ProposalAnswer>,
}

/// What an agent noted for the next session of the task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    pub progress: Option<String>,
    pub findings: Option<String>,
    pub blockers: Option<String>,
    pub next_steps: Option<String>,
}

/// Sequence numbers of the last events of each sort about a task: phases are derived from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watermarks {
    /// Any new fact (A3), about the task itself or one of its children.
    pub fact: Seq,
    /// Its status changed.
    pub status: Seq,
    /// A child of it, or what a child waits for, changed in status, assignment or content.
    pub children: Seq,
    /// It was rejected, retried or reopened.
    pub sent_back: Seq,
    /// Its agent reported.
    pub reported: Seq,
    /// A step was added to it.
    pub step_added: Seq,
}

/// What has been used of the task's fuel (G1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Rejected attempts since the task was last retried or reopened.
    pub attempts: u32,
    pub retries_by_agents: u32,
    /// Sessions since the owner last granted more.
    pub sessions: u32,
    /// Sessions in a row without a new fact.
    pub idle_sessions: u32,
    /// Bad ends in a row: the first is tried once more (A5).
    pub bad_ends: u32,
    /// Conflicts in a row. They are nobody's fault, and have a bound of their own (A5).
    pub conflicts: u32,
    /// What its sessions have used since the owner last let it go on (G5).
    pub spent: Spent,
}

/// What work that was sent back twice for a conflict stands in line for (V11).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RightOfWay {
    /// The files in conflict.
    pub files: Vec<String>,
    /// When the session began that has it; `None` while the task stands in line.
    pub granted: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub kind: Kind,
    pub title: String,
    pub description: String,
    pub task_type: TaskType,
    pub priority: Priority,
    pub status: Status,
    pub parent: Option<TaskId>,
    /// 0 at the top; a step has the depth of its task.
    pub depth: u32,
    /// Every child ever, in order of creation.
    pub children: Vec<TaskId>,
    pub assignee: Option<AgentId>,
    pub creator: Party,
    pub dependencies: Vec<TaskId>,
    /// Who depends on it.
    pub dependents: Vec<TaskId>,
    pub labels: Vec<String>,
    pub branch: Option<String>,
    pub base_commit: Option<String>,
    pub completion: Option<Completion>,
    pub allow_empty: bool,
    pub repairs: Option<Repairs>,
    pub reverts: Option<Reverts>,
    /// The owner's message that asked for it (N11).
    pub mandate: Option<MessageId>,
    pub block: Option<Block>,
    pub conclusion: Option<Conclusion>,
    /// What its agent last claimed; for the record only.
    pub report: Option<CompletionReport>,
    /// What was wrong with the last attempt.
    pub feedback: Option<Rejection>,
    /// Oldest first.
    pub comments: Vec<Comment>,
    /// What its agents propose for the memory bank.
    pub proposals: Vec<Proposal>,
    pub right_of_way: Option<RightOfWay>,
    /// The tree of its work as it was last seen.
    pub work_tree: Option<String>,
    pub used: Used,
    /// No session starts before this instant (A3).
    pub not_before: Option<Timestamp>,
    pub live: Option<SessionId>,
    /// The last session that ended.
    pub last_session: Option<SessionId>,
    pub generation: Generation,
    /// Claimed by a person who orchestrates by hand: runners do not start it until it leaves `in_progress`.
    pub by_hand: bool,
    /// Its manager left with `wait`, having seen the board as of this event (A2).
    pub waiting_since: Option<Seq>,
    pub context: Option<Context>,
    pub marks: Watermarks,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Since when it has its status.
    pub status_at: Timestamp,
    /// Every session of it, oldest first.
    pub sessions: Vec<SessionId>,
    /// What all of them have used.
    pub spent: Spent,
    /// Every event about it, oldest first.
    pub events: EventNumbers,
}

impl Task {
    pub fn is_step(&self) -> bool {
        self.kind == Kind::Step
    }

    pub fn is_settled(&self) -> bool {
        self.status.is_settled()
    }

    /// A parent that nobody is assigned to: its owner starts its subtasks and ends it (C7).
    pub fn has_no_runner(&self) -> bool {
        self.kind == Kind::Task && self.assignee.is_none() && !self.children.is_empty()
    }

    /// The branch its work is on: the one that was recorded, or the one it will get.
    pub fn branch_name(&self) -> String {
        self.branch.clone().unwrap_or_else(|| self.default_branch())
    }

    /// `task-12-slug`.
    fn default_branch(&self) -> String {
        let slug = slug(&self.title);
        if slug.is_empty() { format!("task-{}", self.id.0) } else { format!("task-{}-{slug}", self.id.0) }
    }
}

/// At most 40 lower-case ASCII letters and digits of a title, in groups joined by `-`.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars() {
        if slug.len() >= 40 {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Priority, Status, slug};

    /// F20: urgency is an order, not an alphabet.
    #[test]
    fn critical_is_more_urgent_than_high() {
        let mut all = Priority::ALL.to_vec();
        all.sort();
        assert_eq!(all, [Priority::Low, Priority::Medium, Priority::High, Priority::Critical]);
    }

    #[test]
    fn open_is_read_as_todo_and_unknown_words_name_the_known_ones() {
        assert_eq!(Status::parse("open"), Ok(Status::Todo));
        let error = Status::parse("finished").unwrap_err().to_string();
        assert!(error.contains("in_progress"), "{error}");
    }

    #[test]
    fn slugs_are_safe_in_branch_names() {
        assert_eq!(slug("  Fix: the `login` page!! "), "fix-the-login-page");
        assert_eq!(slug("日本語"), "");
        assert!(slug(&"ab ".repeat(50)).len() <= 40);
    }
}
