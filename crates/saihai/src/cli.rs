//! Which words does the command line understand?

use std::path::PathBuf;

use board::Language;
use clap::{Args, Parser};

use crate::commands::Command;

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
    /// Language of messages: en or ja [default: the project's, else the locale's]
    #[arg(long, global = true, value_name = "LANG", help_heading = "Global options")]
    pub(crate) lang: Option<Language>,
    /// Where store, logs and workspaces are [default: $SAIHAI_HOME, else $XDG_DATA_HOME/saihai]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) home: Option<PathBuf>,
}
