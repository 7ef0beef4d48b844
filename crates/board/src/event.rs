//! What has happened? The events of a project's stream, their names and their versions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::action::{Choice, NextAction, StopCause};
use crate::agent::AgentSpec;
use crate::evidence::{CheckResult, DodResult, Examination, ProcessEnd, Usage, Verdict, WorkspaceFacts};
use crate::session::{CompletionReport, Driver, ModelReport, Purpose};
use crate::settings::{Fuel, Settings};
use crate::task::{Context, Kind, Priority, ProposalAnswer, Repairs, Reverts, Status, TaskType};
use crate::{
    Actor, AgentId, Completion, Generation, MessageId, Party, RunnerId, SecretHash, Seq, SessionId, TaskId, Timestamp,
};

/// One event: when, by whom, what. Its sequence number is its place in the stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub at: Timestamp,
    pub by: Actor,
    pub what: EventKind,
    /// It follows from the same command as the event before it.
    #[serde(default)]
    pub continues: bool,
    /// The session's fact that it records, by its number.
    #[serde(default)]
    pub fact: Option<(SessionId, u32)>,
}

/// A task as it was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedTask {
    pub id: TaskId,
    pub kind: Kind,
    pub status: Status,
    pub title: String,
    pub description: String,
    pub task_type: TaskType,
    pub priority: Priority,
    pub parent: Option<TaskId>,
    pub depth: u32,
    pub assignee: Option<AgentId>,
    pub creator: Party,
    pub dependencies: Vec<TaskId>,
    pub labels: Vec<String>,
    pub completion: Option<Completion>,
    pub allow_empty: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repairs: Option<Repairs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverts: Option<Reverts>,
    /// The owner's message that asked for it (N11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mandate: Option<MessageId>,
}

