//! `saihai task show`

use board::TaskId;
use board::wire;
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{clean, field, indented, local_time, or_dash};

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
                let none = opened.say("none", "なし");
                let ids = |ids: &[TaskId]| {
                    let with_status = |id: &TaskId| {
                        board.tasks.get(id).map_or_else(|| id.to_string(), |task| format!("{id} ({})", task.status))
                    };
                    let ids: Vec<_> = ids.iter().map(with_status).collect();
                    if ids.is_empty() { none.clone() } else { ids.join(", ") }
                };
                let line = |en: &str, ja: &str, value: String| field(&opened.say(en, ja), 14, value);
                let by = |text: &str, who: &dyn std::fmt::Display| {
                    let text = indented(text);
                    opened.say(format!("{text} (by {who})"), format!("{text}（{who}）"))
                };
                let (status, since) = (task.status, local_time(task.status_at));
                let (created, creator) = (local_time(task.created_at), &task.creator);
                let (kind, priority) = (task.task_type, task.priority);
                let (used, most) = (task.used.attempts, board.settings.limits.max_attempts);
                let mut lines = vec![
                    format!("{} {}", task.id, clean(&task.title)),
                    line(
                        "status",
                        "状態",
                        opened.say(format!("{status} since {since}"), format!("{status}（{since} から）")),
                    ),
                    line(
                        "type",
                        "種類",
                        opened.say(format!("{kind}, priority {priority}"), format!("{kind}、優先度 {priority}")),
                    ),
                    line("assignee", "担当者", or_dash(task.assignee.as_ref())),
                    line("moved by", "動かせる人", detail.mover.to_string()),
                    line("parent", "親タスク", or_dash(task.parent)),
                    line("children", "サブタスク", ids(&task.children)),
                    line("depends on", "依存先", ids(&task.dependencies)),
                    line("attempts", "試み", opened.say(format!("{used} of {most}"), format!("{used} / {most}"))),
                    line("branch", "ブランチ", or_dash(task.branch.as_ref())),
                    line(
                        "created",
                        "作成",
                        opened.say(format!("{created} by {creator}"), format!("{created}（{creator}）")),
                    ),
                ];
                lines
                    .extend(task.block.as_ref().map(|block| line("blocked", "ブロック", by(&block.reason, &block.by))));
                let conclusion = task.conclusion.as_ref();
                lines.extend(conclusion.map(|end| line("reason", "理由", by(&end.reason, &end.by))));
                let report = task.report.as_ref();
                lines.extend(
                    report.map(|r| line("reported", "完了報告", format!("{}: {}", r.result, indented(&r.summary)))),
                );
                if !task.labels.is_empty() {
                    lines.push(line("labels", "ラベル", clean(&task.labels.join(", "))));
                }
                if !task.description.is_empty() {
                    lines.push(format!("\n{}", clean(&task.description)));
                }
                let id = task.id;
                lines.push(opened.say(format!("\nNext: saihai task why {id}"), format!("\n次: saihai task why {id}")));
                lines.join("\n")
            },
        )
    }
}
