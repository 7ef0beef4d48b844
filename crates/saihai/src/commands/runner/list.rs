//! `saihai runner list`

use clap::Args;

use super::{Runners, json_of};
use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Column, table};

const COLUMNS: [Column; 6] = [
    Column::key("ID", "ID"),
    Column::key("HOST", "ホスト"),
    Column::key("STATE", "状態"),
    Column::text("BUSY", "使用中"),
    Column::extra(1, "LABELS", "ラベル"),
    Column::extra(2, "VERSION", "バージョン"),
];

/// List the runners on other hosts
#[derive(Debug, Args)]
pub(crate) struct List {}

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let Runners { known, now, .. } = Runners::open(context).await?;
        let json: Vec<_> = known.iter().map(|runner| json_of(runner, now)).collect();
        context.format.print(
            &json,
            || known.iter().map(|runner| runner.id.to_string()).collect(),
            || {
                if known.is_empty() {
                    return context.say(
                        "No runner on another host is here. Next: saihai token create --role runner",
                        "他のホストのランナーはいません。次: saihai token create --role runner",
                    );
                }
                let rows = known.iter().map(|runner| {
                    let heartbeat = &runner.heartbeat;
                    [
                        runner.id.to_string(),
                        heartbeat.name.clone(),
                        board::say_runner_state(runner.state(now), context.language()),
                        format!("{}/{}", runner.busy(), runner.slots()),
                        heartbeat.offer.labels.join(", "),
                        heartbeat.version.clone(),
                    ]
                });
                table(context.language(), &COLUMNS, rows)
            },
        )
    }
}