/// What was changed of a task's content; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEdit {
    pub title: Option<String>,
    pub description: Option<String>,
    pub priority: Option<Priority>,
    pub task_type: Option<TaskType>,
    pub labels: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    ProjectConfigured {
        settings: Box<Settings>,
    },
    ProjectPaused,
    ProjectResumed,
    /// The roster changed: these joined or are different now, those left.
    RosterApplied {
        present: Vec<AgentSpec>,
        left: Vec<AgentId>,
    },
    PasskeySet {
        agent: AgentId,
        hash: SecretHash,
    },
    AccountParked {
        account: String,
        until: Timestamp,
    },

    TasksCreated {
        tasks: Vec<CreatedTask>,
        key: Option<String>,
    },
    TaskEdited {
        task: TaskId,
        edit: TaskEdit,
    },
    TaskAssigned {
        task: TaskId,
        assignee: Option<AgentId>,
    },
    DependenciesChanged {
        task: TaskId,
        added: Vec<TaskId>,
        removed: Vec<TaskId>,
    },
    /// The only event that changes a status.
    TaskMoved {
        task: TaskId,
        from: Status,
        to: Status,
        by: Party,
        reason: Option<String>,
        forced: bool,
    },
    /// Somebody wrote about the task. The reasons of some moves are comments too.
    CommentAdded {
        task: TaskId,
        by: Party,
        text: String,
    },
    /// An agent proposed a decision for the memory bank.
    MemoryProposed {
        task: TaskId,
        by: AgentId,
        text: String,
    },
    /// The owner took a proposal into the memory bank, or did not. `proposal` is the event that made it.
    ProposalAnswered {
        task: TaskId,
        proposal: Seq,
        answer: ProposalAnswer,
    },
    /// The work's branch and the commit it starts from were recorded.
    BranchRecorded {
        task: TaskId,
        branch: String,
        base: String,
    },

    SessionClaimed {
        session: SessionId,
        agent: AgentId,
        purpose: Purpose,
        driver: Driver,
        generation: Generation,
        lease_until: Option<Timestamp>,
        credential: Option<SecretHash>,
    },
    SessionRunning {
        session: SessionId,
    },
    LeasesRenewed {
        sessions: Vec<SessionId>,
        until: Timestamp,
        /// When those that have printed something since were last heard. Older logs have none.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        printed: BTreeMap<SessionId, Timestamp>,
    },
    /// Ended work of a runner that is gone is examined by another (R10).
    SessionsTakenOver {
        sessions: Vec<SessionId>,
        runner: RunnerId,
    },
    /// Its work is tested and merged now, and that of other runners waits (R10).
    MergeTurnTaken {
        session: SessionId,
        until: Timestamp,
    },
    MergeTurnEnded {
        session: SessionId,
    },
    StopRequested {
        session: SessionId,
        cause: StopCause,
    },
    /// What the client has used since its start; each replaces the one before.
    UsageReported {
        session: SessionId,
        usage: Usage,
    },
    /// The process is over. What it means follows in `Judged`, at once or after verification.
    ProcessEnded {
        session: SessionId,
        end: ProcessEnd,
        dod_result: Option<DodResult>,
        artifacts: Vec<String>,
        usage: Option<Usage>,
    },
    /// Older logs have it in place of `Examined`.
    WorkspaceExamined {
        session: SessionId,
        facts: Box<WorkspaceFacts>,
    },
    /// What was found of ended work.
    Examined {
        session: SessionId,
        examination: Examination,
    },
    /// The board has said that the target may be moved to this candidate.
    MergeStarted {
        session: SessionId,
        candidate: String,
    },
    /// Checks ran on the target alone (V9).
    TargetChecked {
        commit: String,
        results: Vec<CheckResult>,
    },
    /// The session is over. A chat has no verdict.
    Judged {
        session: SessionId,
        verdict: Option<Verdict>,
    },

    ModelReported {
        session: SessionId,
        report: ModelReport,
    },
    TaskFetched {
        session: SessionId,
    },
    #[serde(rename = "step_given")]
    ActionGiven {
        session: SessionId,
        #[serde(rename = "step")]
        action: NextAction,
    },
    /// The same next action was given again this often, and nothing had changed in between.
    #[serde(rename = "step_repeated")]
    ActionRepeated {
        session: SessionId,
        #[serde(rename = "step")]
        action: NextAction,
        times: u32,
    },
    ActionChosen {
        session: SessionId,
        choice: Choice,
        reason: Option<String>,
    },
    CompletionReported {
        session: SessionId,
        #[serde(rename = "claim")]
        report: CompletionReport,
    },
    ContextSaved {
        session: SessionId,
        context: Context,
    },
    LoggedOut {
        session: SessionId,
    },
    CallsCounted {
        session: SessionId,
        calls: u32,
    },
    FuelSpent {
        task: Option<TaskId>,
        session: Option<SessionId>,
        fuel: Fuel,
    },

    MessageSent {
        message: MessageId,
        from: Party,
        to: Party,
        content: String,
        related_task: Option<TaskId>,
    },
    MessagesShown {
        session: SessionId,
        upto: MessageId,
    },
    MessageExpired {
        message: MessageId,
    },
}

/// An event of the log that this binary cannot read.
#[derive(Debug, thiserror::Error)]
pub enum BadEvent {
    #[error("event version {found} is newer than this binary knows ({known})")]
    Newer { found: u16, known: u16 },
    #[error("not an event: {0}")]
    Unreadable(#[from] serde_json::Error),
}

#[derive(Serialize, Deserialize)]
struct Body<A, W> {
    by: A,
    what: W,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    continues: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fact: Option<(SessionId, u32)>,
}

impl Event {
    /// The version in which events are written today.
    pub const VERSION: u16 = 1;

    /// An event that follows from the same command as others, for those who look ahead.
    pub(crate) fn following(at: Timestamp, by: &Actor, what: &EventKind) -> Self {
        Self { at, by: by.clone(), what: what.clone(), continues: true, fact: None }
    }

    /// The name of what happened, such as `task_moved`.
    pub fn name(&self) -> &'static str {
        self.what.name()
    }

    /// The JSON text that the log keeps. Its time is kept beside it.
    pub fn encode(&self) -> String {
        let Self { by, what, continues, fact, .. } = self;
        serde_json::to_string(&Body { by, what, continues: *continues, fact: *fact })
            .expect("events have string keys only")
    }

