//! `saihai log tail`

use std::io::Write as _;

use board::Seq;
use clap::Args;
use control::{ProcessLifetime, Project};

use super::{LogEntry, read_events};
use crate::context::{Context, OpenProject};
use crate::failure::Failure;
use crate::show::Format;

const DEFAULT_LINES: u64 = 20;

/// Show the last events, and follow them
#[derive(Debug, Args)]
#[command(
    after_help = "Without -n the last 20 events are shown, or all after --after.\nWith --follow and --json every event is one line of JSON."
)]
pub(crate) struct Tail {
    /// How many: the last ones, or with --after the first ones after it
    #[arg(long, short = 'n')]
    lines: Option<u64>,
    /// Only events after this one
    #[arg(long, value_name = "SEQ")]
    after: Option<Seq>,
    /// Keep printing events as they happen, until interrupted
    #[arg(long, short)]
    follow: bool,
}

impl Tail {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let lifetime = if self.follow { ProcessLifetime::LongLived } else { ProcessLifetime::ShortLived };
        let opened = context.open_for(lifetime).await?;
        let last = self.lines.unwrap_or(DEFAULT_LINES);
        let after = self.after.unwrap_or_else(|| opened.board().seq.saturating_sub(last));
        if self.follow {
            return follow(context.format, &opened, after).await;
        }
        let mut entries = Vec::new();
        read_events(&opened, after, |entry| entries.push(entry)).await?;
        if let Some(lines) = self.lines {
            entries.truncate(usize::try_from(lines).unwrap_or(usize::MAX));
        }
        let json: Vec<_> = entries.iter().map(LogEntry::json).collect();
        let ids = || entries.iter().map(|entry| entry.seq.to_string()).collect();
        context.format.print(&json, ids, || {
            entries.iter().map(|entry| entry.line(opened.language)).collect::<Vec<_>>().join("\n")
        })
    }
}

async fn follow(format: Format, opened: &OpenProject, mut last: Seq) -> Result<(), Failure> {
    let changes = opened.control.log().subscribe(&Project::stream(&opened.id)).await;
    let mut changes = changes.map_err(|error| opened.failure(error))?;
    loop {
        let mut closed = false;
        last = read_events(opened, last, |entry| {
            let line = match format {
                Format::Json => serde_json::to_string(&entry.json()).unwrap_or_default(),
                Format::Quiet => entry.seq.to_string(),
                Format::Text => entry.line(opened.language),
            };
            closed |= writeln!(std::io::stdout(), "{line}").is_err();
        })
        .await?;
        if closed || changes.changed().await.is_none() {
            return Ok(());
        }
    }
}
