//! What does an agent read when it asks for its next action (N1)?

use schemars::JsonSchema;
use serde::Serialize;

use crate::action::{Choice, NextAction};
use crate::admit::admit;
use crate::apply::apply;
use crate::board::Board;
use crate::command::{Command, Destination, NewTask};
use crate::comments;
use crate::event::TaskEdit;
use crate::evidence::Rejection;
use crate::session::{Outcome, Session};
use crate::task::{Context, Status, Task};
use crate::tool::Tool;
use crate::wire::{CommentText, TaskSummary};
use crate::{Actor, Refusal, SessionId, TaskId, Timestamp};

/// Counts of a task's children, never the board itself (N5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    pub total: usize,
    pub done: usize,
    pub in_progress: usize,
    pub unstarted: usize,
    pub blocked: usize,
    pub failed: usize,
}

/// The answer to `get_next_action`, but for the wording of its instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub action: NextAction,
    pub tools: Vec<Tool>,
    pub task: Option<TaskSummary>,
    pub subtask: Option<TaskSummary>,
    pub progress: Option<Progress>,
    /// The children that a manager waits for.
    pub waiting: Vec<TaskSummary>,
    /// The children that exist, so that nothing is created twice (N5, F3).
    pub children: Vec<TaskSummary>,
    pub feedback: Option<Rejection>,
    /// What was written about the task, and is told with this answer for the first time (L10).
    pub comments: Vec<CommentText>,
}

impl Answer {
    /// The answer that goes with a step, on the board on which the step was given.
    pub fn of(board: &Board, session: SessionId, action: NextAction, now: Timestamp) -> Result<Self, Refusal> {
        let session = board.session(session)?;
        let task = session.task().map(|id| board.task(id)).transpose()?;
        let subtask = match action {
            NextAction::ExecuteSubtask(id) | NextAction::StartSubtask(id) => {
                let task = board.task(id)?;
                Some(TaskSummary::brief(task).with_description(task))
            }
            _ => None,
        };
        let waits = |child: &&Task| action == NextAction::Wait && child.status == Status::InProgress;
        let waiting = task.into_iter().flat_map(|task| board.live_children(task)).filter(waits);
        let shows_children = matches!(action, NextAction::Adjust | NextAction::ReviewBlocks | NextAction::Rework);
        let children = task.into_iter().filter(|_| shows_children).flat_map(|task| board.live_children(task));
        let legal = LegalCalls { board, session, task, now };
        Ok(Self {
            action,
            tools: legal.tools(action),
            task: task.map(TaskSummary::brief),
            subtask,
            progress: task.filter(|task| !task.children.is_empty()).map(|task| progress(board, task)),
            waiting: waiting.map(TaskSummary::brief).collect(),
            children: children.map(TaskSummary::brief).collect(),
            feedback: task.and_then(|task| task.feedback.clone()),
            comments: Vec::new(),
        })
    }

    /// The same with what its session had not read on the board `before` it was given.
    #[must_use]
    pub fn with_comments(self, before: &Board, session: SessionId) -> Self {
        let Ok(session) = before.session(session) else { return self };
        let task = session.task().and_then(|id| before.tasks.get(&id));
        let comments = task.into_iter().flat_map(|task| comments::unread(before, session, task)).map(CommentText::from);
        Self { comments: comments.collect(), ..self }
    }
}

fn progress(board: &Board, task: &Task) -> Progress {
    let mut progress = Progress::default();
    for child in board.live_children(task) {
        progress.total += 1;
        match child.status {
            Status::Done => progress.done += 1,
            Status::InProgress => progress.in_progress += 1,
            Status::Backlog | Status::Todo => progress.unstarted += 1,
            Status::Blocked => progress.blocked += 1,
            Status::Failed => progress.failed += 1,
            Status::Cancelled => {}
        }
    }
    progress
}

/// Finds out which calls would be accepted, by asking the decider itself (F8).
struct LegalCalls<'a> {
    board: &'a Board,
    session: &'a Session,
    task: Option<&'a Task>,
    now: Timestamp,
}

