//! `saihai agent passkey`

use board::{AgentId, Command};
use clap::Args;
use control::{NewSecret, passkey_hash};
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;

/// Make a new passkey, with which you attach this agent by hand
#[derive(Debug, Args)]
#[command(after_help = "It is shown once and replaces the one before.")]
pub(crate) struct Passkey {
    /// Its id, from `saihai agent list`
    id: AgentId,
}

impl Passkey {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let failed = |error: String| {
            Failure::failed(
                opened.say(
                    format!("no passkey could be made: {error}"),
                    format!("パスキーを作成できませんでした: {error}"),
                ),
                context.try_again(),
            )
        };
        let secret = NewSecret::generate("pk").map_err(|error| failed(error.to_string()))?;
        let hash = passkey_hash(secret.reveal()).map_err(failed)?;
        opened.submit(Command::SetPasskey { agent: self.id.clone(), hash }).await?;
        let json = json!({ "agent_id": self.id, "passkey": secret.reveal() });
        context.format.print(
            &json,
            || vec![secret.reveal().to_owned()],
            || {
                let id = &self.id;
                let add = "claude mcp add --transport http saihai http://127.0.0.1:4700/mcp --header \"Authorization: Bearer PASSKEY\"";
                let note = opened.say(
                    format!("This is the passkey of `{id}`. It is shown only now.\nNext, beside `saihai up`: {add}"),
                    format!("`{id}` のパスキーです。表示は今回だけです。\n次（`saihai up` の実行中に）: {add}"),
                );
                format!("{}\n{note}", secret.reveal())
            },
        )
    }
}
