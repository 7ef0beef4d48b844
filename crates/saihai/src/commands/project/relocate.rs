//! `saihai project move`, `remove` and `rename`

use std::path::{Path, PathBuf};

use board::{Code, Installation, InstallationCommand, ProjectId, RunnerView};
use clap::Args;
use control::ProcessLifetime;
use definitions::ConfigName;
use git::Git;
use serde_json::json;

use crate::commands::apply_definitions;
use crate::context::{Context, OpenProject, owner};
use crate::failure::{CliExit, Failure};
use crate::local_files::runner_view;
use crate::project_marker;

/// Say where a project's repository is now
#[derive(Debug, Args)]
#[command(after_help = "\
The board, its history and the agents' working copies stay as they are. A project that was removed
comes back with its board. Example: mv web site && saihai project move web site")]
pub(crate) struct Move {
    /// Its id, from `saihai project list`
    id: ProjectId,
    /// Where its repository is
    #[arg(default_value = ".")]
    path: PathBuf,
}

impl Move {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let control = context.control(ProcessLifetime::ShortLived).await?;
        let installation = context.installation(&control).await?;
        let git = Git::for_command_line(&self.path);
        let root = git.root().and_then(|root| std::fs::canonicalize(root).ok()).ok_or_else(|| {
            Failure::bad_argument(
                context.say(
                    format!("{} is not in a git repository.", self.path.display()),
                    format!("{} は git リポジトリの中にありません。", self.path.display()),
                ),
                context.say(
                    "Name the directory that its repository is in now.",
                    "リポジトリの現在のディレクトリを指定してください。",
                ),
            )
        })?;
        let path = root.to_str().ok_or_else(|| {
            Failure::failed("The repository's path is not valid UTF-8.", "Move it to a path that is.")
        })?;
        let before = installation.state();
        let was = before.project(&self.id).map(|project| project.path.clone());
        if let Some(was) = was.as_deref().filter(|was| *was != path) {
            let opened = context.open_project(control, self.id.clone(), root.clone()).await?;
            nobody_at_work(&opened)?;
            nothing_runs_it(context, &opened)?;
            let target = &opened.board().settings.target_branch;
            if git.branch_commit(target).is_none() {
                return Err(Failure::bad_argument(
                    opened.say(
                        format!("{path} has no branch `{target}`, so it is not the repository of `{}`.", self.id),
                        format!("{path} にブランチ `{target}` がないため、`{}` のリポジトリではありません。", self.id),
                    ),
                    opened.say("Name the right directory.", "正しいディレクトリを指定してください。"),
                ));
            }
            let paths = runner::RunnerPaths::new(&context.home, &self.id);
            if let Ok(layout) = git.layout() {
                runner::objects_moved(&paths, &Path::new(was).join(".git/objects"), &layout.objects);
            }
        }
        let command = InstallationCommand::MoveProject { id: self.id.clone(), path: path.to_owned() };
        let receipt = submit(context, &installation, command).await?;
        if let Some(project) = receipt.projects.get(&self.id) {
            project_marker::write(project);
        }
        let (id, json) = (&self.id, json!({ "id": self.id, "path": path, "was": was }));
        context.format.print(
            &json,
            || vec![id.to_string()],
            || context.say(format!("`{id}` is in {path} now."), format!("`{id}` の場所は {path} になりました。")),
        )
    }
}

/// Forget a project; its board and history stay in the store
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing in the repository is changed, and nothing is deleted: `saihai project move ID PATH` brings
the project back with its board. `saihai gc` removes what agents have left before.")]
pub(crate) struct Remove {
    /// Its id, from `saihai project list`
    id: ProjectId,
}

