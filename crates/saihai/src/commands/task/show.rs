//! `saihai task show`

use std::path::Path;

use board::wire;
use board::{Status, TaskId, say_rejection};
use clap::Args;
use serde::Serialize;

use crate::context::Context;
use crate::failure::Failure;
use crate::local_files::{work_facts, workspace_of};
use crate::show::{clean, field, indented, local_time, or_dash};

/// Show everything about one task
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
}

/// A task with what this machine and git have of it.
#[derive(Serialize)]
struct ShownTask<'a> {
    #[serde(flatten)]
    detail: &'a wire::TaskDetail,
    workspace: Option<&'a Path>,
    changed_files: &'a [String],
    merge_commit: Option<&'a str>,
}

/// The first files of a list, and how many more there are.
fn some_files(files: &[String]) -> Option<String> {
    const SHOWN: usize = 10;
    let more = files.len().saturating_sub(SHOWN);
    let shown = files.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match (files.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(shown),
        (false, more) => Some(format!("{shown} (+{more})")),
    }
}

impl Show {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let task = board.task(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let detail = wire::TaskDetail::of(&board, task);
        let workspace = workspace_of(&context.home, &opened.path, &board, self.id);
        let facts = work_facts(&board, task);
        let changed = facts.map(|facts| facts.changed.as_slice()).unwrap_or_default();
        let merge_commit = facts.and_then(|facts| facts.merged_as());
        let shown =
            ShownTask { detail: &detail, workspace: workspace.as_deref(), changed_files: changed, merge_commit };
        context.format.print(
            &shown,
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
                let said = |reason: &str| board::say_move_reason(reason, opened.language);
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
                    line("cost", "費用", board::say_spent(&task.spent, opened.language)),
                    line("branch", "ブランチ", or_dash(task.branch.as_ref())),
                    line(
                        "created",
                        "作成",
                        opened.say(format!("{created} by {creator}"), format!("{created}（{creator}）")),
                    ),
                ];
                lines.extend(
                    task.block.as_ref().map(|block| line("blocked", "ブロック", by(&said(&block.reason), &block.by))),
                );
                let conclusion = task.conclusion.as_ref();
                lines.extend(conclusion.map(|end| line("reason", "理由", by(&said(&end.reason), &end.by))));
                let report = task.report.as_ref();
                lines.extend(
                    report.map(|r| line("reported", "完了報告", format!("{}: {}", r.result, indented(&r.summary)))),
                );
                lines.extend(workspace.as_ref().map(|path| line("workspace", "作業場所", path.display().to_string())));
                lines.extend(merge_commit.map(|commit| line("merged as", "マージ", commit.to_owned())));
                lines.extend(some_files(changed).map(|files| line("changed", "変更", indented(&files))));
                let rejection = task.feedback.as_ref().filter(|_| task.status != Status::Done);
                lines.extend(
                    rejection.map(|why| line("sent back", "差し戻し", indented(&say_rejection(why, opened.language)))),
                );
                if !task.labels.is_empty() {
                    lines.push(line("labels", "ラベル", clean(&task.labels.join(", "))));
                }
                if !task.description.is_empty() {
                    lines.push(format!("\n{}", clean(&task.description)));
                }
                for comment in &detail.comments {
                    let readers = comment.read_by.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                    let read = match readers.as_str() {
                        "" => opened.say("not read yet", "未読"),
                        readers => opened.say(format!("read by {readers}"), format!("既読: {readers}")),
                    };
                    let said = &comment.comment;
                    lines.push(format!("\n{} ({}, {read}):\n  {}", said.by, local_time(said.at), indented(&said.text)));
                }
                for proposal in detail.proposals.iter().filter(|proposal| proposal.answer.is_none()) {
                    let wire::Proposal { number, by, text, at, .. } = proposal;
                    let at = local_time(*at);
                    let said = opened.say(
                        format!("{by} proposes for the memory bank ({at}; saihai memory accept {number}):"),
                        format!("{by} からメモリーバンクへの提案（{at}、saihai memory accept {number}）:"),
                    );
                    lines.push(format!("\n{said}\n  {}", indented(text)));
                }
                let id = task.id;
                lines.push(opened.say(format!("\nNext: saihai task why {id}"), format!("\n次: saihai task why {id}")));
                lines.join("\n")
            },
        )
    }
}
