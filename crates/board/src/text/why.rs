//! How is the explanation of a task worded?

use super::reasons::{say_end, say_interrupt, say_move_reason};
use super::refusals::say_obstacle;
use super::remedy::{Remedy, Said};
use super::{Phrase, Reader, list, phrase};
use crate::Language;
use crate::coordination::Reason;
use crate::evidence::{EndReason, Rejection};
use crate::examination::Waiting;
use crate::lifecycle::Move;
use crate::obstacle::Obstacle;
use crate::runner_view::RunnerState;
use crate::text::instructions::feedback;
use crate::why::Line;
use crate::{Party, Span, TaskId};

/// One line as a sentence that names what must happen and who must do it, as a terminal says it to the owner.
pub fn say(line: &Line, task: TaskId, language: Language) -> String {
    tell(line, task, Reader::Owner, language).to_string()
}

/// The same for whoever reads, with what can be done about it.
pub fn tell(line: &Line, task: TaskId, reader: Reader, language: Language) -> Said {
    let say = |phrase: Phrase, arguments: &[&dyn std::fmt::Display]| Said::from(phrase.say(language, arguments));
    let tell = |phrase: Phrase, arguments: &[&dyn std::fmt::Display], remedies: &[Remedy]| {
        phrase.tell(language, arguments, remedies)
    };
    let to_move = |name| Remedy::Move { name, task };
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
        Line::NoRunner { remote: true } => tell(
            phrase(
                "Nobody runs this project: start {!0} on a host that reaches its remote.",
                "このプロジェクトを実行しているものがありません: リモートに届くホストで {!0} を起動してください。",
            ),
            &[],
            &[Remedy::Runner],
        ),
        Line::RunnerInTrouble { trouble } => say(
            phrase(
                "The runner that could start it cannot work for this project: {0}. It tries again by itself.",
                "開始できるランナーが、このプロジェクトを扱えません: {0}。ランナーは自動的に再試行します。",
            ),
            &[&super::one_line(trouble).trim_end_matches(['.', '。'])],
        ),
        Line::NoRunner { remote: false } => tell(
            phrase(
                "Nobody runs this project: start {!0} here, or {!1} on any host.",
                "このプロジェクトを実行しているものがありません: ここで {!0} を、または任意のホストで {!1} を起動してください。",
            ),
            &[],
            &[Remedy::Serve, Remedy::Runner],
        ),
        Line::NoSuitableRunner { labels, client, draining } => {
            let mut needs = vec![phrase("client {0}", "クライアント {0}").say(language, &[client])];
            if !labels.is_empty() {
                needs.push(phrase("labels {0}", "ラベル {0}").say(language, &[&list(labels)]));
            }
            let said = if *draining {
                phrase(
                    "No runner that is there has what its agent needs: {0}. Start one that has: {!0}. A runner that is there begins nothing more; it may be let go on: {!1}.",
                    "エージェントに必要なものを備えたランナーがありません: {0}。備えたランナーを起動してください: {!0}。新しい作業を始めない設定のランナーは再開できます: {!1}。",
                )
            } else {
                phrase(
                    "No runner that is there has what its agent needs: {0}. Start one that has: {!0}.",
                    "エージェントに必要なものを備えたランナーがありません: {0}。備えたランナーを起動してください: {!0}。",
                )
            };
            tell(said, &[&list(&needs)], &[Remedy::SuitableRunner, Remedy::ResumeRunner])
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
                    "The last session, {0}, could not be started{1}. What its client needs: {!0}.",
                    "最後のセッション {0} は起動できませんでした{1}。クライアントに必要なもの: {!0}。",
                );
                return tell(said, &[session, &error], &[Remedy::Examine(*session)]);
            }
            tell(
                phrase(
                    "The last session, {0}, ended badly: {1}{3}{2}. See {!0}.",
                    "最後のセッション {0} は異常終了しました: {1}{3}{2}。{!0} を見てください。",
                ),
                &[session, &say_end(*reason, language), &error, &code],
                &[Remedy::ReadLog(*session)],
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
            &[session, &say_interrupt(*interrupt, language)],
        ),
        Line::ByHand => tell(
            phrase(
                "It is driven by hand; runners keep off. Merge its branch, then {!0}; or give it back with {!1}.",
                "手動で進められています。ランナーは触れません。ブランチをマージして {!0}、または {!1} で戻してください。",
            ),
            &[],
            &[to_move(Move::Finish), to_move(Move::Unstart)],
        ),
        Line::NobodyRuns => match reader {
            Reader::Owner => tell(
                phrase(
                    "Nobody is assigned to it: you start its subtasks, and end it with {!0}.",
                    "担当者はいません。サブタスクの開始も、{!0} での完了もあなたが行います。",
                ),
                &[],
                &[to_move(Move::Finish)],
            ),
            Reader::Other => say(
                phrase(
                    "Nobody is assigned to it: the owner starts its subtasks, and ends it.",
                    "担当者はいません。サブタスクの開始も完了もオーナーが行います。",
                ),
                &[],
            ),
        },
        Line::Staffing { agent, reason: Reason::AttachedOnly, .. } => tell(
            phrase(
                "In progress for `{0}`, which no runner starts: attach it with its passkey ({!0}).",
                "`{0}` の進行中タスクです。ランナーはこのエージェントを起動しません。パスキーで接続してください（{!0}）。",
            ),
            &[agent],
            &[Remedy::Passkey(agent.clone())],
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
            match (mover, reader) {
                (Party::Owner, Reader::Owner) => tell(
                    phrase("It is ready. You start it: {!0}.{0}", "開始できます: {!0}。{0}"),
                    &[&waiting],
                    &[to_move(Move::Start)],
                ),
                (Party::Owner | Party::Agent(_) | Party::System, _) => say(
                    phrase(
                        "It is ready, waiting for {0} to start it.{1}",
                        "開始できます。{0} が開始するのを待っています。{1}",
                    ),
                    &[&say_party(mover, reader, language), &waiting],
                ),
            }
        }
        Line::Obstacle(obstacle) => tell_obstacle(obstacle, task, language),
        Line::Blocked { by, reason, lifted_by } => {
            let lifted_by: Vec<_> = lifted_by.iter().map(|party| say_party(party, reader, language)).collect();
            tell(
                phrase(
                    "Blocked by {0}: {1}. Lifted by {2} ({!0}).",
                    "{0} がブロックしました: {1}。解除できるのは {2}（{!0}）。",
                ),
                &[&say_party(by, reader, language), &say_move_reason(reason, language), &list(&lifted_by)],
                &[to_move(Move::Unblock)],
            )
        }
        Line::Failed { reason, mover, retries_left, .. } => tell(
            phrase(
                "Failed: {0}. {1} may retry it ({!0}; agents have {2} retries left) or cancel it.",
                "失敗しました: {0}。{1} が再試行（{!0}、エージェントは残り {2} 回）または中止できます。",
            ),
            &[&say_move_reason(reason, language), &capitalised(&say_party(mover, reader, language)), retries_left],
            &[to_move(Move::Retry)],
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
            let by = say_party(by, reader, language);
            say(phrase("Cancelled by {0}: {1}.", "{0} が中止しました: {1}。"), &[&by, reason])
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
        Line::StepOf { task } => tell(
            phrase("It is a step, done in the session of {0}: see {!0}.", "{0} のセッションで行うステップです: {!0}。"),
            &[task],
            &[Remedy::Explain(*task)],
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

/// Who that is for whoever reads.
pub fn say_party(party: &Party, reader: Reader, language: Language) -> String {
    match (party, reader) {
        (Party::Owner, Reader::Owner) => phrase("you", "あなた").say(language, &[]),
        (Party::Owner, Reader::Other) => phrase("the owner", "オーナー").say(language, &[]),
        (Party::System, _) => "Saihai".to_owned(),
        (Party::Agent(agent), _) => agent.to_string(),
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
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
                "the target itself fails {0} at {1}; mend it, or add a task that repairs the target",
                "対象ブランチ自体が {1} で {0} に失敗しています。直すか、対象ブランチを修復するタスクを追加してください",
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
            "no runner starts this agent: attach it with its passkey",
            "ランナーはこのエージェントを起動しません。パスキーで接続してください",
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

/// An obstacle with what removes it.
fn tell_obstacle(obstacle: &Obstacle, task: TaskId, language: Language) -> Said {
    let next = match obstacle {
        Obstacle::ProjectPaused => Remedy::Resume,
        Obstacle::Unassigned | Obstacle::AssigneeInactive(_) => Remedy::Assign(task),
        Obstacle::Waiting { on, .. } => Remedy::Explain(*on),
        Obstacle::DependencyCancelled(on) => Remedy::StopWaiting { task, on: *on },
        Obstacle::Held { by } => Remedy::Explain(*by),
        Obstacle::FuelSpent(_) => Remedy::Move { name: Move::Unblock, task },
    };
    let said = match obstacle {
        Obstacle::FuelSpent(_) => phrase(
            "It cannot start: {0}. Next: the owner may grant more with {!0}.",
            "開始できません: {0}。次: オーナーは {!0} で追加できます。",
        ),
        Obstacle::ProjectPaused
        | Obstacle::Unassigned
        | Obstacle::AssigneeInactive(_)
        | Obstacle::Waiting { .. }
        | Obstacle::DependencyCancelled(_)
        | Obstacle::Held { .. } => phrase("It cannot start: {0}. Next: {!0}.", "開始できません: {0}。次: {!0}。"),
    };
    said.tell(language, &[&say_obstacle(obstacle, language)], &[next])
}
