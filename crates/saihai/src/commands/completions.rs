//! `saihai completions`: what does the shell complete?

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use crate::cli::Cli;
use crate::context::Context;
use crate::failure::Failure;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  saihai completions bash > ~/.local/share/bash-completion/completions/saihai")]
pub(crate) struct Completions {
    /// The shell to complete for
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        // Generated into memory first, because clap would panic on a closed pipe.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "saihai", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        let json = json!({ "shell": self.shell.to_string(), "script": script });
        context.format.print(&json, || vec![script.trim_end().to_owned()], || script.clone())
    }
}
