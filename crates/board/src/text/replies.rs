//! What is an agent told when something of its own has happened?

use super::{Phrase, list, phrase};
use crate::action::Choice;
use crate::command::Command;
use crate::field::Field;
use crate::session::{Driver, Outcome, Session};
use crate::{Board, Completion, Language, Task, TaskId};

/// It is known now; `named` if it must name its session in every call.
pub fn authenticated(named: bool, language: Language) -> String {
    let phrase = match named {
        true => phrase(
            "You are authenticated. Pass session_token to every call. Call get_next_action, do exactly what it says, and call it again, until it tells you to log out.",
            "認証されました。以後の呼び出しには必ず session_token を付けてください。get_next_action を呼び、その指示どおりに行い、logout を指示されるまで繰り返してください。",
        ),
        false => phrase(
            "You are authenticated. Call get_next_action, do exactly what it says, and call it again, until it tells you to log out.",
            "認証されました。get_next_action を呼び、その指示どおりに行い、logout を指示されるまで繰り返してください。",
        ),
    };
    phrase.say(language, &[])
}

pub fn model_reported(verified: bool, language: Language) -> String {
    let phrase = match verified {
        true => phrase("Recorded. Call get_next_action.", "記録しました。get_next_action を呼んでください。"),
        false => phrase(
            "Recorded; the roster names another model. Go on: call get_next_action.",
            "記録しました（名簿のモデルとは異なります）。get_next_action を呼んで続けてください。",
        ),
    };
    phrase.say(language, &[])
}

pub fn selected(choice: Choice, language: Language) -> String {
    phrase(
        "`{0}` is selected. Call get_next_action for what to do.",
        "アクション `{0}` が選択されました。get_next_action を呼び出して詳細指示を取得してください。",
    )
    .say(language, &[&choice])
}

pub fn task_updated(language: Language) -> String {
    phrase("The task is changed.", "タスクが更新されました。").say(language, &[])
}

/// Somebody will read it: who, and when.
pub fn commented(board: &Board, task: TaskId) -> String {
    let running = board.tasks.get(&task).is_some_and(|task| task.live.is_some());
    let phrase = match running {
        true => phrase(
            "Recorded. A guided agent reads it with its next call, a one-shot agent with its next start.",
            "記録しました。guided のエージェントは次の呼び出しで、one-shot のエージェントは次の起動で読みます。",
        ),
        false => phrase("Recorded. It is read when the task starts.", "記録しました。タスクの開始時に読まれます。"),
    };
    phrase.say(board.settings.language, &[])
}

/// The command that undoes merged work, worded for whoever has to resolve what git cannot.
pub fn revert(task: &Task, commits: &[String], reason: Option<&str>, language: Language) -> Command {
    let title = phrase("Revert {0}: {1}", "{0} の取り消し: {1}").say(language, &[&task.id, &task.title]);
    let most = Field::Title.limit();
    let title =
        if title.chars().count() > most { title.chars().take(most - 1).chain(['…']).collect() } else { title };
    let commits: Vec<_> = commits.iter().map(|commit| format!("- {commit}")).collect();
    let what = phrase(
        "Undo what {0} brought into the target with these commits, the newest first:\n\n{1}\n\nSaihai does it with `git revert` where git can. Where it cannot, the conflicts are in your workspace: resolve them so that the work is gone and what came after it stays, and commit.",
        "{0} が次のコミット（新しい順）で対象ブランチに入れた変更を取り消してください。\n\n{1}\n\ngit だけで取り消せる場合は Saihai が `git revert` で行います。できない場合は競合が作業場所に残っています。その変更をなくし、後から入った変更は残すように解決し、コミットしてください。",
    );
    let mut description = what.say(language, &[&task.id, &commits.join("\n")]);
    if let Some(reason) = reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        description = format!("{reason}\n\n{description}");
    }
    Command::RevertTask { task: task.id, title, description }
}

pub fn context_saved(language: Language) -> String {
    phrase("Saved. Go on.", "保存しました。続けてください。").say(language, &[])
}

pub fn logged_out(language: Language) -> String {
    phrase("This session is over. End now.", "セッションは終わりました。終了してください。").say(language, &[])
}

/// What a report is judged by, and what to do now.
pub fn reported(board: &Board, session: &Session, result: Outcome) -> String {
    let language = board.settings.language;
    let checks: Vec<_> = board.settings.dod.checks.iter().map(|check| check.name.as_str()).collect();
    let facts: Phrase = match (result, judged(board, session)) {
        (Outcome::Failed | Outcome::Blocked, _) => phrase("Recorded, with your reason.", "理由とともに記録しました。"),
        (Outcome::Success, Judged::Children) => phrase(
            "Recorded. Your task is done when every subtask is settled and one of them is done.",
            "記録しました。全サブタスクが決着し、一つ以上が done であれば完了です。",
        ),
        (Outcome::Success, Judged::End) => phrase(
            "Recorded. Your task is done when this session has ended well.",
            "記録しました。このセッションが正常に終われば完了です。",
        ),
        (Outcome::Success, Judged::Merge) if checks.is_empty() => phrase(
            "Recorded. It will be judged by facts: what you changed, whether that is in your scope, and whether it merges.",
            "記録しました。判定は事実で行います: 変更内容、書き込み範囲、マージの可否。",
        ),
        (Outcome::Success, Judged::Merge) => phrase(
            "Recorded. It will be judged by facts: what you changed, whether that is in your scope, whether it merges, and these checks: {0}.",
            "記録しました。判定は事実で行います: 変更内容、書き込み範囲、マージの可否、チェック（{0}）。",
        ),
    };
    let leave = phrase("Call logout and end.", "logout を呼んで終了してください。");
    format!("{} {}", facts.say(language, &[&list(&checks)]), leave.say(language, &[]))
}

/// What decides.
enum Judged {
    Children,
    End,
    Merge,
}

fn judged(board: &Board, session: &Session) -> Judged {
    let manager = board.agents.get(&session.agent).is_some_and(|agent| agent.is_manager());
    let task = session.task().and_then(|id| board.tasks.get(&id));
    let completion = task.and_then(|task| task.completion).unwrap_or(board.settings.completion);
    match (completion, &session.driver) {
        _ if manager => Judged::Children,
        (Completion::Reported, _) => Judged::End,
        (Completion::Merged, Driver::Runner { .. } | Driver::Attached | Driver::Hand) => Judged::Merge,
    }
}
