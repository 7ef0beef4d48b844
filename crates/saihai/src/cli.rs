//! Which words does the command line understand?

use std::ffi::OsString;
use std::path::PathBuf;

use board::Language;
use clap::{Args, Parser};
use control::StoreLocation;

use crate::commands::Command;
use crate::context::locale_language;

/// Saihai runs a team of AI coding agents on a git repository and decides, from facts only, what
/// each of them does next and whether its work is done.
#[derive(Debug, Parser)]
#[command(name = "saihai", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "\
Examples:
  saihai demo                                watch a team at work in a scratch repository
  saihai init                                make this repository a project
  saihai task add \"Add a login page\" --assign lead
  saihai task start 1                        let its agent begin
  saihai up                                  run the agents, check their work, merge it
  saihai task why 1                          why it is (not) running, and who must do what

Exit codes: 0 ok, 1 refused or failed, 2 usage, 3 not initialised or bad configuration,
4 store, 5 not found, 6 state conflict, 7 not everything is done (`up --until-idle`).")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The options of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// Print one JSON document; errors are one line of JSON on stderr
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// Print ids only
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// The project, by id or path [default: the repository around the current directory]
    #[arg(long, global = true, value_name = "ID|PATH", help_heading = "Global options")]
    pub(crate) project: Option<String>,
    /// Language of messages: en or ja [default: the locale's, else the project's]
    #[arg(long, global = true, value_name = "LANG", help_heading = "Global options")]
    pub(crate) lang: Option<Language>,
    /// Where logs, workspaces and the store are [default: $SAIHAI_HOME, else $XDG_DATA_HOME/saihai]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) home: Option<PathBuf>,
    /// The store: sqlite:PATH or postgres://USER@HOST/DATABASE [default: $SAIHAI_STORE, else saihai.db in the home]
    #[arg(long, global = true, value_name = "URL", help_heading = "Global options")]
    pub(crate) store: Option<StoreLocation>,
}

/// The language for what is said of arguments that are not understood yet, or ask for help: that of `--lang`, else the
/// locale's.
pub(crate) fn language_before_parsing(arguments: &[OsString]) -> Language {
    let words: Vec<_> = arguments.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--").collect();
    let apart = words.iter().position(|word| *word == "--lang").and_then(|at| words.get(at + 1).copied());
    let joined = || words.iter().find_map(|word| word.strip_prefix("--lang="));
    let chosen = apart.or_else(joined).and_then(|word| word.parse().ok());
    chosen.or_else(locale_language).unwrap_or(Language::En)
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use super::Cli;

    /// D26: what was broken into lines by hand fits, and is not broken a second time.
    #[test]
    fn no_help_is_wrapped_twice() {
        fn check(command: &Command) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let long = text.lines().find(|line| line.len() > 100);
            assert_eq!(long, None, "{}", command.get_name());
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
