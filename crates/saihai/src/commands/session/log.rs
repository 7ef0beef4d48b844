//! `saihai session log`

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use board::SessionId;
use clap::Args;
use control::ProcessLifetime;
use runner::RunnerPaths;
use runner::shim::{LogChunk, SessionLog};
use serde_json::json;

use crate::context::{Context, OpenProject};
use crate::failure::{CliExit, Failure};
use crate::show::{Format, clean};

/// How many bytes are read at once.
const PAGE_BYTES: usize = 256 * 1024;

/// Show what a session's process has printed
#[derive(Debug, Args)]
#[command(after_help = "\
The newest 16 MiB of a session's output are kept. With --json the document says where in the whole
output its text begins and ends. The secrets of the session are left out when the log is written.")]
pub(crate) struct Log {
    /// Its id, such as ses_3 or 3
    id: SessionId,
    /// Keep printing as output arrives, until the session is over
    #[arg(long, short)]
    follow: bool,
    /// Only the last N lines
    #[arg(long, short = 'n', value_name = "N")]
    lines: Option<usize>,
}

impl Log {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let lifetime = if self.follow { ProcessLifetime::LongLived } else { ProcessLifetime::ShortLived };
        let opened = context.open_for(lifetime).await?;
        let id = self.id;
        opened.board().session(id).map_err(|refusal| opened.refusal(refusal))?;
        let run = RunnerPaths::new(&context.home, &opened.id).session(id);
        if !run.exists() {
            return Err(Failure::new(
                CliExit::NotFound,
                "not_found",
                opened.say(
                    format!("There is no log of {id} on this machine."),
                    format!("{id} のログはこのマシンにありません。"),
                ),
                opened.say(
                    "Only sessions that `saihai up` started here have one; `saihai gc` removes old ones.",
                    "ログがあるのは、ここで `saihai up` が起動したセッションだけです。古いログは `saihai gc` が削除します。",
                ),
            ));
        }
        let log = SessionLog::of(&run);
        if context.format == Format::Json && !self.follow {
            let page = self.requested_page(&log);
            let text = String::from_utf8_lossy(&page.bytes);
            let json = json!({ "id": id, "start": page.start, "end": page.end(), "text": text });
            return context.format.print(&json, Vec::new, String::new);
        }
        let page = self.requested_page(&log);
        print_output(&page.bytes);
        if self.follow {
            follow(&opened, &log, id, page.end()).await;
        }
        Ok(())
    }

    fn requested_page(&self, log: &SessionLog) -> LogChunk {
        let mut page = log.tail(usize::MAX / 2);
        if let Some(lines) = self.lines {
            let ends = page.bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
            // The last line ends the text.
            let cut = ends.skip(usize::from(page.bytes.last() == Some(&b'\n'))).nth(lines.saturating_sub(1));
            let cut = cut.map_or(0, |at| at + 1);
            page.bytes.drain(..cut);
            page.start += cut as u64;
        }
        page
    }
}

/// Prints until the session is over and its log is read to the end.
async fn follow(opened: &OpenProject, log: &SessionLog, id: SessionId, mut from: u64) {
    loop {
        let over = opened.board().session(id).is_ok_and(|session| session.end.is_some());
        match log.read(from, PAGE_BYTES) {
            Ok(page) if !page.bytes.is_empty() => {
                from = page.end();
                if !print_output(&page.bytes) {
                    return;
                }
            }
            Ok(_) | Err(_) if over => return,
            Ok(_) | Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Unchanged for programs; on a terminal without control characters. `false` if the reader is gone.
pub(crate) fn print_output(bytes: &[u8]) -> bool {
    let mut out = std::io::stdout();
    let written = if out.is_terminal() {
        out.write_all(clean(&String::from_utf8_lossy(bytes)).as_bytes())
    } else {
        out.write_all(bytes)
    };
    written.and_then(|()| out.flush()).is_ok()
}
