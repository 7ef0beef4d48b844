//! Is every refusal explained in both languages, with a next step that destroys nothing (M4, F27)?

use std::collections::BTreeSet;

use board::{
    Audience, Code, Field, Fuel, Hierarchy, Interrupt, Language, Obstacle, Party, Reason, Refusal, RefusalReason,
    SessionId, Status, StopCause, TaskId, Tool, lifecycle::Move,
};

use crate::answers::{has_japanese, tools_in};
use crate::world::{agent, project};

const TASK: TaskId = TaskId(12);
const OTHER: TaskId = TaskId(13);
const SESSION: SessionId = SessionId(3);

/// Every reason there is; a new one does not compile until it is here.
fn next(because: &RefusalReason) -> Option<RefusalReason> {
    use RefusalReason as B;
    let (task, dependency, session) = (TASK, OTHER, SESSION);
    let (agent_id, manager, mover) = (agent("w1"), agent("lead"), Party::Agent(agent("lead")));
    Some(match because {
        B::NoSuchTask(_) => B::NoSuchAgent(agent_id),
        B::NoSuchAgent(_) => B::NoSuchSession(session),
        B::NoSuchSession(_) => B::NoSuchProject("web".into()),
        B::NoSuchProject(_) => B::NoSuchToken("t".into()),
        B::NoSuchToken(_) => B::ProjectTaken(project()),
        B::ProjectTaken(_) => B::PathTaken { path: "/srv/shop".into(), by: project() },
        B::PathTaken { .. } => B::TextEmpty { field: Field::Title },
        B::TextEmpty { .. } => B::TextTooLong { field: Field::Summary, length: 9, limit: 8 },
        B::TextTooLong { .. } => B::TextControls { field: Field::Reason },
        B::TextControls { .. } => B::BatchSize { most: 100 },
        B::BatchSize { .. } => B::NotInBatch { index: 7 },
        B::NotInBatch { .. } => B::AgentTwice(agent_id),
        B::AgentTwice(_) => B::ManagerNotGuided(agent_id),
        B::ManagerNotGuided(_) => B::ManagerMustSplit(agent_id),
        B::ManagerMustSplit(_) => B::LimitOutOfRange { name: "max_children", least: 1, most: 20 },
        B::LimitOutOfRange { .. } => B::NobodyThere,
        B::NobodyThere => B::CannotHear(agent_id),
        B::CannotHear(_) => B::AgentsDoNotChat(agent_id),
        B::AgentsDoNotChat(_) => B::ReasonNeeded(Move::Cancel),
        B::ReasonNeeded(_) => B::NoSuchTool("x".into()),
        B::NoSuchTool(_) => B::NotYourTool(board::Tool::CancelTask),
        B::NotYourTool(_) => B::BadArguments("missing field `task_id`".into()),
        B::BadArguments(_) => B::NotAuthenticated,
        B::NotAuthenticated => B::WrongPasskey,
        B::WrongPasskey => B::TooManyTries { seconds: 30 },
        B::TooManyTries { .. } => B::NeedsWorkspace { task },
        B::NeedsWorkspace { .. } => B::AgentsOnly,
        B::AgentsOnly => B::OwnersOnly,
        B::OwnersOnly => B::RunnersOnly,
        B::RunnersOnly => B::ManagersOnly,
        B::ManagersOnly => B::TaskSessionOnly,
        B::TaskSessionOnly => B::ChatOnly,
        B::ChatOnly => B::ForceIsTheOwners,
        B::ForceIsTheOwners => B::NotTheMover { task, mover },
        B::NotTheMover { .. } => B::VerdictDecides { task },
        B::VerdictDecides { .. } => B::OwnersBlock { task },
        B::OwnersBlock { .. } => B::NotASubordinate { agent: agent_id, manager },
        B::NotASubordinate { .. } => B::NotAssigned { task, agent: agent_id },
        B::NotAssigned { .. } => B::ForeignParent { parent: OTHER, own: task },
        B::ForeignParent { .. } => B::WrongRank { task, agent: agent_id, rank: Hierarchy::Worker },
        B::WrongRank { .. } => {
            let legal = vec![Status::InProgress, Status::Cancelled];
            B::IllegalMove { task, from: Status::Blocked, to: Status::Done, legal }
        }
        B::IllegalMove { .. } => B::AlreadyThere { task, status: Status::Done },
        B::AlreadyThere { .. } => B::NotThatMove { task, name: board::lifecycle::Move::Retry, status: Status::Done },
        B::NotThatMove { .. } => B::NotReady { task, obstacles: every_obstacle() },
        B::NotReady { .. } => B::NotInProgress { task, status: Status::Todo },
        B::NotInProgress { .. } => B::Settled { task, status: Status::Done },
        B::Settled { .. } => B::ParentSettled { parent: OTHER, status: Status::Done },
        B::ParentSettled { .. } => B::UnderJudgement { task },
        B::UnderJudgement { .. } => B::WorkBeingMerged { task },
        B::WorkBeingMerged { .. } => B::WorkMerged { task },
        B::WorkMerged { .. } => B::AssignedInProgress { task },
        B::AssignedInProgress { .. } => B::DependsInProgress { task },
        B::DependsInProgress { .. } => B::DependencyCancelled { task, dependency },
        B::DependencyCancelled { .. } => B::NotADependency { task, dependency },
        B::NotADependency { .. } => B::StepsCannotSplit { task },
        B::StepsCannotSplit { .. } => B::StepsDependOnSiblings { task, dependency },
        B::StepsDependOnSiblings { .. } => B::StepsFollowTheirTask { task },
        B::StepsFollowTheirTask { .. } => B::AgentInactive(agent_id),
        B::AgentInactive(_) => B::AgentInUse { agent: agent_id, tasks: vec![task, OTHER] },
        B::AgentInUse { .. } => B::AlreadyReported,
        B::AlreadyReported => B::DrivenByHand { session },
        B::DrivenByHand { .. } => B::NotDrivenByHand { session },
        B::NotDrivenByHand { .. } => B::AlreadyClaimed { task, session },
        B::AlreadyClaimed { .. } => B::NotStaffed { agent: agent_id, reason: Reason::CoolingDown },
        B::NotStaffed { .. } => B::ChildrenOpen { task, open: vec![OTHER] },
        B::ChildrenOpen { .. } => B::NothingDone { task },
        B::NothingDone { .. } => B::NotFetched { task },
        B::NotFetched { .. } => B::UnreadComments { task },
        B::UnreadComments { .. } => B::NotMerged { task, branch: None },
        B::NotMerged { .. } => B::TooManyChildren { parent: task, limit: 5, unsettled: 5, more: 1 },
        B::TooManyChildren { .. } => B::TooManyChildrenEver { parent: task, limit: 30 },
        B::TooManyChildrenEver { .. } => B::TooManyOfMessage { message: board::MessageId(7), most: 3 },
        B::TooManyOfMessage { .. } => B::NothingToRevert { task },
        B::NothingToRevert { .. } => B::RevertedBy { task, by: OTHER },
        B::RevertedBy { .. } => B::TooManyProposals { task, most: 5 },
        B::TooManyProposals { .. } => B::ProposedBefore { proposal: 7 },
        B::ProposedBefore { .. } => B::NoOpenProposal { proposal: 7 },
        B::NoOpenProposal { .. } => B::TooManyOwnTasks { limit: 5, unsettled: 5 },
        B::TooManyOwnTasks { .. } => B::TooManyDependencies { task, limit: 50 },
        B::TooManyDependencies { .. } => B::BadRoster { agent: agent("a"), parent: agent("b") },
        B::BadRoster { .. } => B::TokenTaken("tok_1".into()),
        B::TokenTaken(_) => B::TooDeep { parent: task, limit: 3 },
        B::TooDeep { .. } => B::TooDeepForManager { task, limit: 3 },
        B::TooDeepForManager { .. } => B::RetriesSpent { task, limit: 3 },
        B::RetriesSpent { .. } => B::KeyReused { created: vec![task, OTHER] },
        B::KeyReused { .. } => B::Twin { title: "a".into(), sibling: OTHER },
        B::Twin { .. } => B::Cycle { chain: vec![task, OTHER, task] },
        B::Cycle { .. } => B::WaitCannotHelp,
        B::WaitCannotHelp => B::StartCannotHelp,
        B::StartCannotHelp => B::FuelSpent(Fuel::Calls),
        B::FuelSpent(_) => B::Interrupted(Interrupt::Stopped(StopCause::Owner)),
        B::Interrupted(_) => B::StaleSession(session),
        B::StaleSession(_) => return None,
    })
}

