//! `saihai token revoke`

use clap::Args;
use control::ProcessLifetime;
use serde_json::json;

use crate::context::{Context, owner};
use crate::failure::Failure;

/// Revoke a token
#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// Its id, from `saihai token list`
    id: String,
}

impl Revoke {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let control = context.control(ProcessLifetime::ShortLived).await?;
        let installation = context.installation(&control).await?;
        let revoked = control.revoke_token(&installation, &owner(), &self.id).await;
        revoked.map_err(|error| Failure::control(error, context.language()))?;
        let json = json!({ "id": self.id, "revoked": true });
        context.format.print(
            &json,
            || vec![self.id.clone()],
            || context.say(format!("{} is revoked.", self.id), format!("{} を失効させました。", self.id)),
        )
    }
}
