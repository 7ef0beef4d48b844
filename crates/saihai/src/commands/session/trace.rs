//! `saihai session trace`

use board::SessionId;
use clap::Args;

use crate::context::Context;
use crate::decision_lines;
use crate::failure::Failure;

/// Show every call of a session, what it was told and why, in order
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is one call: when, on which event of the log, what was asked, what was answered. The last
column names the rule that decided (N2.10 is row 10 of the table N2 in docs/requirements.md).
Repeated calls are one line with their number. The newest 100,000 lines of a project are kept.")]
pub(crate) struct Trace {
    /// Its id, such as ses_3 or 3
    id: SessionId,
    /// Only the newest N
    #[arg(long, short = 'n', value_name = "N")]
    lines: Option<usize>,
}

impl Trace {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        opened.board().session(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let none = opened.say("The session has made no calls yet.", "まだ呼び出しはありません。");
        decision_lines::print(context, &opened, &self.id.to_string(), self.lines, none).await
    }
}
