//! How is the explanation of a task worded?

use super::refusals::say_obstacle;
use super::{Phrase, list, phrase};
use crate::Language;
use crate::coordination::Reason;
use crate::evidence::{EndReason, Rejection};
use crate::examination::Waiting;
use crate::obstacle::Obstacle;
use crate::runner_view::RunnerState;
use crate::text::instructions::feedback;
use crate::why::Line;
use crate::{Party, Span, TaskId};

/// One line as a sentence that names what must happen and who must do it.
pub fn say(line: &Line, task: TaskId, language: Language) -> String {
    let say = |phrase: Phrase, arguments: &[&dyn std::fmt::Display]| phrase.say(language, arguments);
    match line {
        Line::Running { session, agent, since, last_call } => say(
            phrase(
                "It is running: {1} in {0} for {2}, last heard {3} ago.",
                "実行中: {1}（{0}）、開始から {2}、最後の反応は {3} 前。",
            ),
            &[session, agent, &say_span(*since, language), &say_span(*last_call, language)],
        ),
        Line::Verifying { session, waiting: Some(waiting) } => say(
            phrase(
                "{0} has ended; its work waits to be merged: {1}. It goes on by itself when that is over.",
                "{0} は終了し、マージ待ちです: {1}。解消すれば自動的に続行します。",
            ),
            &[session, &say_waiting(waiting, language)],
        ),
        Line::NoRunner { remote: true } => say(
            phrase(
                "Nobody runs this project: start `saihai runner` on a host that reaches its remote.",
                "このプロジェクトを実行しているものがありません: リモートに届くホストで `saihai runner` を起動してください。",
            ),
            &[],
        ),
        Line::RunnerInTrouble { trouble } => say(
            phrase(
                "The runner that could start it cannot work for this project: {0}. It tries again by itself.",
                "開始できるランナーが、このプロジェクトを扱えません: {0}。ランナーは自動的に再試行します。",
            ),
            &[&super::one_line(trouble).trim_end_matches(['.', '。'])],
        ),
        Line::NoRunner { remote: false } => say(
            phrase(
                "Nobody runs this project: start `saihai up` here, or `saihai runner` on any host.",
                "このプロジェクトを実行しているものがありません: ここで `saihai up` を、または任意のホストで `saihai runner` を起動してください。",
            ),
            &[],
        ),
        Line::NoSuitableRunner { labels, client, draining } => {
            let mut needs = vec![phrase("client {0}", "クライアント {0}").say(language, &[client])];
            if !labels.is_empty() {
                needs.push(phrase("labels {0}", "ラベル {0}").say(language, &[&list(labels)]));
            }
            let draining = if *draining {
                phrase(
                    " A runner that is there begins nothing more: `saihai runner resume` lets it.",
                    " 新しい作業を始めない設定のランナーがあります: `saihai runner resume` で再開できます。",
                )
                .say(language, &[])
            } else {
                String::new()
            };
            say(
                phrase(
                    "No runner that is there has what its agent needs: {0}. Start one that has: `saihai runner` or `saihai up`, with `--labels`.{1}",
                    "エージェントに必要なものを備えたランナーがありません: {0}。備えたランナーを起動してください: `saihai runner` か `saihai up`（`--labels`）。{1}",
                ),
                &[&list(&needs), &draining],
            )
        }
        Line::RunnerSilent { runner, silence, remaining } => say(
            phrase(
                "Its runner, {0}, was not heard of for {1}. If that goes on for {2} more, its session is given up and another starts; nothing that it has finished is lost.",
                "ランナー {0} から {1} 応答がありません。さらに {2} 続くとセッションを終了し、別のセッションを始めます。終わった作業は失われません。",
            ),
            &[runner, &say_span(*silence, language), &say_span(*remaining, language)],
        ),
        Line::NoFreeSlot { slots, busy } => say(
            phrase(
                "It waits for a free slot: {0} of {0} are taken by {1}.",
                "空きを待っています: {0} 枠すべて使用中（{1}）。",
            ),
            &[slots, &list(busy)],
        ),
        Line::DiskFull { free, floor } => say(
            phrase(
                "Nothing is started: {0} MiB are free on the disk, and {1} MiB must be. Free some space.",
                "開始できません: ディスクの空きは {0} MiB で、{1} MiB 必要です。空きを作ってください。",
            ),
            &[&(free >> 20), &(floor >> 20)],
        ),
        Line::LastSession { session, reason, exit_code, error } => {
            let code = exit_code
                .map_or_else(String::new, |code| phrase(" with code {0}", "（コード {0}）").say(language, &[&code]));
            let error = error.as_ref().map_or_else(String::new, |error| format!(": {}", error.trim_end_matches('.')));
            if *reason == EndReason::LaunchFailed {
                // Nothing ran, so there is no log to look at (D22).
                let said = phrase(
                    "The last session, {0}, ended as {1}{2}. `saihai doctor` tells what its client needs.",
                    "最後のセッション {0} は {1} で終わりました{2}。クライアントに必要なものは `saihai doctor` で確認できます。",
                );
                return say(said, &[session, reason, &error]);
            }
            say(
                phrase(
                    "The last session, {0}, ended as {1}{3}{2}. See `saihai session log {0}`.",
                    "最後のセッション {0} は {1}{3} で終わりました{2}。`saihai session log {0}` を見てください。",
                ),
                &[session, reason, &error, &code],
            )
        }
        Line::Verifying { session, waiting: None } => {
            say(phrase("{0} has ended; its work is being verified.", "{0} は終了し、作業を検証中です。"), &[session])
        }
        Line::Stopping { session, interrupt } => say(
            phrase(
                "{0} is being stopped ({1}); nothing else starts before it has ended.",
                "{0} を停止中です（{1}）。終わるまで次は始まりません。",
            ),
            &[session, &interrupt.as_str()],
        ),
        Line::ByHand => say(
            phrase(
                "It is driven by hand; runners keep off. Merge its branch, then `saihai task update {0} --status done`; or give it back with `--status todo`.",
                "手動で進められています。ランナーは触れません。ブランチをマージして `saihai task update {0} --status done`、または `--status todo` で戻してください。",
            ),
            &[&task],
        ),
        Line::NobodyRuns => say(
            phrase(
                "Nobody is assigned to it: you start its subtasks, and end it with `saihai task update {0} --status done`.",
                "担当者はいません。サブタスクの開始も、`saihai task update {0} --status done` での完了もあなたが行います。",
            ),
            &[&task],
        ),
        Line::Staffing { agent, reason: Reason::AttachedOnly, .. } => say(
            phrase(
                "In progress for `{0}`, which no runner starts: attach it with its passkey (`saihai agent passkey {0}`).",
                "`{0}` の進行中タスクです。ランナーはこのエージェントを起動しません。パスキーで接続してください（`saihai agent passkey {0}`）。",
            ),
            &[agent],
        ),
        Line::Staffing { agent, reason, remaining, .. } => {
            let remaining = remaining.map_or_else(String::new, |span| {
                phrase(" for {0} at most", "（最長 {0}）").say(language, &[&say_span(span, language)])
            });
            say(
                phrase(
                    "In progress for `{0}`, no session now: {1}{2}. A runner starts it when it may.",
                    "`{0}` の進行中タスクで、今はセッションがありません: {1}{2}。可能になるとランナーが開始します。",
                ),
                &[agent, &say_reason(*reason, language), &remaining],
            )
        }
        Line::StandsInLine { holder, files, holder_waits, remaining } => {
            let waits = holder_waits.as_ref().map_or_else(String::new, |waiting| {
                phrase(" That one waits itself: {0}.", " そのタスクも待っています: {0}。")
                    .say(language, &[&say_waiting(waiting, language)])
            });
            say(
                phrase(
                    "It waits for {0}, which has the right of way on {1} until it is merged, for {2} at most; then its next session starts.{3}",
                    "{0} を待っています。{1} の優先権は、マージされるまで（最長 {2}）{0} にあります。その後、次のセッションが始まります。{3}",
                ),
                &[holder, &list(files), &say_span(*remaining, language), &waits],
            )
        }
        Line::ReadyFor { mover, waiting } => {
            let waiting = waiting.map_or_else(String::new, |waiting| {
                phrase(" It has waited for {0}.", " {0} 待っています。").say(language, &[&say_span(waiting, language)])
            });
            match mover {
                Party::Owner => say(
                    phrase(
                        "It is ready. You start it: `saihai task start {0}`.{1}",
                        "開始できます: `saihai task start {0}`。{1}",
                    ),
                    &[&task, &waiting],
                ),
                Party::Agent(_) | Party::System => say(
                    phrase(
                        "It is ready, waiting for {0} to start it.{1}",
                        "開始できます。{0} が開始するのを待っています。{1}",
                    ),
                    &[mover, &waiting],
                ),
            }
        }
        Line::Obstacle(obstacle) => say_obstacle_line(obstacle, task, language),
        Line::Blocked { by, reason, lifted_by } => say(
            phrase(
                "Blocked by {0}: {1}. Lifted by {2} (`saihai task unblock {3}`).",
                "{0} がブロックしました: {1}。解除できるのは {2}（`saihai task unblock {3}`）。",
            ),
            &[by, &say_move_reason(reason, language), &list(lifted_by), &task],
        ),
        Line::Failed { reason, mover, retries_left, .. } => say(
            phrase(
                "Failed: {0}. {1} may retry it (`saihai task retry {3}`; agents have {2} retries left) or cancel it.",
                "失敗しました: {0}。{1} が再試行（`saihai task retry {3}`、エージェントは残り {2} 回）または中止できます。",
            ),
            &[&say_move_reason(reason, language), mover, retries_left, &task],
        ),
        Line::SentBack { why: why @ Rejection::Conflict { .. }, .. } => say(
            phrase(
                "It was sent back for a conflict, which costs no attempt. {0}",
                "競合のため差し戻されました（試行回数には数えません）。{0}",
            ),
            &[&feedback(why, language)],
        ),
        Line::SentBack { why, attempts, most, ended_badly: true } => say(
            phrase(
                "{1} of {2} attempts are spent. The last session ended badly; before that its work was sent back. {0}",
                "{2} 回中 {1} 回の試みを使いました。最後のセッションは異常終了です。その前の差し戻し理由: {0}",
            ),
            &[&feedback(why, language), attempts, most],
        ),
        Line::SentBack { why, attempts, most, ended_badly: false } => say(
            phrase("Attempt {1} of {2} was rejected. {0}", "{2} 回中 {1} 回目の試みが差し戻されました。{0}"),
            &[&feedback(why, language), attempts, most],
        ),
        Line::Children { open } => {
            let ja = "サブタスクの完了待ち: {0}。";
            let said = match open.len() {
                1 => phrase("It ends after its subtasks: {0} is open.", ja),
                _ => phrase("It ends after its subtasks: {0} are open.", ja),
            };
            say(said, &[&list(open)])
        }
        Line::Done => say(phrase("It is done.", "完了しています。"), &[]),
        Line::Cancelled { by, reason } => {
            say(phrase("Cancelled by {0}: {1}.", "{0} が中止しました: {1}。"), &[by, reason])
        }
        Line::InTarget { commit } => say(
            phrase(
                "Its work is in the target all the same: it was merged as {0}. Revert that commit if it is not wanted.",
                "作業は既に {0} としてマージされています。不要ならそのコミットを取り消してください (git revert)。",
            ),
            &[commit],
        ),
        Line::MergedMeanwhile { commit } => say(
            phrase(
                "Its work was merged as {0} in that moment: it is done as soon as it goes on. Cancel it and revert that commit if it is not wanted.",
                "作業はその時点で {0} としてマージされました。再開すると完了します。不要なら中止し、そのコミットを取り消してください (git revert)。",
            ),
            &[commit],
        ),
        Line::StepOf { task } => say(
            phrase(
                "It is a step, done in the session of {0}: see `saihai task why {0}`.",
                "{0} のセッションで行うステップです: `saihai task why {0}`。",
            ),
            &[task],
        ),
    }
}

