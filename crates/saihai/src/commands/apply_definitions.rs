//! How do the files of `.saihai/` reach the board? Declaratively: applying them twice changes nothing.

use std::path::Path;

use board::{AgentId, Board, EventKind, Language, Settings};
use control::{Clock as _, NewDefinitions, SystemClock};
use definitions::Definitions;
use git::Git;
use serde::Serialize;

use crate::context::{Context, OpenProject, owner, say_in};
use crate::failure::{CliExit, Failure};

/// What applying the definitions changed.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Applied {
    pub(crate) settings_changed: bool,
    pub(crate) joined: Vec<String>,
    pub(crate) changed: Vec<String>,
    pub(crate) left: Vec<String>,
    /// Agents whose variables have other values than before.
    pub(crate) env_replaced: Vec<String>,
}

impl Applied {
    pub(crate) fn lines(&self, language: Language) -> Vec<String> {
        let mut lines = Vec::new();
        if self.settings_changed {
            lines.push(say_in(language, "~ settings", "~ 設定"));
        }
        lines.extend(self.joined.iter().map(|id| format!("+ {id}")));
        lines.extend(self.changed.iter().map(|id| format!("~ {id}")));
        lines.extend(
            self.env_replaced.iter().map(|id| say_in(language, format!("~ {id} (env)"), format!("~ {id}（env）"))),
        );
        lines.extend(self.left.iter().map(|id| format!("- {id}")));
        lines
    }
}

/// May the target be taken as it is here, when a project leaves its remote?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeavingRemote {
    /// Only with all that was merged there: or else two targets grow beside each other.
    Pulled,
    AsItIs,
}

/// What the files say.
fn read(
    said_in: Language,
    root: &Path,
    board: &Board,
    leaving_remote: LeavingRemote,
) -> Result<NewDefinitions, Failure> {
    let definitions = Definitions::load(&root.join(".saihai"));
    let definitions = definitions.map_err(|problems| Failure::definitions(&problems, said_in))?;
    let (language, branch) = fallback_settings(root, board);
    let settings = definitions.settings.into_settings(board.settings.id.clone(), language, &branch);
    check_repository(said_in, root, &settings)?;
    if leaving_remote == LeavingRemote::Pulled {
        check_pulled(said_in, root, board, &settings)?;
    }
    Ok(NewDefinitions { settings, agents: definitions.agents, env: definitions.env })
}

/// Would a new project take the definitions that are in this repository?
pub(crate) fn check_new(context: &Context, root: &Path) -> Result<(), Failure> {
    let board = Board::new(Settings::new("new".parse().expect("a project may have this id")));
    let new = read(context.language(), root, &board, LeavingRemote::Pulled)?;
    let events = board::admit(&board, &owner(), &new.command(), SystemClock.now());
    events.map(drop).map_err(|refusal| Failure::refused(&refusal, context.language()))
}

/// What the settings name has to be there.
fn check_repository(said_in: Language, root: &Path, settings: &Settings) -> Result<(), Failure> {
    let wrong =
        |message: String, hint: String| Err(Failure::new(CliExit::Configuration, "bad_configuration", message, hint));
    let git = Git::for_command_line(root);
    let target = &settings.target_branch;
    // A repository without a commit has no branch yet, only the name of its first one.
    let unborn = git.commit("HEAD").is_none() && git.current_branch().as_ref() == Some(target);
    if git.branch_commit(target).is_none() && !unborn {
        return wrong(
            say_in(
                said_in,
                format!("There is no branch {target} to merge into."),
                format!("マージ先のブランチ {target} がありません。"),
            ),
            say_in(
                said_in,
                "Make the branch, or correct `target_branch` in .saihai/config.yaml; nothing was changed.",
                "ブランチを作成するか、.saihai/config.yaml の `target_branch` を直してください。何も変更していません。",
            ),
        );
    }
    match settings.sandbox_read.iter().find(|path| !root.join(path).exists()) {
        Some(missing) => wrong(
            say_in(
                said_in,
                format!("`sandbox.read` names {missing}, which is not there."),
                format!("`sandbox.read` の {missing} は存在しません。"),
            ),
            say_in(
                said_in,
                "Correct it in .saihai/config.yaml; paths are relative to the repository. Nothing was changed.",
                ".saihai/config.yaml を直してください（パスはリポジトリからの相対）。何も変更していません。",
            ),
        ),
        None => Ok(()),
    }
}

