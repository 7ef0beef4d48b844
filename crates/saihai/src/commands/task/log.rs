//! `saihai task log`

use std::collections::BTreeSet;

use board::{SessionId, TaskId};
use clap::Args;

use crate::commands::log::{LogEntry, read_events};
use crate::context::Context;
use crate::failure::Failure;

/// Show everything that has happened to a task
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
}

impl Log {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        board.task(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let sessions: BTreeSet<SessionId> = board
            .sessions
            .values()
            .filter(|session| session.task() == Some(self.id))
            .map(|session| session.id)
            .collect();
        let concerns = |event: &board::Event| {
            event.what.tasks().contains(&self.id) || event.what.session().is_some_and(|id| sessions.contains(&id))
        };
        let mut entries: Vec<LogEntry> = Vec::new();
        read_events(&opened, 0, |entry| {
            if concerns(&entry.event) {
                entries.push(entry);
            }
        })
        .await?;
        let ids = || entries.iter().map(|entry| entry.seq.to_string()).collect();
        let json: Vec<_> = entries.iter().map(LogEntry::json).collect();
        context.format.print(&json, ids, || {
            entries.iter().map(|entry| entry.line(opened.language)).collect::<Vec<_>>().join("\n")
        })
    }
}
