//! `saihai store copy`

use clap::Args;
use control::{Source, StoreLocation, copy_store};

use crate::context::Context;
use crate::failure::{CliExit, Failure};
use crate::running_servers::newest_server;

/// Copy everything into another store, and prove that it arrived as it was
///
/// Projects, boards, tokens and the values of `env` come along; the trace of decisions stays behind. A copy that was broken
/// off goes on where it was.
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing may use the store meanwhile: end `saihai up` and `saihai serve` first. The old store stays
as it is; put it away, so that nobody writes to it by mistake.

Examples:
  saihai store copy sqlite:$HOME/.local/share/saihai/saihai.db postgres://saihai@db/saihai
  saihai store copy postgres://saihai@db/saihai sqlite:saihai.db")]
pub(crate) struct Copy {
    /// sqlite:PATH or postgres://USER@HOST/DATABASE
    from: StoreLocation,
    /// The same; an empty store, or one that an earlier try has begun to fill
    to: StoreLocation,
}

impl Copy {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        if let StoreLocation::Sqlite(path) = &self.from {
            if !path.exists() {
                return Err(Failure::new(
                    CliExit::NotFound,
                    "not_found",
                    context.say(
                        format!("There is no store {}.", self.from),
                        format!("ストア {} はありません。", self.from),
                    ),
                    context.say(
                        "Name the file that holds it, usually saihai.db in SAIHAI_HOME.",
                        "ファイルを指定してください。通常は SAIHAI_HOME の saihai.db です。",
                    ),
                ));
            }
            let home = path.parent().unwrap_or(&context.home);
            if let Some(by) = newest_server(home) {
                let in_use = control::CopyError::InUse { location: self.from.to_string(), by };
                return Err(super::failure(context, &in_use));
            }
        }
        let copied = copy_store(&self.from, &self.to, Source::Left, super::progress(context)).await;
        let copied = copied.map_err(|error| super::failure(context, &error))?;
        let next = match &self.to {
            StoreLocation::Postgres(_) => "SAIHAI_STORE=postgres://…",
            StoreLocation::Sqlite(_) => "SAIHAI_STORE=sqlite:…",
        };
        let next = (
            format!("Next: set {next} for every saihai, and put {} away.", self.from),
            format!("次: すべての saihai に {next} を設定し、{} は使われない場所に移してください。", self.from),
        );
        super::print(context, &self.to, &copied, next)
    }
}
