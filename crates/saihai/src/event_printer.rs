//! How is what happens shown in the terminal, line by line?

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use board::wire;
use board::{Board, EventLine, Language, Tone, one_line};
use runner::Notice;
use serde_json::json;
use tokio::sync::mpsc;

use crate::context::say_in;
use crate::show::{Format, local_time};
use crate::up_process::EventReader;

/// Writes lines with the time, in colour where there is any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    colour: bool,
}

impl Printer {
    pub(crate) fn new() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { colour: std::io::stdout().is_terminal() && !plain }
    }

    pub(crate) fn line(self, at: board::Timestamp, line: &EventLine) -> String {
        let time = time_of_day(at);
        let code = match line.tone {
            Tone::Plain => "",
            Tone::Good => "\u{1b}[32m",
            Tone::Bad => "\u{1b}[33m",
            Tone::Quiet => "\u{1b}[2m",
        };
        if self.colour && !code.is_empty() {
            format!("\u{1b}[2m{time}\u{1b}[0m {code}{}\u{1b}[0m", line.text)
        } else {
            format!("{time} {}", line.text)
        }
    }
}

/// The time of day, where the user is.
fn time_of_day(at: board::Timestamp) -> String {
    let zoned = jiff::Timestamp::from_millisecond(at.0).map(|at| at.to_zoned(jiff::tz::TimeZone::system()));
    zoned.map_or_else(|_| "--:--:--".into(), |at| at.strftime("%H:%M:%S").to_string())
}

/// Writes lines without making the caller wait for the reader: a program that reads only the first line of `up --json`
/// must not stop the runner.
struct LineWriter {
    lines: Option<std::sync::mpsc::Sender<String>>,
    written: Option<tokio::sync::oneshot::Receiver<()>>,
}

impl LineWriter {
    /// How long a reader has for what is left at the end.
    const LAST_LINES_LIMIT: Duration = Duration::from_secs(2);

    fn start() -> Self {
        let (lines, waiting) = std::sync::mpsc::channel::<String>();
        let (done, written) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            // Ends when the reader is gone, or when there are no more lines.
            let _ = waiting.iter().try_for_each(|line| {
                let mut out = std::io::stdout().lock();
                writeln!(out, "{line}").and_then(|()| out.flush())
            });
            let _ = done.send(());
        });
        Self { lines: Some(lines), written: Some(written) }
    }

    fn write(&self, line: String) {
        if let Some(lines) = &self.lines {
            let _ = lines.send(line);
        }
    }

    /// Waits until everything is written, if somebody reads it.
    async fn finish(mut self) {
        self.lines = None;
        if let Some(written) = self.written.take() {
            let _ = tokio::time::timeout(Self::LAST_LINES_LIMIT, written).await;
        }
    }
}

/// Prints events and notices until `keep_going` says no: sentences for people, a line of JSON for each for programs, and
/// nothing where only ids are wanted.
pub(crate) async fn print_events(
    mut events: EventReader,
    mut notices: mpsc::UnboundedReceiver<Notice>,
    language: Language,
    format: Format,
    mut keep_going: impl FnMut(&Board) -> bool,
) {
    let (printer, writer) = (Printer::new(), LineWriter::start());
    let clock = std::sync::Arc::clone(events.project().clock());
    loop {
        let board = events.board();
        for (seq, event) in events.read_new().await {
            match format {
                Format::Text => {
                    let telling = board::Telling { reader: board::Reader::Owner, language, on_page_of: None };
                    let lines = board::event_lines(&board, &event, telling, local_time);
                    lines.iter().for_each(|line| writer.write(printer.line(event.at, line)));
                }
                Format::Json => writer.write(json!(wire::Event::of(seq, &event)).to_string()),
                Format::Quiet => {}
            }
        }
        if !keep_going(&board) {
            return writer.finish().await;
        }
        tokio::select! {
            changed = events.changed() => if changed.is_none() { return writer.finish().await },
            Some(notice) = notices.recv() => {
                let (at, line) = (clock.now(), notice_line(&notice, language));
                match format {
                    Format::Text => writer.write(printer.line(at, &line)),
                    Format::Json => writer.write(json!({ "at": at, "notice": line.text }).to_string()),
                    Format::Quiet => {}
                }
            }
        }
    }
}

/// What is told besides events, in one line.
pub(crate) fn say_notice(notice: &Notice, language: Language) -> String {
    notice_line(notice, language).text
}

fn notice_line(notice: &Notice, language: Language) -> EventLine {
    let (tone, text) = match notice {
        Notice::DiskFull { free, floor } => {
            let (free, floor) = (free >> 20, floor >> 20);
            let text = match language {
                Language::En => format!("nothing is started: {free} MiB are free on the disk, {floor} are needed"),
                Language::Ja => format!("何も開始しません: ディスクの空きは {free} MiB、必要なのは {floor} MiB です"),
            };
            (Tone::Bad, text)
        }
        Notice::Adopted { running, ended } => {
            let text = match language {
                Language::En => {
                    let agents = if *running == 1 { "agent" } else { "agents" };
                    format!("found {running} {agents} at work, and {ended} that had ended meanwhile")
                }
                Language::Ja => format!("作業中のエージェント {running} 件を引き継ぎ、{ended} 件は終了していました"),
            };
            (Tone::Plain, text)
        }
        Notice::Problem(text) => {
            (Tone::Bad, say_in(language, one_line(text), format!("ランナーの問題: {}", one_line(text))))
        }
    };
    EventLine { tone, text }
}
