//! How do agents behave? Some obey; the others do what real agents were seen to do.

use board::{
    Answer, Board, Choice, Command, Completion, Context, DependsOn, Destination, NewTask, NextAction, Outcome, Party,
    Session, Status, Task, TaskEdit, TaskId, TaskType,
};
use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    Obedient,
    /// Asks for its next step and never does it.
    Looping,
    /// Never calls, until it is ended.
    Silent,
    /// Reports success at once.
    Lying,
    /// Obeys until its process dies.
    Crashing,
    /// Sends everything twice.
    DoubleSubmitting,
    /// Calls any tool with any arguments.
    Hostile,
}

impl Behaviour {
    pub(super) const ALL: [Behaviour; 7] = [
        Behaviour::Obedient,
        Behaviour::Looping,
        Behaviour::Silent,
        Behaviour::Lying,
        Behaviour::Crashing,
        Behaviour::DoubleSubmitting,
        Behaviour::Hostile,
    ];
}

/// The calls with which an obedient agent follows an answer. Empty: it ends.
pub(super) fn follow(answer: &Answer, board: &Board, session: &Session, rng: &mut ChaCha8Rng) -> Vec<Command> {
    let task = session.task().and_then(|id| board.tasks.get(&id));
    match answer.action {
        NextAction::Stop(_) | NextAction::LogOut | NextAction::LeaveChat | NextAction::Wait => vec![Command::Logout],
        NextAction::ReportModel => vec![Command::ReportModel { provider: "p".into(), model_id: "m".into() }],
        NextAction::GetPendingMessages => {
            let reply = Command::SendMessage { to: Party::Owner, content: "yes".into(), related_task: None };
            vec![Command::ShowMessages, reply]
        }
        NextAction::WaitForMessages => Vec::new(),
        NextAction::GetTask => vec![Command::FetchTask],
        NextAction::CreateSubtasks => vec![split(task.map_or(0, |task| task.children.len()), rng)],
        NextAction::Work | NextAction::Rework | NextAction::ReportCompletion => vec![report(Outcome::Success)],
        NextAction::StartSubtask(id) => vec![move_to(id, Status::InProgress)],
        NextAction::ExecuteSubtask(id) => vec![move_to(id, finish(rng))],
        NextAction::Start => task.map(|task| start(board, session, task, rng)).unwrap_or_default(),
        NextAction::Adjust => task.and_then(|task| adjust(board, task, rng)).into_iter().collect(),
        NextAction::ReviewBlocks => task.map(|task| review(board, task, rng)).unwrap_or_default(),
        NextAction::SituationalAwareness => {
            // It may have to try more than one before a choice is accepted.
            let mut choices = [Choice::Start, Choice::Wait, Choice::Adjust];
            if rng.random_bool(0.1) {
                choices.swap(0, 2);
            }
            choices.into_iter().map(|choice| Command::SelectAction { choice, reason: None }).collect()
        }
    }
}

/// Of these calls a manager makes only one: the first that is accepted.
pub(super) fn tries_in_turn(step: NextAction) -> bool {
    step == NextAction::SituationalAwareness || step == NextAction::ReviewBlocks
}

fn split(existing: usize, rng: &mut ChaCha8Rng) -> Command {
    let count = rng.random_range(2..=3);
    let tasks = (0..count)
        .map(|n| {
            let mut new = NewTask::titled(format!("part {}", existing + n));
            if n > 0 && rng.random_bool(0.4) {
                new.dependencies.push(DependsOn::New(rng.random_range(0..n)));
            }
            new
        })
        .collect();
    Command::CreateTasks { parent: None, tasks, key: Some(format!("split {existing}")) }
}

fn finish(rng: &mut ChaCha8Rng) -> Status {
    match rng.random_range(0..20) {
        0 => Status::Failed,
        1 => Status::Blocked,
        _ => Status::Done,
    }
}

/// Assigns what nobody has and starts what is ready.
fn start(board: &Board, session: &Session, task: &Task, rng: &mut ChaCha8Rng) -> Vec<Command> {
    let team: Vec<_> = board.subordinates(&session.agent).map(|agent| agent.id().clone()).collect();
    let mut calls = Vec::new();
    for child in board.unsettled_children(task).filter(|child| matches!(child.status, Status::Backlog | Status::Todo)) {
        if child.assignee.is_none() {
            let assignee = team.choose(rng).cloned();
            calls.push(Command::AssignTask { task: child.id, assignee, forced: false });
        }
        calls.push(move_to(child.id, Status::InProgress));
    }
    calls
}