impl LegalCalls<'_> {
    fn tools(&self, action: NextAction) -> Vec<Tool> {
        let wanted: &[Tool] = match action {
            NextAction::Stop(_) => &[Tool::SaveContext, Tool::Logout],
            NextAction::ReportModel => &[Tool::ReportModel],
            NextAction::GetPendingMessages => &[Tool::GetPendingMessages, Tool::CreateTask, Tool::SendMessage],
            NextAction::WaitForMessages => &[Tool::GetNextAction],
            NextAction::LeaveChat | NextAction::LogOut | NextAction::Wait => &[Tool::Logout],
            NextAction::GetTask => &[Tool::GetMyTask],
            NextAction::CreateSubtasks => &[Tool::CreateTasksBatch],
            NextAction::Work => &[Tool::SaveContext, Tool::ReportCompleted],
            NextAction::Rework => &[Tool::CreateTask, Tool::ReportCompleted],
            NextAction::Start => &[Tool::ListTasks, Tool::ListSubordinates, Tool::AssignTask, Tool::UpdateTaskStatus],
            NextAction::Adjust => &[
                Tool::ListTasks,
                Tool::GetTask,
                Tool::AssignTask,
                Tool::UpdateTask,
                Tool::UpdateTaskStatus,
                Tool::UpdateTaskDependencies,
                Tool::CreateTasksBatch,
                Tool::BlockTask,
                Tool::CommentTask,
                Tool::CancelTask,
            ],
            NextAction::ReportCompletion => &[Tool::ReportCompleted],
            NextAction::ExecuteSubtask(_) | NextAction::StartSubtask(_) => &[Tool::UpdateTaskStatus],
            NextAction::ReviewBlocks => &[
                Tool::ListTasks,
                Tool::GetTask,
                Tool::UpdateTaskStatus,
                Tool::UpdateTaskDependencies,
                Tool::CommentTask,
                Tool::CancelTask,
                Tool::ReportCompleted,
            ],
            NextAction::SituationalAwareness => &[
                Tool::ListTasks,
                Tool::GetRecentCompletions,
                Tool::GetTask,
                Tool::ListSubordinates,
                Tool::SelectAction,
            ],
        };
        let manager = self.board.agents.get(&self.session.agent).is_some_and(|agent| agent.is_manager());
        let own = |tool: &Tool| manager || !tool.is_managers();
        wanted.iter().copied().filter(|tool| own(tool) && self.is_open(*tool, action)).collect()
    }

    fn is_open(&self, tool: Tool, action: NextAction) -> bool {
        match example_calls(self.board, self.session, self.task, tool, action) {
            Some(calls) => {
                calls.iter().any(|call| self.accepted(self.board, call)) || self.open_afterwards(tool, action)
            }
            None => true,
        }
    }

    fn accepted(&self, board: &Board, command: &Command) -> bool {
        admit(board, &Actor::Session(self.session.id), command, self.now).is_ok()
    }

    /// Some calls of an instruction are open once another of it was made: what is unassigned cannot be started, and what
    /// was not read asks for no work yet.
    fn open_afterwards(&self, tool: Tool, action: NextAction) -> bool {
        let first = match (tool, action) {
            (Tool::UpdateTaskStatus, NextAction::Start) => Tool::AssignTask,
            (Tool::CreateTask, NextAction::GetPendingMessages) => Tool::GetPendingMessages,
            _ => return false,
        };
        let before = example_calls(self.board, self.session, self.task, first, action);
        before.into_iter().flatten().any(|call| {
            let Ok(events) = admit(self.board, &Actor::Session(self.session.id), &call, self.now) else {
                return false;
            };
            let mut board = self.board.clone();
            events.iter().for_each(|event| apply(&mut board, event));
            let calls = example_calls(&board, self.session, self.task, tool, action);
            calls.into_iter().flatten().any(|call| self.accepted(&board, &call))
        })
    }
}

