//! `saihai session stop`

use board::wire;
use board::{Command, SessionId};
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;

/// Stop a session and block its task, so that no other starts; nothing is judged
#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// Its id, such as ses_3 or 3
    id: SessionId,
    /// Do not block its task: it is started again
    #[arg(long)]
    restart: bool,
}

impl Stop {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let receipt = opened.submit(Command::StopSession { session: self.id, restart: self.restart }).await?;
        let session = receipt.after.session(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let id = self.id;
        context.format.print(
            &wire::Session::from(session),
            || vec![id.to_string()],
            || {
                let then = match session.task() {
                    Some(task) if !self.restart => opened.say(
                        format!(" {task} is blocked; `saihai task unblock {task}` lets it go on."),
                        format!("{task} はブロックされました。`saihai task unblock {task}` で続行できます。"),
                    ),
                    Some(_) | None => String::new(),
                };
                if !session.is_live() {
                    return opened.say(
                        format!("{id} did not answer and was ended.{then}"),
                        format!("{id} は応答がなかったため終了しました。{then}"),
                    );
                }
                if matches!(session.driver, board::Driver::Runner { .. }) {
                    return opened.say(
                        format!("{id} is told to stop; `saihai up` ends its process.{then}"),
                        format!("{id} に停止を伝えました。`saihai up` がプロセスを終了させます。{then}"),
                    );
                }
                opened.say(
                    format!("{id} is told to stop; its agent learns it with its next call.{then}"),
                    format!("{id} に停止を伝えました。エージェントは次の呼び出しで知ります。{then}"),
                )
            },
        )
    }
}
