//! `saihai memory show`

use clap::Args;
use definitions::memory::{self, ShowError};

use crate::context::Context;
use crate::failure::{CliExit, Failure};
use crate::show::clean;

/// Show one entry of the memory bank
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Its path or its file name
    name: String,
}

impl Show {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let shown = memory::show(&opened.saihai_dir(), &self.name).map_err(|error| match error {
            ShowError::NotFound { .. } => Failure::new(
                CliExit::NotFound,
                "not_found",
                opened.say(error.to_string(), show_error_ja(&error)),
                opened.say("See them with `saihai memory list`.", "`saihai memory list` で確認できます。"),
            ),
            ShowError::Ambiguous { .. } | ShowError::Unreadable(_) => Failure::failed(
                opened.say(error.to_string(), show_error_ja(&error)),
                opened.say(
                    "Name it by its path, from `saihai memory list`.",
                    "`saihai memory list` にあるパスで指定してください。",
                ),
            ),
        })?;
        let mut json = super::json(&shown.entry);
        json["body"] = shown.body.clone().into();
        context.format.print(&json, || vec![shown.entry.path.display().to_string()], || clean(&shown.body))
    }
}

fn show_error_ja(error: &ShowError) -> String {
    match error {
        ShowError::NotFound { name } => format!("メモリーバンクに `{name}` はありません。"),
        ShowError::Ambiguous { name, paths } => {
            let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            format!("`{name}` に当てはまるものが複数あります: {}", paths.join(", "))
        }
        ShowError::Unreadable(problem) => format!("読めません: {problem}"),
    }
}