/// Calls by which an agent could follow a step with a tool; `None` for tools that only read.
pub fn example_calls(
    board: &Board,
    session: &Session,
    task: Option<&Task>,
    tool: Tool,
    action: NextAction,
) -> Option<Vec<Command>> {
    let children = || task.into_iter().flat_map(|task| board.live_children(task)).filter(|child| !child.is_settled());
    let moves = |to: &[Status]| -> Vec<Command> {
        let to = to.to_vec();
        children().flat_map(|child| to.iter().map(|to| move_to(child.id, *to)).collect::<Vec<_>>()).collect()
    };
    let calls = match tool {
        Tool::ReportModel => vec![Command::ReportModel { provider: "x".into(), model_id: "x".into() }],
        Tool::GetMyTask => vec![Command::FetchTask],
        Tool::GetNextAction => vec![Command::NextAction],
        Tool::SaveContext => vec![Command::SaveContext { context: Context::default(), decision: None }],
        Tool::Logout => vec![Command::Logout],
        Tool::GetPendingMessages => vec![Command::ShowMessages],
        Tool::CreateTask | Tool::CreateTasksBatch => {
            let title = format!("\u{2026}{}", task.map_or(0, |task| task.children.len()));
            vec![Command::CreateTasks { parent: None, tasks: vec![NewTask::titled(title)], key: None }]
        }
        Tool::ReportCompleted => {
            let result = if action == NextAction::ReviewBlocks { Outcome::Blocked } else { Outcome::Success };
            vec![Command::ReportCompleted { result, summary: "x".into(), next_steps: None }]
        }
        Tool::SelectAction => Choice::ALL.iter().map(|c| Command::SelectAction { choice: *c, reason: None }).collect(),
        Tool::AssignTask => {
            let to = |child: TaskId| {
                board.subordinates(&session.agent).map(move |agent| Command::AssignTask {
                    task: child,
                    assignee: Some(agent.id().clone()),
                    forced: false,
                })
            };
            let open = children()
                .filter(|child| action != NextAction::Start || child.assignee.is_none() || inactive(board, child));
            open.flat_map(|child| to(child.id)).collect()
        }
        Tool::UpdateTask => {
            let edit = TaskEdit { description: Some("\u{2026}".into()), ..TaskEdit::default() };
            children().map(|child| Command::EditTask { task: child.id, edit: edit.clone(), forced: false }).collect()
        }
        Tool::UpdateTaskStatus => match action {
            NextAction::StartSubtask(id) => vec![move_to(id, Status::InProgress)],
            NextAction::ExecuteSubtask(id) => vec![move_to(id, Status::Done)],
            NextAction::Start => moves(&[Status::InProgress]),
            _ => children().flat_map(|child| lifting(child).map(|to| move_to(child.id, to))).collect(),
        },
        Tool::BlockTask => moves(&[Status::Blocked]),
        Tool::CommentTask => {
            children().map(|child| Command::CommentTask { task: child.id, text: "x".into() }).collect()
        }
        Tool::CancelTask => moves(&[Status::Cancelled]),
        Tool::UpdateTaskDependencies => {
            let change = |child: &Task, dependency: &TaskId| Command::ChangeDependencies {
                task: child.id,
                add: Vec::new(),
                remove: vec![*dependency],
                forced: false,
            };
            children()
                .flat_map(|child| child.dependencies.iter().map(|d| change(child, d)).collect::<Vec<_>>())
                .collect()
        }
        Tool::Authenticate
        | Tool::Help
        | Tool::GetMyProfile
        | Tool::ListTasks
        | Tool::GetTask
        | Tool::GetRecentCompletions
        | Tool::ListSubordinates
        | Tool::GetSubordinateProfile
        | Tool::SendMessage
        | Tool::GetAgentAction
        | Tool::ListActiveProjectsWithAgents
        | Tool::HealthCheck
        | Tool::GetOverview
        | Tool::ExplainTask
        | Tool::CreateTasks
        | Tool::StartTasks
        | Tool::RetryTask
        | Tool::ReviewTask
        | Tool::GetDiff
        | Tool::GetSessionLog
        | Tool::WaitForChanges => return None,
    };
    Some(calls)
}

fn inactive(board: &Board, child: &Task) -> bool {
    child.assignee.as_ref().is_some_and(|agent| board.active_agent(agent).is_none())
}

/// The status changes that get a stuck or misplaced child going again; a step may also be given up.
fn lifting(child: &Task) -> impl Iterator<Item = Status> {
    let before = child.block.as_ref().map(|block| block.before);
    let again = match child.status {
        Status::Blocked => [before, Some(Status::Todo)],
        Status::Failed | Status::InProgress | Status::Backlog => [Some(Status::Todo), None],
        Status::Todo => [Some(Status::InProgress), None],
        Status::Done | Status::Cancelled => [None, None],
    };
    again.into_iter().flatten().chain(child.is_step().then_some(Status::Cancelled))
}

fn move_to(task: TaskId, to: Status) -> Command {
    let reason = Some("x".into());
    Command::MoveTask { task, to: Destination::Status(to), reason, forced: false, merged: false }
}
