//! `saihai project`: which projects does this installation have?

mod add;
mod list;
mod pause;
mod show;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Project {
    List(list::List),
    Add(add::Add),
    Show(show::Show),
    /// Stop all task work; chats go on
    Pause,
    /// Let task work go on
    Resume,
}

pub(super) async fn run(context: &Context, command: Project) -> Result<(), Failure> {
    match command {
        Project::List(list) => list.run(context).await,
        Project::Add(add) => add.run(context).await,
        Project::Show(show) => show.run(context).await,
        Project::Pause => pause::run(context, board::Command::Pause).await,
        Project::Resume => pause::run(context, board::Command::Resume).await,
    }
}
