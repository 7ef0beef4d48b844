//! `saihai init`: how does a repository become a project?

use std::path::{Path, PathBuf};

use board::{Installation, InstallationCommand, Language, ProjectId, RefusalReason, slug};
use clap::Args;
use control::{ProcessLifetime, Writer};
use definitions::{ScaffoldError, ScaffoldOptions, scaffold};
use git::Git;
use serde_json::json;

use super::apply_definitions;
use crate::context::{Context, OpenProject, owner, say_in};
use crate::failure::{CliExit, Failure};
use crate::judging_files;
use crate::project_marker;
use crate::show::clean;
use crate::uncommitted_definitions;

/// Make the repository around the current directory a project
#[derive(Debug, Args)]
#[command(after_help = "\
Writes .saihai/config.yaml, a first manager and a first worker where they are missing, never over
what is there, and registers the project. Running it again changes nothing.

Examples:
  saihai init
  saihai init --name web --base-branch develop")]
pub(crate) struct Init {
    /// The project's name [default: the directory's]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The branch that work is merged into [default: the branch that is checked out]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) base_branch: Option<String>,
}

impl Init {
    pub(crate) async fn run(self, context: &Context) -> Result<(), Failure> {
        let here = std::env::current_dir().map_err(|error| {
            Failure::failed(
                context.say(
                    format!("cannot tell the current directory: {error}"),
                    format!("現在のディレクトリが分かりません: {error}"),
                ),
                context.say("Change to a directory that exists.", "存在するディレクトリに移動してください。"),
            )
        })?;
        self.run_in(context, &here).await
    }

    pub(crate) async fn run_in(self, context: &Context, directory: &Path) -> Result<(), Failure> {
        let root = repository(context, directory)?;
        let branch = self.branch(context, &root)?;
        let name = self.name(context, &root)?;
        let options = ScaffoldOptions { name: name.clone(), target_branch: branch, language: context.language() };
        // Until it is kept, whatever fails below takes it back.
        let scaffold =
            scaffold(&root.join(".saihai"), &options).map_err(|error| not_written(context.language(), &error))?;
        // Read before anything is registered: a broken file leaves no half-made project.
        definitions::Definitions::load(&root.join(".saihai")).map_err(|problems| {
            let hint = context.say(
                "Correct the file and run the command again; nothing was registered.",
                "ファイルを直してから、もう一度実行してください。何も登録していません。",
            );
            Failure { hint, ..Failure::definitions(&problems, context.language()) }
        })?;
        let mut opened = register(context, &root, &name).await?;
        let applied = apply_definitions::apply(&opened).await?;
        let written = scaffold.keep();
        let board = opened.board();
        // Only now is the project's language known.
        opened.language = context.language_of(&board);
        let json = json!({
            "id": opened.id, "name": board.settings.name, "path": opened.path, "target_branch": board.settings.target_branch,
            "agents": board.agents.keys().collect::<Vec<_>>(), "written": written,
        });
        let text = || {
            let mut lines: Vec<_> = written.iter().map(|path| wrote(&opened, path)).collect();
            lines.extend(applied.lines(opened.language));
            lines.extend(self.ignored_options(&opened));
            let unprotected = judging_files::unprotected(&opened, &board.settings);
            if !unprotected.is_empty() {
                let line = judging_files::proposal(&unprotected);
                lines.push(opened.say(
                    format!("The checks use files that agents may change. To run them with the target's, add to `dod`:\n  {line}"),
                    format!("チェックが使うファイルをエージェントが変更できます。対象ブランチのものを使うには `dod` に追加してください:\n  {line}"),
                ));
            }
            lines.extend(uncommitted_definitions::warning(&opened));
            let (id, target) = (&opened.id, &board.settings.target_branch);
            lines.push(opened.say(
                format!("Project `{id}` is ready; work is merged into {target}.\nNext: saihai task add \"What should be done\" --assign AGENT (see `saihai agent list`)"),
                format!("プロジェクト `{id}` の準備ができました。作業は {target} にマージされます。\n次: saihai task add \"やること\" --assign AGENT（`saihai agent list` 参照）"),
            ));
            lines.join("\n")
        };
        context.format.print(&json, || vec![opened.id.to_string()], text)
    }

