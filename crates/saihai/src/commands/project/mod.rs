//! `saihai project`: which projects does this installation have?

mod add;
mod list;
mod pause;
mod relocate;
mod show;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Project {
    List(list::List),
    Add(add::Add),
    /// Show a project: settings, counts, limits
    Show(ProjectArgument),
    /// Start no more task work; what runs goes on, and is judged and merged
    Pause(PauseArguments),
    /// Resume task work
    Resume(ProjectArgument),
    Move(relocate::Move),
    Rename(relocate::Rename),
    Remove(relocate::Remove),
}

pub(super) async fn run(context: &Context, command: Project) -> Result<(), Failure> {
    match command {
        Project::List(list) => list.run(context).await,
        Project::Add(add) => add.run(context).await,
        Project::Show(project) => show::run(&project.select(context)).await,
        Project::Pause(PauseArguments { project, now }) => {
            pause::run(&project.select(context), board::Command::Pause { now }).await
        }
        Project::Move(moved) => moved.run(context).await,
        Project::Rename(rename) => rename.run(context).await,
        Project::Remove(remove) => remove.run(context).await,
        Project::Resume(project) => pause::run(&project.select(context), board::Command::Resume).await,
    }
}

#[derive(Debug, Args)]
pub(crate) struct PauseArguments {
    #[command(flatten)]
    project: ProjectArgument,
    /// Also stop what runs; its tasks go on when the project is resumed
    #[arg(long)]
    now: bool,
}

/// The project that the command is about.
#[derive(Debug, Args)]
pub(crate) struct ProjectArgument {
    /// Its id or path [default: the repository around the current directory]
    #[arg(value_name = "ID|PATH")]
    id: Option<String>,
}

impl ProjectArgument {
    fn select(self, context: &Context) -> Context {
        context.with_project(self.id)
    }
}