fn adjust(board: &Board, task: &Task, rng: &mut ChaCha8Rng) -> Option<Command> {
    let children: Vec<_> = board.unsettled_children(task).map(|child| child.id).collect();
    let child = *children.choose(rng)?;
    Some(match rng.random_range(0..4) {
        0 => move_to(child, Status::Cancelled),
        1 => move_to(child, Status::Todo),
        2 => Command::AssignTask { task: child, assignee: None, forced: false },
        _ => Command::CreateTasks { parent: None, tasks: vec![NewTask::titled("one more")], key: None },
    })
}

/// Unblocks, retries, frees of dependencies or cancels what is stuck; reports if nothing of it is accepted.
fn review(board: &Board, task: &Task, rng: &mut ChaCha8Rng) -> Vec<Command> {
    let mut calls = Vec::new();
    for child in board.unsettled_children(task) {
        let again = match (child.status, &child.block) {
            (Status::Blocked, Some(block)) => Some(block.before),
            (Status::Failed, _) => Some(Status::Todo),
            _ => None,
        };
        if rng.random_bool(0.7) {
            calls.extend(again.map(|status| move_to(child.id, status)));
        }
        let cancelled = |id: &&TaskId| board.tasks.get(*id).is_some_and(|task| task.status == Status::Cancelled);
        let remove: Vec<_> = child.dependencies.iter().filter(cancelled).copied().collect();
        if !remove.is_empty() {
            calls.push(Command::ChangeDependencies { task: child.id, add: Vec::new(), remove, forced: false });
        }
        calls.push(move_to(child.id, Status::Cancelled));
    }
    calls.push(report(Outcome::Blocked));
    calls
}

pub(super) fn report(result: Outcome) -> Command {
    Command::ReportCompleted { result, summary: "as asked".into(), next_steps: None }
}

pub(super) fn move_to(task: TaskId, status: Status) -> Command {
    let to = Destination::Status(status);
    Command::MoveTask { task, to, reason: Some("because".into()), forced: false, merged: false }
}

/// Any command with any arguments.
pub(super) fn random_command(board: &Board, rng: &mut ChaCha8Rng) -> Command {
    let task = TaskId(rng.random_range(1..=board.tasks.len().max(1) as u32 + 1));
    let status = *Status::ALL.choose(rng).expect("there are statuses");
    let agents: Vec<_> = board.agents.keys().cloned().collect();
    match rng.random_range(0..16) {
        0 => split(rng.random_range(0..40), rng),
        1 => Command::CreateTasks { parent: Some(task), tasks: vec![NewTask::titled("x")], key: None },
        2..=4 => move_to(task, status),
        5 => Command::MoveTask { task, to: Destination::Status(status), reason: None, forced: true, merged: true },
        6 => Command::AssignTask { task, assignee: agents.choose(rng).cloned(), forced: rng.random_bool(0.5) },
        7 => {
            let other = TaskId(rng.random_range(1..=board.tasks.len().max(1) as u32));
            Command::ChangeDependencies { task, add: vec![other], remove: Vec::new(), forced: false }
        }
        8 => report(*Outcome::ALL.choose(rng).expect("there are outcomes")),
        9 => Command::SelectAction { choice: *Choice::ALL.choose(rng).expect("there are choices"), reason: None },
        10 => {
            let to = agents.choose(rng).map_or(Party::Owner, |agent| Party::Agent(agent.clone()));
            Command::SendMessage { to, content: "hello".into(), related_task: Some(task) }
        }
        11 => Command::SaveContext {
            context: Context { progress: Some("none".into()), ..Context::default() },
            decision: rng.random_bool(0.3).then(|| "Dates are UTC".into()),
        },
        12 => Command::FetchTask,
        13 => {
            let edit = TaskEdit { task_type: Some(TaskType::Research), ..TaskEdit::default() };
            Command::EditTask { task, edit, forced: false }
        }
        14 => {
            let assignee = agents.choose(rng).cloned();
            let loose =
                NewTask { assignee, completion: Some(Completion::Reported), allow_empty: true, ..NewTask::titled("y") };
            Command::CreateTasks { parent: None, tasks: vec![loose], key: None }
        }
        _ => Command::NextAction,
    }
}
