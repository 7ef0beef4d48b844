//! `saihai project show`

use board::{Limits, SessionStatus, Status, day_of, say_budget, say_spent};
use serde_json::json;

use crate::context::{Context, OpenProject};
use crate::failure::Failure;
use crate::show::{clean, counted, field};

/// The limits that people meet first; the rest are in `--json`.
fn limits(opened: &OpenProject, limits: &Limits) -> String {
    let Limits { max_children, max_depth, max_attempts, max_sessions, max_calls, .. } = limits;
    opened.say(
        format!(
            "{max_children} open subtasks of a task, {max_depth} levels, {max_attempts} attempts, \
             {max_sessions} sessions at once, {max_calls} calls of a session (all of them: --json)"
        ),
        format!(
            "タスクの未完了サブタスク {max_children} 件、深さ {max_depth}、試行 {max_attempts} 回、同時 {max_sessions} \
             セッション、セッションの呼び出し {max_calls} 回（すべては --json）"
        ),
    )
}

pub(super) async fn run(context: &Context) -> Result<(), Failure> {
    let opened = context.open().await?;
    let board = opened.board();
    let count = |status| board.tasks.values().filter(|task| task.status == status).count();
    let tasks: Vec<_> = Status::ALL.iter().map(|status| (status.as_str(), count(*status))).collect();
    let ended = board.all_live_sessions().filter(|session| session.status == SessionStatus::Verifying).count();
    let running = board.all_live_sessions().count() - ended;
    let today = board.days.get(&day_of(opened.now())).copied().unwrap_or_default();
    let counts: serde_json::Map<_, _> = tasks.iter().map(|(status, n)| ((*status).to_owned(), json!(n))).collect();
    let json = json!({
        "id": opened.id, "name": board.settings.name, "path": opened.path, "paused": board.paused,
        "target_branch": board.settings.target_branch, "completion": board.settings.completion,
        "language": board.settings.language, "limits": board.settings.limits, "agents": board.agents.len(),
        "tasks": counts, "running_sessions": running, "waiting_to_be_merged": ended, "events": board.seq,
        "budget": board.settings.budget, "prices": board.settings.prices, "spent_today": today,
    });
    context.format.print(
        &json,
        || vec![opened.id.to_string()],
        || {
            let counts = tasks.iter().filter(|(_, n)| *n > 0).map(|(status, n)| format!("{n} {status}"));
            let counts = counts.collect::<Vec<_>>().join(", ");
            let settings = &board.settings;
            let line = |en: &str, ja: &str, value: String| field(&opened.say(en, ja), 13, value);
            let paused = if board.paused { opened.say(", paused", "、一時停止中") } else { String::new() };
            let (branch, completion) = (&settings.target_branch, settings.completion);
            let none = || opened.say("none", "なし");
            [
                format!("{} ({}){paused}", clean(&settings.name), opened.id),
                line("repository", "リポジトリ", opened.path.display().to_string()),
                line(
                    "merged into",
                    "対象ブランチ",
                    opened.say(
                        format!("{branch} (completion: {completion})"),
                        format!("{branch}（完了条件: {completion}）"),
                    ),
                ),
                line("agents", "エージェント", board.agents.values().filter(|agent| agent.active).count().to_string()),
                line("tasks", "タスク", if counts.is_empty() { none() } else { counts }),
                line("running", "実行中", opened.say(counted(running, "session"), format!("{running} セッション"))),
                line("merging", "マージ待ち", opened.say(counted(ended, "session"), format!("{ended} セッション"))),
                line("limits", "上限", limits(&opened, &settings.limits)),
                line("used today", "本日の使用", say_spent(&today, opened.language)),
                line("budget", "予算", say_budget(&settings.budget, opened.language)),
                line("log", "ログ", opened.say(format!("{} events", board.seq), format!("{} 件", board.seq))),
            ]
            .join("\n")
        },
    )
}
