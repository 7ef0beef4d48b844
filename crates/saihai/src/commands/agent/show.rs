//! `saihai agent show`

use board::wire;
use board::{AgentId, staffing};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{clean, or_dash};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DefinitionFormat {
    Text,
    Yaml,
}

/// Show one agent: its definition, and whether it should be running
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  saihai agent show coder\n  saihai agent show coder --format yaml > .saihai/agents/coder.yaml"
)]
pub(crate) struct Show {
    /// Its id, from `saihai agent list`
    id: AgentId,
    /// As text, or as the definition file it came from
    #[arg(long, value_enum, default_value = "text")]
    format: DefinitionFormat,
}

impl Show {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let agent = board.agent(&self.id).map_err(|refusal| opened.refusal(refusal))?;
        let staffing = staffing(&board, &self.id, opened.now()).map_err(|refusal| opened.refusal(refusal))?;
        let json = json!({ "agent": wire::Agent::of(&board, agent), "definition": agent.spec.redacted(), "staffing": staffing });
        context.format.print(
            &json,
            || vec![self.id.to_string()],
            || match self.format {
                DefinitionFormat::Yaml => definitions::to_yaml(&agent.spec),
                DefinitionFormat::Text => {
                    let spec = &agent.spec;
                    let view = wire::Agent::of(&board, agent);
                    let list = |ids: Vec<String>| if ids.is_empty() { "none".into() } else { ids.join(", ") };
                    [
                        format!("{} ({}){}", clean(&spec.name), spec.id, if agent.active { "" } else { ", has left" }),
                        format!(
                            "  rank       {}{}",
                            spec.hierarchy,
                            spec.parent.as_ref().map(|p| format!(", reports to {p}")).unwrap_or_default()
                        ),
                        format!("  client     {} ({}), model {}", spec.client, spec.mode, or_dash(spec.model.as_ref())),
                        format!(
                            "  writes     {}",
                            if spec.scope.write.is_empty() { "nothing".into() } else { spec.scope.write.join(", ") }
                        ),
                        format!("  tasks      {}", list(view.open_tasks.iter().map(ToString::to_string).collect())),
                        format!("  sessions   {}", list(view.running.iter().map(ToString::to_string).collect())),
                        format!(
                            "  staffing   {}: {}{}",
                            staffing.action,
                            staffing.reason,
                            staffing.task().map(|t| format!(" ({t})")).unwrap_or_default()
                        ),
                    ]
                    .join("\n")
                }
            },
        )
    }
}
