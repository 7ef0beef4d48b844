//! `saihai token list`

use clap::Args;
use control::{Clock as _, ProcessLifetime, SystemClock};
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::local_time;
use crate::table::{Column, table};

const COLUMNS: [Column; 6] = [
    Column::key("ID", "ID"),
    Column::key("ROLE", "役割"),
    Column::extra(1, "USE", "用途"),
    Column::text("NAME", "名前"),
    Column::key("STATE", "状態"),
    Column::extra(2, "CREATED", "作成"),
];

/// List tokens, without their secrets
#[derive(Debug, Args)]
pub(crate) struct List {}

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let control = context.control(ProcessLifetime::ShortLived).await?;
        let installation = context.installation(&control).await?.state();
        let tokens: Vec<_> = installation.tokens.values().collect();
        let json: Vec<_> = tokens
            .iter()
            .map(|t| {
                json!({
                    "id": t.id, "role": t.role, "name": t.name, "used_as": t.used_as, "created_at": t.created_at,
                    "expires_at": t.expires_at, "revoked": t.revoked,
                })
            })
            .collect();
        context.format.print(
            &json,
            || tokens.iter().map(|token| token.id.clone()).collect(),
            || {
                if tokens.is_empty() {
                    return context.say(
                        "No tokens yet. Next: saihai token create --role viewer",
                        "トークンはまだありません。次: saihai token create --role viewer",
                    );
                }
                let rows = tokens.iter().map(|t| {
                    let state = match (t.revoked, installation.is_valid(t, SystemClock.now())) {
                        (true, _) => context.say("revoked", "失効"),
                        (false, true) => context.say("valid", "有効"),
                        (false, false) => context.say("ended", "期限切れ"),
                    };
                    let (role, used_as) = (t.role.to_string(), t.used_as.to_string());
                    [t.id.clone(), role, used_as, t.name.clone(), state, local_time(t.created_at)]
                });
                table(context.language(), &COLUMNS, rows)
            },
        )
    }
}
