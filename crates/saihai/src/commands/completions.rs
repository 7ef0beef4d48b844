//! `saihai completions`: what does the shell complete?

use clap::Args;
use clap_complete::Shell;
use serde_json::json;

use crate::completion;
use crate::context::Context;
use crate::failure::Failure;

/// Print the script by which a shell completes commands, ids and names
#[derive(Debug, Args)]
#[command(after_help = "\
The shell asks `saihai` itself, so what it proposes is what there is: tasks with their titles,
agents, sessions, projects.
Example:
  saihai completions bash > ~/.local/share/bash-completion/completions/saihai")]
pub(crate) struct Completions {
    /// The shell to complete for
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let shell = self.shell.to_string();
        let script = completion::script(&shell).ok_or_else(|| {
            Failure::bad_argument(format!("There is no script for {shell}."), "Choose another shell.")
        })?;
        let json = json!({ "shell": shell, "script": script });
        context.format.print(&json, || vec![script.trim_end().to_owned()], || script.clone())
    }
}
