//! `saihai token create`

use board::{InstallationCommand, NewToken, Role};
use clap::Args;
use control::{NewSecret, ProcessLifetime, token_hash};
use serde_json::json;

use crate::context::{Context, owner};
use crate::failure::Failure;

/// Make a token for a person, a runner, a coordinator or an orchestrator
#[derive(Debug, Args)]
#[command(
    after_help = "It is shown once; only its hash is kept.\n\nExample:\n  saihai token create --role viewer --name alice"
)]
pub(crate) struct Create {
    /// owner, viewer, runner, coordinator or orchestrator
    #[arg(long)]
    role: Role,
    /// The holder's name, for the list
    #[arg(long, default_value = "")]
    name: String,
    /// What a runner may offer to agents that ask for it with `runs_on` [default: whatever it has]
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    labels: Vec<String>,
}

impl Create {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let control = context.control(ProcessLifetime::ShortLived).await?;
        let installation = context.installation(&control).await?;
        let failed = |error| {
            Failure::failed(
                context.say(
                    format!("no token could be made: {error}"),
                    format!("トークンを作成できませんでした: {error}"),
                ),
                context.try_again(),
            )
        };
        let secret = NewSecret::generate("sht").map_err(failed)?;
        let hash = token_hash(secret.reveal());
        let id = format!("tok_{}", &hash.0[..8]);
        if !self.labels.is_empty() && self.role != Role::Runner {
            return Err(Failure::bad_argument(
                context.say("Only a runner's token has labels.", "ラベルを付けられるのはランナーのトークンだけです。"),
                context.say(
                    "Leave --labels out, or give --role runner.",
                    "--labels を外すか、--role runner を指定してください。",
                ),
            ));
        }
        let bearer = NewToken::bearer(id.clone(), self.role, self.name.clone(), hash);
        let new = NewToken { labels: self.labels.clone(), ..bearer };
        let create = InstallationCommand::CreateToken(new);
        installation.submit(owner(), create).await.map_err(|error| Failure::control(error, context.language()))?;
        let json =
            json!({ "token": secret.reveal(), "id": id, "role": self.role, "name": self.name, "labels": self.labels });
        context.format.print(
            &json,
            || vec![secret.reveal().to_owned()],
            || {
                let role = self.role;
                let note = context.say(
                    format!("This is the {role} token {id}. It is shown only now; revoke it with `saihai token revoke {id}`."),
                    format!("{role} のトークン {id} です。表示は今回だけです。失効: `saihai token revoke {id}`"),
                );
                format!("{}\n{note}", secret.reveal())
            },
        )
    }
}
