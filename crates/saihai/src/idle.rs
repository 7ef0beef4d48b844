//! Is there anything left to do for `saihai up`, and is what it started done?

use std::collections::BTreeSet;

use board::{Action, Board, Driver, Status, TaskId, Timestamp, startable_work};

use crate::context::Context;
use crate::failure::{CliExit, Failure};

/// Nothing runs, and nothing starts by itself, now or after a pause.
pub(crate) fn is_idle(board: &Board, now: Timestamp) -> bool {
    let running = board.all_live_sessions().any(|session| session.driver != Driver::Hand);
    let starts = |work: &board::StartableWork<'_>| work.answer.action == Action::Start || work.answer.until.is_some();
    !running && !startable_work(board, now).iter().any(starts)
}

/// The tasks that were in progress while it was looked at.
#[derive(Debug)]
pub(crate) struct StartedTasks {
    began: Timestamp,
    seen: BTreeSet<TaskId>,
}

impl StartedTasks {
    pub(crate) fn since(began: Timestamp) -> Self {
        Self { began, seen: BTreeSet::new() }
    }

    pub(crate) fn look(&mut self, board: &Board) {
        self.seen.extend(board.tasks.values().filter(|task| task.status == Status::InProgress).map(|task| task.id));
    }

    /// Those that are neither done nor cancelled.
    fn unfinished(&self, board: &Board) -> Vec<(TaskId, Status)> {
        let open = |status| matches!(status, Status::InProgress | Status::Blocked | Status::Failed);
        // Between two looks a task may have started and ended.
        let started = |task: &board::Task| self.seen.contains(&task.id) || task.status_at >= self.began;
        let tasks = board.tasks.values().filter(|task| open(task.status) && started(task));
        tasks.map(|task| (task.id, task.status)).collect()
    }

    /// Is all done that was started? If not, the failure names what is not.
    pub(crate) fn conclude(&self, context: &Context, board: &Board) -> Result<(), Failure> {
        let unfinished = self.unfinished(board);
        let Some((first, _)) = unfinished.first() else { return Ok(()) };
        let list = unfinished.iter().map(|(id, status)| format!("{id} ({status})")).collect::<Vec<_>>().join(", ");
        Err(Failure::new(
            CliExit::Unfinished,
            "unfinished",
            context.say(
                format!("Nothing moves any more, and not done: {list}."),
                format!("これ以上進みません。未完了: {list}。"),
            ),
            context
                .say(format!("See `saihai task why {first}`."), format!("`saihai task why {first}` を見てください。")),
        ))
    }
}
