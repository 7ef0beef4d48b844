//! `saihai agent apply`

use clap::Args;

use crate::commands::apply_definitions;
use crate::context::Context;
use crate::failure::Failure;

/// Apply .saihai/config.yaml and .saihai/agents/ to the board
#[derive(Debug, Args)]
#[command(after_help = "Shows the difference: + joined, ~ changed, - left. Applying it twice changes nothing.")]
pub(crate) struct Apply {
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// When `remote` was removed: go on with the target as it is here, without what was merged there
    #[arg(long, conflicts_with = "dry_run")]
    without_pull: bool,
}

impl Apply {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let applied = if self.dry_run {
            apply_definitions::preview(&opened).await?
        } else if self.without_pull {
            apply_definitions::apply_without_pull(&opened).await?
        } else {
            apply_definitions::apply(&opened).await?
        };
        let ids = || {
            [&applied.joined, &applied.changed, &applied.left, &applied.env_replaced]
                .into_iter()
                .flatten()
                .cloned()
                .collect()
        };
        context.format.print(&applied, ids, || {
            let lines = applied.lines(opened.language);
            if lines.is_empty() {
                opened.say("Nothing to change.", "変更はありません。")
            } else {
                lines.join("\n")
            }
        })
    }
}
