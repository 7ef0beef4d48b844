//! `saihai store backup`

use std::path::PathBuf;

use clap::Args;
use control::{Source, StoreLocation, copy_store};

use crate::context::Context;
use crate::failure::Failure;

/// Write everything into a new file, beside running servers
///
/// The file is a store of its own: `--store sqlite:FILE` opens it, `saihai store copy` puts it back.
#[derive(Debug, Args)]
#[command(after_help = "\
It holds keys and hashes, so only you may read it. Example:
  saihai store backup ~/backups/saihai-$(date +%F).db")]
pub(crate) struct Backup {
    /// A file that does not exist
    file: PathBuf,
}

impl Backup {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        if self.file.exists() {
            return Err(Failure::bad_argument(
                context.say(
                    format!("{} exists already.", self.file.display()),
                    format!("{} は既にあります。", self.file.display()),
                ),
                context.say(
                    "Name a file that does not exist; nothing was changed.",
                    "存在しないファイルを指定してください。何も変更していません。",
                ),
            ));
        }
        if !context.has_store() {
            return Err(context.not_initialised(&board::Installation::default()));
        }
        // Whole or not at all: a backup that broke off does not look like one.
        let mut part = self.file.clone().into_os_string();
        part.push(".part");
        let part = StoreLocation::Sqlite(part.into());
        let copied = copy_store(&context.store, &part, Source::Stays, super::progress(context)).await;
        let copied = copied.map_err(|error| super::failure(context, &error))?;
        if let StoreLocation::Sqlite(part) = &part {
            std::fs::rename(part, &self.file).map_err(|error| {
                let file = self.file.display();
                Failure::failed(
                    context.say(format!("cannot write {file}: {error}"), format!("{file} に書き込めません: {error}")),
                    context.try_again(),
                )
            })?;
        }
        let shown = self.file.display();
        let next = (
            format!("Wrote {shown}. It can be looked into with `saihai --store sqlite:{shown} project list`."),
            format!("{shown} を書きました。`saihai --store sqlite:{shown} project list` で中を見られます。"),
        );
        super::print(context, &StoreLocation::Sqlite(self.file.clone()), &copied, next)
    }
}
