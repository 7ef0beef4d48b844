//! What is an agent told to do? Short, one next call, no choice where there is none.

use super::{Phrase, phrase};
use crate::Language;
use crate::action::NextAction;
use crate::answer::Answer;
use crate::evidence::Rejection;
use crate::text::list;
use crate::tool::Tool;

const THEN_ASK: Phrase = phrase("Then call get_next_action.", "その後、get_next_action を呼んでください。");

const COMMENTS: Phrase = phrase(
    "There are new comments on your task (`comments`). Read them first: they change what is asked of you.",
    "タスクに新しいコメントがあります（`comments`）。まず読んでください。求められている内容が変わります。",
);

/// The instruction that goes with an answer. It names no call that is not among the answer's tools,
/// except `get_next_action`, which is always open.
pub fn instruction(answer: &Answer, language: Language) -> String {
    let mut lines = Vec::new();
    if !answer.comments.is_empty() {
        lines.push(COMMENTS.say(language, &[]));
    }
    lines.push(opening(answer, language));
    lines.extend(answer.feedback.as_ref().filter(|_| shows_feedback(answer.action)).map(|why| feedback(why, language)));
    lines.extend(
        answer.tools.iter().filter_map(|tool| per_tool(*tool, answer.action)).map(|line| line.say(language, &[])),
    );
    if !answer.children.is_empty() {
        let children: Vec<_> = answer
            .children
            .iter()
            .map(|child| format!("{} \"{}\" ({})", child.id, child.title, child.status))
            .collect();
        lines.push(phrase("They exist already: {0}.", "既にあるもの: {0}。").say(language, &[&list(&children)]));
    }
    if asks_again(answer.action) {
        lines.push(THEN_ASK.say(language, &[]));
    }
    lines.join("\n")
}

fn shows_feedback(action: NextAction) -> bool {
    matches!(action, NextAction::Rework | NextAction::Work | NextAction::CreateSubtasks)
}

