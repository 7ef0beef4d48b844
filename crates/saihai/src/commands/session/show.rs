//! `saihai session show`

use std::path::Path;

use board::wire;
use board::{EndReason, SessionId, Verdict, say_rejection};
use clap::Args;
use serde::Serialize;

use crate::context::Context;
use crate::failure::Failure;
use crate::local_files::workspace_of;
use crate::session_output::last_lines;
use crate::show::{field, indented, local_time, or_dash};

/// Show the facts of one session
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Its id, such as ses_3 or 3
    id: SessionId,
}

/// A session with what this machine has of it.
#[derive(Serialize)]
struct ShownSession<'a> {
    #[serde(flatten)]
    detail: &'a wire::SessionDetail,
    /// Where its task's files are.
    path: Option<&'a Path>,
    /// Of what its process printed, if it ended badly.
    last_lines: &'a [String],
}

impl Show {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let session = board.session(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let detail = wire::SessionDetail::of(&board, session, opened.now(), |waiting| {
            board::say_waiting(waiting, opened.language)
        });
        let view = &detail.session;
        let path = view.task_id.and_then(|task| workspace_of(&context.home, &opened.path, &board, task));
        let badly = session.end.as_ref().is_some_and(|end| end.reason != EndReason::Exited || end.exit_code != Some(0));
        let log = if badly { last_lines(&context.home, &opened.project, self.id).await? } else { Vec::new() };
        let installation = context.installation(&opened.control).await?.state();
        let host = view.runner_id.as_ref().filter(|runner| runner.is_on_another_host());
        let run_by = host.map(|runner| match installation.runner_name(runner) {
            Some(name) => opened.say(format!("{name} ({runner})"), format!("{name}（{runner}）")),
            None => runner.to_string(),
        });
        let shown = ShownSession { detail: &detail, path: path.as_deref(), last_lines: &log };
        context.format.print(
            &shown,
            || vec![self.id.to_string()],
            || {
                let line = |en: &str, ja: &str, value: String| field(&opened.say(en, ja), 11, value);
                let (id, agent, task) = (view.id, &view.agent_id, or_dash(view.task_id));
                let status = view.status;
                let (code, signal) = (or_dash(view.exit_code), or_dash(view.signal.as_deref()));
                let mut lines = vec![
                    opened.say(format!("{id} {agent} for {task}"), format!("{id} {agent}（{task}）")),
                    line(
                        "status",
                        "状態",
                        match super::last_call(&board, view, opened.now()) {
                            Some(ago) => {
                                let ago = board::say_span(ago, opened.language);
                                opened.say(
                                    format!("{status} (last call {ago} ago)"),
                                    format!("{status}（最後の呼び出しは {ago} 前）"),
                                )
                            }
                            None => status.to_string(),
                        },
                    ),
                    line("started", "開始", local_time(view.started_at)),
                    line("run by", "実行者", run_by.unwrap_or_else(|| view.driver.to_owned())),
                    line(
                        "ended",
                        "終了",
                        format!("{} {}", or_dash(view.ended_at.map(local_time)), or_dash(view.end_reason)),
                    ),
                    line(
                        "exit code",
                        "終了コード",
                        opened.say(format!("{code}, signal {signal}"), format!("{code}、シグナル {signal}")),
                    ),
                    line("cost", "費用", board::say_spent(&view.spent, opened.language)),
                    line("dod", "完了の定義", or_dash(view.dod_result)),
                    line("verdict", "判定", or_dash(view.verdict)),
                ];
                lines.extend(view.error.as_ref().map(|error| line("error", "エラー", indented(&error_text(error)))));
                lines.extend(detail.waits_on.as_ref().map(|reason| line("waits", "待機", indented(reason))));
                lines.extend(path.as_ref().map(|path| line("workspace", "作業場所", path.display().to_string())));
                if let Some(Verdict::Rejected(why)) = &view.verdict_detail {
                    lines.push(line("sent back", "差し戻し", indented(&say_rejection(why, opened.language))));
                }
                if let Some(Verdict::Failed { reason } | Verdict::Blocked { reason }) = &view.verdict_detail {
                    lines.push(line("reason", "理由", indented(&board::say_move_reason(reason, opened.language))));
                }
                if let Some(commit) = detail.workspace.as_ref().and_then(|facts| facts.merged_as()) {
                    lines.push(line("merged as", "マージ", commit.to_owned()));
                }
                if !log.is_empty() {
                    lines.push(line("last lines", "最後の出力", indented(&log.join("\n"))));
                }
                let judges = detail
                    .workspace
                    .as_ref()
                    .map(|facts| board::say_judge_changes(&facts.judge_changes, opened.language));
                let (protected, trusted) = judges.unwrap_or_default();
                lines.extend(trusted.into_iter().chain(protected).map(|said| line("note", "注意", indented(&said))));
                lines.extend(view.artifacts.iter().map(|file| line("changed", "変更", indented(file))));
                lines.join("\n")
            },
        )
    }
}

/// A text without its quotes, and anything else as JSON.
fn error_text(error: &serde_json::Value) -> String {
    error.as_str().map_or_else(|| error.to_string(), str::to_owned)
}
