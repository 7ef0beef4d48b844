//! `saihai session show`

use board::SessionId;
use board::wire;
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{clean, or_dash};

/// Show the facts of one session
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Its id, such as ses_3 or 3
    id: SessionId,
}

impl Show {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let session = board.session(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let detail = wire::SessionDetail::from(session);
        let view = &detail.session;
        context.format.print(
            &detail,
            || vec![self.id.to_string()],
            || {
                let mut lines = vec![
                    format!("{} {} for {}", view.id, view.agent_id, or_dash(view.task_id)),
                    format!("  status     {} (last heard {} ago)", view.status, opened.now() - session.last_call_at),
                    format!("  started    {}", view.started_at),
                    format!("  ended      {} {}", or_dash(view.ended_at), or_dash(view.end_reason)),
                    format!("  exit code  {}, signal {}", or_dash(view.exit_code), or_dash(view.signal.as_deref())),
                    format!("  dod        {}", or_dash(view.dod_result)),
                    format!("  verdict    {}", or_dash(view.verdict)),
                ];
                lines.extend(view.error.as_ref().map(|error| format!("  error      {}", clean(error))));
                lines.extend(session.waits_to_merge().map(|reason| format!("  waits      {}", clean(reason))));
                lines.extend(view.artifacts.iter().map(|file| format!("  changed    {}", clean(file))));
                lines.join("\n")
            },
        )
    }
}
