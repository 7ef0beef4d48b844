//! `saihai memory add`

use clap::Args;
use definitions::memory::{self, NewMemoryEntry};
use serde_json::json;

use crate::commands::task::text_or_stdin;
use crate::context::Context;
use crate::failure::Failure;

/// Add a decision to the memory bank
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  saihai memory add \"Use PostgreSQL\" --category architecture --body \"All services share one cluster.\"
  saihai memory add \"API rules\" --body - < rules.md")]
pub(crate) struct Add {
    /// What it is about; the file is named after it
    title: String,
    /// The folder it goes to
    #[arg(long)]
    category: Option<String>,
    /// One line for lists
    #[arg(long)]
    summary: Option<String>,
    /// The text, or - to read it from stdin
    #[arg(long, short = 'd', short_alias = 'b', alias = "description", default_value = "")]
    #[arg(allow_hyphen_values = true)]
    body: String,
}

impl Add {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let body = text_or_stdin(self.body)?;
        let new = NewMemoryEntry { title: self.title, category: self.category, summary: self.summary, body };
        let path = memory::add(&opened.saihai_dir(), &new).map_err(|error| {
            Failure::failed(error.to_string(), "Choose another title or category; nothing was changed.")
        })?;
        context.format.print(
            &json!({ "path": path }),
            || vec![path.display().to_string()],
            || {
                opened.say(
                    format!("wrote {}; commit it, so that agents see it", path.display()),
                    format!("{} を書きました。エージェントに見えるようコミットしてください", path.display()),
                )
            },
        )
    }
}
