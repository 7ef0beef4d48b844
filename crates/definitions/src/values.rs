//! Which texts are durations, patterns, branches, lines? Each answer is the value or what is wrong.

use board::EnvNames;
use ignore::gitignore::GitignoreBuilder;
use std::ops::RangeInclusive;

const YEAR: u64 = 365 * 86_400;

/// `90`, `90s`, `30m`, `12h`, `7d`: seconds, from `least` to a year.
pub(crate) fn seconds(text: &str, least: u64) -> Result<u64, String> {
    const EXPECTED: &str = "must be a length of time such as 90 (seconds), 90s, 30m, 12h or 7d";
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3600),
        Some((at, 'd')) => (&text[..at], 86_400),
        Some(_) | None => (text, 1),
    };
    let number = whole_number(digits).ok_or(EXPECTED)?;
    match number.checked_mul(unit) {
        Some(seconds) if seconds < least => Err(format!("must be at least {least} s")),
        Some(seconds) if seconds <= YEAR => Ok(seconds),
        Some(_) | None => Err("must be at most 365d".into()),
    }
}

pub(crate) fn count(text: &str, range: RangeInclusive<u32>) -> Result<u32, String> {
    whole_number(text)
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| range.contains(number))
        .ok_or_else(|| format!("must be a whole number from {} to {}", range.start(), range.end()))
}

/// `500000`, `500_000`, `500k`, `2M`: at least one.
pub(crate) fn tokens(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "must be a number of tokens such as 500000, 500k or 2M";
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'M' | 'm')) => (&text[..at], 1_000_000),
        Some(_) | None => (text, 1),
    };
    let number = whole_number(&digits.replace('_', "")).and_then(|number| number.checked_mul(unit));
    number.filter(|number| *number > 0).ok_or_else(|| EXPECTED.into())
}

/// `2`, `0.5`, `12.345678`: in millionths of a dollar, at least `least` of them.
pub(crate) fn dollars(text: &str, least: u64) -> Result<u64, String> {
    const EXPECTED: &str = "must be an amount in US dollars such as 2 or 0.50";
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let part = Some(part).filter(|part| (1..=6).contains(&part.len())).ok_or(EXPECTED)?;
    let micros = whole_number(whole).and_then(|whole| whole.checked_mul(1_000_000));
    let sum = micros.zip(whole_number(&format!("{part:0<6}"))).and_then(|(whole, part)| whole.checked_add(part));
    match sum.ok_or(EXPECTED)? {
        sum if sum < least => Err("must be more than 0".into()),
        sum => Ok(sum),
    }
}

/// Digits alone: `+5`, `5.0` and `0x5` are not counts.
fn whole_number(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// One line with something on it.
pub(crate) fn line(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err("is empty".into())
    } else if text.chars().any(char::is_control) {
        Err("must be one line without control characters".into())
    } else {
        Ok(())
    }
}

/// A git repository that every host can reach. What is in the definitions is in the log, so no password may be (E8).
pub(crate) fn remote(text: &str) -> Result<(), String> {
    line(text)?;
    if text.starts_with('-') {
        return Err("must be the address or path of a git repository".into());
    }
    let user =
        text.split_once("://").and_then(|(_, rest)| rest.split('/').next()?.rsplit_once('@')).map(|(user, _)| user);
    match user {
        Some(user) if user.contains(':') => {
            Err("must hold no password: git finds it on each host, by a credential helper or ssh".into())
        }
        Some(_) | None => Ok(()),
    }
}

/// Any text that a program can be given as an argument.
pub(crate) fn argument(text: &str) -> Result<(), String> {
    if text.contains('\0') { Err("must not hold a NUL character".into()) } else { Ok(()) }
}

/// A shell command or a prompt: text with something in it.
pub(crate) fn non_blank(text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err("is empty".into()) } else { argument(text) }
}

/// A gitignore pattern (R2), as far as can be told without matching it.
pub(crate) fn pattern(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err("has an empty pattern".into())
    } else if text.contains(['\0', '\n', '\r']) {
        Err("has a pattern with a NUL or a line break".into())
    } else if text.starts_with('#') {
        Err(format!("has a pattern that is a comment, `{text}`: write `\\{text}`"))
    } else if text.trim_start_matches('!').split('/').any(|part| part == "..") {
        Err(format!("has a pattern that leads out of the repository, `{text}`"))
    } else if let Err(error) = GitignoreBuilder::new("").allow_unclosed_class(false).add_line(None, text) {
        Err(format!("has a pattern that means nothing, `{text}`: {error}"))
    } else {
        Ok(())
    }
}

/// The name of a branch, by the rules of `git check-ref-format`.
pub(crate) fn branch(text: &str) -> Result<(), String> {
    let bad_char = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    let bad_part = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    let bad = text.starts_with('-')
        || text.ends_with('.')
        || text == "@"
        || text.contains("..")
        || text.contains("@{")
        || text.contains(bad_char)
        || text.split('/').any(bad_part);
    if bad { Err(format!("must be the name of a branch, not `{}`", text.escape_debug())) } else { Ok(()) }
}

/// The value of an environment variable. One that stands for a value which was left out is none.
pub(crate) fn variable_value(text: &str) -> Result<(), String> {
    if text == EnvNames::HIDDEN {
        return Err("the value was left out when this was written: put it in again".into());
    }
    argument(text)
}

/// The name of an environment variable.
pub(crate) fn variable(text: &str) -> Result<(), String> {
    let mut chars = text.chars();
    let begins_well = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if begins_well && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(())
    } else {
        Err(format!("`{}` is not the name of an environment variable", text.escape_debug()))
    }
}
