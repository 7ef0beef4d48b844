//! How is a code of the log said in words? What Saihai itself gives as a reason is a code there, and nobody should have to
//! read it (W12).

use super::{Phrase, phrase};
use crate::Language;
use crate::action::{Interrupt, StopCause};
use crate::evidence::{CheckOutcome, EndReason};

/// Why a task was blocked, failed or moved. What people and agents wrote stays as it is.
pub fn say_move_reason(reason: &str, language: Language) -> String {
    if let Some(said) = known(reason) {
        return said.say(language, &[]);
    }
    let (said, argument) = match reason.rsplit_once(' ') {
        Some(("fuel_spent:", limit)) => match allowance(limit) {
            Some(allowance) => (phrase("it has used up {0}", "{0}を使い切りました"), allowance.say(language, &[])),
            None => return reason.to_owned(),
        },
        Some(("attempts_spent:", last)) => match rejection(last) {
            Some(last) => (
                phrase(
                    "every attempt was sent back, the last one for {0}",
                    "すべての試行が差し戻されました。最後の理由: {0}",
                ),
                last.say(language, &[]),
            ),
            None => return reason.to_owned(),
        },
        Some(("exit code", code)) => {
            (phrase("it ended with exit code {0}", "終了コード {0} で終わりました"), code.to_owned())
        }
        Some(("signal", signal)) => (phrase("it was killed by {0}", "{0} で強制終了しました"), signal.to_owned()),
        Some(_) | None => return reason.to_owned(),
    };
    said.say(language, &[&argument])
}

fn known(reason: &str) -> Option<Phrase> {
    Some(match reason {
        "no_progress" => phrase("no progress was made", "進展がありません"),
        "launch_failed" => phrase("its client could not be started", "クライアントを起動できませんでした"),
        "timed_out" => phrase("it took longer than it may", "制限時間を過ぎました"),
        "stalled" => phrase("it was silent for too long", "応答がなくなりました"),
        "limit_reached" => phrase("it used more of the machine than it may", "マシンの使用上限に達しました"),
        "signal" => phrase("it was killed", "強制終了しました"),
        "exit code unknown" => phrase("how it ended is not known", "終了コード不明"),
        "budget: session" => phrase("the session has used up its budget", "セッションの予算を使い切りました"),
        "budget: task" => phrase("the task has used up its budget", "タスクの予算を使い切りました"),
        "budget: day" => phrase("the day's budget is used up", "1 日の予算を使い切りました"),
        "stopped by owner" => phrase("stopped by the owner", "オーナーが停止しました"),
        _ => return None,
    })
}

/// What of an allowance is used up, by the name of the limit.
fn allowance(limit: &str) -> Option<Phrase> {
    Some(match limit {
        "max_calls" => phrase("its calls", "呼び出し回数の上限"),
        "max_messages" => phrase("its messages", "メッセージ数の上限"),
        "max_task_sessions" => phrase("its sessions", "セッション数の上限"),
        "max_conflicts" => phrase("its tries to merge without conflict", "競合の上限"),
        _ => return None,
    })
}

/// Why work was sent back, as the code of the last attempt.
fn rejection(code: &str) -> Option<Phrase> {
    Some(match code {
        "no_report" => phrase("ending without a report", "報告なしの終了"),
        "scope_violation" => phrase("changes outside of its scope", "書き込み範囲外の変更"),
        "no_change" => phrase("changing nothing", "変更なし"),
        "conflict" => phrase("a conflict", "競合"),
        "check" => phrase("a check that failed", "チェックの失敗"),
        "children_open" => phrase("subtasks that are open", "未完了のサブタスク"),
        "ended_badly" => phrase("ending badly", "異常終了"),
        "unreadable" => phrase("work that cannot be read", "読み取れない作業"),
        "limit_reached" => phrase("using more of the machine than it may", "マシンの使用上限"),
        _ => return None,
    })
}

/// How a process ended, in a word or two.
pub fn say_end(reason: EndReason, language: Language) -> String {
    let said = match reason {
        EndReason::Exited => phrase("exited", "終了"),
        EndReason::Signaled => phrase("killed", "強制終了"),
        EndReason::TimedOut => phrase("took too long", "時間切れ"),
        EndReason::Stalled => phrase("silent for too long", "応答なし"),
        EndReason::LaunchFailed => phrase("could not be started", "起動失敗"),
        EndReason::Stopped => phrase("stopped", "停止"),
        EndReason::Lost => phrase("lost", "行方不明"),
        EndReason::LimitReached => phrase("used too much of the machine", "使用上限超過"),
    };
    said.say(language, &[])
}

/// What came of a check, in a word or two.
pub fn say_outcome(outcome: CheckOutcome, language: Language) -> String {
    let said = match outcome {
        CheckOutcome::Pass => phrase("passed", "合格"),
        CheckOutcome::Fail => phrase("failed", "失敗"),
        CheckOutcome::TimedOut => phrase("took too long", "時間切れ"),
        CheckOutcome::DidNotRun => phrase("did not run", "未実行"),
    };
    said.say(language, &[])
}

/// Why a session is being stopped, as half a sentence.
pub(super) fn say_interrupt(interrupt: Interrupt, language: Language) -> String {
    let said = match interrupt {
        Interrupt::Stopped(StopCause::Owner) => phrase("the owner stopped it", "オーナーによる停止"),
        Interrupt::Stopped(StopCause::Unstarted) => phrase("its task was put back", "タスクの開始取り消し"),
        Interrupt::Stopped(StopCause::Reassigned) | Interrupt::Reassigned => {
            phrase("its task was given to somebody else", "担当者の変更")
        }
        Interrupt::Stopped(StopCause::NoProgress) => phrase("it made no progress", "進展なし"),
        Interrupt::Stopped(StopCause::FuelSpent) => phrase("an allowance is used up", "上限に到達"),
        Interrupt::Stopped(StopCause::Paused) | Interrupt::ProjectPaused => {
            phrase("the project is paused", "プロジェクトの一時停止")
        }
        Interrupt::Cancelled => phrase("its task was cancelled", "タスクの中止"),
        Interrupt::Blocked => phrase("its task was blocked", "タスクのブロック"),
        Interrupt::Held { by } => {
            return phrase("{0} above it is not in progress", "上位の {0} が進行中ではない").say(language, &[&by]);
        }
    };
    said.say(language, &[])
}
