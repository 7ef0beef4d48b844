//! `saihai session list`

use board::wire;
use board::{Board, Driver, Mode, TaskId, Timestamp};
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{local_time, or_dash};
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
pub(crate) struct List {
    /// Only those of this task
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// Only those that have not ended
    #[arg(long)]
    running: bool,
}

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        self.task.map(|task| board.task(task)).transpose().map_err(|refusal| opened.refusal(refusal))?;
        let sessions: Vec<_> = board
            .sessions
            .values()
            .filter(|session| self.task.is_none_or(|task| session.task() == Some(task)))
            .filter(|session| !self.running || session.is_live())
            .map(|session| wire::Session::from(&**session))
            .collect();
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
                    last_call(&board, session, opened.now()),
                    or_dash(session.end_reason),
                    or_dash(session.exit_code),
                    or_dash(session.dod_result),
                    or_dash(session.verdict),
                ]
            });
            table(opened.language, &COLUMNS, rows)
        })
    }
}

/// How long ago its agent last called: one that is silent for long may be gone (F48). One-shot agents
/// and those run by hand never call.
fn last_call(board: &Board, session: &wire::Session, now: Timestamp) -> String {
    let guided = board.agents.get(&session.agent_id).is_none_or(|agent| agent.spec.mode == Mode::Guided);
    let calls = guided && session.driver != Driver::Hand.as_str();
    let called = (session.ended_at.is_none() && calls).then(|| now - session.last_call_at);
    or_dash(called)
}