    fn name(&self, context: &Context, root: &Path) -> Result<String, Failure> {
        match &self.name {
            Some(name) if name.trim().is_empty() || name.chars().any(char::is_control) => Err(Failure::bad_argument(
                context.say("The name must be one line of text.", "名前は 1 行のテキストにしてください。"),
                another_name(context),
            )),
            Some(name) => Ok(name.clone()),
            None => Ok(directory_name(root)),
        }
    }

    /// Options that had no effect, because a file that existed already says otherwise.
    fn ignored_options(&self, opened: &OpenProject) -> Vec<String> {
        let board = opened.board();
        let note = |key: &str, asked: Option<&String>, is: &str| {
            let asked = asked.filter(|asked| asked.as_str() != is)?;
            Some(opened.say(
                format!("`{key}` stays `{is}`, not `{asked}`: change it in .saihai/config.yaml, then run `saihai agent apply`."),
                format!("`{key}` は `{asked}` ではなく `{is}` のままです。.saihai/config.yaml を変更し、`saihai agent apply` を実行してください。"),
            ))
        };
        let name = note("name", self.name.as_ref(), &board.settings.name);
        let branch = note("target_branch", self.base_branch.as_ref(), &board.settings.target_branch);
        name.into_iter().chain(branch).map(|line| clean(&line)).collect()
    }

    fn branch(&self, context: &Context, root: &Path) -> Result<String, Failure> {
        let git = Git::for_command_line(root);
        match &self.base_branch {
            Some(branch) if git.branch_commit(branch).is_some() || git.current_branch().as_ref() == Some(branch) => {
                Ok(branch.clone())
            }
            Some(branch) => Err(Failure::bad_argument(
                context.say(
                    format!("There is no branch `{branch}` in this repository."),
                    format!("このリポジトリにブランチ `{branch}` はありません。"),
                ),
                context.say(
                    format!("Create it first with `git branch {branch}`, or name another with --base-branch."),
                    format!("先に `git branch {branch}` で作成するか、--base-branch で別のものを指定してください。"),
                ),
            )),
            None => Ok(git.current_branch().unwrap_or_else(|| "main".into())),
        }
    }
}

fn repository(context: &Context, directory: &Path) -> Result<PathBuf, Failure> {
    let git = Git::for_command_line(directory);
    if git.version().is_none() {
        return Err(Failure::failed(
            context.say("git was not found.", "git が見つかりません。"),
            context.say(
                "Install git and run the command again.",
                "git をインストールしてから、もう一度実行してください。",
            ),
        ));
    }
    if git.run(&["rev-parse", "--is-bare-repository"]).is_ok_and(|answer| answer == "true") {
        return Err(Failure::new(
            CliExit::Configuration,
            "not_initialised",
            context.say(
                format!("{} is a bare repository, and definitions live in a working tree.", directory.display()),
                format!("{} はベアリポジトリです。定義を置く作業ツリーが必要です。", directory.display()),
            ),
            context.say(
                "Clone it, and run `saihai init` in the clone.",
                "クローンして、その中で `saihai init` を実行してください。",
            ),
        ));
    }
    let root = git.root().ok_or_else(|| {
        Failure::new(
            CliExit::Configuration,
            "not_initialised",
            context.say(
                format!("{} is not in a git repository.", directory.display()),
                format!("{} は git リポジトリの中にありません。", directory.display()),
            ),
            context.say(
                "Run `git init` first, or change to a repository.",
                "先に `git init` を実行するか、リポジトリに移動してください。",
            ),
        )
    })?;
    std::fs::canonicalize(&root).map_err(|error| {
        let root = root.display();
        Failure::failed(
            context.say(format!("cannot read {root}: {error}"), format!("{root} を読めません: {error}")),
            context.say("Check its permissions.", "権限を確認してください。"),
        )
    })
}

fn wrote(opened: &OpenProject, path: &Path) -> String {
    let path = path.display();
    opened.say(format!("wrote {path}"), format!("{path} を作成しました"))
}

fn another_name(context: &Context) -> String {
    context.say("Choose another --name.", "--name で別の名前を指定してください。")
}