    /// Reads an event of any version ever written.
    pub fn decode(version: u16, at: Timestamp, body: &str) -> Result<Self, BadEvent> {
        if version > Self::VERSION {
            return Err(BadEvent::Newer { found: version, known: Self::VERSION });
        }
        let Body { by, what, continues, fact } = serde_json::from_str(body)?;
        Ok(Self { at, by, what, continues, fact })
    }

    /// The same event without secrets and their hashes, for people to see (S4).
    pub fn redacted(&self) -> Self {
        let mut event = self.clone();
        let hidden = || SecretHash("(hidden)".into());
        match &mut event.what {
            EventKind::PasskeySet { hash, .. } => *hash = hidden(),
            EventKind::SessionClaimed { credential, .. } => {
                if let Some(credential) = credential {
                    *credential = hidden();
                }
            }
            // Listed one by one: a new event that carries a secret must not be shown by default.
            EventKind::ProjectConfigured { .. }
            | EventKind::ProjectPaused
            | EventKind::ProjectResumed
            | EventKind::RosterApplied { .. }
            | EventKind::AccountParked { .. }
            | EventKind::TasksCreated { .. }
            | EventKind::TaskEdited { .. }
            | EventKind::TaskAssigned { .. }
            | EventKind::DependenciesChanged { .. }
            | EventKind::TaskMoved { .. }
            | EventKind::CommentAdded { .. }
            | EventKind::MemoryProposed { .. }
            | EventKind::ProposalAnswered { .. }
            | EventKind::BranchRecorded { .. }
            | EventKind::SessionRunning { .. }
            | EventKind::LeasesRenewed { .. }
            | EventKind::SessionsTakenOver { .. }
            | EventKind::MergeTurnTaken { .. }
            | EventKind::MergeTurnEnded { .. }
            | EventKind::StopRequested { .. }
            | EventKind::UsageReported { .. }
            | EventKind::ProcessEnded { .. }
            | EventKind::Examined { .. }
            | EventKind::MergeStarted { .. }
            | EventKind::TargetChecked { .. }
            | EventKind::WorkspaceExamined { .. }
            | EventKind::Judged { .. }
            | EventKind::ModelReported { .. }
            | EventKind::TaskFetched { .. }
            | EventKind::ActionGiven { .. }
            | EventKind::ActionRepeated { .. }
            | EventKind::ActionChosen { .. }
            | EventKind::CompletionReported { .. }
            | EventKind::ContextSaved { .. }
            | EventKind::LoggedOut { .. }
            | EventKind::CallsCounted { .. }
            | EventKind::FuelSpent { .. }
            | EventKind::MessageSent { .. }
            | EventKind::MessagesShown { .. }
            | EventKind::MessageExpired { .. } => {}
        }
        event
    }
}

