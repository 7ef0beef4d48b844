//! `saihai login`

use board::Role;
use clap::Args;
use control::{Clock as _, ProcessLifetime, SystemClock};
use serde_json::json;

use crate::context::{Context, owner};
use crate::failure::{CliExit, Failure};
use crate::running_servers::newest_server;

/// Make a link that logs a browser in, once
#[derive(Debug, Args)]
#[command(after_help = "\
The link leads to the server that was started last (`saihai up` or `saihai serve`). It is good for
one login within 30 minutes; the browser stays logged in for 30 days, or until
`saihai token revoke`.

Examples:
  saihai login
  saihai login --role viewer --name alice")]
pub(crate) struct Login {
    /// owner, or viewer (may look but not change anything)
    #[arg(long, default_value = "owner", value_parser = parse_person_role)]
    role: Role,
    /// The person's name; changes are recorded under it
    #[arg(long)]
    name: Option<String>,
}

fn parse_person_role(word: &str) -> Result<Role, String> {
    match word.parse() {
        Ok(role @ (Role::Owner | Role::Viewer)) => Ok(role),
        Ok(Role::Runner | Role::Coordinator | Role::Orchestrator) | Err(_) => {
            Err(format!("`{word}` is not one of: owner, viewer"))
        }
    }
}

impl Login {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let url = newest_server(&context.home).ok_or_else(|| {
            Failure::new(
                CliExit::NotFound,
                "not_found",
                context.say("No server answers.", "応答するサーバーがありません。"),
                context.say(
                    "Start `saihai up` or `saihai serve`; it prints a link too.",
                    "`saihai up` か `saihai serve` を起動してください。リンクも表示されます。",
                ),
            )
        })?;
        let control = context.control(ProcessLifetime::ShortLived).await?;
        let installation = context.installation(&control).await?;
        let name = self.name.unwrap_or_else(|| match owner() {
            board::Actor::Owner(name) if self.role == Role::Owner => name.to_string(),
            _ => String::new(),
        });
        let secret = web::offer_login(&installation, owner(), self.role, name, SystemClock.now()).await;
        let secret = secret.map_err(|error| Failure::control(error, context.language()))?;
        let link = format!("{url}/login?code={}", secret.reveal());
        let json = json!({ "login_url": link, "role": self.role });
        context.format.print(
            &json,
            || vec![link.clone()],
            || {
                let note = context.say("It is good for one login within 30 minutes.", "30 分以内に一度だけ使えます。");
                format!("{link}\n{note}")
            },
        )
    }
}
