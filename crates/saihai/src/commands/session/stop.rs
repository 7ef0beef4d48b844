//! `saihai session stop`

use board::wire;
use board::{Command, SessionId};
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;

/// Tell a session to stop; its task is not judged
#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// Its id, such as ses_3 or 3
    id: SessionId,
}

impl Stop {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let receipt = opened.submit(Command::StopSession { session: self.id }).await?;
        let session = receipt.after.session(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let id = self.id;
        context.format.print(
            &wire::Session::from(session),
            || vec![id.to_string()],
            || {
                if !session.is_live() {
                    return opened.say(
                        format!("{id} did not answer and was ended; its task can be started again."),
                        format!("{id} は応答がなかったため終了しました。タスクは再開できます。"),
                    );
                }
                if matches!(session.driver, board::Driver::Runner { .. }) {
                    return opened.say(
                        format!("{id} is told to stop; `saihai up` ends its process."),
                        format!("{id} に停止を伝えました。`saihai up` がプロセスを終了させます。"),
                    );
                }
                opened.say(
                    format!("{id} is told to stop; its agent learns it with its next call."),
                    format!("{id} に停止を伝えました。エージェントは次の呼び出しで知ります。"),
                )
            },
        )
    }
}