impl EventKind {
    /// What it is called in the log, and which task and session it is about. One table, in which a new event must be
    /// entered: what is missing here would be missing from timelines.
    fn entry(&self) -> Entry {
        let about = |name, task: &TaskId| Entry { tasks: vec![*task], ..Entry::named(name) };
        let of = |name, session: &SessionId| Entry { session: Some(*session), ..Entry::named(name) };
        match self {
            Self::ProjectConfigured { .. } => Entry::named("project_configured"),
            Self::ProjectPaused => Entry::named("project_paused"),
            Self::ProjectResumed => Entry::named("project_resumed"),
            Self::RosterApplied { .. } => Entry::named("roster_applied"),
            Self::PasskeySet { .. } => Entry::named("passkey_set"),
            Self::AccountParked { .. } => Entry::named("account_parked"),
            Self::TasksCreated { tasks, .. } => {
                let tasks = tasks.iter().flat_map(|task| task.parent.into_iter().chain([task.id])).collect();
                Entry { tasks, ..Entry::named("tasks_created") }
            }
            Self::TaskEdited { task, .. } => about("task_edited", task),
            Self::TaskAssigned { task, .. } => about("task_assigned", task),
            Self::DependenciesChanged { task, .. } => about("dependencies_changed", task),
            Self::TaskMoved { task, .. } => about("task_moved", task),
            Self::CommentAdded { task, .. } => about("comment_added", task),
            Self::MemoryProposed { task, .. } => about("memory_proposed", task),
            Self::ProposalAnswered { task, .. } => about("proposal_answered", task),
            Self::BranchRecorded { task, .. } => about("branch_recorded", task),
            Self::SessionClaimed { session, purpose, .. } => {
                Entry { tasks: purpose.task().into_iter().collect(), ..of("session_claimed", session) }
            }
            Self::SessionRunning { session } => of("session_running", session),
            // It renews many sessions at once, and is about none of them.
            Self::LeasesRenewed { .. } => Entry::named("leases_renewed"),
            Self::SessionsTakenOver { .. } => Entry::named("sessions_taken_over"),
            Self::MergeTurnTaken { session, .. } => of("merge_turn_taken", session),
            Self::MergeTurnEnded { session } => of("merge_turn_ended", session),
            Self::StopRequested { session, .. } => of("stop_requested", session),
            Self::UsageReported { session, .. } => of("usage_reported", session),
            Self::ProcessEnded { session, .. } => of("process_ended", session),
            Self::WorkspaceExamined { session, .. } => of("workspace_examined", session),
            Self::Examined { session, .. } => of("examined", session),
            Self::MergeStarted { session, .. } => of("merge_started", session),
            Self::TargetChecked { .. } => Entry::named("target_checked"),
            Self::Judged { session, .. } => of("judged", session),
            Self::ModelReported { session, .. } => of("model_reported", session),
            Self::TaskFetched { session } => of("task_fetched", session),
            Self::ActionGiven { session, .. } => of("step_given", session),
            Self::ActionRepeated { session, .. } => of("step_repeated", session),
            Self::ActionChosen { session, .. } => of("action_chosen", session),
            Self::CompletionReported { session, .. } => of("completion_reported", session),
            Self::ContextSaved { session, .. } => of("context_saved", session),
            Self::LoggedOut { session } => of("logged_out", session),
            Self::CallsCounted { session, .. } => of("calls_counted", session),
            Self::FuelSpent { task, session, .. } => {
                Entry { name: "fuel_spent", tasks: task.iter().copied().collect(), session: *session }
            }
            Self::MessageSent { related_task, .. } => {
                Entry { tasks: related_task.iter().copied().collect(), ..Entry::named("message_sent") }
            }
            Self::MessagesShown { session, .. } => of("messages_shown", session),
            Self::MessageExpired { .. } => Entry::named("message_expired"),
        }
    }

    /// The name of what happened, such as `task_moved`.
    pub fn name(&self) -> &'static str {
        self.entry().name
    }

    /// The tasks it is about, apart from that of its session.
    pub fn tasks(&self) -> Vec<TaskId> {
        self.entry().tasks
    }

    /// The session it is about.
    pub fn session(&self) -> Option<SessionId> {
        self.entry().session
    }

    /// How many of a session's calls an event stands for. A call with several effects is counted by the first of
    /// its events; those that continue it cost nothing more.
    pub(crate) fn calls(&self, continues: bool) -> u32 {
        match self {
            Self::CallsCounted { calls, .. } | Self::ActionRepeated { times: calls, .. } => *calls,
            Self::FuelSpent { .. } => 0,
            _ => u32::from(!continues),
        }
    }

    /// Is there nothing in it that a person would look for? It keeps the books: renewed leases, counted calls.
    pub fn is_bookkeeping(&self) -> bool {
        matches!(
            self,
            Self::LeasesRenewed { .. }
                | Self::CallsCounted { .. }
                | Self::ActionRepeated { .. }
                | Self::MessagesShown { .. }
        )
    }
}

/// What every event has besides its content.
struct Entry {
    name: &'static str,
    tasks: Vec<TaskId>,
    session: Option<SessionId>,
}

impl Entry {
    fn named(name: &'static str) -> Self {
        Self { name, tasks: Vec::new(), session: None }
    }
}
