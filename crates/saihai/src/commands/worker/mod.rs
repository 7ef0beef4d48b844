//! `saihai worker`: one worker, one task, in the foreground.

mod command;
mod run;

use board::{Agent, AgentId, Hierarchy, Task, TaskId};
use clap::Subcommand;

use crate::context::{Context, OpenProject};
use crate::failure::{CliExit, Failure};

#[derive(Debug, Subcommand)]
pub(crate) enum Worker {
    Command(command::Command),
    Run(run::Run),
}

pub(super) async fn run(context: &Context, command: Worker) -> Result<(), Failure> {
    match command {
        Worker::Command(command) => command.run(context).await,
        Worker::Run(run) => run.run(context).await,
    }
}

/// The agent for the task: the named one, else its assignee, else the only worker there is.
fn worker(opened: &OpenProject, task: TaskId, named: Option<&AgentId>) -> Result<(Task, Agent), Failure> {
    let board = opened.board();
    let task = board.task(task).map_err(|refusal| opened.refusal(refusal))?;
    let mut workers = board.agents.values().filter(|agent| agent.active && agent.spec.hierarchy == Hierarchy::Worker);
    let only = workers.next().filter(|_| workers.next().is_none()).map(|agent| agent.id());
    let agent = named.or(task.assignee.as_ref()).or(only).ok_or_else(|| {
        Failure::new(
            CliExit::Conflict,
            "unassigned",
            opened.say(format!("{} has no assignee.", task.id), format!("{} には担当者がいません。", task.id)),
            opened.say(
                "Name an agent with --agent; see `saihai agent list`.",
                "--agent でエージェントを指定してください（`saihai agent list` 参照）。",
            ),
        )
    })?;
    let agent = board.agent(agent).map_err(|refusal| opened.refusal(refusal))?;
    Ok((task.clone(), agent.clone()))
}
