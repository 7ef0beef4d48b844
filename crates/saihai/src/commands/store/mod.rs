//! `saihai store`: where is everything kept, and how does it get elsewhere?

mod backup;
mod copy;

use std::io::IsTerminal as _;

use clap::Subcommand;
use control::{CopiedStream, CopyError, StoreLocation};

use crate::context::Context;
use crate::failure::{CliExit, Failure, write_stderr};
use crate::show::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum Store {
    Copy(copy::Copy),
    Backup(backup::Backup),
}

pub(super) async fn run(context: &Context, command: Store) -> Result<(), Failure> {
    match command {
        Store::Copy(copy) => copy.run(context).await,
        Store::Backup(backup) => backup.run(context).await,
    }
}

/// Tells on a terminal how far it is.
fn progress(context: &Context) -> impl FnMut(&control::StreamName, board::Seq, board::Seq) {
    let tells = context.format == Format::Text && std::io::stderr().is_terminal();
    move |stream, done, of| {
        if tells {
            write_stderr(&format!("{stream}: {done} of {of}"));
        }
    }
}

/// What was copied, as programs and people see it.
fn print(
    context: &Context,
    to: &StoreLocation,
    copied: &[CopiedStream],
    next: (String, String),
) -> Result<(), Failure> {
    let json: Vec<_> = copied
        .iter()
        .map(|one| serde_json::json!({ "stream": one.stream.as_str(), "events": one.events, "new": one.events - one.before }))
        .collect();
    context.format.print(
        &serde_json::json!({ "to": to.to_string(), "streams": json }),
        || copied.iter().map(|one| one.stream.to_string()).collect(),
        || {
            let line = |one: &CopiedStream| {
                let (stream, events, new) = (&one.stream, one.events, one.events - one.before);
                context.say(
                    format!("{stream}: {events} events, {new} of them new; every hash is the same"),
                    format!("{stream}: {events} 件（うち新規 {new} 件）、ハッシュはすべて一致"),
                )
            };
            let mut lines: Vec<_> = copied.iter().map(line).collect();
            lines.push(context.say(next.0, next.1));
            lines.join("\n")
        },
    )
}

fn failure(context: &Context, error: &CopyError) -> Failure {
    let (ja, hint, hint_ja) = match error {
        CopyError::Store { location, error } => {
            return Failure {
                message: format!("{location}: {error}"),
                ..Failure::control(control::ControlError::Store(error.clone()), context.language())
            };
        }
        CopyError::Other { location, stream, seq } => (
            format!("{location} には別の {stream} があります（{seq} 番目で異なります）。"),
            "Copy into an empty store; nothing that is there was changed.",
            "空のストアにコピーしてください。既にあるものは変更していません。",
        ),
        CopyError::More { location, stream, from } => (
            format!("{location} には {from} にない {stream} があります。"),
            "Copy into an empty store; nothing that is there was changed.",
            "空のストアにコピーしてください。既にあるものは変更していません。",
        ),
        CopyError::WrittenTo { location, stream, copied, now } => (
            format!("コピー中に {location} に書き込みがありました（{stream}: {copied} 件コピー、現在 {now} 件）。"),
            "Stop every saihai that uses it, then run this again: it goes on where it was.",
            "使用中の saihai をすべて止めてから、もう一度実行してください。続きからコピーします。",
        ),
        CopyError::InUse { location, by } => (
            format!("{location} は使用中です: {by}"),
            "Stop every saihai that uses it, then run this again.",
            "使用中の saihai をすべて止めてから、もう一度実行してください。",
        ),
    };
    Failure::new(CliExit::Conflict, "state_conflict", context.say(error.to_string(), ja), context.say(hint, hint_ja))
}
