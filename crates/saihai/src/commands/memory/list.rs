//! `saihai memory list`

use clap::Args;
use definitions::memory;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::or_dash;
use crate::table::{Column, table};

const COLUMNS: [Column; 3] =
    [Column::key("PATH", "ファイル"), Column::text("TITLE", "題名"), Column::extra(1, "CATEGORY", "分類")];

/// List the memory bank
#[derive(Debug, Args)]
pub(crate) struct List {}

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let (entries, problems) = memory::list(&opened.saihai_dir());
        super::warn(context, opened.language, &problems);
        let json: Vec<_> = entries.iter().map(super::json).collect();
        let ids = || entries.iter().map(|entry| entry.path.display().to_string()).collect();
        context.format.print(&json, ids, || {
            if entries.is_empty() {
                return opened.say(
                    "The memory bank is empty. Next: saihai memory add \"Title\" --body TEXT",
                    "メモリーバンクは空です。次: saihai memory add \"題名\" --body 本文",
                );
            }
            let rows = entries
                .iter()
                .map(|entry| [entry.path.display().to_string(), entry.title.clone(), or_dash(entry.category.as_ref())]);
            table(opened.language, &COLUMNS, rows)
        })
    }
}
