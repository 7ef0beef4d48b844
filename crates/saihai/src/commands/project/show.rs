//! `saihai project show`

use board::Status;
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::clean;

pub(super) async fn run(context: &Context) -> Result<(), Failure> {
    let opened = context.open().await?;
    let board = opened.board();
    let count = |status| board.tasks.values().filter(|task| task.status == status).count();
    let tasks: Vec<_> = Status::ALL.iter().map(|status| (status.as_str(), count(*status))).collect();
    let running = board.all_live_sessions().count();
    let counts: serde_json::Map<_, _> = tasks.iter().map(|(status, n)| ((*status).to_owned(), json!(n))).collect();
    let json = json!({
        "id": opened.id, "name": board.settings.name, "path": opened.path, "paused": board.paused,
        "target_branch": board.settings.target_branch, "completion": board.settings.completion,
        "language": board.settings.language, "limits": board.settings.limits, "agents": board.agents.len(),
        "tasks": counts, "running_sessions": running, "events": board.seq,
    });
    context.format.print(
        &json,
        || vec![opened.id.to_string()],
        || {
            let counts = tasks.iter().filter(|(_, n)| *n > 0).map(|(status, n)| format!("{n} {status}"));
            let counts = counts.collect::<Vec<_>>().join(", ");
            let settings = &board.settings;
            [
                format!("{} ({}){}", clean(&settings.name), opened.id, if board.paused { ", paused" } else { "" }),
                format!("  repository   {}", opened.path.display()),
                format!("  merged into  {} (completion: {})", settings.target_branch, settings.completion),
                format!("  agents       {}", board.agents.values().filter(|agent| agent.active).count()),
                format!("  tasks        {}", if counts.is_empty() { "none" } else { &counts }),
                format!("  running      {running} sessions"),
                format!("  log          {} events", board.seq),
            ]
            .join("\n")
        },
    )
}
