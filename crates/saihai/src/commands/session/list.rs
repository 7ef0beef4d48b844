//! `saihai session list`

use board::wire;
use board::{AgentId, SessionStatus, TaskId};
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::last_call;
use crate::context::Context;
use crate::failure::Failure;
use crate::show::{Format, local_time, or_dash};
use crate::table::{Column, table};

const COLUMNS: [Column; 11] = [
    Column::key("ID", "ID"),
    Column::key("TASK", "タスク"),
    Column::key("AGENT", "担当者"),
    Column::extra(1, "BY", "実行"),
    Column::key("STATUS", "状態"),
    Column::extra(5, "STARTED", "開始"),
    Column::extra(4, "LAST CALL", "最後の呼び出し"),
    Column::extra(6, "ENDED", "終了"),
    Column::extra(3, "EXIT", "コード"),
    Column::extra(2, "DOD", "完了の定義"),
    Column::key("VERDICT", "判定"),
];

/// List sessions, newest last
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  saihai session list --agent coder --verdict rejected
  saihai session list --all

Without -n or --all people are shown the newest 20; --json and --quiet give all.")]
pub(crate) struct List {
    /// Only those of this task
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// Only those that have not ended
    #[arg(long)]
    running: bool,
    /// Only those of this agent
    #[arg(long)]
    agent: Option<AgentId>,
    /// Only those with this verdict
    #[arg(long, value_parser = PossibleValuesParser::new(["none", "failed", "blocked", "rejected", "done"]))]
    verdict: Option<String>,
    /// At most this many, the newest [default: 20]
    #[arg(long, short = 'n', value_name = "N", conflicts_with = "all")]
    limit: Option<usize>,
    /// All of them
    #[arg(long)]
    all: bool,
}

/// How many sessions people are shown if they ask for no number. Programs get all of them.
const DEFAULT_LIMIT: usize = 20;

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        self.task.map(|task| board.task(task)).transpose().map_err(|refusal| opened.refusal(refusal))?;
        self.agent.as_ref().map(|agent| board.agent(agent)).transpose().map_err(|refusal| opened.refusal(refusal))?;
        let mut sessions: Vec<_> = board
            .sessions
            .values()
            .map(|session| wire::Session::from(&**session))
            .filter(|session| self.matches(session))
            .collect();
        let older = sessions.len().saturating_sub(self.most(context.format));
        sessions.drain(..older);
        let ids = || sessions.iter().map(|session| session.id.to_string()).collect();
        context.format.print(&sessions, ids, || {
            if sessions.is_empty() {
                return opened.say("No sessions.", "セッションはありません。");
            }
            let rows = sessions.iter().map(|session| {
                [
                    session.id.to_string(),
                    or_dash(session.task_id),
                    session.agent_id.to_string(),
                    session.driver.to_owned(),
                    session.status.to_string(),
                    local_time(session.started_at),
                    or_dash(last_call(&board, session, opened.now()).map(|ago| board::say_span(ago, opened.language))),
                    or_dash(session.end_reason),
                    or_dash(session.exit_code),
                    or_dash(session.dod_result),
                    or_dash(session.verdict),
                ]
            });
            let table = table(opened.language, &COLUMNS, rows);
            if older == 0 {
                return table;
            }
            let note = opened.say(
                format!("{older} older ones are not shown; `--all` shows them."),
                format!("古い {older} 件は省略しました。`--all` で表示します。"),
            );
            format!("{table}\n{note}")
        })
    }

    fn matches(&self, session: &wire::Session) -> bool {
        self.task.is_none_or(|task| session.task_id == Some(task))
            && (!self.running || session.status != SessionStatus::Ended)
            && self.agent.as_ref().is_none_or(|agent| session.agent_id == *agent)
            && self.verdict.as_ref().is_none_or(|verdict| session.verdict == Some(verdict.as_str()))
    }

    fn most(&self, format: Format) -> usize {
        let default = if format == Format::Text && !self.all && !self.running { DEFAULT_LIMIT } else { usize::MAX };
        self.limit.unwrap_or(default)
    }
}
