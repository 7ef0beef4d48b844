//! `saihai task tree`

use board::{Board, Task, TaskId};
use clap::Args;
use serde_json::{Value, json};

use crate::context::{Context, OpenProject};
use crate::failure::Failure;
use crate::show::clean;

/// Show tasks as a tree
#[derive(Debug, Args)]
pub(crate) struct Tree {
    /// Only this task and what is below it
    id: Option<TaskId>,
    /// Also trees that are done or cancelled
    #[arg(long)]
    all: bool,
}

impl Tree {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let roots: Vec<&Task> = match self.id {
            Some(id) => vec![board.task(id).map_err(|refusal| opened.refusal(refusal))?],
            None => board
                .tasks
                .values()
                .map(AsRef::as_ref)
                .filter(|t| t.parent.is_none() && (self.all || !t.is_settled()))
                .collect(),
        };
        let json: Vec<_> = roots.iter().map(|root| nested(&board, root)).collect();
        let ids = || {
            roots
                .iter()
                .flat_map(|root| [root.id].into_iter().chain(board.descendants(root)))
                .map(|id| id.to_string())
                .collect()
        };
        context.format.print(&json, ids, || {
            let mut lines = Vec::new();
            for root in &roots {
                draw(&opened, &board, root, ["", ""], &mut lines);
            }
            if lines.is_empty() {
                lines.push(opened.say(
                    "No open tasks. Next: saihai task add \"What should be done\"",
                    "未完了のタスクはありません。次: saihai task add \"やること\"",
                ));
            }
            lines.join("\n")
        })
    }
}

fn nested(board: &Board, task: &Task) -> Value {
    let children: Vec<_> = board.children(task).map(|child| nested(board, child)).collect();
    json!({
        "id": task.id, "title": task.title, "status": task.status, "kind": task.kind, "assignee_id": task.assignee,
        "dependencies": task.dependencies, "children": children,
    })
}

/// One task and what is below it. Depth is bounded by the limits, so recursion is too.
fn draw(opened: &OpenProject, board: &Board, task: &Task, [branch, indent]: [&str; 2], lines: &mut Vec<String>) {
    let waits = task.dependencies.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let waits = match waits.as_str() {
        "" => String::new(),
        waits => opened.say(format!("  after {waits}"), format!("  {waits} の後")),
    };
    let who = task.assignee.as_ref().map(|agent| format!("  @{agent}")).unwrap_or_default();
    lines.push(format!("{branch}{} {}  {}{who}{waits}", task.id, task.status, clean(&task.title)));
    let count = task.children.len();
    for (index, child) in board.children(task).enumerate() {
        let last = index + 1 == count;
        let (branch, next) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        draw(opened, board, child, [&format!("{indent}{branch}"), &format!("{indent}{next}")], lines);
    }
}
