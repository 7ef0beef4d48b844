//! The command line of Saihai: one file per command.

mod budget_warning;
mod cli;
mod commands;
mod completion;
mod context;
mod decision_lines;
mod event_printer;
mod failure;
mod hand_worktree;
mod help_ja;
mod idle;
mod judging_files;
mod local_files;
mod project_marker;
mod runner_process;
mod runner_workspaces;
mod running_servers;
mod session_output;
mod show;
mod store_trouble;
mod table;
mod transcript_lines;
mod uncommitted_definitions;
mod up_process;
mod usage_ja;

use std::process::ExitCode;

use board::Language;
use clap::error::{ContextKind, ContextValue, ErrorKind};
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
    if let Some(exit) = completion::answer(&arguments) {
        return exit;
    }
    let cli = match Cli::try_parse_from(&arguments).and_then(reject_two_formats) {
        Ok(cli) => cli,
        Err(error) => return explain(&arguments, error),
    };
    let format = Format::of(&cli.global);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(format),
    }
}

/// Prints what clap has to say about the arguments: help, or what is wrong with them.
fn explain(arguments: &[std::ffi::OsString], error: clap::Error) -> ExitCode {
    let language = cli::language_before_parsing(arguments);
    let error = match language {
        Language::En => error,
        // The same again, with the texts of the other language.
        Language::Ja => help_ja::in_japanese(Cli::command()).try_get_matches_from(arguments).err().unwrap_or(error),
    };
    let json = arguments.iter().any(|argument| argument == "--json");
    failure::usage(&error, language, if json { Format::Json } else { Format::Text })
}

/// The commands with which Saihai starts itself. They come first, because they must stay small and have one thread.
fn internal_command(arguments: &[std::ffi::OsString]) -> Option<ExitCode> {
    let words: Vec<_> = arguments.iter().skip(1).filter_map(|word| word.to_str()).collect();
    match words.as_slice() {
        ["demo-agent", name, pause] => Some(commands::demo::run_scripted_agent(name, pause)),
        words => runner::shim::internal_command(words),
    }
}

/// Checked here, because clap does not see the conflict if one of the two stands before the subcommand.
fn reject_two_formats(cli: Cli) -> Result<Cli, clap::Error> {
    if cli.global.json && cli.global.quiet {
        let mut both = clap::Error::new(ErrorKind::ArgumentConflict).with_cmd(&Cli::command());
        both.insert(ContextKind::InvalidArg, ContextValue::String("--json".into()));
        both.insert(ContextKind::PriorArg, ContextValue::String("--quiet".into()));
        return Err(both);
    }
    Ok(cli)
}

/// How long calls that are still under way may take when everything else is over.
const SHUTDOWN_LIMIT: std::time::Duration = std::time::Duration::from_secs(2);

fn run(cli: Cli) -> Result<(), Failure> {
    use tokio::runtime::Builder;
    let mut builder =
        if cli.command.is_long_running() { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    let context = Context::new(cli.global)?;
    let runtime = builder.enable_all().build().map_err(|error| {
        Failure::failed(
            context.say(format!("cannot start: {error}"), format!("起動できません: {error}")),
            context.try_again(),
        )
    })?;
    let done = runtime.block_on(commands::run(&context, cli.command));
    // A call that waits for a locked store must not keep the process: it has said all it had to say.
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
    done
}
