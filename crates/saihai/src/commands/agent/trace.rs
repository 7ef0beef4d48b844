//! `saihai agent trace`

use board::AgentId;
use clap::Args;

use crate::context::Context;
use crate::decision_lines;
use crate::failure::Failure;

/// Show what a coordinator or runner was told about an agent, and why, in order
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is one answer: when, on which event of the log, start, hold or stop, and for which reason
(table A1 in docs/requirements.md). Equal answers in a row are one line with their number. A runner
of `saihai up` records why it starts a session; a coordinator of your own, every answer. What would
be answered now: `saihai agent show`.")]
pub(crate) struct Trace {
    /// Its id, from `saihai agent list`
    id: AgentId,
    /// Only the newest N
    #[arg(long, short = 'n', value_name = "N")]
    lines: Option<usize>,
}

impl Trace {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        opened.board().agent(&self.id).map_err(|refusal| opened.refusal(refusal))?;
        let none = opened.say("Nobody has asked about it yet.", "まだ問い合わせはありません。");
        decision_lines::print(context, &opened, self.id.as_str(), self.lines, none).await
    }
}
