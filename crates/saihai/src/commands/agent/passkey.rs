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
        let failed = |error: String| Failure::failed(format!("no passkey could be made: {error}"), "Try again.");
        let secret = NewSecret::generate("pk").map_err(|error| failed(error.to_string()))?;
        let hash = passkey_hash(secret.reveal()).map_err(failed)?;
        opened.submit(Command::SetPasskey { agent: self.id.clone(), hash }).await?;
        let json = json!({ "agent_id": self.id, "passkey": secret.reveal() });
        context.format.print(
            &json,
            || vec![secret.reveal().to_owned()],
            || {
                let id = &self.id;
                let note = opened.say(
                    format!(
                        "This is the passkey of `{id}`. It is shown only now.\n\
                         Next: claude mcp add saihai --env SAIHAI_TOKEN=PASSKEY -- saihai mcp"
                    ),
                    format!(
                        "`{id}` のパスキーです。表示は今回だけです。\n\
                         次: claude mcp add saihai --env SAIHAI_TOKEN=PASSKEY -- saihai mcp"
                    ),
                );
                format!("{}\n{note}", secret.reveal())
            },
        )
    }
}
