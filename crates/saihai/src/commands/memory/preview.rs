//! `saihai memory preview`

use clap::Args;
use definitions::memory;
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;

/// Show the memory bank as a prompt lists it
#[derive(Debug, Args)]
pub(crate) struct Preview {}

impl Preview {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let (entries, problems) = memory::list(&opened.saihai_dir());
        super::warn(context, opened.language, &problems);
        let text = memory::preview(&entries, opened.board().settings.language);
        context.format.print(&json!({ "preview": text }), Vec::new, || text.clone())
    }
}
