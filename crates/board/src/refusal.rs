//! Why was a command refused? One code for every entrance, one reason with its facts.

use crate::action::Interrupt;
use crate::coordination::Reason;
use crate::field::Field;
use crate::lifecycle::Move;
use crate::obstacle::Obstacle;
use crate::settings::Fuel;
use crate::task::Status;
use crate::tool::Tool;
use crate::words::words;
use crate::{AgentId, Hierarchy, MessageId, Party, ProjectId, Seq, SessionId, TaskId};

words! {
    /// What kind of refusal it is: carried unchanged to MCP, HTTP and the command line.
    Code {
        NotAuthenticated = "not_authenticated",
        NotFound = "not_found",
        InvalidArgument = "invalid_argument",
        NotAllowed = "not_allowed",
        IllegalTransition = "illegal_transition",
        NotReady = "not_ready",
        StateConflict = "state_conflict",
        AlreadyClaimed = "already_claimed",
        ChildrenUnsettled = "children_unsettled",
        NotMerged = "not_merged",
        LimitReached = "limit_reached",
        Duplicate = "duplicate",
        Cycle = "cycle",
        CannotHelp = "cannot_help",
        FuelSpent = "fuel_spent",
        Interrupted = "interrupted",
        StaleSession = "stale_session",
    }
}

/// A command that was refused. Nothing happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub Box<RefusalReason>);

impl From<RefusalReason> for Refusal {
    fn from(because: RefusalReason) -> Self {
        Self(Box::new(because))
    }
}

impl Refusal {
    pub fn code(&self) -> Code {
        self.0.code()
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message(crate::Language::En))
    }
}

impl std::error::Error for Refusal {}

