//! `saihai agent list`

use board::wire;
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::or_dash;
use crate::table::{Column, table};

const COLUMNS: [Column; 7] = [
    Column::key("ID", "ID"),
    Column::extra(4, "RANK", "階層"),
    Column::extra(1, "ROLE", "役割"),
    Column::extra(3, "REPORTS TO", "上司"),
    Column::extra(2, "CLIENT", "クライアント"),
    Column::key("STATE", "状態"),
    Column::key("OPEN TASKS", "未完了"),
];

/// List the roster and what each agent is doing
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Also agents that have left the roster
    #[arg(long)]
    all: bool,
}

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let agents: Vec<_> = board
            .agents
            .values()
            .filter(|agent| self.all || agent.active)
            .map(|agent| wire::Agent::of(&board, agent))
            .collect();
        let ids = || agents.iter().map(|agent| agent.id.to_string()).collect();
        context.format.print(&agents, ids, || {
            if agents.is_empty() {
                return opened.say(
                    "Nobody is on the roster. Next: define agents in .saihai/agents/ and run `saihai agent apply`.",
                    "名簿は空です。次: .saihai/agents/ に定義を書き、`saihai agent apply` を実行してください。",
                );
            }
            let rows = agents.iter().map(|agent| {
                let state = match (agent.active, agent.running.len()) {
                    (true, running) => opened.say(format!("{running} running"), format!("実行中 {running}")),
                    (false, _) => opened.say("left", "退任済み"),
                };
                [
                    agent.id.to_string(),
                    agent.hierarchy_type.to_string(),
                    agent.role_type.to_owned(),
                    or_dash(agent.parent.as_ref()),
                    agent.client.to_string(),
                    state,
                    agent.open_tasks.len().to_string(),
                ]
            });
            table(opened.language, &COLUMNS, rows)
        })
    }
}
