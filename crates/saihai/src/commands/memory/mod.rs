//! `saihai memory`: what has the project decided?

mod accept;
mod add;
mod decline;
mod list;
mod preview;
mod proposals;
mod show;

use board::Language;
use clap::Subcommand;

use crate::context::{Context, say_in};
use crate::failure::{Failure, write_stderr};
use crate::show::{Format, clean};

#[derive(Debug, Subcommand)]
pub(crate) enum Memory {
    List(list::List),
    Add(add::Add),
    Show(show::Show),
    Preview(preview::Preview),
    Proposals(proposals::Proposals),
    Accept(accept::Accept),
    Decline(decline::Decline),
}

pub(super) async fn run(context: &Context, command: Memory) -> Result<(), Failure> {
    match command {
        Memory::List(list) => list.run(context).await,
        Memory::Add(add) => add.run(context).await,
        Memory::Show(show) => show.run(context).await,
        Memory::Preview(preview) => preview.run(context).await,
        Memory::Proposals(proposals) => proposals.run(context).await,
        Memory::Accept(accept) => accept.run(context).await,
        Memory::Decline(decline) => decline.run(context).await,
    }
}

/// The entry as programs see it.
fn json(entry: &definitions::memory::MemoryEntry) -> serde_json::Value {
    serde_json::json!({
        "path": entry.path, "title": entry.title, "category": entry.category, "summary": entry.summary,
    })
}

/// Warns about files that cannot be read; the others are shown.
fn warn(context: &Context, language: Language, problems: &[definitions::Problem]) {
    for problem in problems {
        let message = say_in(language, problem.to_string(), format!("読めないファイルがあります: {problem}"));
        write_stderr(&match context.format {
            Format::Json => serde_json::json!({ "code": "warning", "message": message, "hint": "" }).to_string(),
            Format::Text | Format::Quiet => format!("warning: {}", clean(&message)),
        });
    }
}
