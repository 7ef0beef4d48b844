//! When does a vendor say that its limit is lifted (F34)? In words and in headers.

use board::{Span, Timestamp};
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use serde_json::Value;

/// An instant in seconds since 1970, as Anthropic gives it.
pub(super) fn epoch(seconds: &Value) -> Option<Timestamp> {
    let seconds = seconds.as_i64().or_else(|| seconds.as_str()?.trim().parse().ok())?;
    Some(Timestamp(seconds.saturating_mul(1000)))
}

/// In the headers of a refusal. An instant is surer than a delay.
pub(super) fn in_headers(headers: &Value, now: Timestamp) -> Option<Timestamp> {
    let header = |name: &str| headers[name].as_str().map(str::trim);
    let unified = epoch(&headers["anthropic-ratelimit-unified-reset"]);
    let milliseconds = || Some(now + Span(header("retry-after-ms")?.parse().ok()?));
    unified.or_else(milliseconds).or_else(|| {
        let after = header("retry-after")?;
        let delay = || Some(now + Span::seconds(after.parse().ok().filter(|seconds| *seconds < 1 << 40)?));
        let date = || Some(Timestamp(jiff::fmt::rfc2822::parse(after).ok()?.timestamp().as_millisecond()));
        delay().or_else(date)
    })
}

/// In a message: `try again in 1.9s`, `Suggested retry after 38s`, `reset after 5h32m10s`, `try again at 3:26 PM`.
pub(super) fn in_words(text: &str, now: Timestamp) -> Option<Timestamp> {
    let after = |words: &str| text.find(words).map(|start| text[start + words.len()..].trim_start());
    let delays = ["try again in", "retry in", "retry after", "reset after", "resets in"];
    let delay = delays.iter().filter_map(|words| delay(after(words)?)).max();
    delay.map(|delay| now + delay).or_else(|| clock(after("try again at")?, now))
}

/// `38.2s`, `5h32m10s`, `3 days 2 hours 5 minutes`.
fn delay(text: &str) -> Option<Span> {
    let mut rest = text;
    let mut sum = None;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let unit = rest[digits..].trim_start();
        let letters = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
        let Some(seconds) = unit_seconds(&unit[..letters]) else { return sum };
        let Ok(number) = rest[..digits].parse::<f64>() else { return sum };
        #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
        let part = (number * seconds * 1000.0).ceil() as i64;
        sum = Some(Span(sum.map_or(0, |Span(sum)| sum).saturating_add(part)));
        rest = unit[letters..].trim_start_matches([' ', ',']);
    }
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit {
        "ms" => Some(0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(60.0),
        "h" | "hour" | "hours" => Some(3600.0),
        "d" | "day" | "days" => Some(86_400.0),
        _ => None,
    }
}

/// `3:26 PM` today, or `Nov 20th, 2026 3:26 PM`, on this machine's clock, which is the client's too.
fn clock(text: &str, now: Timestamp) -> Option<Timestamp> {
    let zone = TimeZone::system();
    let today = jiff::Timestamp::from_millisecond(now.0).ok()?.to_zoned(zone.clone()).date();
    let words: Vec<&str> = text.split_whitespace().collect();
    let (date, time) = match words.as_slice() {
        [month, day, year, time, half, ..] if year.len() == 4 => {
            let day = day.trim_end_matches(|c: char| !c.is_ascii_digit());
            (Date::strptime("%b %d %Y", format!("{month} {day} {year}")).ok()?, [*time, *half])
        }
        [time, half, ..] => (today, [*time, *half]),
        _ => return None,
    };
    let [time, half] = time;
    let time = Time::strptime("%I:%M %p", format!("{time} {}", half.trim_end_matches('.'))).ok()?;
    Some(Timestamp(date.to_datetime(time).to_zoned(zone).ok()?.timestamp().as_millisecond()))
}
