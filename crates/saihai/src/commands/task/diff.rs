//! `saihai task diff`

use std::io::{IsTerminal as _, Write as _};

use board::TaskId;
use clap::Args;
use git::Git;
use serde_json::json;

use crate::context::{Context, OpenProject};
use crate::failure::{CliExit, Failure};
use crate::local_files::{work_facts, work_range, workspace_of};
use crate::show::{Format, clean};

/// The most of a difference that is shown, in bytes.
const MOST: usize = 16 << 20;

/// Show what a task has changed: its branch against the target, or its merge
#[derive(Debug, Args)]
#[command(after_help = "\
Work of a session that still runs is in its workspace only: see `saihai task open`.

Examples:
  saihai task diff 7
  saihai task diff 7 --stat")]
pub(crate) struct Diff {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// Only the files and how much has changed in each
    #[arg(long)]
    stat: bool,
}

impl Diff {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let task = board.task(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let Some(range) = work_range(&opened.path, &board, task) else {
            let workspace = workspace_of(&context.home, &opened.path, &board, self.id);
            return Err(no_work(&opened, self.id, workspace.is_some()));
        };
        let git = Git::for_command_line(&opened.path);
        let difference = if self.stat {
            git.run(&["diff", "--stat", "--no-color", "--end-of-options", &range.from, &range.to])
                .map(String::into_bytes)
        } else {
            git.diff(&range.from, &range.to, MOST)
        };
        let difference = difference.map_err(|error| {
            Failure::failed(
                opened.say(error.to_string(), format!("差分を取得できません: {error}")),
                opened.say("Run `saihai doctor`.", "`saihai doctor` を実行してください。"),
            )
        })?;
        let names = ["diff", "--name-only", "-z", "--end-of-options", &range.from, &range.to];
        let changed = git.paths(&names).unwrap_or_default();
        if context.format == Format::Text {
            return print_difference(&opened, &difference);
        }
        let json = json!({
            "id": self.id, "merge_commit": work_facts(&board, task).and_then(|facts| facts.merged_as()),
            "from": range.from, "to": range.to, "changed_files": changed,
            "text": String::from_utf8_lossy(&difference),
        });
        context.format.print(&json, || changed.clone(), String::new)
    }
}

fn no_work(opened: &OpenProject, id: TaskId, has_workspace: bool) -> Failure {
    let hint = if has_workspace {
        opened.say(
            format!("What its session has done so far is in the workspace: `saihai task open {id}`."),
            format!("途中の作業は作業場所にあります: `saihai task open {id}`。"),
        )
    } else {
        opened.say(
            format!("`saihai task why {id}` tells how it stands."),
            format!("状況は `saihai task why {id}` で確認できます。"),
        )
    };
    let message =
        opened.say(format!("{id} has no commits to show."), format!("{id} には表示できるコミットがありません。"));
    Failure::new(CliExit::NotFound, "not_found", message, hint)
}

/// Unchanged for programs such as `git apply`; on a terminal in colour and without control characters.
fn print_difference(opened: &OpenProject, difference: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let written = if std::io::stdout().is_terminal() {
        let text = clean(&String::from_utf8_lossy(difference));
        text.lines().try_for_each(|line| match colour(line) {
            Some(colour) if !plain => writeln!(out, "{colour}{line}\u{1b}[0m"),
            Some(_) | None => writeln!(out, "{line}"),
        })
    } else {
        out.write_all(difference)
    };
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(crate::show::cannot_write(opened.language, &error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn colour(line: &str) -> Option<&'static str> {
    match line.as_bytes() {
        [b'd', b'i', b'f', b'f', ..] | [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Some("\u{1b}[1m"),
        [b'@', b'@', ..] => Some("\u{1b}[36m"),
        [b'+', ..] => Some("\u{1b}[32m"),
        [b'-', ..] => Some("\u{1b}[31m"),
        _ => None,
    }
}