/// A project that leaves its remote goes on with the target here, which needs what was merged there.
fn check_pulled(said_in: Language, root: &Path, board: &Board, new: &Settings) -> Result<(), Failure> {
    let Some(remote) = board.settings.remote.as_ref().filter(|_| new.remote.is_none()) else { return Ok(()) };
    let merged = board.sessions.values().rev().find_map(|session| session.workspace.as_ref()?.merged_as());
    let Some(merged) = merged else { return Ok(()) };
    let target = &new.target_branch;
    if Git::for_command_line(root).is_ancestor(merged, &git::branch_ref(target)).unwrap_or(false) {
        return Ok(());
    }
    let commit = &merged[..merged.len().min(10)];
    Err(Failure::new(
        CliExit::Configuration,
        "bad_configuration",
        say_in(
            said_in,
            format!("{target} here does not have {commit}, which was merged into {remote}."),
            format!("{remote} にマージされた {commit} が、ここの {target} にありません。"),
        ),
        say_in(
            said_in,
            format!(
                "Run `git pull {remote} {target}` first; nothing was changed. To go on without that work: `saihai agent \
                 apply --without-pull`."
            ),
            format!(
                "先に `git pull {remote} {target}` を実行してください。何も変更していません。その成果なしで続けるには \
                 `saihai agent apply --without-pull` を使います。"
            ),
        ),
    ))
}

/// Agents begin with the target's last commit, so there has to be one.
pub(crate) fn check_first_commit(opened: &OpenProject) -> Result<(), Failure> {
    let target = &opened.board().settings.target_branch;
    if Git::for_command_line(&opened.path).branch_commit(target).is_some() {
        return Ok(());
    }
    Err(Failure::new(
        CliExit::Configuration,
        "bad_configuration",
        opened.say(
            format!("The branch {target} has no commit yet, and agents begin with its last one."),
            format!("ブランチ {target} にまだコミットがありません。エージェントは最後のコミットから始めます。"),
        ),
        opened.say(
            "Make a first commit, with .saihai/ in it, and run the command again.",
            "最初のコミットを（.saihai/ を含めて）作成してから、もう一度実行してください。",
        ),
    ))
}

/// Language and branch where the files set none. They are chosen at the first apply and then kept, so
/// that another locale or another checked-out branch changes nothing.
fn fallback_settings(root: &Path, board: &Board) -> (Language, String) {
    if board.seq > 0 {
        return (board.settings.language, board.settings.target_branch.clone());
    }
    let branch = Git::for_command_line(root).current_branch().unwrap_or_else(|| "main".into());
    (crate::context::locale_language().unwrap_or(Language::En), branch)
}

pub(crate) async fn apply(opened: &OpenProject) -> Result<Applied, Failure> {
    apply_files(opened, LeavingRemote::Pulled).await
}

/// The same, also if the target here is not the one that a remote had which the project leaves.
pub(crate) async fn apply_without_pull(opened: &OpenProject) -> Result<Applied, Failure> {
    apply_files(opened, LeavingRemote::AsItIs).await
}

async fn apply_files(opened: &OpenProject, leaving_remote: LeavingRemote) -> Result<Applied, Failure> {
    let new = read(opened.language, &opened.path, &opened.board(), leaving_remote)?;
    let env = env_changes(opened, &new).await?;
    let receipt = opened.define(&new).await?;
    Ok(changes_in(&receipt.before, &receipt.events, &env))
}

/// What would change on the board as it is now; nothing is written.
pub(crate) async fn preview(opened: &OpenProject) -> Result<Applied, Failure> {
    let board = opened.board();
    let new = read(opened.language, &opened.path, &board, LeavingRemote::Pulled)?;
    let events = board::admit(&board, &owner(), &new.command(), opened.now());
    let events = events.map_err(|refusal| opened.refusal(refusal))?;
    Ok(changes_in(&board, &events, &env_changes(opened, &new).await?))
}

async fn env_changes(opened: &OpenProject, new: &NewDefinitions) -> Result<Vec<AgentId>, Failure> {
    opened.project.changed_env(new).await.map_err(|error| opened.failure(error))
}

fn changes_in(before: &Board, events: &[board::Event], env: &[AgentId]) -> Applied {
    let mut applied = Applied::default();
    for event in events {
        match &event.what {
            EventKind::ProjectConfigured { .. } => applied.settings_changed = true,
            EventKind::RosterApplied { present, left } => {
                for spec in present {
                    let known = before.active_agent(&spec.id).is_some();
                    if known { &mut applied.changed } else { &mut applied.joined }.push(spec.id.to_string());
                }
                applied.left.extend(left.iter().map(ToString::to_string));
            }
            _ => {}
        }
    }
    // Whoever joins, leaves or changes otherwise is named already.
    let named = |id: &String| [&applied.joined, &applied.changed, &applied.left].iter().any(|list| list.contains(id));
    applied.env_replaced = env.iter().map(ToString::to_string).filter(|id| !named(id)).collect();
    applied
}
