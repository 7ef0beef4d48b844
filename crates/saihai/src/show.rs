//! How is a result shown: for people, for programs, or as bare ids?

use std::io::Write as _;

use board::{Language, Timestamp};
use serde::Serialize;

use crate::cli::Global;
use crate::context::{locale_language, say_in};
use crate::failure::Failure;

pub(crate) use board::clean;

/// Text from agents and files whose further lines cannot be taken for lines of ours.
pub(crate) fn indented(text: &str) -> String {
    clean(text).replace('\n', "\n                ")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
    Quiet,
}

impl Format {
    pub(crate) fn of(global: &Global) -> Self {
        match (global.json, global.quiet) {
            (true, _) => Self::Json,
            (false, true) => Self::Quiet,
            (false, false) => Self::Text,
        }
    }

    /// Prints a result. Only the requested form is built.
    pub(crate) fn print<T: Serialize>(
        self,
        json: &T,
        ids: impl FnOnce() -> Vec<String>,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let written = match self {
            Self::Json => {
                serde_json::to_writer(&mut out, json).map_err(std::io::Error::from).and_then(|()| out.write_all(b"\n"))
            }
            Self::Quiet => ids().iter().try_for_each(|id| writeln!(out, "{id}")),
            Self::Text => {
                let text = text();
                if text.is_empty() { Ok(()) } else { writeln!(out, "{}", text.trim_end()) }
            }
        };
        match written.and_then(|()| out.flush()) {
            // The reader closed the pipe: it has read enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(cannot_write(locale_language().unwrap_or(Language::En), &error)),
            Ok(()) => Ok(()),
        }
    }
}

/// What is said when the result could not be printed.
pub(crate) fn cannot_write(language: Language, error: &std::io::Error) -> Failure {
    Failure::failed(
        say_in(language, format!("cannot write the result: {error}"), format!("結果を書き出せません: {error}")),
        say_in(language, "Free some space and try again.", "空きを作ってから、もう一度実行してください。"),
    )
}

/// One line `  label   value`; the values of several such lines stand below each other. A character that is not
/// ASCII is two columns wide, as those of Japanese labels are.
pub(crate) fn field(label: &str, width: usize, value: impl std::fmt::Display) -> String {
    let columns: usize = label.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    format!("  {label}{:1$}{value}", "", width.saturating_sub(columns).max(1))
}

/// A number of things, in English: `1 session`, `2 sessions`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

pub(crate) fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".into(), |value| value.to_string())
}

/// A moment where the user is, to the second. Programs get UTC.
pub(crate) fn local_time(at: Timestamp) -> String {
    let zoned = jiff::Timestamp::from_millisecond(at.0).map(|at| at.to_zoned(jiff::tz::TimeZone::system()));
    zoned.map_or_else(|_| at.to_string(), |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string())
}
