//! P7: what does it cost to find out whom to start after one change, beside a board that is a thousandth as large?

use std::time::{Duration, Instant};

use board::{
    Actor, AgentId, AgentSpec, Board, Command, Destination, NewTask, Settings, Status, TaskId, Timestamp, admit, apply,
    next_due, startable_work,
};

use crate::bench_project::{owner, project_id};
use crate::{Measurement, median};

const AGENTS: u32 = 1_000;
const MANY: u32 = 100_000;
const FEW: u32 = 100;
const CHANGES: u32 = 200;
const ROUNDS: usize = 15;

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let (many, few) = (board_of(MANY)?, board_of(FEW)?);
    let (mut of_many, mut of_few) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        of_many.push(change_and_staff(&many)?);
        of_few.push(change_and_staff(&few)?);
    }
    let (of_many, of_few) = (median(of_many), median(of_few));
    let ratio = of_many.as_secs_f64() / of_few.as_secs_f64();
    Ok(vec![Measurement {
        id: "P7",
        what: format!("staffing after one change, {AGENTS} agents and {MANY} tasks, beside {FEW} tasks"),
        measured: format!("**{ratio:.2} ×** ({of_many:.1?} beside {of_few:.1?})"),
        budget: "≤ 3 ×",
        within_budget: ratio <= 3.0,
    }])
}

fn agent(number: u32) -> AgentId {
    format!("w{number}").parse().expect("a good name")
}

fn submit(board: &mut Board, actor: &Actor, command: &Command) -> anyhow::Result<()> {
    for event in admit(board, actor, command, Timestamp(0)).map_err(|refusal| anyhow::anyhow!("{refusal}"))? {
        apply(board, &event);
    }
    Ok(())
}

/// Every task has an assignee and waits to be started.
fn board_of(tasks: u32) -> anyhow::Result<Board> {
    let mut board = Board::new(Settings::new(project_id()));
    let agents = (0..AGENTS).map(|number| AgentSpec::worker(agent(number))).collect();
    submit(&mut board, &owner(), &Command::ApplyRoster { agents })?;
    for first in (0..tasks).step_by(100) {
        let new =
            |number| NewTask { assignee: Some(agent(number % AGENTS)), ..NewTask::titled(format!("part {number}")) };
        let tasks = (first..(first + 100).min(tasks)).map(new).collect();
        submit(&mut board, &owner(), &Command::CreateTasks { parent: None, tasks, key: None })?;
    }
    Ok(board)
}

/// The time for one change and what follows from it, of many.
fn change_and_staff(board: &Board) -> anyhow::Result<Duration> {
    let mut board = board.clone();
    let begun = Instant::now();
    for number in 0..CHANGES {
        let task = TaskId(1 + number % FEW);
        for status in [Status::InProgress, Status::Todo] {
            let to = Destination::Status(status);
            submit(&mut board, &owner(), &Command::MoveTask { task, to, reason: None, forced: false, merged: false })?;
            let started = startable_work(&board, Timestamp(0)).len();
            anyhow::ensure!(started == usize::from(status == Status::InProgress), "{started} could be started");
            std::hint::black_box(next_due(&board));
        }
    }
    Ok(begun.elapsed() / (2 * CHANGES))
}