/// A length of time as a person says it: `12 min`, `12 分`.
pub fn say_span(span: Span, language: Language) -> String {
    let said = span.to_string();
    match (language, said.split_once(' ')) {
        (Language::En, _) | (Language::Ja, None) => said,
        (Language::Ja, Some((number, unit))) => {
            let unit = match unit {
                "s" => "秒",
                "min" => "分",
                "h" => "時間",
                _ => "日",
            };
            format!("{number} {unit}")
        }
    }
}

/// Why a task was blocked, failed or moved. What Saihai itself gives as a reason is a word of the log, in both languages.
pub fn say_move_reason(reason: &str, language: Language) -> String {
    let japanese = match reason {
        "no_progress" => "進展がありません".to_owned(),
        "launch_failed" => "クライアントを起動できませんでした".to_owned(),
        "timed_out" => "制限時間を過ぎました".to_owned(),
        "stalled" => "応答がなくなりました".to_owned(),
        "limit_reached" => "マシンの使用上限に達しました".to_owned(),
        "exit code unknown" => "終了コード不明".to_owned(),
        "stopped by owner" => "オーナーが停止しました".to_owned(),
        other => match other.rsplit_once(' ') {
            Some(("fuel_spent:", limit)) => format!("上限 `{limit}` を使い切りました"),
            Some(("budget:", "session")) => "セッションの予算を使い切りました".to_owned(),
            Some(("budget:", "task")) => "タスクの予算を使い切りました".to_owned(),
            Some(("budget:", "day")) => "1 日の予算を使い切りました".to_owned(),
            Some(("exit code", code)) => format!("終了コード {code}"),
            Some(("signal", signal)) => format!("{signal} で強制終了しました"),
            Some(_) | None => other.to_owned(),
        },
    };
    match language {
        Language::En => reason.to_owned(),
        Language::Ja => japanese,
    }
}