fn opening(answer: &Answer, language: Language) -> String {
    let say = |phrase: Phrase, arguments: &[&dyn std::fmt::Display]| phrase.say(language, arguments);
    let subtask = answer.subtask.as_ref();
    let (id, title) =
        (subtask.map_or_else(String::new, |s| s.id.to_string()), subtask.map_or("", |s| s.title.as_str()));
    match answer.action {
        NextAction::Stop(interrupt) if answer.tools.contains(&Tool::SaveContext) => say(
            phrase(
                "Stop working now: {0}. Change nothing more. Save what you know with save_context if you have not, then call logout and end.",
                "直ちに作業を止めてください: {0}。これ以上変更しないでください。必要なら save_context で状況を残し、logout を呼んで終了してください。",
            ),
            &[&interrupt.as_str()],
        ),
        NextAction::Stop(interrupt) => say(
            phrase(
                "Stop now: {0}. Change nothing more. Call logout and end.",
                "直ちに止めてください: {0}。これ以上変更しないでください。logout を呼んで終了してください。",
            ),
            &[&interrupt.as_str()],
        ),
        NextAction::ReportModel => say(
            phrase(
                "Call report_model with your provider and your exact model id. Then call get_next_action.",
                "report_model を呼び、プロバイダーと正確なモデル ID を報告してください。その後、get_next_action を呼んでください。",
            ),
            &[],
        ),
        NextAction::GetPendingMessages => say(
            phrase(
                "The owner has written. Call get_pending_messages, then answer with send_message to owner.",
                "オーナーからメッセージがあります。get_pending_messages を呼び、send_message で owner に返信してください。",
            ),
            &[],
        ),
        NextAction::WaitForMessages => say(
            phrase(
                "Nothing new. Call get_next_action again; it waits for the next message.",
                "新しいメッセージはありません。get_next_action をもう一度呼ぶと、次のメッセージを待ちます。",
            ),
            &[],
        ),
        NextAction::LeaveChat => say(
            phrase(
                "The conversation is over. Call logout and end.",
                "会話は終わりました。logout を呼んで終了してください。",
            ),
            &[],
        ),
        NextAction::LogOut => say(
            phrase(
                "There is nothing more to do in this session. Call logout and end.",
                "このセッションですることはもうありません。logout を呼んで終了してください。",
            ),
            &[],
        ),
        NextAction::GetTask => say(
            phrase(
                "Call get_my_task to read your task. Then call get_next_action.",
                "get_my_task を呼んでタスクを読んでください。その後、get_next_action を呼んでください。",
            ),
            &[],
        ),
        NextAction::CreateSubtasks => say(
            phrase(
                "Split your task into 2 to 5 subtasks with one call of create_tasks_batch. Give each a title and a description that stands alone. Create no more afterwards.",
                "タスクを 2〜5 個のサブタスクに分け、create_tasks_batch を一度だけ呼んで作成してください。それぞれに、単独で理解できる題名と説明を付けてください。それ以上は作らないでください。",
            ),
            &[],
        ),
        NextAction::Work => say(
            phrase(
                "Do the task yourself now, in your working directory.",
                "作業ディレクトリで、このタスクを自分で実行してください。",
            ),
            &[],
        ),
        NextAction::Rework => say(
            phrase(
                "Your task was sent back. Fix exactly what was wrong.",
                "タスクが差し戻されました。指摘された点を直してください。",
            ),
            &[],
        ),
        NextAction::Start => say(
            phrase(
                "Start work: you decide which subtask goes to whom, by content, priority and load.",
                "作業を開始してください。どのサブタスクを誰に任せるかは、内容・優先度・負荷を見て決めてください。",
            ),
            &[],
        ),
        NextAction::Adjust => say(
            phrase(
                "Adjust the plan. Change only what needs it.",
                "計画を調整してください。必要な点だけを変えてください。",
            ),
            &[],
        ),
        NextAction::Wait => say(
            phrase(
                "Your workers are busy. Call logout and end; you are started again when something changes.",
                "ワーカーが作業中です。logout を呼んで終了してください。変化があれば再び起動されます。",
            ),
            &[],
        ),
        NextAction::ReportCompletion => say(
            phrase(
                "Every subtask is settled. Call report_completed with result success and a summary of what was achieved.",
                "全てのサブタスクが完了しました。report_completed を result: success と成果の要約で呼んでください。",
            ),
            &[],
        ),
        NextAction::ExecuteSubtask(_) => say(
            phrase(
                "Do the step {0}, \"{1}\", now. When it is finished and works, call update_task_status with {0} and done; with failed or blocked and a reason if it cannot be done.",
                "ステップ {0}「{1}」を実行してください。終わって動作を確かめたら、update_task_status を {0}、done で呼んでください。できない場合は failed か blocked に理由を付けてください。",
            ),
            &[&id, &title],
        ),
        NextAction::StartSubtask(_) => say(
            phrase(
                "Begin the step {0}, \"{1}\": call update_task_status with {0} and in_progress.",
                "ステップ {0}「{1}」を始めます。update_task_status を {0}、in_progress で呼んでください。",
            ),
            &[&id, &title],
        ),
        NextAction::ReviewBlocks => say(
            phrase(
                "No subtask is running and none can be started. Find out why, and resolve it.",
                "実行中のサブタスクも開始できるサブタスクもありません。原因を調べて対処してください。",
            ),
            &[],
        ),
        NextAction::SituationalAwareness => say(
            phrase(
                "Look at the state of your subtasks, then choose what to do.",
                "サブタスクの状況を確認し、次の行動を選んでください。",
            ),
            &[],
        ),
    }
}