/// Why the first definitions were not written.
fn not_written(language: Language, error: &ScaffoldError) -> Failure {
    let message_ja = match error {
        ScaffoldError::Link(path) => {
            format!("{} はシンボリックリンクです。リンク先が他人のものかもしれません。", path.display())
        }
        ScaffoldError::NotADirectory(path) => format!("{} はディレクトリではありません。", path.display()),
        ScaffoldError::Io { path, error } => format!("{} に書き込めません: {error}", path.display()),
    };
    let hint_ja = match error {
        ScaffoldError::Link(_) | ScaffoldError::NotADirectory(_) => {
            "ディレクトリに置き換えてから、もう一度実行してください。何も変更していません。"
        }
        ScaffoldError::Io { .. } => {
            "ディレクトリに書き込めるようにしてから、もう一度実行してください。何も変更していません。"
        }
    };
    Failure::failed(say_in(language, error.to_string(), message_ja), say_in(language, error.hint(), hint_ja))
}

fn directory_name(root: &Path) -> String {
    root.file_name().map_or_else(|| "project".into(), |name| name.to_string_lossy().into_owned())
}

/// Registers the repository, or finds it registered. If the id is taken, a number is added to it.
pub(crate) async fn register(context: &Context, root: &Path, name: &str) -> Result<OpenProject, Failure> {
    let control = context.control(ProcessLifetime::ShortLived).await?;
    let installation = context.installation(&control).await?;
    let path = root.to_str().ok_or_else(|| {
        Failure::failed(
            context
                .say("The repository's path is not valid UTF-8.", "リポジトリのパスが UTF-8 として正しくありません。"),
            context.say("Move it to a path that is.", "正しいパスに移動してください。"),
        )
    })?;
    let state = installation.state();
    if let Some(moved) = context.moved(&state, root) {
        return Err(moved);
    }
    if let Some(known) = state.project_at(path) {
        project_marker::write(known);
        let id = known.id.clone();
        return context.open_project(control, id, root.to_owned()).await;
    }
    // A registration cannot be taken back, so everything that may fail comes before it.
    apply_definitions::check_new(context, root)?;
    let base = Some(slug(name)).filter(|slug| !slug.is_empty()).unwrap_or_else(|| "project".into());
    for number in 1.. {
        let candidate = if number == 1 { base.clone() } else { format!("{base}-{number}") };
        let id: ProjectId = candidate.parse().map_err(|error: board::BadId| {
            let message_ja = format!("`{candidate}` はプロジェクトの id にできません。");
            Failure::bad_argument(context.say(error.to_string(), message_ja), another_name(context))
        })?;
        set_aside_leftovers(context, &installation, &id).await?;
        let add = InstallationCommand::AddProject { id: id.clone(), path: path.to_owned() };
        match installation.submit(owner(), add).await {
            Ok(receipt) => {
                // Somebody may have registered the same path meanwhile, under another id.
                let known = receipt.after.project_at(path);
                known.inspect(|known| project_marker::write(known));
                let id = known.map_or(id, |known| known.id.clone());
                return context.open_project(control, id, root.to_owned()).await;
            }
            Err(control::ControlError::Refused(refusal)) if matches!(*refusal.0, RefusalReason::ProjectTaken(_)) => {}
            Err(error) => return Err(Failure::control(error, context.language())),
        }
    }
    unreachable!("there is always another number")
}

/// A project that is new to the store may have files from a store that was lost: sessions and workspaces under the same
/// numbers. They are kept under another name, so that nobody takes them for the new ones.
async fn set_aside_leftovers(
    context: &Context,
    installation: &Writer<Installation>,
    id: &ProjectId,
) -> Result<(), Failure> {
    let left = context.home.join("projects").join(id.as_str());
    if !left.exists() {
        return Ok(());
    }
    // Looked up only now: whoever has registered the id since has files of its own there.
    let newest = installation.newest().await.map_err(|error| Failure::control(error, context.language()))?;
    if newest.project(id).is_some() {
        return Ok(());
    }
    let aside = (1..).map(|number| left.with_file_name(format!("{id}.lost-{number}"))).find(|path| !path.exists());
    let moved = aside.map_or(Ok(()), |aside| std::fs::rename(&left, aside));
    moved.map_err(|error| {
        Failure::failed(
            context.say(
                format!("cannot move {} aside: {error}", left.display()),
                format!("{} を退避できません: {error}", left.display()),
            ),
            context.say(
                "Move or remove it, and run the command again.",
                "移動または削除してから、もう一度実行してください。",
            ),
        )
    })
}