/// What ended work waits for, as half a sentence.
pub fn say_waiting(waiting: &Waiting, language: Language) -> String {
    let say = |phrase: Phrase, arguments: &[&dyn std::fmt::Display]| phrase.say(language, arguments);
    match waiting {
        Waiting::NotInProgress { status } => say(phrase("its task is {0}", "タスクが {0} です"), &[status]),
        Waiting::Held { by } => {
            say(phrase("{0} above it is not in progress", "上位の {0} が進行中ではありません"), &[by])
        }
        // Git's own words may be in it.
        Waiting::Files { reason, files } if files.is_empty() => super::one_line(reason),
        Waiting::Files { reason, .. } => say(
            phrase("{0}; commit or undo them", "{0}。コミットするか元に戻してください"),
            &[&super::one_line(reason)],
        ),
        Waiting::Trouble { reason } => super::one_line(reason),
        Waiting::Turn { task } => say(
            phrase("{0} is tested and merged on another host", "他のホストで {0} の検証とマージが行われています"),
            &[task],
        ),
        Waiting::RightOfWay { task, files } => {
            say(phrase("{0} has the right of way on {1}", "{1} の優先権は {0} にあります"), &[task, &list(files)])
        }
        Waiting::TargetRed { commit, checks } => say(
            phrase(
                "the target itself fails {0} at {1}; mend it, or add a task with --repairs-target",
                "対象ブランチ自体が {1} で {0} に失敗しています。直すか、--repairs-target のタスクを追加してください",
            ),
            &[&list(checks), &&commit[..commit.len().min(10)]],
        ),
        Waiting::Behind { task } => {
            say(phrase("it is behind {0} in the merge queue", "マージ待ち行列で {0} の後です"), &[task])
        }
    }
}

