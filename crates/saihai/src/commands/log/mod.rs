//! `saihai log`: what has happened, and is the record sound?

mod replay;
mod tail;
mod verify;

use board::wire;
use board::{Actor, Event, EventKind, Language, Seq};
use clap::Subcommand;

use crate::context::{Context, OpenProject, say_in};
use crate::failure::Failure;
use crate::show::{clean, local_time};

#[derive(Debug, Subcommand)]
pub(crate) enum Log {
    Tail(tail::Tail),
    Verify(verify::Verify),
    Replay(replay::Replay),
}

pub(super) async fn run(context: &Context, command: Log) -> Result<(), Failure> {
    match command {
        Log::Tail(tail) => tail.run(context).await,
        Log::Verify(verify) => verify.run(context).await,
        Log::Replay(replay) => replay.run(context).await,
    }
}

/// An event with its number in the log.
pub(crate) struct LogEntry {
    pub(crate) seq: Seq,
    pub(crate) event: Event,
}

impl LogEntry {
    pub(crate) fn json(&self) -> wire::Event {
        wire::Event::of(self.seq, &self.event)
    }

    pub(crate) fn line(&self, language: Language) -> String {
        let by = match &self.event.by {
            Actor::Owner(name) => say_in(language, format!("owner {name}"), format!("オーナー {name}")),
            Actor::Session(id) => id.to_string(),
            Actor::Runner(id) => say_in(language, format!("runner {id}"), format!("ランナー {id}")),
            Actor::System => "saihai".into(),
        };
        let at = local_time(self.event.at);
        let line = format!("{:>6} {at} {by}: {} {}", self.seq, self.event.name(), summary(&self.event.what, language));
        clean(line.trim_end()).replace('\n', " ")
    }
}

/// An event in a few words.
fn summary(what: &EventKind, language: Language) -> String {
    match what {
        EventKind::TasksCreated { tasks, .. } => {
            tasks.iter().map(|task| format!("{} \"{}\"", task.id, task.title)).collect::<Vec<_>>().join(", ")
        }
        EventKind::TaskMoved { task, from, to, reason, forced, .. } => {
            let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            let forced = if *forced { say_in(language, " [forced]", "［強制］") } else { String::new() };
            format!("{task} {from} → {to}{reason}{forced}")
        }
        EventKind::TaskAssigned { task, assignee } => {
            let nobody = || say_in(language, "nobody", "担当者なし");
            let assignee = assignee.as_ref().map_or_else(nobody, ToString::to_string);
            say_in(language, format!("{task} to {assignee}"), format!("{task} → {assignee}"))
        }
        EventKind::DependenciesChanged { task, added, removed } => {
            let list = |word: &str, ids: &[board::TaskId]| match ids {
                [] => String::new(),
                ids => format!(" {word} {}", ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
            };
            let (on, off) = (say_in(language, "on", "依存先"), say_in(language, "off", "解除"));
            format!("{task}{}{}", list(&on, added), list(&off, removed))
        }
        EventKind::RosterApplied { present, left } => {
            let present: Vec<_> = present.iter().map(|spec| format!("+{}", spec.id)).collect();
            let left: Vec<_> = left.iter().map(|id| format!("-{id}")).collect();
            [present, left].concat().join(" ")
        }
        EventKind::SessionClaimed { session, agent, purpose, .. } => {
            let chat = || say_in(language, "chat", "チャット");
            let purpose = purpose.task().map_or_else(chat, |task| task.to_string());
            say_in(language, format!("{session} by {agent} for {purpose}"), format!("{session} {agent}（{purpose}）"))
        }
        EventKind::Judged { session, verdict } => {
            let over = || say_in(language, "over", "終了");
            format!("{session}: {}", verdict.as_ref().map_or_else(over, |verdict| verdict.as_str().to_owned()))
        }
        EventKind::ActionGiven { session, action } => format!("{session}: {}", action.action()),
        EventKind::PasskeySet { agent, .. } => agent.to_string(),
        EventKind::MessageSent { message, from, to, .. } => format!("{message} {from} → {to}"),
        other => {
            let task = other.tasks().first().map(ToString::to_string);
            task.or_else(|| other.session().map(|session| session.to_string())).unwrap_or_default()
        }
    }
}

/// Reads every event after `after` and gives it to `visit`.
pub(crate) async fn read_events(
    opened: &OpenProject,
    after: Seq,
    mut visit: impl FnMut(LogEntry),
) -> Result<Seq, Failure> {
    const PAGE: usize = 1000;
    let mut last = after;
    loop {
        let page = opened.project.events_after(last, PAGE).await;
        let page = page.map_err(|error| opened.failure(error))?;
        let full = page.len() == PAGE;
        for (seq, event) in page {
            last = seq;
            visit(LogEntry { seq, event });
        }
        if !full {
            return Ok(last);
        }
    }
}
