//! `saihai runner show`

use board::say_span;
use clap::Args;

use super::{Runners, json_of, not_found};
use crate::context::Context;
use crate::failure::Failure;
use crate::show::clean;

/// Show one runner on another host: what it offers, and what it runs
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Its id, or the name of its host, from `saihai runner list`
    id: String,
}

impl Show {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let runners = Runners::open(context).await?;
        let id = runners.find(context, &self.id)?;
        let runner = runners.known.iter().find(|runner| runner.id == id).ok_or_else(|| not_found(context, &self.id))?;
        let (language, heartbeat, now) = (context.language(), &runner.heartbeat, runners.now);
        context.format.print(
            &json_of(runner, now),
            || vec![id.to_string()],
            || {
                let none = || context.say("none", "なし");
                let list = |items: Vec<String>| if items.is_empty() { none() } else { items.join(", ") };
                let clients = match &heartbeat.offer.clients {
                    Some(clients) => list(clients.iter().map(ToString::to_string).collect()),
                    None => context.say("not known", "不明"),
                };
                let heard = say_span(runner.silence(now), language);
                let mut lines = vec![
                    format!(
                        "{} ({id}): {}",
                        heartbeat.name,
                        board::say_runner_state(runner.state(now), context.language())
                    ),
                    context.say(format!("  heard of   {heard} ago"), format!("  最後の応答 {heard} 前")),
                    context.say(
                        format!("  version    {}", heartbeat.version),
                        format!("  バージョン {}", heartbeat.version),
                    ),
                    context.say(
                        format!("  labels     {}", list(heartbeat.offer.labels.clone())),
                        format!("  ラベル     {}", list(heartbeat.offer.labels.clone())),
                    ),
                    context.say(format!("  clients    {clients}"), format!("  クライアント {clients}")),
                    context.say(format!("  slots      {}", runner.slots()), format!("  同時実行数 {}", runner.slots())),
                ];
                for (project, status) in &heartbeat.projects {
                    let busy = list(status.busy.iter().map(ToString::to_string).collect());
                    lines.push(context.say(format!("  {project}: runs {busy}"), format!("  {project}: 実行中 {busy}")));
                    if let Some(trouble) = &status.trouble {
                        lines.push(context.say(
                            format!("  it cannot work for it: {trouble}"),
                            format!("  このプロジェクトを扱えません: {trouble}"),
                        ));
                    }
                    if let Some(disk) = status.disk {
                        let (free, floor) = (disk.free >> 20, disk.floor >> 20);
                        lines.push(context.say(
                            format!("  its disk has {free} MiB free, and needs {floor} MiB"),
                            format!("  ディスクの空きは {free} MiB で、{floor} MiB 必要です"),
                        ));
                    }
                }
                clean(&lines.join("\n"))
            },
        )
    }
}