/// One line for a tool, where the step offers several.
fn per_tool(tool: Tool, action: NextAction) -> Option<Phrase> {
    match (action, tool) {
        (NextAction::Work, Tool::SaveContext) => Some(phrase(
            "- save_context: note progress and findings on long work",
            "- save_context: 長い作業では進捗と発見を記録",
        )),
        (NextAction::Work | NextAction::Rework, Tool::ReportCompleted) => Some(phrase(
            "- report_completed: when it works and is committed (success), or cannot be done (failed, blocked)",
            "- report_completed: 動作を確かめてコミットしたら success、できない場合は failed か blocked で報告",
        )),
        (NextAction::Rework, Tool::CreateTask) => Some(phrase(
            "- create_task: add a step, if the mending needs several",
            "- create_task: 修正が大きい場合はステップを追加",
        )),
        (
            NextAction::Start | NextAction::Adjust | NextAction::ReviewBlocks | NextAction::SituationalAwareness,
            Tool::ListTasks,
        ) => Some(phrase("- list_tasks: your subtasks and their state", "- list_tasks: サブタスクの一覧と状態")),
        (NextAction::Start | NextAction::SituationalAwareness, Tool::ListSubordinates) => {
            Some(phrase("- list_subordinates: your workers and their load", "- list_subordinates: 部下と負荷"))
        }
        (NextAction::Adjust | NextAction::ReviewBlocks | NextAction::SituationalAwareness, Tool::GetTask) => {
            Some(phrase("- get_task: details, reasons and results of one", "- get_task: 個別の詳細・理由・成果"))
        }
        (NextAction::Start, Tool::AssignTask) => Some(phrase(
            "- assign_task: give it to one of your workers first, if nobody has it",
            "- assign_task: 担当がいなければ先に割り当てる",
        )),
        (NextAction::Start, Tool::UpdateTaskStatus) => Some(phrase(
            "- update_task_status to in_progress: this starts the worker",
            "- update_task_status で in_progress に: ワーカーが起動する",
        )),
        (NextAction::Adjust, Tool::AssignTask) => {
            Some(phrase("- assign_task: give a subtask to somebody else", "- assign_task: 担当を変更"))
        }
        (NextAction::GetPendingMessages, Tool::CreateTask) => Some(phrase(
            "If work is asked for: create_task, with all that the message says. It is yours, and starts at once unless the owner confirms first. Name its id in your answer.",
            "作業を頼まれた場合は、内容をすべて書いて create_task を呼んでください。あなたのタスクとしてすぐに始まります（オーナーの確認が必要な設定を除く）。返信にその ID を書いてください。",
        )),
        (NextAction::Adjust, Tool::UpdateTask) => {
            Some(phrase("- update_task: title, description, priority", "- update_task: 題名・説明・優先度を修正"))
        }
        (NextAction::Adjust, Tool::UpdateTaskStatus) => Some(phrase(
            "- update_task_status: start, set back to todo, unblock or retry",
            "- update_task_status: 開始、todo に戻す、ブロック解除、再試行",
        )),
        (NextAction::Adjust, Tool::UpdateTaskDependencies) => Some(phrase(
            "- update_task_dependencies: what waits for what",
            "- update_task_dependencies: 依存関係を変更",
        )),
        (NextAction::Adjust, Tool::CreateTasksBatch) => Some(phrase(
            "- create_tasks_batch: only what is missing below",
            "- create_tasks_batch: 下の一覧に無いものだけを追加",
        )),
        (NextAction::Adjust, Tool::BlockTask) => {
            Some(phrase("- block_task: with a reason", "- block_task: 理由を付けてブロック"))
        }
        (NextAction::Adjust | NextAction::ReviewBlocks, Tool::CommentTask) => {
            Some(phrase("- comment_task: what whoever works on it should know", "- comment_task: 担当者に伝えること"))
        }
        (NextAction::Adjust | NextAction::ReviewBlocks, Tool::CancelTask) => Some(phrase(
            "- cancel_task: what is no longer needed, with a reason",
            "- cancel_task: 不要なものを理由を付けて中止",
        )),
        (NextAction::ReviewBlocks, Tool::UpdateTaskStatus) => Some(phrase(
            "- update_task_status: a blocked one back to the status it had before or to todo, a failed one to todo, what is no longer needed to cancelled with a reason",
            "- update_task_status: blocked は元の状態か todo へ、failed は todo へ、不要なものは理由を付けて cancelled へ",
        )),
        (NextAction::ReviewBlocks, Tool::UpdateTaskDependencies) => Some(phrase(
            "- update_task_dependencies: remove a dependency that was cancelled",
            "- update_task_dependencies: キャンセルされた依存を外す",
        )),
        (NextAction::ReviewBlocks, Tool::ReportCompleted) => Some(phrase(
            "- report_completed with result blocked and the reason, if you cannot resolve it",
            "- 解決できない場合は report_completed を result: blocked と理由で呼ぶ",
        )),
        (NextAction::SituationalAwareness, Tool::GetRecentCompletions) => Some(phrase(
            "- get_recent_completions: what was finished since you last looked",
            "- get_recent_completions: 前回以降に完了したもの",
        )),
        (NextAction::SituationalAwareness, Tool::SelectAction) => Some(phrase(
            "- select_action: start (assign and start), adjust (change the plan) or wait (for workers that run)",
            "- select_action: start（割り当てと開始）、adjust（計画の調整）、wait（実行中のワーカーを待つ）から選択",
        )),
        _ => None,
    }
}

