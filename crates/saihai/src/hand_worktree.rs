//! Where does somebody work who drives a session by hand? In a worktree with what the agent's scope names (C7).

use std::path::{Path, PathBuf};

use board::{Scope, TaskId};
use git::Git;
use runner::WorkspaceError;

/// A worktree of the user's repository, and the git commands that make it.
#[derive(Debug)]
pub(crate) struct HandWorktree {
    repository: PathBuf,
    /// `.worktrees/task-12`, below the repository.
    name: String,
    commands: Vec<Vec<String>>,
}

impl HandWorktree {
    pub(crate) fn new(repository: &Path, task: TaskId, branch: &str, base: &str, scope: &Scope) -> Self {
        let name = format!(".worktrees/task-{}", task.0);
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let exists = Git::for_command_line(repository).branch_commit(branch).is_some();
        let mut add = vec!["worktree", "add"];
        let patterns = runner::scope::sparse(scope);
        if patterns.is_some() {
            add.push("--no-checkout");
        }
        match exists {
            true => add.extend([name.as_str(), branch]),
            false => add.extend(["-b", branch, name.as_str(), base]),
        }
        let mut commands = vec![words(&add)];
        if let Some(patterns) = patterns {
            let mut set = words(&["-C", &name, "sparse-checkout", "set", "--no-cone"]);
            set.extend(patterns);
            commands.push(set);
            commands.push(words(&["-C", &name, "reset", "--quiet", "--hard"]));
        }
        Self { repository: repository.to_owned(), name, commands }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.repository.join(&self.name)
    }

    /// Makes it. Git refuses what is in the way.
    pub(crate) fn make(&self) -> Result<(), WorkspaceError> {
        let git = Git::as_user(&self.repository);
        runner::exclude_worktrees(&git.path("info/exclude")?)?;
        Ok(self.commands.iter().try_for_each(|command| git.run(command).map(drop))?)
    }

    /// The same for people who make it themselves, in a shell in the repository.
    pub(crate) fn commands(&self) -> Vec<String> {
        let quoted = |word: &String| {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
            match word.chars().all(plain) {
                true => word.clone(),
                false => format!("'{}'", word.replace('\'', r"'\''")),
            }
        };
        let line = |command: &Vec<String>| command.iter().map(quoted).collect::<Vec<_>>().join(" ");
        self.commands.iter().map(|command| format!("git {}", line(command))).collect()
    }
}