/// The reason of a refusal, with what it is about. Its wording is in `text/refusals.rs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    NoSuchTask(TaskId),
    NoSuchAgent(AgentId),
    NoSuchSession(SessionId),
    NoSuchProject(String),
    NoSuchToken(String),
    ProjectTaken(ProjectId),
    PathTaken {
        path: String,
        by: ProjectId,
    },
    TokenTaken(String),

    TextEmpty {
        field: Field,
    },
    TextTooLong {
        field: Field,
        length: usize,
        limit: usize,
    },
    TextControls {
        field: Field,
    },
    BatchSize {
        most: usize,
    },
    NotInBatch {
        index: usize,
    },
    AgentTwice(AgentId),
    ManagerNotGuided(AgentId),
    ManagerMustSplit(AgentId),
    LimitOutOfRange {
        name: &'static str,
        least: u32,
        most: u32,
    },
    NobodyThere,
    CannotHear(AgentId),
    AgentsDoNotChat(AgentId),
    ReasonNeeded(Move),

    NoSuchTool(String),
    NotYourTool(Tool),
    BadArguments(String),
    NotAuthenticated,
    WrongPasskey,
    TooManyTries {
        seconds: i64,
    },
    NeedsWorkspace {
        task: TaskId,
    },

    AgentsOnly,
    OwnersOnly,
    RunnersOnly,
    ManagersOnly,
    TaskSessionOnly,
    ChatOnly,
    ForceIsTheOwners,
    NotTheMover {
        task: TaskId,
        mover: Party,
    },
    VerdictDecides {
        task: TaskId,
    },
    OwnersBlock {
        task: TaskId,
    },
    NotASubordinate {
        agent: AgentId,
        manager: AgentId,
    },
    NotAssigned {
        task: TaskId,
        agent: AgentId,
    },
    ForeignParent {
        parent: TaskId,
        own: TaskId,
    },
    WrongRank {
        task: TaskId,
        agent: AgentId,
        rank: Hierarchy,
    },

    IllegalMove {
        task: TaskId,
        from: Status,
        to: Status,
        legal: Vec<Status>,
    },
    AlreadyThere {
        task: TaskId,
        status: Status,
    },
    /// The move does not begin at the task's status.
    NotThatMove {
        task: TaskId,
        name: Move,
        status: Status,
    },
    NotReady {
        task: TaskId,
        obstacles: Vec<Obstacle>,
    },
    NotInProgress {
        task: TaskId,
        status: Status,
    },
    Settled {
        task: TaskId,
        status: Status,
    },
    ParentSettled {
        parent: TaskId,
        status: Status,
    },
    UnderJudgement {
        task: TaskId,
    },
    /// The target is being moved to what its agent did.
    WorkBeingMerged {
        task: TaskId,
    },
    /// What its agent did is in the target.
    WorkMerged {
        task: TaskId,
    },
    AssignedInProgress {
        task: TaskId,
    },
    DependsInProgress {
        task: TaskId,
    },
    DependencyCancelled {
        task: TaskId,
        dependency: TaskId,
    },
    NotADependency {
        task: TaskId,
        dependency: TaskId,
    },
    StepsCannotSplit {
        task: TaskId,
    },
    StepsDependOnSiblings {
        task: TaskId,
        dependency: TaskId,
    },
    StepsFollowTheirTask {
        task: TaskId,
    },
    AgentInactive(AgentId),
    AgentInUse {
        agent: AgentId,
        tasks: Vec<TaskId>,
    },
    AlreadyReported,
    DrivenByHand {
        session: SessionId,
    },
    NotDrivenByHand {
        session: SessionId,
    },
    AlreadyClaimed {
        task: TaskId,
        session: SessionId,
    },
    NotStaffed {
        agent: AgentId,
        reason: Reason,
    },

    ChildrenOpen {
        task: TaskId,
        open: Vec<TaskId>,
    },
    /// The task was not read in this session.
    NotFetched {
        task: TaskId,
    },
    UnreadComments {
        task: TaskId,
    },
    NothingDone {
        task: TaskId,
    },
    NotMerged {
        task: TaskId,
        branch: Option<String>,
    },

    TooManyChildren {
        parent: TaskId,
        limit: u32,
        unsettled: u32,
        /// How many more were asked for.
        more: u32,
    },
    /// None of its work is in the target.
    NothingToRevert {
        task: TaskId,
    },
    RevertedBy {
        task: TaskId,
        by: TaskId,
    },
    TooManyProposals {
        task: TaskId,
        most: usize,
    },
    ProposedBefore {
        proposal: Seq,
    },
    /// Nothing was proposed there, or it was answered.
    NoOpenProposal {
        proposal: Seq,
    },
    TooManyOfMessage {
        message: MessageId,
        most: usize,
    },
    TooManyOwnTasks {
        limit: u32,
        unsettled: u32,
    },
    TooManyDependencies {
        task: TaskId,
        limit: usize,
    },
    BadRoster {
        agent: AgentId,
        parent: AgentId,
    },
    TooManyChildrenEver {
        parent: TaskId,
        limit: u32,
    },
    TooDeep {
        parent: TaskId,
        limit: u32,
    },
    TooDeepForManager {
        task: TaskId,
        limit: u32,
    },
    RetriesSpent {
        task: TaskId,
        limit: u32,
    },
    KeyReused {
        created: Vec<TaskId>,
    },
    Twin {
        title: String,
        sibling: TaskId,
    },
    Cycle {
        chain: Vec<TaskId>,
    },

    WaitCannotHelp,
    StartCannotHelp,
    FuelSpent(Fuel),
    Interrupted(Interrupt),
    StaleSession(SessionId),
}

