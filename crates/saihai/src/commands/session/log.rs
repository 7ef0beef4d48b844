//! `saihai session log`

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use board::{OutputKind, OutputName, SessionId};
use clap::Args;
use control::ProcessLifetime;
use runner::shim::LogChunk;
use serde_json::json;

use crate::context::{Context, OpenProject};
use crate::failure::{CliExit, Failure};
use crate::session_output::SessionOutput;
use crate::show::{Format, clean};
use crate::transcript_lines::{entries, line};

/// How many bytes are read at once.
const PAGE_BYTES: usize = 256 * 1024;

/// How often it is looked for more.
const LOOK_HERE: Duration = Duration::from_millis(100);
const LOOK_IN_STORE: Duration = Duration::from_millis(500);

/// How long after a session's end its runner on another host may still send what it has printed.
const SENT_AFTER_END: Duration = Duration::from_secs(5);

/// Show what a session's process has printed
#[derive(Debug, Args)]
#[command(after_help = "\
The newest 16 MiB of a session's output are kept. With --json the document says where in the whole
output its text begins and ends. The secrets of the session are left out when the log is written.

With --transcript it reads as a conversation, whatever the client; with --json too it is a list of
entries, each with its time and the position in the output of the line that says it.")]
pub(crate) struct Log {
    /// Its id, such as ses_3 or 3
    id: SessionId,
    /// Keep printing as output arrives, until the session is over
    #[arg(long, short)]
    follow: bool,
    /// Only the last N lines
    #[arg(long, short = 'n', value_name = "N")]
    lines: Option<usize>,
    /// As a conversation: what the agent said, its tools, its edits
    #[arg(long)]
    transcript: bool,
}

impl Log {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let lifetime = if self.follow { ProcessLifetime::LongLived } else { ProcessLifetime::ShortLived };
        let opened = context.open_for(lifetime).await?;
        let id = self.id;
        opened.board().session(id).map_err(|refusal| opened.refusal(refusal))?;
        let kind = if self.transcript { OutputKind::Transcript } else { OutputKind::Raw };
        let name = OutputName { session: id, kind };
        let Some(output) = SessionOutput::find(&context.home, &opened.project, name).await? else {
            return Err(Failure::new(
                CliExit::NotFound,
                "not_found",
                opened.say(format!("There is no log of {id}."), format!("{id} のログはありません。")),
                opened.say(
                    "Sessions that a runner has started have one; `saihai gc` removes old ones.",
                    "ログがあるのは、ランナーが起動したセッションだけです。古いログは `saihai gc` が削除します。",
                ),
            ));
        };
        let page = self.requested_page(output.tail(usize::MAX / 2).await?);
        if self.transcript && context.format == Format::Json && !self.follow {
            return context.format.print(&entries(&page.bytes), Vec::new, String::new);
        }
        if context.format == Format::Json && !self.follow {
            let text = String::from_utf8_lossy(&page.bytes);
            let json = json!({ "id": id, "start": page.start, "end": page.end(), "text": text });
            return context.format.print(&json, Vec::new, String::new);
        }
        let print = |bytes: &[u8]| match kind {
            OutputKind::Transcript if context.format == Format::Text => {
                let lines = entries(bytes).into_iter().map(|entry| line(&entry, opened.language) + "\n");
                print_output(lines.collect::<String>().as_bytes())
            }
            OutputKind::Transcript | OutputKind::Raw => print_output(bytes),
        };
        print(&page.bytes);
        if self.follow {
            follow(&opened, &output, id, page.end(), print).await?;
        }
        Ok(())
    }

    fn requested_page(&self, mut page: LogChunk) -> LogChunk {
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
async fn follow(
    opened: &OpenProject,
    output: &SessionOutput<'_>,
    id: SessionId,
    mut from: u64,
    print: impl Fn(&[u8]) -> bool,
) -> Result<(), Failure> {
    let mut over_since = None;
    loop {
        if over_since.is_none() && opened.board().session(id).is_ok_and(|session| session.end.is_some()) {
            over_since = Some(Instant::now());
        }
        let mut page = output.read_on(from, PAGE_BYTES).await?;
        if output.is_of_lines() {
            let whole = page.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            page.bytes.truncate(whole);
        }
        if !page.bytes.is_empty() {
            from = page.end();
            if !print(&page.bytes) {
                return Ok(());
            }
            continue;
        }
        let more = if output.is_sent() { SENT_AFTER_END } else { Duration::ZERO };
        if over_since.is_some_and(|since| since.elapsed() >= more) {
            return Ok(());
        }
        tokio::time::sleep(if output.is_sent() { LOOK_IN_STORE } else { LOOK_HERE }).await;
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
