//! `saihai task list`

use board::waiting_to_start;
use board::wire;
use board::{AgentId, Status, StatusFilter, Task, TaskId};
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::or_dash;
use crate::table::{Column, table};

const COLUMNS: [Column; 6] = [
    Column::key("ID", "ID"),
    Column::key("STATUS", "状態"),
    Column::extra(2, "PRIORITY", "優先度"),
    Column::extra(1, "TYPE", "種類"),
    Column::extra(3, "ASSIGNEE", "担当者"),
    Column::text("TITLE", "題名"),
];

/// List tasks, most urgent first
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  saihai task list --status in_progress,blocked\n  saihai task list --assignee coder --all --json\n  saihai task list --label ui --text \"login page\""
)]
pub(crate) struct List {
    /// Only these statuses; `open` is all that is neither settled nor in progress
    #[arg(long, value_delimiter = ',', value_parser = StatusFilter::parse)]
    status: Vec<StatusFilter>,
    /// Only tasks of this agent
    #[arg(long, value_name = "AGENT")]
    assignee: Option<AgentId>,
    /// Only children of this task
    #[arg(long, value_name = "ID")]
    parent: Option<TaskId>,
    /// Only those with all of these labels
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    label: Vec<String>,
    /// Only those with all of these words in title or description, in any case
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,
    /// Also done and cancelled ones
    #[arg(long)]
    all: bool,
}

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let refused = |refusal| opened.refusal(refusal);
        self.assignee.as_ref().map(|agent| board.agent(agent)).transpose().map_err(refused)?;
        self.parent.map(|task| board.task(task)).transpose().map_err(refused)?;
        let mut tasks: Vec<&Task> = board.tasks.values().map(AsRef::as_ref).filter(|task| self.matches(task)).collect();
        tasks.sort_by_key(|task| (std::cmp::Reverse(task.priority), task.id));
        let views: Vec<_> = tasks.iter().map(|task| wire::Task::from(*task)).collect();
        context.format.print(
            &views,
            || tasks.iter().map(|task| task.id.to_string()).collect(),
            || {
                if tasks.is_empty() {
                    return opened.say(
                        "No such tasks. Next: saihai task add \"What should be done\", or `--all` to see settled ones.",
                        "該当するタスクはありません。次: saihai task add \"やること\"。完了分も見るには `--all`。",
                    );
                }
                let now = opened.now();
                let rows = tasks.iter().map(|task| {
                    let note = waiting_to_start(&board, task, now)
                        .map(|(mover, waited)| {
                            let waited = board::say_span(waited, opened.language);
                            opened.say(
                                format!("  [waiting for {mover} to start it, {waited}]"),
                                format!("  [{mover} の開始待ち、{waited}]"),
                            )
                        })
                        .unwrap_or_default();
                    let held = match task.status == Status::InProgress && board.held_by(task).is_some() {
                        true => opened.say(" (held)", "（保留）"),
                        false => String::new(),
                    };
                    [
                        task.id.to_string(),
                        format!("{}{held}", task.status),
                        task.priority.to_string(),
                        task.task_type.to_string(),
                        or_dash(task.assignee.as_ref()),
                        format!("{}{note}", task.title),
                    ]
                });
                table(opened.language, &COLUMNS, rows)
            },
        )
    }

    fn matches(&self, task: &Task) -> bool {
        let status = match self.status.as_slice() {
            [] => self.all || !task.is_settled(),
            wanted => wanted.iter().any(|filter| filter.matches(task.status)),
        };
        status
            && self.assignee.as_ref().is_none_or(|agent| task.assignee.as_ref() == Some(agent))
            && self.parent.is_none_or(|parent| task.parent == Some(parent))
            && self.label.iter().all(|label| task.labels.contains(label))
            && self.text.as_ref().is_none_or(|words| contains_words(task, words))
    }
}

fn contains_words(task: &Task, words: &str) -> bool {
    let text = format!("{}\n{}", task.title, task.description).to_lowercase();
    words.to_lowercase().split_whitespace().all(|word| text.contains(word))
}