/// How a runner on another host stands, in a word or two.
pub fn say_runner_state(state: RunnerState, language: Language) -> String {
    let said = match state {
        RunnerState::Silent => phrase("not heard of", "応答なし"),
        RunnerState::Draining => phrase("draining", "新規停止"),
        RunnerState::DiskFull => phrase("disk full", "ディスク不足"),
        RunnerState::Trouble => phrase("in trouble", "問題あり"),
        RunnerState::Here => phrase("here", "稼働中"),
    };
    said.say(language, &[])
}

/// What staffing's word means, as half a sentence.
pub fn say_reason(reason: Reason, language: Language) -> String {
    reason_phrase(reason).say(language, &[])
}

fn reason_phrase(reason: Reason) -> Phrase {
    match reason {
        Reason::HasInProgressTask => phrase("it may start now", "開始できます"),
        Reason::WorkerBlocked => phrase(
            "its manager is needed, because a subtask is stuck",
            "サブタスクが止まり、マネージャーの対応が必要です",
        ),
        Reason::WorkersProgressed => {
            phrase("its manager is needed, because something has changed", "状況が変わり、マネージャーの確認が必要です")
        }
        Reason::WaitingForWorkers => {
            phrase("its manager waits for the subtasks", "マネージャーはサブタスクを待っています")
        }
        Reason::AlreadyRunning => {
            phrase("the agent is busy with other sessions", "エージェントは他のセッションで作業中です")
        }
        Reason::ProjectFull => {
            phrase("the project has as many sessions as it may", "プロジェクトのセッション数が上限です")
        }
        Reason::CoolingDown => phrase("its next session waits", "次のセッションは待機中です"),
        Reason::RightOfWay => phrase(
            "other work has the right of way on the files in conflict",
            "競合するファイルの優先権を他の作業が持っています",
        ),
        Reason::AttachedOnly => phrase(
            "no runner starts this agent: attach it with its passkey (`saihai agent passkey`)",
            "ランナーはこのエージェントを起動しません。パスキーで接続してください（`saihai agent passkey`）",
        ),
        Reason::FuelSpent => phrase("its sessions are used up", "セッション数の上限に達しました"),
        Reason::BudgetSpent => phrase(
            "the budget is spent; raise it in `budget` of .saihai/config.yaml, or unblock the task to grant it again",
            "予算を使い切りました。.saihai/config.yaml の `budget` を上げるか、タスクの解除でもう一度認めてください",
        ),
        Reason::ProjectPaused => phrase("the project is paused", "プロジェクトが一時停止中です"),
        Reason::Held => phrase("something above it is not in progress", "上位のタスクが進行中ではありません"),
        Reason::AgentNotAssigned => phrase("the agent is not on the roster", "エージェントが名簿にありません"),
        Reason::Cancelled
        | Reason::Blocked
        | Reason::Unstarted
        | Reason::Reassigned
        | Reason::StoppedByOwner
        | Reason::NoProgress
        | Reason::HasPendingPurpose
        | Reason::MessageExpired
        | Reason::BlockedWithoutInProgress
        | Reason::NoInProgressTask => phrase("there is nothing to start", "開始するものがありません"),
    }
}