fn asks_again(action: NextAction) -> bool {
    match action {
        NextAction::CreateSubtasks
        | NextAction::Work
        | NextAction::Rework
        | NextAction::Start
        | NextAction::Adjust
        | NextAction::ReportCompletion
        | NextAction::ExecuteSubtask(_)
        | NextAction::StartSubtask(_)
        | NextAction::ReviewBlocks
        | NextAction::SituationalAwareness
        | NextAction::GetPendingMessages => true,
        NextAction::Stop(_)
        | NextAction::ReportModel
        | NextAction::WaitForMessages
        | NextAction::LeaveChat
        | NextAction::LogOut
        | NextAction::GetTask
        | NextAction::Wait => false,
    }
}

/// What was wrong with the last attempt.
pub fn feedback(why: &Rejection, language: Language) -> String {
    let say = |phrase: Phrase, arguments: &[&dyn std::fmt::Display]| phrase.say(language, arguments);
    match why {
        Rejection::NoReport => say(
            phrase(
                "The session ended without a report of its result.",
                "結果が報告されないままセッションが終わりました。",
            ),
            &[],
        ),
        Rejection::ScopeViolation { files } => say(
            phrase(
                "Files outside your write scope were changed: {0}.",
                "書き込み範囲外のファイルが変更されました: {0}。",
            ),
            &[&list(files)],
        ),
        Rejection::NoChange => say(
            phrase(
                "Nothing was changed that the target does not have already.",
                "対象ブランチにない変更が何もありません。",
            ),
            &[],
        ),
        Rejection::Conflict { files } => say(
            phrase(
                "The work does not merge. Resolve the conflicts in: {0}.",
                "マージできません。競合を解決してください: {0}。",
            ),
            &[&list(files)],
        ),
        Rejection::Check { failed } => {
            let names: Vec<_> =
                failed.iter().map(|check| format!("{} ({})\n{}", check.name, check.outcome, check.output)).collect();
            say(phrase("A check did not pass: {0}", "チェックに通りませんでした: {0}"), &[&names.join("\n")])
        }
        Rejection::Goal { unmet } => say(
            phrase("What this type of task needs is missing: {0}.", "この種類のタスクに必要なものがありません: {0}。"),
            &[&list(unmet)],
        ),
        Rejection::EndedBadly { reason } => say(
            phrase(
                "The last session ended badly: {0}. What it had done is still there.",
                "前回のセッションは異常終了しました: {0}。それまでの作業は残っています。",
            ),
            &[reason],
        ),
        Rejection::LimitReached { reason } => say(
            phrase(
                "The last session was ended because it used too much of the machine: {0}. What it had done is still there. \
                 The next time the task fails.",
                "前回のセッションは資源の上限を超えたため終了しました: {0}。それまでの作業は残っています。次に超えるとタスクは失敗します。",
            ),
            &[reason],
        ),
        Rejection::Unreadable { reason } => say(
            phrase(
                "Git could not read the workspace that was left behind, and it was set aside: {0}",
                "残された作業場所を git が読めなかったため、退避しました: {0}",
            ),
            &[reason],
        ),
        Rejection::ChildrenOpen => say(phrase("Subtasks are open again.", "サブタスクが再び未完了になりました。"), &[]),
    }
}
