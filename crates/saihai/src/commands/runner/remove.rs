//! `saihai runner remove`

use clap::Args;
use serde_json::json;

use super::Runners;
use crate::context::{Context, owner};
use crate::failure::Failure;

/// Remove a runner that is not coming back, or shall not
#[derive(Debug, Args)]
#[command(after_help = "\
Its token is revoked. If it is there, it ends its agents. What they were doing is started again
elsewhere, and costs no attempt; work that they had finished and handed over is examined by another
runner. `saihai runner drain` first lets it finish instead.")]
pub(crate) struct Remove {
    /// Its id, or the name of its host, from `saihai runner list`
    id: String,
}

impl Remove {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let runners = Runners::open(context).await?;
        let id = runners.find(context, &self.id)?;
        let failed = |error| Failure::control(error, context.language());
        let given_up = runners.control.remove_runner(&runners.installation, &owner(), &id).await.map_err(failed)?;
        let given_up: Vec<_> = given_up.iter().map(|(_, session)| session.to_string()).collect();
        context.format.print(
            &json!({ "id": id, "removed": true, "sessions": given_up }),
            || vec![id.to_string()],
            || match &given_up[..] {
                [] => context.say(format!("{} is removed.", self.id), format!("{} を削除しました。", self.id)),
                sessions => {
                    let sessions = sessions.join(", ");
                    context.say(
                        format!("{} is removed. Given up, and started again elsewhere: {sessions}", self.id),
                        format!("{} を削除しました。中断し、別の場所で再開します: {sessions}", self.id),
                    )
                }
            },
        )
    }
}
