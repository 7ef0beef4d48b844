//! `saihai runner resume`

use board::InstallationCommand;
use clap::Args;
use serde_json::json;

use super::Runners;
use crate::context::Context;
use crate::failure::Failure;

/// Let a runner begin work again after `runner drain`
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// Its id, or the name of its host, from `saihai runner list`
    id: String,
}

impl Resume {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let runners = Runners::open(context).await?;
        let id = runners.find(context, &self.id)?;
        let drain = board::Drain::Resume;
        runners.submit(context, InstallationCommand::DrainRunner { id: id.to_string(), drain }).await?;
        context.format.print(
            &json!({ "id": id, "draining": false }),
            || vec![id.to_string()],
            || context.say(format!("{} begins work again.", self.id), format!("{} は作業を再開します。", self.id)),
        )
    }
}
