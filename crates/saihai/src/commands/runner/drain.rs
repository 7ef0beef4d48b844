//! `saihai runner drain`

use board::InstallationCommand;
use clap::Args;
use serde_json::json;

use super::Runners;
use crate::context::Context;
use crate::failure::Failure;

/// Let a runner finish what it has, and begin nothing more
#[derive(Debug, Args)]
#[command(after_help = "\
Its agents go on, and their work is merged. Other runners take what is new. Then it can be ended
without anybody noticing; `saihai runner resume` takes it back.")]
pub(crate) struct Drain {
    /// Its id, or the name of its host, from `saihai runner list`
    id: String,
}

impl Drain {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let runners = Runners::open(context).await?;
        let id = runners.find(context, &self.id)?;
        let drain = board::Drain::BeginNothing;
        runners.submit(context, InstallationCommand::DrainRunner { id: id.to_string(), drain }).await?;
        context.format.print(
            &json!({ "id": id, "draining": true }),
            || vec![id.to_string()],
            || {
                context.say(
                    format!("{} begins nothing more, and finishes what it has.", self.id),
                    format!("{} は新しい作業を始めず、実行中のものを終えます。", self.id),
                )
            },
        )
    }
}
