//! What can be put in for an argument? Ids and names from the board, for the shell that completes a command line (C7).

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Arg, Command, CommandFactory as _, Parser as _};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, EnvCompleter, Shells};

use crate::cli::Cli;
use crate::context::Context;

/// The variable by which a shell's script asks, with the shell's name.
const VARIABLE: &str = "COMPLETE";

/// So many of a noun are proposed, the newest first.
const MOST: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noun {
    Agent,
    Project,
    Session,
    Task,
}

/// Answers a shell that completes; `None` if this is an ordinary call.
pub(crate) fn answer(arguments: &[OsString]) -> Option<ExitCode> {
    let here = std::env::current_dir().ok();
    let completer = CompleteEnv::with_factory(command).var(VARIABLE);
    match completer.try_complete(arguments.iter().cloned(), here.as_deref()) {
        Ok(false) => None,
        Ok(true) => Some(ExitCode::SUCCESS),
        Err(_) => Some(ExitCode::FAILURE),
    }
}

/// What a shell has to run once, so that it asks from then on.
pub(crate) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let completer: &dyn EnvCompleter = shells.completer(shell)?;
    completer.write_registration(VARIABLE, "saihai", "saihai", "saihai", &mut script).ok()?;
    String::from_utf8(script).ok()
}

/// The command line, with what its arguments can be.
fn command() -> Command {
    with_candidates(Cli::command(), &[])
}

fn with_candidates(command: Command, path: &[&str]) -> Command {
    let mut positional = 0;
    let mut command = command.mut_args(|arg| {
        positional += usize::from(arg.is_positional());
        match noun(path, &arg, positional) {
            Some(noun) => arg.add(ArgValueCandidates::new(move || candidates(noun))),
            None => arg,
        }
    });
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    for name in names {
        let path = [path, &[name.as_str()]].concat();
        command = command.mut_subcommand(name.as_str(), |below| with_candidates(below, &path));
    }
    command
}

/// What an argument names: an option by its name, a positional one by its command and place.
fn noun(path: &[&str], arg: &Arg, place: usize) -> Option<Noun> {
    if !arg.is_positional() {
        return match arg.get_long()? {
            "project" => Some(Noun::Project),
            "agent" | "assign" | "assignee" => Some(Noun::Agent),
            "task" | "parent" | "depends" | "on" | "off" => Some(Noun::Task),
            _ => None,
        };
    }
    match (path, place) {
        (["task", "add" | "list"], _) => None,
        (["task", "assign"], 2) => Some(Noun::Agent),
        (["task", "comment"], 2..) => None,
        (["task", _] | ["worker", _] | ["session", "start"], _) => Some(Noun::Task),
        (["session", _], 1) => Some(Noun::Session),
        (["agent", _] | ["chat"] | ["message", "send"], 1) => Some(Noun::Agent),
        (["project", "show" | "pause" | "resume" | "move" | "remove"], 1) => Some(Noun::Project),
        _ => None,
    }
}

/// Nothing, where there is no project: a shell must not be told of errors while somebody types.
fn candidates(noun: Noun) -> Vec<CompletionCandidate> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let context = Cli::try_parse_from(["saihai", "project", "list"]).ok().and_then(|cli| Context::new(cli.global).ok());
    match (runtime, context) {
        (Ok(runtime), Some(context)) => runtime.block_on(known(&context, noun)).unwrap_or_default(),
        _ => Vec::new(),
    }
}

async fn known(context: &Context, noun: Noun) -> Option<Vec<CompletionCandidate>> {
    let opened = context.open().await.ok()?;
    let board = opened.board();
    let described = |id: String, text: &str| CompletionCandidate::new(id).help(Some(board::clean(text).into()));
    Some(match noun {
        Noun::Task => {
            let newest = board.tasks.values().rev().take(MOST);
            newest.map(|task| described(task.id.to_string(), &format!("{}: {}", task.status, task.title))).collect()
        }
        Noun::Agent => {
            let active = board.agents.values().filter(|agent| agent.active);
            active.map(|agent| described(agent.id().to_string(), &agent.spec.name)).collect()
        }
        Noun::Session => {
            let newest = board.sessions.values().rev().take(MOST);
            newest.map(|session| described(session.id.to_string(), session.agent.as_str())).collect()
        }
        Noun::Project => {
            let installation = opened.control.installation().await.ok()?.state();
            installation.projects.values().map(|project| described(project.id.to_string(), &project.path)).collect()
        }
    })
}
