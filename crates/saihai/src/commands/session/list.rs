//! `saihai session list`

use board::TaskId;
use board::wire;
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{or_dash, table};

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
                    status(session, opened.now()),
                    or_dash(session.end_reason),
                    or_dash(session.exit_code),
                    or_dash(session.dod_result),
                    or_dash(session.verdict),
                ]
            });
            table(["ID", "TASK", "AGENT", "BY", "STATUS", "ENDED", "EXIT", "DOD", "VERDICT"], rows)
        })
    }
}

/// With the time since its last call: a session that is silent for long may be gone (F48).
fn status(session: &wire::Session, now: board::Timestamp) -> String {
    match session.ended_at {
        Some(_) => session.status.to_string(),
        None => format!("{}, last call {} ago", session.status, now - session.last_call_at),
    }
}
