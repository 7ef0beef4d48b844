//! `saihai task open`

use std::process::Command;

use board::TaskId;
use clap::Args;
use git::Git;
use serde_json::json;

use crate::context::{Context, OpenProject};
use crate::failure::{CliExit, Failure, write_stderr};
use crate::local_files::workspace_of;

/// Print where a task's workspace is, or enter it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cd \"$(saihai task open 7)\"
  saihai task open 7 --shell

An agent has written what is there, the configuration of git included: hooks and monitors are off in
the shell of --shell. What you change there while its agent works is part of its work.")]
pub(crate) struct Open {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// Start $SHELL there; it ends when you leave the shell
    #[arg(long)]
    shell: bool,
}

impl Open {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let task = board.task(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let Some(workspace) = workspace_of(&context.home, &opened.path, &board, self.id) else {
            return Err(no_workspace(&opened, self.id, &task.branch_name(), &board.settings.target_branch));
        };
        if !self.shell {
            let path = workspace.display().to_string();
            return context.format.print(
                &json!({ "id": self.id, "path": path }),
                || vec![path.clone()],
                || path.clone(),
            );
        }
        let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into());
        write_stderr(&opened.say(
            format!("The workspace of {}; leave the shell to come back.", self.id),
            format!("{} の作業場所です。シェルを終了すると戻ります。", self.id),
        ));
        let left = Command::new(&shell).current_dir(&workspace).envs(harmless_git()).status();
        // How the last command in the shell ended is the user's own affair.
        left.map(drop).map_err(|error| {
            let shell = shell.display();
            Failure::failed(
                opened.say(format!("cannot start {shell}: {error}"), format!("{shell} を起動できません: {error}")),
                opened.say("Set SHELL to a shell that exists.", "SHELL に存在するシェルを設定してください。"),
            )
        })
    }
}

/// Settings that outweigh those of the repository: prompts run git in it by themselves.
fn harmless_git() -> [(&'static str, &'static str); 5] {
    [
        ("GIT_CONFIG_COUNT", "2"),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
        ("GIT_CONFIG_VALUE_0", "false"),
        ("GIT_CONFIG_KEY_1", "core.hooksPath"),
        ("GIT_CONFIG_VALUE_1", "/dev/null"),
    ]
}

fn no_workspace(opened: &OpenProject, id: TaskId, branch: &str, target: &str) -> Failure {
    let message = opened
        .say(format!("{id} has no workspace on this machine."), format!("{id} の作業場所はこのマシンにありません。"));
    let hint = if Git::for_command_line(&opened.path).branch_commit(branch).is_some() {
        opened.say(
            format!("Its branch is there: `git log -p {target}..{branch}`, or `saihai task diff {id}`."),
            format!("ブランチはあります: `git log -p {target}..{branch}` または `saihai task diff {id}`。"),
        )
    } else {
        opened.say(
            format!(
                "It is made when its first session starts, and `saihai gc` removes it; see `saihai task diff {id}`."
            ),
            format!(
                "最初のセッションの開始時に作られ、`saihai gc` が削除します。`saihai task diff {id}` も見てください。"
            ),
        )
    };
    Failure::new(CliExit::NotFound, "not_found", message, hint)
}
