//! `saihai agent show`

use board::wire;
use board::{AgentId, Language, staffing};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{clean, field, or_dash};

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
        let json = json!({ "agent": wire::Agent::of(&board, agent), "definition": agent.spec, "staffing": staffing });
        context.format.print(
            &json,
            || vec![self.id.to_string()],
            || match self.format {
                DefinitionFormat::Yaml => definitions::to_yaml(&agent.spec),
                DefinitionFormat::Text => {
                    let spec = &agent.spec;
                    let view = wire::Agent::of(&board, agent);
                    let width = match opened.language {
                        Language::En => 11,
                        Language::Ja => 13,
                    };
                    let line = |en: &str, ja: &str, value: String| field(&opened.say(en, ja), width, value);
                    let none = opened.say("none", "なし");
                    let list = |ids: Vec<String>| if ids.is_empty() { none.clone() } else { ids.join(", ") };
                    let left = if agent.active { String::new() } else { opened.say(", has left", "、退任済み") };
                    let manager = spec.parent.as_ref();
                    let manager = manager.map(|p| opened.say(format!(", reports to {p}"), format!("、上司は {p}")));
                    let (client, mode, model) = (spec.client, spec.mode, or_dash(spec.model.as_ref()));
                    let reason = board::say_reason(staffing.reason, opened.language);
                    let task = staffing.task().map(|task| format!(" ({task})")).unwrap_or_default();
                    [
                        format!("{} ({}){left}", clean(&spec.name), spec.id),
                        line("rank", "階層", format!("{}{}", spec.hierarchy, manager.unwrap_or_default())),
                        line("skills", "スキル", list(spec.skills.clone())),
                        line("runs on", "実行場所", list(spec.runs_on.clone())),
                        line(
                            "client",
                            "クライアント",
                            opened.say(
                                format!("{client} ({mode}), model {model}"),
                                format!("{client}（{mode}）、モデル {model}"),
                            ),
                        ),
                        line(
                            "writes",
                            "書き込み",
                            if spec.scope.write.is_empty() {
                                opened.say("nothing", "なし")
                            } else {
                                spec.scope.write.join(", ")
                            },
                        ),
                        line("tasks", "タスク", list(view.open_tasks.iter().map(ToString::to_string).collect())),
                        line("sessions", "セッション", list(view.running.iter().map(ToString::to_string).collect())),
                        line("staffing", "配置", format!("{}: {reason}{task}", staffing.action)),
                    ]
                    .join("\n")
                }
            },
        )
    }
}
