//! What is wrong with the arguments of a command, in Japanese?

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The message, and the hint with how the command is used.
pub(crate) fn say(error: &clap::Error) -> (String, String) {
    (message(error), hint(error))
}

fn message(error: &clap::Error) -> String {
    let [argument, value, prior, subcommand] =
        [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::PriorArg, ContextKind::InvalidSubcommand]
            .map(|kind| words(error, kind));
    match error.kind() {
        ErrorKind::UnknownArgument => format!("引数 `{argument}` はありません。"),
        ErrorKind::InvalidSubcommand => format!("コマンド `{subcommand}` はありません。"),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "コマンドが指定されていません。".into()
        }
        ErrorKind::MissingRequiredArgument => format!("必須の引数がありません: {argument}"),
        ErrorKind::ArgumentConflict if argument == prior => format!("引数 `{argument}` は一度だけ指定できます。"),
        ErrorKind::ArgumentConflict => format!("引数 `{argument}` は `{prior}` と同時に使えません。"),
        ErrorKind::InvalidValue if value.is_empty() => format!("引数 `{argument}` には値が必要です。"),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            format!("`{value}` は `{argument}` の値として使えません。{}", allowed(error))
        }
        ErrorKind::TooManyValues => format!("引数 `{argument}` の値が多すぎます: `{value}`"),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => format!("引数 `{argument}` の値の数が違います。"),
        ErrorKind::NoEquals => format!("引数 `{argument}` の値は `=` で指定してください。"),
        ErrorKind::InvalidUtf8 => "引数が UTF-8 として正しくありません。".into(),
        // Clap may learn to say more.
        _ => format!("引数に誤りがあります: {}", error.kind()),
    }
}

/// What the value may be, as far as it is known.
fn allowed(error: &clap::Error) -> String {
    let known = words(error, ContextKind::ValidValue);
    if !known.is_empty() {
        return format!("指定できる値: {known}");
    }
    let detail = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    match detail.split_once(" is not one of: ") {
        Some((_, known)) => format!("指定できる値: {known}"),
        None if detail.is_empty() => String::new(),
        None => format!("（{detail}）"),
    }
}

fn hint(error: &clap::Error) -> String {
    let suggested = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let suggested = suggested.map(|kind| words(error, kind)).concat();
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        Some(_) | None => String::new(),
    };
    let usage = usage.trim_start_matches("Usage:").trim().to_owned();
    let suggested = if suggested.is_empty() { suggested } else { format!("`{suggested}` のことですか? ") };
    let usage = if usage.is_empty() { usage } else { format!("使い方: {usage}。") };
    format!("{suggested}{usage}詳しくは --help を付けて実行してください。")
}

fn words(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(word)) => word.clone(),
        Some(ContextValue::Strings(words)) => words.join(", "),
        Some(_) | None => String::new(),
    }
}
