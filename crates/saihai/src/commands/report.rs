//! `saihai report`

use board::wire::{Report as Shown, ReportedTask, Work};
use board::{Span, Status, Timestamp, say_money, say_span};
use clap::Args;

use crate::context::{Context, OpenProject};
use crate::failure::Failure;
use crate::show::{clean, counted, local_time};
use crate::table::{Column, table};

/// What was done since a time, by whom, and at what cost
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  saihai report                        # the last 24 hours
  saihai report --since 12h            # also 30m, 7d
  saihai report --since 2026-11-17     # also with a time: '2026-11-17 18:00'
A task's time and cost are of all its sessions. What a client does not tell is said, not guessed.")]
pub(crate) struct Report {
    /// How long ago, or when in your time zone
    #[arg(long, value_name = "WHEN", default_value = "24h", value_parser = parse_when)]
    since: When,
}

#[derive(Clone, Copy, Debug)]
enum When {
    Ago(Span),
    At(Timestamp),
}

/// A length of time, or a date with or without a time.
fn parse_when(text: &str) -> Result<When, String> {
    if let Ok(at) = text.parse::<jiff::civil::DateTime>() {
        let zoned = at.to_zoned(jiff::tz::TimeZone::system()).map_err(|error| error.to_string())?;
        return Ok(When::At(Timestamp(zoned.timestamp().as_millisecond())));
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Ok(When::At(Timestamp(at.as_millisecond())));
    }
    let span = text.parse::<jiff::Span>().ok();
    let milliseconds = span.and_then(|span| {
        let days = jiff::SpanRelativeTo::days_are_24_hours();
        span.total((jiff::Unit::Millisecond, days)).ok().filter(|length| *length > 0.0)
    });
    match milliseconds {
        Some(length) => Ok(When::Ago(Span(length as i64))),
        None => Err("say how long ago, such as 12h or 7d, or a date, such as 2026-11-17".into()),
    }
}

const TASKS: [Column; 6] = [
    Column::key("TASK", "タスク"),
    Column::key("STATUS", "状態"),
    Column::text("TITLE", "タイトル"),
    Column::extra(3, "BY", "担当"),
    Column::extra(1, "WORK", "作業"),
    Column::extra(2, "RESULT", "結果"),
];

const AGENTS: [Column; 6] = [
    Column::key("AGENT", "エージェント"),
    Column::key("SESSIONS", "セッション"),
    Column::extra(3, "SENT BACK", "差し戻し"),
    Column::key("TIME", "時間"),
    Column::extra(1, "TOKENS IN → OUT", "トークン 入 → 出"),
    Column::key("COST", "費用"),
];

impl Report {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let now = opened.now();
        let since = match self.since {
            When::Ago(Span(ago)) => now + Span(-ago),
            When::At(at) => at,
        };
        let report = Shown::of(&opened.board(), since, now);
        let ids = || report.tasks.iter().map(|task| task.id.to_string()).collect();
        context.format.print(&report, ids, || text(&opened, &report))
    }
}

fn text(opened: &OpenProject, report: &Shown) -> String {
    let number = |status| report.count(status);
    let (done, failed, blocked, cancelled) =
        (number(Status::Done), number(Status::Failed), number(Status::Blocked), number(Status::Cancelled));
    let (since, going) = (local_time(report.since), report.in_progress.len());
    let mut parts = vec![opened.say(
        format!("Since {since}: {done} done, {failed} failed, {blocked} blocked, {cancelled} cancelled; {going} in progress."),
        format!("{since} 以降: 完了 {done}、失敗 {failed}、ブロック {blocked}、取消 {cancelled}。進行中 {going}。"),
    )];
    if !report.tasks.is_empty() {
        parts.push(table(opened.language, &TASKS, report.tasks.iter().map(|task| task_row(opened, task))));
    }
    if !report.agents.is_empty() {
        let total = (report.agents.len() > 1).then(|| agent_row(opened, opened.say("all", "合計"), &report.total));
        let agents = report.agents.iter().map(|(id, work)| agent_row(opened, id.to_string(), work));
        parts.push(table(opened.language, &AGENTS, agents.chain(total)));
    }
    let unfinished = report.tasks.iter().find(|task| matches!(task.status, Status::Failed | Status::Blocked));
    if let Some(task) = unfinished {
        parts.push(opened.say(
            format!("Why a task is not done: `saihai task why {}`.", task.id),
            format!("完了していない理由: `saihai task why {}`。", task.id),
        ));
    }
    parts.join("\n\n")
}

fn task_row(opened: &OpenProject, task: &ReportedTask) -> [String; 6] {
    let merged = task.merged_as.as_ref().map(|commit| {
        let short = &commit[..commit.len().min(10)];
        opened.say(format!("merged as {short}"), format!("{short} としてマージ"))
    });
    let Work { sessions, milliseconds, sent_back, .. } = task.work;
    let mut work = opened.say(
        format!("{}, {}", counted(sessions as usize, "session"), say_span(Span(milliseconds), opened.language)),
        format!("{sessions} セッション、{}", say_span(Span(milliseconds), opened.language)),
    );
    if sent_back > 0 {
        work += &opened.say(format!(", {sent_back} sent back"), format!("、差し戻し {sent_back}"));
    }
    let priced = task.work.unpriced < sessions;
    if priced {
        work += &format!(", {}", cost(&task.work));
    }
    [
        task.id.to_string(),
        task.status.to_string(),
        clean(&task.title),
        task.assignee.as_ref().map_or_else(|| "-".into(), ToString::to_string),
        work,
        merged.or_else(|| task.reason.as_deref().map(clean)).unwrap_or_default(),
    ]
}

fn agent_row(opened: &OpenProject, name: String, work: &Work) -> [String; 6] {
    let metered = work.sessions - work.unmetered;
    let not_told = || opened.say("not told", "不明");
    let some = |told: String, left_out: u32| match left_out {
        0 => told,
        left_out => opened.say(format!("{told}, {left_out} not told"), format!("{told}、不明 {left_out}")),
    };
    let tokens = match metered {
        0 => not_told(),
        _ => some(format!("{} → {}", work.input_tokens, work.output_tokens), work.unmetered),
    };
    let cost = if work.unpriced == work.sessions { not_told() } else { some(cost(work), work.unpriced) };
    let time = say_span(Span(work.milliseconds), opened.language);
    [name, work.sessions.to_string(), work.sent_back.to_string(), time, tokens, cost]
}

fn cost(work: &Work) -> String {
    let about = if work.estimated_micros > 0 { "≈ " } else { "" };
    format!("{about}{}", say_money(work.cost_micros))
}

#[cfg(test)]
mod tests {
    use super::{When, parse_when};

    /// C7: lengths of time and dates are understood, anything else is named as wrong.
    #[test]
    fn since_is_a_length_of_time_or_a_date() {
        for (text, ago) in [("12h", 43_200_000), ("30m", 1_800_000), ("7d", 604_800_000), ("1h 30m", 5_400_000)] {
            assert!(matches!(parse_when(text), Ok(When::Ago(span)) if span.0 == ago), "{text}");
        }
        for text in ["2026-11-17", "2026-11-17 18:00", "2026-11-17T18:00:00Z"] {
            assert!(matches!(parse_when(text), Ok(When::At(_))), "{text}");
        }
        for text in ["", "yesterday", "-3h", "0s", "2026-13-01"] {
            assert!(parse_when(text).is_err(), "{text}");
        }
    }
}