impl Remove {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let control = context.control(ProcessLifetime::ShortLived).await?;
        let installation = context.installation(&control).await?;
        if let Some(project) = installation.state().projects.get(&self.id) {
            let path = PathBuf::from(&project.path);
            nobody_at_work(&context.open_project(control, self.id.clone(), path).await?)?;
        }
        submit(context, &installation, InstallationCommand::RemoveProject { id: self.id.clone() }).await?;
        let id = &self.id;
        context.format.print(
            &json!({ "id": id, "removed": true }),
            || vec![id.to_string()],
            || {
                context.say(
                    format!("`{id}` is removed. Its board is kept: `saihai project move {id} PATH` brings it back."),
                    format!(
                        "`{id}` を外しました。ボードは残っています。`saihai project move {id} PATH` で元に戻せます。"
                    ),
                )
            },
        )
    }
}

async fn submit(
    context: &Context,
    installation: &control::Writer<Installation>,
    command: InstallationCommand,
) -> Result<std::sync::Arc<Installation>, Failure> {
    let receipt = installation.submit(owner(), command).await;
    receipt.map(|receipt| receipt.after).map_err(|error| Failure::control(error, context.language()))
}

/// Processes work on files whose place is about to change.
fn nobody_at_work(opened: &OpenProject) -> Result<(), Failure> {
    let board = opened.board();
    let live: Vec<_> = board.all_live_sessions().map(|session| session.id.to_string()).collect();
    if live.is_empty() {
        return Ok(());
    }
    let (id, live) = (&opened.id, live.join(", "));
    Err(Failure::new(
        CliExit::Conflict,
        Code::StateConflict.as_str(),
        opened.say(format!("`{id}` has sessions: {live}."), format!("`{id}` にはセッションがあります: {live}。")),
        opened.say(
            format!("Run `saihai project pause {id} --now`, wait until they have ended, and stop its `saihai up`."),
            format!("`saihai project pause {id} --now` を実行し、終了を待ち、`saihai up` も止めてください。"),
        ),
    ))
}

/// Its runner would go on where the repository was.
fn nothing_runs_it(context: &Context, opened: &OpenProject) -> Result<(), Failure> {
    let id = &opened.id;
    if runner_view(&runner::RunnerPaths::new(&context.home, id)) == RunnerView::Missing {
        return Ok(());
    }
    Err(Failure::new(
        CliExit::Conflict,
        Code::StateConflict.as_str(),
        opened.say(format!("`saihai up` runs `{id}`."), format!("`{id}` は `saihai up` が実行中です。")),
        opened.say(
            "End it (Ctrl-C), move the project, and start it again where the repository is now.",
            "終了（Ctrl-C）してから移動し、リポジトリの新しい場所で起動し直してください。",
        ),
    ))
}

/// Change the name that people see
#[derive(Debug, Args)]
#[command(after_help = "\
Writes `name` in .saihai/config.yaml and applies the definitions. The id stays as it is.
Example: saihai project rename \"Web shop\"")]
pub(crate) struct Rename {
    /// One line of text
    name: String,
}

impl Rename {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let name = self.name.trim();
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(Failure::bad_argument(
                opened.say("The name must be one line of text.", "名前は 1 行のテキストにしてください。"),
                opened.say("Choose another name.", "別の名前を選んでください。"),
            ));
        }
        let config = ConfigName::read(&opened.saihai_dir()).map_err(|error| {
            Failure::failed(
                error.to_string(),
                opened.say("Check .saihai/config.yaml.", ".saihai/config.yaml を確認してください。"),
            )
        })?;
        config.write(name).map_err(|error| {
            Failure::failed(error.to_string(), opened.say("Check its permissions.", "権限を確認してください。"))
        })?;
        let applied = match apply_definitions::apply(&opened).await {
            Ok(applied) => applied,
            Err(failure) => {
                // Nothing is half done.
                config.restore().map_err(|error| {
                    Failure::failed(error.to_string(), opened.say("Check its permissions.", "権限を確認してください。"))
                })?;
                return Err(failure);
            }
        };
        let id = &opened.id;
        context.format.print(
            &json!({ "id": id, "name": name }),
            || vec![id.to_string()],
            || {
                let lines = applied.lines(opened.language);
                let said =
                    opened.say(format!("`{id}` is called {name} now."), format!("`{id}` の名前を {name} にしました。"));
                [lines, vec![said]].concat().join("\n")
            },
        )
    }
}