/// An obstacle with the command that removes it.
fn say_obstacle_line(obstacle: &Obstacle, task: TaskId, language: Language) -> String {
    let what = say_obstacle(obstacle, language);
    let then = match obstacle {
        Obstacle::ProjectPaused => phrase("`saihai project resume`", "`saihai project resume`").say(language, &[]),
        Obstacle::Unassigned | Obstacle::AssigneeInactive(_) => {
            phrase("`saihai task assign {0} AGENT`", "`saihai task assign {0} AGENT`").say(language, &[&task])
        }
        Obstacle::Waiting { on, .. } => phrase("`saihai task why {0}`", "`saihai task why {0}`").say(language, &[on]),
        Obstacle::DependencyCancelled(on) => {
            phrase("`saihai task depend {0} --off {1}`", "`saihai task depend {0} --off {1}`")
                .say(language, &[&task, on])
        }
        Obstacle::Held { by } => phrase("`saihai task why {0}`", "`saihai task why {0}`").say(language, &[by]),
        Obstacle::FuelSpent(_) => phrase(
            "the owner may grant more with `saihai task unblock {0}`",
            "オーナーは `saihai task unblock {0}` で追加できます",
        )
        .say(language, &[&task]),
    };
    phrase("It cannot start: {0}. Next: {1}.", "開始できません: {0}。次: {1}。").say(language, &[&what, &then])
}
