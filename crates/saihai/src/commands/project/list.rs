//! `saihai project list`

use clap::Args;
use control::ProcessLifetime;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::local_time;
use crate::table::{Column, table};

const COLUMNS: [Column; 3] = [Column::key("ID", "ID"), Column::text("PATH", "場所"), Column::extra(1, "ADDED", "追加")];

/// List the projects
#[derive(Debug, Args)]
pub(crate) struct List {}

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let control = context.control(ProcessLifetime::ShortLived).await?;
        let installation = context.installation(&control).await?.state();
        let projects: Vec<_> = installation.projects.values().collect();
        let ids = || projects.iter().map(|project| project.id.to_string()).collect();
        context.format.print(&projects, ids, || {
            if projects.is_empty() {
                return context.say(
                    "No projects yet. Next: run `saihai init` in a git repository.",
                    "プロジェクトはまだありません。次: git リポジトリで `saihai init` を実行してください。",
                );
            }
            let rows = projects.iter().map(|p| [p.id.to_string(), p.path.clone(), local_time(p.added_at)]);
            table(context.language(), &COLUMNS, rows)
        })
    }
}
