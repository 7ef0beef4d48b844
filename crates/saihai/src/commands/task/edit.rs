//! `saihai task edit`

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use board::{Board, Command, TaskEdit, TaskId};
use clap::Args;

use super::print_changed;
use crate::context::{Context, OpenProject};
use crate::failure::{CliExit, Failure};

/// Change title and description in your editor
#[derive(Debug, Args)]
#[command(after_help = "\
Opens $VISUAL, else $EDITOR. The first line is the title, the rest is the description. If the text
cannot be taken, the file is kept and its name is told.")]
pub(crate) struct Edit {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Edit {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let before = self.text(&opened, &opened.board())?;
        let editor = editor(&opened)?;
        let file = draft(&opened, self.id, &before)?;
        let after = edit(&opened, &editor, &file);
        let kept = |failure| keep(&opened, &file, failure);
        let after = after.map_err(kept)?;
        if after.trim_end() == before.trim_end() {
            let _ = std::fs::remove_file(&file);
            return Err(Failure::failed(
                opened.say("Nothing was changed.", "何も変更されていません。"),
                opened.say("Save the file in the editor to change the task.", "エディターで変更を保存してください。"),
            ));
        }
        // Somebody may have changed it while the editor was open.
        let newest = opened.project.newest().await.map_err(|error| kept(opened.failure(error)))?;
        if self.text(&opened, &newest).map_err(kept)? != before {
            return Err(kept(changed_meanwhile(&opened, self.id)));
        }
        let edit = parse(&after);
        let command = Command::EditTask { task: self.id, edit, forced: self.force };
        let receipt = opened.submit(command).await.map_err(kept)?;
        let _ = std::fs::remove_file(&file);
        print_changed(context, &opened, &receipt, self.id)
    }

    fn text(&self, opened: &OpenProject, board: &Board) -> Result<String, Failure> {
        let task = board.task(self.id).map_err(|refusal| opened.refusal(refusal))?;
        Ok(format!("{}\n\n{}\n", task.title, task.description))
    }
}

/// The first line is the title; the rest, without the empty lines around it, is the description.
fn parse(text: &str) -> TaskEdit {
    let (title, description) = text.trim_start().split_once('\n').unwrap_or((text.trim(), ""));
    TaskEdit {
        title: Some(title.trim().to_owned()),
        description: Some(description.trim_matches('\n').trim_end().to_owned()),
        ..TaskEdit::default()
    }
}

fn editor(opened: &OpenProject) -> Result<String, Failure> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).ok_or_else(|| {
        Failure::bad_argument(
            opened.say("Neither VISUAL nor EDITOR names an editor.", "VISUAL も EDITOR も設定されていません。"),
            opened.say(
                "Set EDITOR, or use `saihai task update ID --title T --description -`.",
                "EDITOR を設定するか、`saihai task update ID --title T --description -` を使ってください。",
            ),
        )
    })
}

/// A private file with the text. It stays until the text is taken.
fn draft(opened: &OpenProject, id: TaskId, text: &str) -> Result<PathBuf, Failure> {
    let file = tempfile::Builder::new().prefix(&format!("saihai-{id}-")).suffix(".md").tempfile();
    let written = file.and_then(|file| {
        std::fs::write(file.path(), text)?;
        file.keep().map(|(_, path)| path).map_err(|error| error.error)
    });
    written.map_err(|error| {
        Failure::failed(
            opened.say(
                format!("cannot write a file for the editor: {error}"),
                format!("エディター用のファイルを書けません: {error}"),
            ),
            opened.say("Check that TMPDIR can be written to.", "TMPDIR に書き込めるか確認してください。"),
        )
    })
}

/// Runs the editor. It may be a command with arguments, so the shell reads it, as git does.
fn edit(opened: &OpenProject, editor: &str, file: &Path) -> Result<String, Failure> {
    let ended = Process::new("sh").args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(file).status();
    match ended {
        Ok(status) if status.success() => {}
        Ok(status) => {
            let ended = opened.say(format!("`{editor}` ended with {status}."), format!("`{editor}` の終了: {status}"));
            return Err(Failure::failed(ended, ""));
        }
        Err(error) => {
            let failed = opened
                .say(format!("cannot start `{editor}`: {error}"), format!("`{editor}` を起動できません: {error}"));
            return Err(Failure::failed(failed, ""));
        }
    }
    std::fs::read_to_string(file).map_err(|error| {
        let file = file.display();
        Failure::failed(opened.say(format!("{file}: {error}"), format!("{file} を読めません: {error}")), "")
    })
}

fn changed_meanwhile(opened: &OpenProject, id: TaskId) -> Failure {
    let message = opened.say(
        format!("{id} was changed by somebody else while your editor was open."),
        format!("編集中に {id} が他から変更されました。"),
    );
    Failure::new(CliExit::Conflict, "state_conflict", message, "")
}

/// The text is not taken, and not lost: the hint says where it is.
fn keep(opened: &OpenProject, file: &Path, failure: Failure) -> Failure {
    let file = file.display();
    let kept = opened.say(
        format!("The task is as it was; your text is in {file}."),
        format!("タスクは変更していません。入力した内容は {file} にあります。"),
    );
    Failure { hint: format!("{kept} {}", failure.hint).trim_end().to_owned(), ..failure }
}
