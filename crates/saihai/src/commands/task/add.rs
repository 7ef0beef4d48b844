//! `saihai task add`

use board::wire;
use board::{AgentId, Command, Completion, DependsOn, EventKind, NewTask, Priority, Repairs, TaskId, TaskType};
use clap::Args;

use super::text_or_stdin;
use crate::context::Context;
use crate::failure::Failure;

/// Add a task
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  saihai task add \"Add a login page\" --assign lead --type feature --priority high
  saihai task add \"Write its tests\" --parent 1 --depends 2,3
  saihai task add \"Import\" --description - < brief.md

A task with an assignee waits in `todo`, one without in `backlog`; nothing runs before
`saihai task start`.")]
pub(crate) struct Add {
    /// What should be done, in one line
    title: String,
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
        let new = NewTask {
            title: self.title,
            description: text_or_stdin(self.description)?,
            task_type: self.task_type,
            priority: self.priority,
            assignee: self.assign,
            dependencies: self.depends.into_iter().map(DependsOn::Task).collect(),
            labels: self.label,
            completion: self.completion,
            allow_empty: self.allow_empty,
            repairs: self.repairs_target.then_some(Repairs::Target),
        };
        let key = self.idempotency_key.clone();
        let receipt = opened.submit(Command::CreateTasks { parent: self.parent, tasks: vec![new], key }).await?;
        let created = receipt.events.iter().find_map(|event| match &event.what {
            EventKind::TasksCreated { tasks, .. } => tasks.first().map(|task| task.id),
            _ => None,
        });
        let known = || {
            let key = self.idempotency_key.as_deref()?;
            receipt.after.created_by_key(&board::Party::Owner, self.parent, key)?.first().copied()
        };
        let id = created.or_else(known).expect("a task was created, now or with this key before");
        let task = receipt.after.task(id).map_err(|refusal| opened.refusal(refusal))?;
        context.format.print(
            &wire::Task::from(task),
            || vec![id.to_string()],
            || {
                let next = match (&task.assignee, task.parent) {
                    (None, _) => opened.say(
                        format!("Next: saihai task assign {id} AGENT"),
                        format!("次: saihai task assign {id} AGENT"),
                    ),
                    (Some(_), None) => {
                        opened.say(format!("Next: saihai task start {id}"), format!("次: saihai task start {id}"))
                    }
                    (Some(_), Some(_)) => opened.say(
                        format!("Next: {} starts it (`saihai task why {id}`)", receipt.after.mover(task)),
                        format!("次: {} が開始します（`saihai task why {id}`）", receipt.after.mover(task)),
                    ),
                };
                format!("{id} {}: {}\n{next}", task.status, crate::show::clean(&task.title))
            },
        )
    }
}
