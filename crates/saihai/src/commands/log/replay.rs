//! `saihai log replay`

use board::wire;
use board::{Board, Seq, Settings};
use clap::Args;
use control::Project;
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::or_dash;
use crate::table::{Column, table};

const COLUMNS: [Column; 4] = [
    Column::key("ID", "ID"),
    Column::key("STATUS", "状態"),
    Column::extra(1, "ASSIGNEE", "担当者"),
    Column::text("TITLE", "題名"),
];

/// Show the board as it was after an event
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  saihai log replay --until 42 --json")]
pub(crate) struct Replay {
    /// The last event to replay [default: all]
    #[arg(long, value_name = "SEQ")]
    until: Option<Seq>,
}

impl Replay {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let newest = opened.board().seq;
        let until = self.until.unwrap_or(newest);
        if until > newest {
            return Err(Failure::bad_argument(
                opened.say(
                    format!("The log has {newest} events; there is no event {until}."),
                    format!("ログのイベントは {newest} 件です。イベント {until} はありません。"),
                ),
                opened.say("See the newest with `saihai log tail`.", "最新のものは `saihai log tail` で確認できます。"),
            ));
        }
        let fresh = Board::new(Settings::new(opened.id.clone()));
        let board = opened.control.log().replay(&Project::stream(&opened.id), fresh, until).await;
        let board = board.map_err(|error| opened.failure(error))?;
        let json = json!({
            "seq": board.seq,
            "paused": board.paused,
            "tasks": board.tasks.values().map(|task| wire::Task::from(&**task)).collect::<Vec<_>>(),
            "agents": board.agents.values().map(|agent| wire::Agent::of(&board, agent)).collect::<Vec<_>>(),
            "sessions": board.sessions.values().map(|session| wire::Session::from(&**session)).collect::<Vec<_>>(),
        });
        context.format.print(
            &json,
            || board.tasks.keys().map(ToString::to_string).collect(),
            || {
                let rows = board.tasks.values().map(|task| {
                    [task.id.to_string(), task.status.to_string(), or_dash(task.assignee.as_ref()), task.title.clone()]
                });
                let head = opened.say(
                    format!("The board after event {} of {newest}:", board.seq),
                    format!("{newest} 件中 {} 件目の後の状態:", board.seq),
                );
                format!("{head}\n{}", table(opened.language, &COLUMNS, rows))
            },
        )
    }
}
