//! What is said when the store cannot be used, and what does the user do about it?

use board::Language;
use control::{ControlError, StoreError};

use crate::context::say_in;

/// The message and the hint.
pub(crate) fn say(error: &ControlError, language: Language) -> (String, String) {
    match error {
        ControlError::Store(error) => (
            say_in(language, error.to_string(), store_message(error)),
            say_in(language, error.hint(), store_hint(error)),
        ),
        ControlError::Refused(_) | ControlError::Unreadable { .. } | ControlError::Random(_) | ControlError::Closed => {
            (
                say_in(language, error.to_string(), control_message(error)),
                say_in(language, "Run `saihai log verify`.", "`saihai log verify` を実行してください。"),
            )
        }
    }
}

fn control_message(error: &ControlError) -> String {
    match error {
        ControlError::Refused(refusal) => refusal.message(Language::Ja),
        ControlError::Store(error) => store_message(error),
        ControlError::Unreadable { stream, seq, reason } => {
            format!("{stream} のイベント {seq} を読めません: {reason}")
        }
        ControlError::Random(error) => format!("秘密の値を作れません: {error}"),
        ControlError::Closed => "プロジェクトは終了処理中です。".into(),
    }
}

fn store_message(error: &StoreError) -> String {
    match error {
        StoreError::Conflict { expected, actual } => {
            format!("ストリームはイベント {expected} ではなく {actual} まで進んでいます。")
        }
        StoreError::NewerSchema { found, known } => {
            format!("ストアは新しい saihai が書いたものです（スキーマ {found}、この saihai は {known} まで）。")
        }
        StoreError::Damaged(what) => format!("ログが壊れています: {what}"),
        StoreError::Full { location, .. } => format!("{location} の置き場所に空きがありません。"),
        StoreError::Unavailable { location, source } => format!("ストア {location} を開けません: {source}"),
        StoreError::Unreachable { location, source } => {
            format!("データベース {location} に接続できません: {source}")
        }
        StoreError::ClockSkew { location, skew } => format!(
            "このマシンの時計は、データベース {location} より {} 秒{}います。",
            skew.abs() / 1000,
            if *skew > 0 { "進んで" } else { "遅れて" }
        ),
        StoreError::Replaced { location } => format!("ストア {location} が使用中に削除または置き換えられました。"),
        StoreError::Busy { waited } => format!("ストアが {} 秒間使用中でした。", waited.as_secs()),
        StoreError::Closed => "ストアは閉じられています。".into(),
        StoreError::Failed(cause) => format!("ストアの処理に失敗しました: {cause}"),
    }
}

fn store_hint(error: &StoreError) -> &'static str {
    match error {
        StoreError::Conflict { .. } => "もう一度実行してください。新しい状態で判断されます。",
        StoreError::NewerSchema { .. } => {
            "書いた側の新しい saihai を使うか、SAIHAI_HOME に別のディレクトリを設定してください。"
        }
        StoreError::Damaged(_) => {
            "壊れた箇所は `saihai log verify` で確認できます。ストアをバックアップから復元してください。"
        }
        StoreError::Full { .. } => "空きを作ってから、もう一度実行してください。失われたものはありません。",
        StoreError::Unavailable { location, .. } if location.starts_with("postgres:") => {
            "アドレス、ユーザー、パスワード、権限を確認してください（docs/guide/many-machines.md）。"
        }
        StoreError::Unavailable { .. } => {
            "パスと権限を確認するか、SAIHAI_HOME に書き込み可能なディレクトリを設定してください。"
        }
        StoreError::Unreachable { .. } => {
            "データベースを起動するか経路を直し、もう一度実行してください。確定したものは失われません。"
        }
        StoreError::ClockSkew { .. } => "このマシンの時計を NTP などで合わせてから、起動し直してください。",
        StoreError::Replaced { .. } => {
            "saihai のプロセスをすべて終了し、ストアをバックアップから復元して、起動し直してください。"
        }
        StoreError::Busy { .. } => {
            "もう一度実行してください。続く場合は `saihai doctor` でストアを使用中のプロセスを確認してください。"
        }
        StoreError::Closed => "もう一度実行してください。",
        StoreError::Failed(_) => "`saihai doctor` を実行してください。",
    }
}

/// What is said of files that were changed behind the store's back.
pub(crate) fn backup_hint(language: Language) -> String {
    say_in(
        language,
        "Keep the file as it is, and restore saihai.db from a backup made before the damage.",
        "ファイルはそのまま残し、壊れる前のバックアップから saihai.db を復元してください。",
    )
}
