//! How is what happens shown in the terminal, line by line?

use std::io::{IsTerminal as _, Write as _};

use board::{Board, EventLine, Language, Tone, one_line};
use runner::Notice;
use tokio::sync::mpsc;

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

/// Prints events and notices until `keep_going` says no. Without `text` it prints nothing and only waits.
pub(crate) async fn print_events(
    mut events: EventReader,
    mut notices: mpsc::UnboundedReceiver<Notice>,
    language: Language,
    text: bool,
    mut keep_going: impl FnMut(&Board) -> bool,
) {
    let printer = Printer::new();
    let project = events.project().clone();
    let show = |at, line: &EventLine| {
        if text {
            let _ = writeln!(std::io::stdout(), "{}", printer.line(at, line));
        }
    };
    loop {
        let board = events.board();
        for event in events.read_new().await {
            board::event_lines(&board, &event, language).iter().for_each(|line| show(event.at, line));
        }
        if !keep_going(&board) {
            return;
        }
        tokio::select! {
            changed = events.changed() => if changed.is_none() { return },
            Some(notice) = notices.recv() => show(project.clock().now(), &notice_line(&notice, language)),
        }
    }
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
                Language::En => format!("found {running} agents at work, and {ended} that had ended meanwhile"),
                Language::Ja => format!("作業中のエージェント {running} 件を引き継ぎ、{ended} 件は終了していました"),
            };
            (Tone::Plain, text)
        }
        Notice::Problem(text) => (Tone::Bad, one_line(text)),
    };
    EventLine { tone, text }
}
