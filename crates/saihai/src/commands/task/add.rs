//! `saihai task add`

use board::lifecycle::Move;
use board::wire;
use board::{
    AgentId, Board, Command, Completion, DependsOn, EventKind, NewTask, Priority, Repairs, Task, TaskId, TaskType,
};
use clap::Args;
use control::Receipt;

use super::task_list_file::listed_tasks;
use super::{owner_move, text_or_stdin};
use crate::context::{Context, OpenProject};
use crate::failure::Failure;

/// Add a task
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  saihai task add \"Add a login page\" --assign lead --type feature --priority high
  saihai task add \"Write its tests\" --parent 1 --depends 2,3
  saihai task add \"Import\" --description - < brief.md
  saihai task add \"Fix the typo\" --assign coder --start
  saihai task add --file tasks.md --assign coder --label sprint-3

A task with an assignee waits in `todo`, one without in `backlog`; nothing runs before
`saihai task start`.")]
pub(crate) struct Add {
    /// What should be done, in one line
    #[arg(required_unless_present = "file")]
    title: Option<String>,
    /// Add a task for each item of a Markdown list, or each line; - reads stdin. All are added, or none
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["title", "description"])]
    file: Option<String>,
    /// Start it at once
    #[arg(long, requires = "assign")]
    start: bool,
    /// A longer description, or - to read it from stdin
    #[arg(long, short, default_value = "", allow_hyphen_values = true)]
    description: String,
    /// task, feature, bug, refactor, docs, test or research
    #[arg(long = "type", short = 't', default_value = "task", value_name = "TYPE")]
    task_type: TaskType,
    /// low, medium, high or critical
    #[arg(long, short, default_value = "medium")]
    priority: Priority,
    /// The task it is part of
    #[arg(long, value_name = "ID")]
    parent: Option<TaskId>,
    /// Who does it
    #[arg(long, value_name = "AGENT")]
    assign: Option<AgentId>,
    /// Tasks that must be done first
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    depends: Vec<TaskId>,
    /// Labels to find it by
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    label: Vec<String>,
    /// When is it done: merged or reported [default: the project's]
    #[arg(long)]
    completion: Option<Completion>,
    /// Accept it as done without a change
    #[arg(long)]
    allow_empty: bool,
    /// It mends what fails in the target: it is merged although a check fails there
    #[arg(long)]
    repairs_target: bool,
    /// Adding again with the same key returns the first task
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

impl Add {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let tasks = self.new_tasks(&opened)?;
        let key = self.idempotency_key.clone();
        let mut receipt = opened.submit(Command::CreateTasks { parent: self.parent, tasks, key }).await?;
        let ids = self.created(&receipt);
        if self.start {
            for id in &ids {
                let started = opened.submit(owner_move(*id, Move::Start, None, false)).await;
                receipt = started.map_err(|failure| not_started(&opened, *id, failure))?;
            }
        }
        let board = &receipt.after;
        let tasks: Vec<&Task> = ids.iter().filter_map(|id| board.task(*id).ok()).collect();
        let quiet = || ids.iter().map(ToString::to_string).collect();
        let text = || {
            let line = |task: &&Task| format!("{} {}: {}", task.id, task.status, crate::show::clean(&task.title));
            let mut lines: Vec<_> = tasks.iter().map(line).collect();
            lines.extend(tasks.first().map(|first| self.next_step(&opened, board, first, &ids)));
            lines.join("\n")
        };
        match (&self.file, tasks.as_slice()) {
            (None, [task]) => context.format.print(&wire::Task::from(*task), quiet, text),
            _ => {
                let views: Vec<_> = tasks.iter().map(|task| wire::Task::from(*task)).collect();
                context.format.print(&views, quiet, text)
            }
        }
    }

    fn new_tasks(&self, opened: &OpenProject) -> Result<Vec<NewTask>, Failure> {
        let new = |title: String, description: String| NewTask {
            title,
            description,
            task_type: self.task_type,
            priority: self.priority,
            assignee: self.assign.clone(),
            dependencies: self.depends.iter().copied().map(DependsOn::Task).collect(),
            labels: self.label.clone(),
            completion: self.completion,
            allow_empty: self.allow_empty,
            repairs: self.repairs_target.then_some(Repairs::Target),
            reverts: None,
        };
        let Some(file) = &self.file else {
            let title = self.title.clone().unwrap_or_default();
            return Ok(vec![new(title, text_or_stdin(opened.language, self.description.clone())?)]);
        };
        let listed = listed_tasks(&read_list(opened, file)?);
        if listed.is_empty() {
            return Err(Failure::bad_argument(
                opened.say(format!("There is no task in `{file}`."), format!("`{file}` にはタスクがありません。")),
                opened.say(
                    "Write a Markdown list (`- title`), or one title per line.",
                    "Markdown のリスト（`- 題名`）か、1 行に 1 つの題名を書いてください。",
                ),
            ));
        }
        Ok(listed.into_iter().map(|task| new(task.title, task.description)).collect())
    }

    /// What was added now, or with the same key before.
    fn created(&self, receipt: &Receipt<Board>) -> Vec<TaskId> {
        let created = receipt.events.iter().find_map(|event| match &event.what {
            EventKind::TasksCreated { tasks, .. } => Some(tasks.iter().map(|task| task.id).collect()),
            _ => None,
        });
        let known = || {
            let key = self.idempotency_key.as_deref()?;
            Some(receipt.after.created_by_key(&board::Party::Owner, self.parent, key)?.to_vec())
        };
        created.or_else(known).expect("a task was created, now or with this key before")
    }

    fn next_step(&self, opened: &OpenProject, board: &Board, task: &Task, ids: &[TaskId]) -> String {
        let id = task.id;
        let all = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let next = |step: String| opened.say(format!("Next: {step}"), format!("次: {step}"));
        match (&task.assignee, task.parent) {
            _ if self.start => next(format!("saihai up, saihai task why {id}")),
            (None, _) => next(format!("saihai task assign {id} AGENT")),
            (Some(_), None) => next(format!("saihai task start {all}")),
            (Some(_), Some(_)) => opened.say(
                format!("Next: {} starts it (`saihai task why {id}`)", board.mover(task)),
                format!("次: {} が開始します（`saihai task why {id}`）", board.mover(task)),
            ),
        }
    }
}

/// The text of the list.
fn read_list(opened: &OpenProject, file: &str) -> Result<String, Failure> {
    if file == "-" {
        return text_or_stdin(opened.language, file.to_owned());
    }
    std::fs::read_to_string(file).map_err(|error| {
        Failure::bad_argument(
            opened.say(format!("cannot read {file}: {error}"), format!("{file} を読めません: {error}")),
            opened
                .say("Name a text file, or - for stdin.", "テキストファイルか、標準入力を表す - を指定してください。"),
        )
    })
}

/// The task is there, and could not be started.
fn not_started(opened: &OpenProject, id: TaskId, failure: Failure) -> Failure {
    let message = opened.say(
        format!("{id} was added and not started. {}", failure.message),
        format!("{id} を追加しましたが、開始できません。{}", failure.message),
    );
    Failure { message, ..failure }
}
