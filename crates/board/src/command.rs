//! What can be asked of a board? One command path for every entrance (L1, F16).

use std::collections::BTreeMap;

use crate::action::{Choice, NextAction};
use crate::agent::AgentSpec;
use crate::event::TaskEdit;
use crate::evidence::{CheckResult, DodResult, ProcessEnd};
use crate::fact::Fact;
use crate::lifecycle::Move;
use crate::session::{Driver, Outcome, Purpose};
use crate::settings::Settings;
use crate::task::{Context, Priority, ProposalAnswer, Repairs, Reverts, Status, TaskType};
use crate::{AgentId, Completion, Generation, Party, RunnerId, SecretHash, Seq, SessionId, Span, TaskId, Timestamp};

/// A task that is to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    pub title: String,
    pub description: String,
    pub task_type: TaskType,
    pub priority: Priority,
    pub assignee: Option<AgentId>,
    pub dependencies: Vec<DependsOn>,
    pub labels: Vec<String>,
    pub completion: Option<Completion>,
    pub allow_empty: bool,
    pub repairs: Option<Repairs>,
    pub reverts: Option<Reverts>,
}

impl NewTask {
    pub fn titled(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            description: String::new(),
            task_type: TaskType::Task,
            priority: Priority::Medium,
            assignee: None,
            dependencies: Vec::new(),
            labels: Vec::new(),
            completion: None,
            allow_empty: false,
            repairs: None,
            reverts: None,
        }
    }
}

/// A dependency on a task that exists, or on one of the same batch by its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependsOn {
    Task(TaskId),
    New(usize),
}

/// Where a task is to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    Status(Status),
    /// Where this row of the lifecycle leads, and only by that row: who meant to retry does not reopen.
    By(Move),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    // The owner's, about the project.
    Configure {
        settings: Box<Settings>,
    },
    /// Nothing starts any more. `now`: what runs is stopped too.
    Pause {
        now: bool,
    },
    Resume,
    /// The whole roster as it should be; applying it twice changes nothing (F81).
    ApplyRoster {
        agents: Vec<AgentSpec>,
    },
    /// Settings and roster together, all or nothing.
    Define {
        settings: Box<Settings>,
        agents: Vec<AgentSpec>,
    },
    SetPasskey {
        agent: AgentId,
        hash: SecretHash,
    },

    // About tasks, by their mover or the owner.
    CreateTasks {
        parent: Option<TaskId>,
        tasks: Vec<NewTask>,
        key: Option<String>,
    },
    EditTask {
        task: TaskId,
        edit: TaskEdit,
        forced: bool,
    },
    AssignTask {
        task: TaskId,
        assignee: Option<AgentId>,
        forced: bool,
    },
    ChangeDependencies {
        task: TaskId,
        add: Vec<TaskId>,
        remove: Vec<TaskId>,
        forced: bool,
    },
    /// `merged` says that the caller has seen the task's branch in the target.
    MoveTask {
        task: TaskId,
        to: Destination,
        reason: Option<String>,
        forced: bool,
        merged: bool,
    },
    /// Writes something about a task for whoever works on it.
    CommentTask {
        task: TaskId,
        text: String,
    },
    /// Answers what an agent proposed for the memory bank, named by the event that made it. Whoever accepts writes the
    /// file first.
    AnswerProposal {
        proposal: Seq,
        answer: ProposalAnswer,
    },
    /// Puts a failed task back, and starts it at once unless that is to be done `later` or is another's to do.
    RetryTask {
        task: TaskId,
        /// What to do differently; a comment for the agent.
        reason: Option<String>,
        forced: bool,
        later: bool,
    },
    /// Makes a task that undoes the merged work of another, and starts it (V14). The caller words it.
    RevertTask {
        task: TaskId,
        title: String,
        description: String,
    },
    RecordBranch {
        task: TaskId,
        branch: String,
        base: String,
    },

    // About sessions, by runners and by those who orchestrate by hand.
    Claim {
        agent: AgentId,
        purpose: Purpose,
        driver: Driver,
        credential: Option<SecretHash>,
        forced: bool,
    },
    /// Opens a session for an agent that a person attached by hand; what it begins is decided by the board. A
    /// session of the same agent that has fallen silent is ended with it.
    Attach {
        agent: AgentId,
        credential: SecretHash,
        /// A runner has made, or can make, the workspace of the work that needs one.
        can_make_workspace: bool,
    },
    /// What a runner saw of a session.
    Report {
        session: SessionId,
        generation: Generation,
        number: u32,
        fact: Fact,
    },
    /// What the checks say of the target alone.
    ReportTarget {
        commit: String,
        results: Vec<CheckResult>,
    },
    RenewLeases {
        sessions: Vec<(SessionId, Generation)>,
        /// How long each has printed nothing, where that is known.
        quiet: BTreeMap<SessionId, Span>,
    },
    /// A runner that was removed is not coming back: what it ran is lost.
    DropRunner {
        runner: RunnerId,
    },
    /// Ended work of a runner that is gone is examined by another.
    TakeOver {
        from: RunnerId,
        to: RunnerId,
    },
    /// Stops a session. Its task is blocked, so that no other starts, unless it is to `restart`.
    StopSession {
        session: SessionId,
        restart: bool,
    },
    /// `merged` says that the caller has seen the task's branch in the target.
    EndByHand {
        session: SessionId,
        end: ProcessEnd,
        dod_result: DodResult,
        merged: bool,
        artifacts: Vec<String>,
    },
    ParkAccount {
        account: String,
        until: Timestamp,
    },

    // An agent's, through its session.
    ReportModel {
        provider: String,
        model_id: String,
    },
    FetchTask,
    NextAction,
    SelectAction {
        choice: Choice,
        reason: Option<String>,
    },
    ReportCompleted {
        result: Outcome,
        summary: String,
        next_steps: Option<String>,
    },
    SaveContext {
        context: Context,
        /// What the project should remember, for the owner to accept.
        decision: Option<String>,
    },
    ShowMessages,
    Logout,
    /// Its calls were refused this often in a row.
    CountRefusals {
        in_a_row: u32,
    },
    /// Calls that left no event of their own, and answers that were given again.
    CountCalls {
        calls: u32,
        repeated: Option<(NextAction, u32)>,
    },

    SendMessage {
        to: Party,
        content: String,
        related_task: Option<TaskId>,
    },

    /// What follows from time alone: lapsed leases, expired messages.
    Sweep,
}

