//! `saihai memory add`

use std::path::{Path, PathBuf};

use clap::Args;
use definitions::memory::{self, AddError, NewMemoryEntry};
use serde_json::json;

use crate::commands::task::text_or_stdin;
use crate::context::{Context, OpenProject};
use crate::failure::Failure;

/// Add a decision to the memory bank
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  saihai memory add \"Use PostgreSQL\" --category architecture -d \"All services share one cluster.\"
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
        let body = text_or_stdin(opened.language, self.body)?;
        let new = NewMemoryEntry { title: self.title, category: self.category, summary: self.summary, body };
        let path = add(&opened, &new)?;
        context.format.print(&json!({ "path": path }), || vec![path.display().to_string()], || wrote(&opened, &path))
    }
}

/// Writes a new entry of the memory bank.
pub(super) fn add(opened: &OpenProject, new: &NewMemoryEntry) -> Result<PathBuf, Failure> {
    memory::add(&opened.saihai_dir(), new).map_err(|error| {
        Failure::failed(
            opened.say(error.to_string(), add_error_ja(&error)),
            opened.say(
                "Choose another title or category; nothing was changed.",
                "別の題名か分類を指定してください。何も変更していません。",
            ),
        )
    })
}

pub(super) fn wrote(opened: &OpenProject, path: &Path) -> String {
    opened.say(
        format!("wrote {}; commit it, so that agents see it", path.display()),
        format!("{} を書きました。エージェントに見えるようコミットしてください", path.display()),
    )
}

fn add_error_ja(error: &AddError) -> String {
    match error {
        AddError::NoName { text } => format!("`{text}` にはファイル名にできる文字がありません。"),
        AddError::Exists { path } => format!("{} は既にあります。", path.display()),
        AddError::Outside { path } => format!("{} は `.saihai/` の外です。", path.display()),
        AddError::Io { path, error } => format!("{} に書き込めません: {error}", path.display()),
    }
}
