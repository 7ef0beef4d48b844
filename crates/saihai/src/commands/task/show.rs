//! `saihai task show`

use board::TaskId;
use board::wire;
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{clean, or_dash};

/// Show everything about one task
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
}

impl Show {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let task = board.task(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let detail = wire::TaskDetail::of(&board, task);
        context.format.print(
            &detail,
            || vec![self.id.to_string()],
            || {
                let ids = |ids: &[TaskId]| {
                    let said = |id: &TaskId| {
                        board.tasks.get(id).map_or_else(|| id.to_string(), |task| format!("{id} ({})", task.status))
                    };
                    if ids.is_empty() { "none".into() } else { ids.iter().map(said).collect::<Vec<_>>().join(", ") }
                };
                let mut lines = vec![
                    format!("{} {}", task.id, clean(&task.title)),
                    format!("  status        {} since {}", task.status, task.status_at),
                    format!("  type          {}, priority {}", task.task_type, task.priority),
                    format!("  assignee      {}", or_dash(task.assignee.as_ref())),
                    format!("  moved by      {}", detail.mover),
                    format!("  parent        {}", or_dash(task.parent)),
                    format!("  children      {}", ids(&task.children)),
                    format!("  depends on    {}", ids(&task.dependencies)),
                    format!("  attempts      {} of {}", task.used.attempts, board.settings.limits.max_attempts),
                    format!("  branch        {}", or_dash(task.branch.as_ref())),
                    format!("  created       {} by {}", task.created_at, task.creator),
                ];
                lines.extend(
                    task.block
                        .as_ref()
                        .map(|block| format!("  blocked       {} (by {})", clean(&block.reason), block.by)),
                );
                lines.extend(
                    task.conclusion.as_ref().map(|conclusion| {
                        format!("  reason        {} (by {})", clean(&conclusion.reason), conclusion.by)
                    }),
                );
                lines.extend(
                    task.report
                        .as_ref()
                        .map(|claim| format!("  reported      {}: {}", claim.result, clean(&claim.summary))),
                );
                if !task.labels.is_empty() {
                    lines.push(format!("  labels        {}", clean(&task.labels.join(", "))));
                }
                if !task.description.is_empty() {
                    lines.push(format!("\n{}", clean(&task.description)));
                }
                lines.push(format!("\nNext: saihai task why {}", task.id));
                lines.join("\n")
            },
        )
    }
}