fn every_obstacle() -> Vec<Obstacle> {
    vec![
        Obstacle::ProjectPaused,
        Obstacle::Unassigned,
        Obstacle::AssigneeInactive(agent("w1")),
        Obstacle::Waiting { on: OTHER, status: Status::Failed },
        Obstacle::DependencyCancelled(OTHER),
        Obstacle::Held { by: OTHER },
        Obstacle::FuelSpent(Fuel::TaskSessions),
    ]
}

pub(crate) fn every_refusal() -> Vec<Refusal> {
    let all = std::iter::successors(Some(RefusalReason::NoSuchTask(TASK)), next);
    all.map(Refusal::from).collect()
}

/// M4, C5: message and hint of every refusal, in English and in Japanese, for agents and for people.
#[test]
fn every_refusal_is_explained_in_both_languages() {
    for refusal in every_refusal() {
        for language in Language::ALL {
            let message = refusal.message(*language);
            let hints = [Audience::Agent, Audience::Person].map(|audience| refusal.hint(*language, audience));
            for text in hints.iter().chain([&message]) {
                assert!(!text.trim().is_empty(), "{refusal:?}");
                assert!(!text.contains('{') && !text.contains('}'), "{refusal:?}: {text}");
                assert_eq!(has_japanese(text), *language == Language::Ja, "{refusal:?}: {text}");
            }
        }
    }
}

/// F27, M4: no hint for an agent suggests anything destructive, or a command line.
#[test]
fn no_hint_for_agents_is_destructive() {
    for refusal in every_refusal() {
        for language in Language::ALL {
            let hint = refusal.hint(*language, Audience::Agent).to_lowercase();
            let words: BTreeSet<_> = hint.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).collect();
            for bad in ["delete", "rm", "reset", "--force", "force", "drop", "remove", "saihai", "git"] {
                assert!(!words.contains(bad), "{refusal:?}: {hint}");
            }
        }
    }
}

/// M4: the hint for an agent names tools that exist, the same in both languages.
#[test]
fn hints_for_agents_name_the_same_tools_in_both_languages() {
    for refusal in every_refusal() {
        let named = Language::ALL.iter().map(|language| tools_in(&refusal.hint(*language, Audience::Agent)));
        let named: BTreeSet<_> = named.collect();
        assert_eq!(named.len(), 1, "{refusal:?}");
    }
    let ask = Refusal::from(RefusalReason::Interrupted(Interrupt::Cancelled)).hint(Language::En, Audience::Agent);
    assert_eq!(tools_in(&ask), BTreeSet::from([Tool::GetNextAction]));
}

/// M4: every code is used, so that every entrance can rely on them.
#[test]
fn every_code_has_a_reason() {
    let used: BTreeSet<_> = every_refusal().iter().map(Refusal::code).collect();
    assert_eq!(used, Code::ALL.iter().copied().collect());
}
