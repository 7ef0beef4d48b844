//! The command line of Saihai: one file per command.

mod cli;
mod commands;
mod context;
mod event_printer;
mod failure;
mod idle;
mod judging_files;
mod local_files;
mod runner_workspaces;
mod running_servers;
mod show;
mod table;
mod uncommitted_definitions;
mod up_process;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::cli::Cli;
use crate::context::Context;
use crate::failure::Failure;
use crate::show::Format;

/// A call over HTTP allocates on one thread and frees on another, which the system's allocator serialises.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(exit) = internal_command(&arguments) {
        return exit;
    }
    let cli = match Cli::try_parse_from(&arguments).and_then(reject_two_formats) {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error, arguments.iter().any(|argument| argument == "--json")),
    };
    let format = Format::of(&cli.global);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(format),
    }
}

/// The commands with which Saihai starts itself. They come first, because they must stay small and have one thread.
fn internal_command(arguments: &[std::ffi::OsString]) -> Option<ExitCode> {
    let words: Vec<_> = arguments.iter().skip(1).filter_map(|word| word.to_str()).collect();
    match words.as_slice() {
        ["shim"] => Some(runner::shim::supervise()),
        ["shim", "--init"] => Some(runner::shim::init()),
        ["shim", "--client"] => Some(runner::shim::become_confined_client()),
        ["workspace-git"] => Some(runner::run_workspace_request()),
        ["demo-agent", name, pause] => Some(commands::demo::run_scripted_agent(name, pause)),
        _ => None,
    }
}

/// Checked here, because clap does not see the conflict if one of the two stands before the subcommand.
fn reject_two_formats(cli: Cli) -> Result<Cli, clap::Error> {
    if cli.global.json && cli.global.quiet {
        let both = "the argument '--json' cannot be used with '--quiet'";
        return Err(Cli::command().error(clap::error::ErrorKind::ArgumentConflict, both));
    }
    Ok(cli)
}

/// How long calls that are still under way may take when everything else is over.
const SHUTDOWN_LIMIT: std::time::Duration = std::time::Duration::from_secs(2);

fn run(cli: Cli) -> Result<(), Failure> {
    use tokio::runtime::Builder;
    let mut builder =
        if cli.command.is_long_running() { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    let runtime = builder
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start: {error}"), "Try again."))?;
    let context = Context::new(cli.global)?;
    let done = runtime.block_on(commands::run(&context, cli.command));
    // A call that waits for a locked store must not keep the process: it has said all it had to say.
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
    done
}
