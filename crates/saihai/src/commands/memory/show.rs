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
            ShowError::NotFound { .. } => {
                Failure::new(CliExit::NotFound, "not_found", error.to_string(), "See them with `saihai memory list`.")
            }
            ShowError::Ambiguous { .. } | ShowError::Unreadable(_) => {
                Failure::failed(error.to_string(), "Name it by its path, from `saihai memory list`.")
            }
        })?;
        let mut json = super::json(&shown.entry);
        json["body"] = shown.body.clone().into();
        context.format.print(&json, || vec![shown.entry.path.display().to_string()], || clean(&shown.body))
    }
}