impl RefusalReason {
    pub fn code(&self) -> Code {
        match self {
            Self::NoSuchTask(_)
            | Self::NoSuchAgent(_)
            | Self::NoSuchSession(_)
            | Self::NoSuchProject(_)
            | Self::NoSuchToken(_)
            | Self::NoOpenProposal { .. }
            | Self::NoSuchTool(_) => Code::NotFound,
            Self::TextEmpty { .. }
            | Self::TextTooLong { .. }
            | Self::TextControls { .. }
            | Self::BatchSize { .. }
            | Self::NotInBatch { .. }
            | Self::AgentTwice(_)
            | Self::ManagerNotGuided(_)
            | Self::ManagerMustSplit(_)
            | Self::LimitOutOfRange { .. }
            | Self::BadRoster { .. }
            | Self::NobodyThere
            | Self::BadArguments(_)
            | Self::ReasonNeeded(_) => Code::InvalidArgument,
            Self::NotAuthenticated | Self::WrongPasskey | Self::TooManyTries { .. } => Code::NotAuthenticated,
            Self::NotYourTool(_)
            | Self::AgentsOnly
            | Self::OwnersOnly
            | Self::RunnersOnly
            | Self::ManagersOnly
            | Self::TaskSessionOnly
            | Self::ChatOnly
            | Self::CannotHear(_)
            | Self::AgentsDoNotChat(_)
            | Self::ForceIsTheOwners
            | Self::NotTheMover { .. }
            | Self::VerdictDecides { .. }
            | Self::OwnersBlock { .. }
            | Self::NotASubordinate { .. }
            | Self::NotAssigned { .. }
            | Self::ForeignParent { .. }
            | Self::WrongRank { .. } => Code::NotAllowed,
            Self::IllegalMove { .. } => Code::IllegalTransition,
            Self::NotReady { .. } => Code::NotReady,
            Self::AlreadyClaimed { .. } | Self::NotStaffed { reason: Reason::AlreadyRunning, .. } => {
                Code::AlreadyClaimed
            }
            Self::AlreadyThere { .. }
            | Self::NotThatMove { .. }
            | Self::NotInProgress { .. }
            | Self::Settled { .. }
            | Self::ParentSettled { .. }
            | Self::UnderJudgement { .. }
            | Self::WorkBeingMerged { .. }
            | Self::WorkMerged { .. }
            | Self::AssignedInProgress { .. }
            | Self::DependsInProgress { .. }
            | Self::DependencyCancelled { .. }
            | Self::NotADependency { .. }
            | Self::StepsCannotSplit { .. }
            | Self::StepsDependOnSiblings { .. }
            | Self::StepsFollowTheirTask { .. }
            | Self::AgentInactive(_)
            | Self::AgentInUse { .. }
            | Self::AlreadyReported
            | Self::DrivenByHand { .. }
            | Self::NotDrivenByHand { .. }
            | Self::NotStaffed { .. }
            | Self::NeedsWorkspace { .. }
            | Self::TokenTaken(_)
            | Self::ProjectTaken(_)
            | Self::PathTaken { .. } => Code::StateConflict,
            Self::NotFetched { .. } | Self::UnreadComments { .. } => Code::NotReady,
            Self::ChildrenOpen { .. } | Self::NothingDone { .. } => Code::ChildrenUnsettled,
            Self::NotMerged { .. } | Self::NothingToRevert { .. } => Code::NotMerged,
            Self::TooManyChildren { .. }
            | Self::TooManyChildrenEver { .. }
            | Self::TooManyOfMessage { .. }
            | Self::TooManyProposals { .. }
            | Self::TooManyOwnTasks { .. }
            | Self::TooManyDependencies { .. }
            | Self::TooDeep { .. }
            | Self::TooDeepForManager { .. }
            | Self::RetriesSpent { .. } => Code::LimitReached,
            Self::Twin { .. } | Self::KeyReused { .. } | Self::RevertedBy { .. } | Self::ProposedBefore { .. } => {
                Code::Duplicate
            }
            Self::Cycle { .. } => Code::Cycle,
            Self::WaitCannotHelp | Self::StartCannotHelp => Code::CannotHelp,
            Self::FuelSpent(_) => Code::FuelSpent,
            Self::Interrupted(_) => Code::Interrupted,
            Self::StaleSession(_) => Code::StaleSession,
        }
    }
}