impl Command {
    /// Its name, such as `move_task`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Configure { .. } => "configure",
            Self::Pause { .. } => "pause",
            Self::Resume => "resume",
            Self::ApplyRoster { .. } => "apply_roster",
            Self::Define { .. } => "define",
            Self::SetPasskey { .. } => "set_passkey",
            Self::CreateTasks { .. } => "create_tasks",
            Self::EditTask { .. } => "edit_task",
            Self::AssignTask { .. } => "assign_task",
            Self::ChangeDependencies { .. } => "change_dependencies",
            Self::MoveTask { .. } => "move_task",
            Self::CommentTask { .. } => "comment_task",
            Self::AnswerProposal { .. } => "answer_proposal",
            Self::RetryTask { .. } => "retry_task",
            Self::RevertTask { .. } => "revert_task",
            Self::RecordBranch { .. } => "record_branch",
            Self::Claim { .. } => "claim",
            Self::Attach { .. } => "attach",
            Self::Report { .. } => "report",
            Self::ReportTarget { .. } => "report_target",
            Self::RenewLeases { .. } => "renew_leases",
            Self::DropRunner { .. } => "drop_runner",
            Self::TakeOver { .. } => "take_over",
            Self::StopSession { .. } => "stop_session",
            Self::EndByHand { .. } => "end_by_hand",
            Self::ParkAccount { .. } => "park_account",
            Self::ReportModel { .. } => "report_model",
            Self::FetchTask => "fetch_task",
            Self::NextAction => "next_action",
            Self::SelectAction { .. } => "select_action",
            Self::ReportCompleted { .. } => "report_completed",
            Self::SaveContext { .. } => "save_context",
            Self::ShowMessages => "show_messages",
            Self::Logout => "logout",
            Self::CountRefusals { .. } => "count_refusals",
            Self::CountCalls { .. } => "count_calls",
            Self::SendMessage { .. } => "send_message",
            Self::Sweep => "sweep",
        }
    }
}
