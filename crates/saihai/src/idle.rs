//! Is there anything left to do for `saihai up`, and is all done?

use board::{Action, Board, Driver, Status, Timestamp, startable_work};

use crate::context::Context;
use crate::failure::{CliExit, Failure};

/// Nothing runs, and nothing starts by itself, now or after a pause.
pub(crate) fn is_idle(board: &Board, now: Timestamp) -> bool {
    let running = board.all_live_sessions().any(|session| session.driver != Driver::Hand);
    let starts = |work: &board::StartableWork<'_>| work.answer.action == Action::Start || work.answer.until.is_some();
    !running && !startable_work(board, now).iter().any(starts)
}

/// Is nothing left that is blocked, failed or cannot go on? If there is, the failure names it.
pub(crate) fn conclude(context: &Context, board: &Board) -> Result<(), Failure> {
    let open = |status| matches!(status, Status::InProgress | Status::Blocked | Status::Failed);
    let unfinished: Vec<_> = board.tasks.values().filter(|task| open(task.status)).collect();
    let Some(first) = unfinished.first().map(|task| task.id) else { return Ok(()) };
    let list = unfinished.iter().map(|task| format!("{} ({})", task.id, task.status)).collect::<Vec<_>>().join(", ");
    Err(Failure::new(
        CliExit::Unfinished,
        "unfinished",
        context.say(
            format!("Nothing moves any more, and not done: {list}."),
            format!("これ以上進みません。未完了: {list}。"),
        ),
        context.say(format!("See `saihai task why {first}`."), format!("`saihai task why {first}` を見てください。")),
    ))
}
