//! What is happening, in a line for people? Told from events alone, whoever caused them.

use std::io::{IsTerminal as _, Write as _};

use board::{
    Board, CheckOutcome, EndReason, Event, Language, Merge, Party, Session, Status, Verdict, What, say_rejection,
};

use runner::Notice;
use tokio::sync::mpsc;

use crate::house::Events;
use crate::show::clean;

/// How a line is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Plain,
    Good,
    Bad,
    Quiet,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) mood: Mood,
    pub(crate) text: String,
}

fn news(mood: Mood, text: impl Into<String>) -> Vec<News> {
    vec![News { mood, text: text.into() }]
}

/// The lines for an event; none for what only keeps the books.
pub(crate) fn of(board: &Board, event: &Event, language: Language) -> Vec<News> {
    match &event.what {
        What::TasksCreated { tasks, .. } => tasks
            .iter()
            .flat_map(|task| {
                let by = board.tasks.get(&task.id).map(|task| party(&task.creator)).unwrap_or_default();
                let to = task.assignee.as_ref().map(|agent| format!(" for {agent}")).unwrap_or_default();
                news(Mood::Plain, format!("{} created by {by}{to}: {}", task.id, one_line(&task.title)))
            })
            .collect(),
        What::TaskAssigned { task, assignee: Some(agent) } => news(Mood::Quiet, format!("{task} is given to {agent}")),
        // To assign it does that too.
        What::TaskMoved { from: Status::Backlog, to: Status::Todo, .. } => Vec::new(),
        What::TaskMoved { task, to, by, reason, .. } => {
            let mood = match to {
                Status::Done => Mood::Good,
                Status::Failed | Status::Blocked => Mood::Bad,
                Status::Backlog | Status::Todo | Status::InProgress | Status::Cancelled => Mood::Plain,
            };
            let why = reason.as_ref().map(|reason| format!(": {}", one_line(reason))).unwrap_or_default();
            let title = board.tasks.get(task).map(|task| one_line(&task.title)).unwrap_or_default();
            let step = board.tasks.get(task).is_some_and(|task| task.is_step());
            let mood = if step { Mood::Quiet } else { mood };
            news(mood, format!("{task} {to} by {}{why}  ({title})", party(by)))
        }
        What::SessionClaimed { session, agent, purpose, .. } => {
            let what = purpose.task().map_or_else(|| "to chat".to_owned(), |task| format!("for {task}"));
            news(Mood::Plain, format!("{session} {agent} starts {what}"))
        }
        What::StopRequested { session, cause } => news(Mood::Plain, format!("{session} is told to stop: {cause}")),
        What::ActionChosen { session, choice, .. } => {
            news(Mood::Quiet, format!("{} chooses to {}", who(board, *session), choice.as_str()))
        }
        What::CompletionReported { session, claim } => {
            let says = format!("{} says: {}, {}", who(board, *session), claim.result, one_line(&claim.summary));
            news(Mood::Quiet, says)
        }
        What::ProcessEnded { session, end, .. } => ended(board, *session, end),
        What::WorkspaceExamined { session, facts } => examined(board, *session, facts),
        What::Judged { session, verdict: Some(Verdict::Rejected(why)) } => {
            let why = one_line(&say_rejection(why, language));
            news(Mood::Bad, format!("{session} the work of {} is sent back: {why}", who(board, *session)))
        }
        What::AccountParked { account, until } => news(Mood::Bad, format!("{account} is rate limited until {until}")),
        What::MessageSent { from, to, content, .. } => {
            news(Mood::Plain, format!("{} → {}: {}", party(from), party(to), one_line(content)))
        }
        What::ProjectPaused => news(Mood::Plain, "the project is paused"),
        What::ProjectResumed => news(Mood::Plain, "the project goes on"),
        _ => Vec::new(),
    }
}

fn ended(board: &Board, session: board::SessionId, end: &board::ProcessEnd) -> Vec<News> {
    let how = match (end.reason, end.exit_code, &end.signal) {
        (EndReason::Exited, Some(0), _) => return Vec::new(),
        (EndReason::Exited, code, _) => format!("exit code {}", code.map_or("unknown".into(), |code| code.to_string())),
        (EndReason::Signaled, _, signal) => format!("killed by {}", signal.as_deref().unwrap_or("a signal")),
        (reason, ..) => reason.to_string(),
    };
    let error = end.error.as_ref().map(|error| format!(": {}", one_line(error))).unwrap_or_default();
    let mood = if end.reason == EndReason::Stopped { Mood::Plain } else { Mood::Bad };
    news(mood, format!("{session} {} ended: {how}{error}", who(board, session)))
}

