//! `saihai project add`

use std::path::PathBuf;

use clap::Args;

use crate::commands::init::Init;
use crate::context::Context;
use crate::failure::Failure;

/// Make another repository a project, as `saihai init` does in it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  saihai project add ../api --name api")]
pub(crate) struct Add {
    /// A directory in the repository
    path: PathBuf,
    #[command(flatten)]
    init: Init,
}

impl Add {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        if !self.path.is_dir() {
            return Err(Failure::bad_argument(
                context.say(
                    format!("{} is not a directory.", self.path.display()),
                    format!("{} はディレクトリではありません。", self.path.display()),
                ),
                context.say(
                    "Name a directory that is in a git repository.",
                    "git リポジトリの中のディレクトリを指定してください。",
                ),
            ));
        }
        self.init.run_in(context, &self.path).await
    }
}
