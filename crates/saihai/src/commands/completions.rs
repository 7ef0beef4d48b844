//! `saihai completions`: what does the shell complete?

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::Failure;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  saihai completions bash > ~/.local/share/bash-completion/completions/saihai")]
pub(crate) struct Completions {
    shell: Shell,
}

impl Completions {
    #[allow(clippy::unnecessary_wraps)]
    pub(crate) fn run(self) -> Result<(), Failure> {
        clap_complete::generate(self.shell, &mut Cli::command(), "saihai", &mut std::io::stdout());
        Ok(())
    }
}
