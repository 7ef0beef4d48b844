//! How does a page name what can be done? In words, and by the link that leads there (W12).

use board::{Language, Piece, Remedy, Said};

/// What a remedy is called where a terminal would name a command.
pub(crate) fn word(remedy: &Remedy, language: Language) -> String {
    let say = |en: &str, ja: &str| match language {
        Language::En => en.to_owned(),
        Language::Ja => ja.to_owned(),
    };
    match remedy {
        Remedy::Move { name, .. } => move_word(*name, language).to_owned(),
        Remedy::Assign(_) => say("give it to somebody", "担当者を決める"),
        Remedy::StopWaiting { on, .. } => say(&format!("no longer wait for {on}"), &format!("{on} を待たない")),
        Remedy::Resume => say("resume the project", "一時停止を解除"),
        Remedy::Force => say("force", "強制"),
        Remedy::Explain(task) | Remedy::Show(task) | Remedy::ShowParts(task) => task.to_string(),
        Remedy::Comment => say("a comment", "コメント"),
        Remedy::ShowSession(session) | Remedy::Examine(session) | Remedy::EndByHand(session) => session.to_string(),
        Remedy::ReadLog(session) => say(&format!("the log of {session}"), &format!("{session} のログ")),
        Remedy::Passkey(agent) => agent.to_string(),
        Remedy::Tasks => say("the board", "ボード"),
        Remedy::Tree => say("the tree", "ツリー"),
        Remedy::Roster => say("the agents", "エージェント"),
        Remedy::Sessions => say("the sessions", "セッション"),
        Remedy::Projects => say("the projects", "プロジェクト"),
        Remedy::Tokens => say("the settings", "設定"),
        Remedy::Proposals => say("the memory", "メモリー"),
        Remedy::Serve => "Saihai".to_owned(),
        Remedy::Runner | Remedy::SuitableRunner => say("a runner", "ランナー"),
        Remedy::ResumeRunner => say("the runners", "ランナー"),
        Remedy::Help => say("the keys of this page", "キーボードの一覧"),
    }
}

/// Where it is seen or done, if there is a page for it.
pub(crate) fn address(remedy: &Remedy, project: &str) -> Option<String> {
    let page = match remedy {
        Remedy::Move { task, .. }
        | Remedy::Assign(task)
        | Remedy::StopWaiting { task, .. }
        | Remedy::Explain(task)
        | Remedy::Show(task)
        | Remedy::ShowParts(task) => format!("/tasks/{task}"),
        Remedy::ShowSession(session)
        | Remedy::Examine(session)
        | Remedy::ReadLog(session)
        | Remedy::EndByHand(session) => {
            format!("/sessions/{session}")
        }
        Remedy::Passkey(agent) => format!("/agents/{agent}"),
        Remedy::Tasks => String::new(),
        Remedy::Tree => "?view=tree".to_owned(),
        Remedy::Roster => "/agents".to_owned(),
        Remedy::Sessions => "/sessions".to_owned(),
        Remedy::Tokens => "/settings".to_owned(),
        Remedy::Proposals => "/memory".to_owned(),
        Remedy::Projects => return Some("/projects".to_owned()),
        Remedy::Runner | Remedy::SuitableRunner | Remedy::ResumeRunner => return Some("/runners".to_owned()),
        Remedy::Resume | Remedy::Force | Remedy::Comment | Remedy::Serve | Remedy::Help => return None,
    };
    Some(format!("/p/{project}{page}"))
}

/// What is said, without links, for where there can be none.
pub(crate) fn in_words(said: &Said, language: Language) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Remedy(remedy) => word(remedy, language),
    };
    said.pieces.iter().map(piece).collect()
}

/// The name of a move, as its button says it.
pub(crate) fn move_word(name: board::lifecycle::Move, language: Language) -> &'static str {
    use board::lifecycle::Move;
    match (name, language) {
        (Move::Create, Language::En) => "Create",
        (Move::Queue, Language::En) => "To do",
        (Move::Shelve, Language::En) => "Back to backlog",
        (Move::Start, Language::En) => "Start",
        (Move::Unstart | Move::Requeue, Language::En) => "Put back",
        (Move::Block, Language::En) => "Block",
        (Move::Unblock, Language::En) => "Unblock",
        (Move::Finish, Language::En) => "Mark done",
        (Move::Fail, Language::En) => "Fail",
        (Move::Retry, Language::En) => "Retry",
        (Move::Cancel, Language::En) => "Cancel",
        (Move::Reopen, Language::En) => "Reopen",
        (Move::Create, Language::Ja) => "作成",
        (Move::Queue, Language::Ja) => "待機へ",
        (Move::Shelve, Language::Ja) => "バックログへ",
        (Move::Start, Language::Ja) => "開始",
        (Move::Unstart | Move::Requeue, Language::Ja) => "開始を取り消す",
        (Move::Block, Language::Ja) => "ブロック",
        (Move::Unblock, Language::Ja) => "ブロック解除",
        (Move::Finish, Language::Ja) => "完了にする",
        (Move::Fail, Language::Ja) => "失敗",
        (Move::Retry, Language::Ja) => "再試行",
        (Move::Cancel, Language::Ja) => "中止",
        (Move::Reopen, Language::Ja) => "再開",
    }
}