fn examined(board: &Board, session: board::SessionId, facts: &board::WorkspaceFacts) -> Vec<News> {
    let mut lines = Vec::new();
    for check in &facts.checks {
        let mood = if check.outcome == CheckOutcome::Pass { Mood::Quiet } else { Mood::Bad };
        lines.extend(news(mood, format!("{session} check {}: {}", one_line(&check.name), check.outcome)));
    }
    match &facts.merge {
        Merge::Merged { commit } => {
            let (files, short) = (facts.changed.len(), &commit[..commit.len().min(10)]);
            let by = who(board, session);
            lines.extend(news(Mood::Good, format!("{session} the work of {by} is merged as {short}, {files} files")));
        }
        Merge::Waiting { reason, .. } => {
            lines.extend(news(Mood::Bad, format!("{session} waits to be merged: {}", one_line(reason))));
        }
        Merge::NotTried | Merge::Conflict { .. } => {}
    }
    lines
}

fn who(board: &Board, session: board::SessionId) -> String {
    board.session(session).ok().map(|session: &Session| session.agent.to_string()).unwrap_or_default()
}

fn party(party: &Party) -> String {
    match party {
        Party::Owner => "you".into(),
        Party::Agent(agent) => agent.to_string(),
        Party::System => "saihai".into(),
    }
}

/// The first lines of a text as one, and not too long.
fn one_line(text: &str) -> String {
    let line = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(160) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

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

    pub(crate) fn line(self, at: board::Timestamp, news: &News) -> String {
        let time = clock(at);
        let code = match news.mood {
            Mood::Plain => "",
            Mood::Good => "\u{1b}[32m",
            Mood::Bad => "\u{1b}[33m",
            Mood::Quiet => "\u{1b}[2m",
        };
        if self.colour && !code.is_empty() {
            format!("\u{1b}[2m{time}\u{1b}[0m {code}{}\u{1b}[0m", news.text)
        } else {
            format!("{time} {}", news.text)
        }
    }
}

/// The time of day, where the user is.
fn clock(at: board::Timestamp) -> String {
    let zoned = jiff::Timestamp::from_millisecond(at.0).map(|at| at.to_zoned(jiff::tz::TimeZone::system()));
    zoned.map_or_else(|_| "--:--:--".into(), |at| at.strftime("%H:%M:%S").to_string())
}

/// Shows what happens for as long as it is to go on; without `text`, it only waits.
pub(crate) async fn narrate(
    mut events: Events,
    mut notices: mpsc::UnboundedReceiver<Notice>,
    language: Language,
    text: bool,
    mut go_on: impl FnMut(&Board) -> bool,
) {
    let printer = Printer::new();
    let project = events.project().clone();
    let show = |at, news: &News| {
        if text {
            let _ = writeln!(std::io::stdout(), "{}", printer.line(at, news));
        }
    };
    let mut boards = project.writer().watch();
    loop {
        let board = boards.borrow_and_update().clone();
        for event in events.new_ones().await {
            of(&board, &event, language).iter().for_each(|news| show(event.at, news));
        }
        if !go_on(&board) {
            return;
        }
        tokio::select! {
            changed = boards.changed() => if changed.is_err() { return },
            Some(notice) = notices.recv() => show(project.clock().now(), &of_notice(&notice)),
        }
    }
}

fn of_notice(notice: &Notice) -> News {
    let (mood, text) = match notice {
        Notice::DiskFull { free, floor } => {
            let text =
                format!("nothing is started: {} MiB are free on the disk, {} are wanted", free >> 20, floor >> 20);
            (Mood::Bad, text)
        }
        Notice::Adopted { running, ended } => {
            (Mood::Plain, format!("found {running} agents at work, and {ended} that had ended meanwhile"))
        }
        Notice::Trouble(text) => (Mood::Bad, one_line(text)),
    };
    News { mood, text }
}
