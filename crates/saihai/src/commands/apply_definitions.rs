//! How do the files of `.saihai/` reach the board? Declaratively: applying them twice changes nothing.

use board::{AgentId, EventKind, Language, Settings};
use control::NewDefinitions;
use definitions::Definitions;
use git::Git;
use serde::Serialize;

use crate::context::OpenProject;
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
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.settings_changed {
            lines.push("~ settings".to_owned());
        }
        lines.extend(self.joined.iter().map(|id| format!("+ {id}")));
        lines.extend(self.changed.iter().map(|id| format!("~ {id}")));
        lines.extend(self.env_replaced.iter().map(|id| format!("~ {id} (env)")));
        lines.extend(self.left.iter().map(|id| format!("- {id}")));
        lines
    }
}

/// What the files say.
fn read(opened: &OpenProject) -> Result<NewDefinitions, Failure> {
    let definitions = Definitions::load(&opened.saihai_dir()).map_err(|problems| Failure::definitions(&problems))?;
    let (language, branch) = fallback_settings(opened);
    let settings = definitions.settings.into_settings(opened.id.clone(), language, &branch);
    check_repository(opened, &settings)?;
    Ok(NewDefinitions { settings, agents: definitions.agents, env: definitions.env })
}

/// What the settings name has to be there.
fn check_repository(opened: &OpenProject, settings: &Settings) -> Result<(), Failure> {
    let wrong =
        |message: String, hint: &str| Err(Failure::new(CliExit::Configuration, "bad_configuration", message, hint));
    let git = Git::for_command_line(&opened.path);
    let target = &settings.target_branch;
    // A repository without a commit has no branch yet, only the name of its first one.
    let unborn = git.commit("HEAD").is_none() && git.current_branch().as_ref() == Some(target);
    if git.branch_commit(target).is_none() && !unborn {
        let hint = "Make the branch, or correct `target_branch` in .saihai/config.yaml; nothing was changed.";
        return wrong(format!("There is no branch {target} to merge into."), hint);
    }
    match settings.sandbox_read.iter().find(|path| !opened.path.join(path).exists()) {
        Some(missing) => wrong(
            format!("`sandbox.read` names {missing}, which is not there."),
            "Correct it in .saihai/config.yaml; paths are relative to the repository. Nothing was changed.",
        ),
        None => Ok(()),
    }
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
fn fallback_settings(opened: &OpenProject) -> (Language, String) {
    let board = opened.board();
    if board.seq > 0 {
        return (board.settings.language, board.settings.target_branch.clone());
    }
    let branch = Git::for_command_line(&opened.path).current_branch().unwrap_or_else(|| "main".into());
    (crate::context::locale_language(), branch)
}

pub(crate) async fn apply(opened: &OpenProject) -> Result<Applied, Failure> {
    let new = read(opened)?;
    let env = env_changes(opened, &new).await?;
    let receipt = opened.define(&new).await?;
    Ok(changes_in(&receipt.before, &receipt.events, &env))
}

/// What would change on the board as it is now; nothing is written.
pub(crate) async fn preview(opened: &OpenProject) -> Result<Applied, Failure> {
    let new = read(opened)?;
    let board = opened.board();
    let events = board::admit(&board, &crate::context::owner(), &new.command(), opened.now());
    let events = events.map_err(|refusal| opened.refusal(refusal))?;
    Ok(changes_in(&board, &events, &env_changes(opened, &new).await?))
}

async fn env_changes(opened: &OpenProject, new: &NewDefinitions) -> Result<Vec<AgentId>, Failure> {
    opened.project.changed_env(new).await.map_err(|error| opened.failure(error))
}

fn changes_in(before: &board::Board, events: &[board::Event], env: &[AgentId]) -> Applied {
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
