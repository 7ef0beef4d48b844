//! Where does an agent work? In a private copy of the repository, for one task (R1).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use board::{AgentSpec, Isolation};
use git::{AsyncGit, GitError};
use serde::{Deserialize, Serialize};

use crate::client_files::{ClientFile, client_file_sources, files_below};
use crate::paths::RunnerPaths;
use crate::prepared::listed_paths;
use crate::sandbox::Policy;
use crate::scope;
use crate::workspace_git::Author;

/// The file that is written last: without it the workspace was never finished.
const READY: &str = "ready";

/// The file that says by which command the workspace was set up, and what that made.
const SET_UP: &str = "set-up";

/// What `workspace.setup` has done in a workspace (R15).
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SetupRecord {
    command: String,
    /// Patterns for the files that it made and that git would take for the agent's.
    made: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("the workspace cannot be made: {0}")]
    Git(#[from] GitError),
    #[error("the workspace cannot be made: {path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error(
        "the workspace cannot be made: {} is there already, and is somebody else's; `git worktree remove` removes it",
        .0.display()
    )]
    InTheWay(PathBuf),
}

/// A working copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The files.
    pub tree: PathBuf,
    /// Its directory, in which no agent can write but below `tree` and `git`.
    root: PathBuf,
    /// What git keeps of it. An agent may have written anything there, so nothing of ours runs git on it.
    pub git: PathBuf,
    /// Files for the client, which we copied into it and which are never part of the work.
    pub client_files: Vec<String>,
    isolation: Isolation,
}

/// What a workspace is made from.
#[derive(Clone, Copy, Debug)]
pub struct WorkspaceSpec<'a> {
    /// The user's repository.
    pub repository: &'a Path,
    /// Where its directories are made.
    pub root: &'a Path,
    /// The branch to be on; `None` for a copy to read.
    pub branch: Option<&'a str>,
    pub base: &'a str,
    pub agent: &'a AgentSpec,
    pub isolation: Isolation,
}

impl Workspace {
    /// The paths of a workspace, whether it exists or not.
    pub fn at(root: &Path, repository: &Path, isolation: Isolation) -> Self {
        let tree = match isolation {
            Isolation::Clone => root.join("work"),
            Isolation::Worktree => {
                repository.join(".worktrees").join(root.file_name().unwrap_or_else(|| "task".as_ref()))
            }
        };
        Self { tree, root: root.to_owned(), git: root.join("git"), client_files: Vec::new(), isolation }
    }

    /// Makes the workspace, or finds it as the last session left it.
    pub async fn prepare(spec: &WorkspaceSpec<'_>) -> Result<Self, WorkspaceError> {
        let mut workspace = Self::at(spec.root, spec.repository, spec.isolation);
        let ready = spec.root.join(READY);
        if !ready.exists() {
            workspace.discard_unfinished(spec).await?;
            make_directory(spec.root)?;
            match spec.isolation {
                Isolation::Clone => workspace.clone_repository(spec).await?,
                Isolation::Worktree => workspace.add_worktree(spec).await?,
            }
            write(&ready, b"")?;
        }
        workspace.unlock();
        workspace.client_files = workspace.copy_client_files(spec)?;
        workspace.exclude(spec)?;
        Ok(workspace)
    }

    /// A git that was killed leaves lock files, with which every later one would fail. To be called when nobody works
    /// here.
    pub(crate) fn unlock(&self) {
        let of_git = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "lock");
        for lock in files_below(&self.git).iter().filter(|path| of_git(path) && !path.starts_with("objects")) {
            let _ = fs::remove_file(self.git.join(lock));
        }
    }

    /// No agent has seen it: it holds no work.
    async fn discard_unfinished(&self, spec: &WorkspaceSpec<'_>) -> Result<(), WorkspaceError> {
        if spec.isolation == Isolation::Worktree && self.tree.exists() {
            // Whoever works by hand may have made it; ours is made after its root.
            if !spec.root.exists() {
                return Err(WorkspaceError::InTheWay(self.tree.clone()));
            }
            let tree = self.tree.to_string_lossy();
            AsyncGit::in_repository(spec.repository).run(&["worktree", "remove", "--force", "--", &tree]).await?;
        }
        remove_all(spec.root)
    }

    async fn clone_repository(&self, spec: &WorkspaceSpec<'_>) -> Result<(), WorkspaceError> {
        init_sharing_objects(spec.repository, &self.git, &self.tree).await?;
        self.configure(spec.agent)?;
        self.check_out(spec).await
    }

    async fn add_worktree(&self, spec: &WorkspaceSpec<'_>) -> Result<(), WorkspaceError> {
        let main = AsyncGit::in_repository(spec.repository);
        let tree = self.tree.to_string_lossy();
        exclude_worktrees(&main.path("info/exclude").await?)?;
        main.run(&["worktree", "prune"]).await?;
        let start = ["worktree", "add", "--quiet", "--no-checkout"];
        match spec.branch {
            Some(branch) => main.run(&[&start[..], &["-B", branch, "--", &tree, spec.base]].concat()).await?,
            None => main.run(&[&start[..], &["--detach", "--", &tree, spec.base]].concat()).await?,
        };
        let own = AsyncGit::in_repository(&self.tree);
        if let Some(patterns) = scope::sparse(&spec.agent.scope) {
            let set = ["sparse-checkout", "set", "--no-cone", "--stdin"];
            own.run_with(&set, &(patterns.join("\n") + "\n")).await?;
        }
        own.run(&["reset", "--quiet", "--hard"]).await?;
        Ok(())
    }

    async fn check_out(&self, spec: &WorkspaceSpec<'_>) -> Result<(), WorkspaceError> {
        if let Some(patterns) = scope::sparse(&spec.agent.scope) {
            make_directory(&self.git.join("info"))?;
            write(&self.git.join("info/sparse-checkout"), (patterns.join("\n") + "\n").as_bytes())?;
        }
        let own = AsyncGit::from(git::Git::with_work_tree(&self.git, &self.tree));
        match spec.branch {
            Some(branch) => own.run(&["checkout", "--quiet", "-B", branch, spec.base]).await?,
            None => own.run(&["checkout", "--quiet", "--detach", spec.base]).await?,
        };
        Ok(())
    }

    /// Commits need an identity, which agents do not bring (FACTS), and no maintenance may run in the background.
    fn configure(&self, spec: &AgentSpec) -> Result<(), WorkspaceError> {
        let path = self.git.join("config");
        let mut config = fs::read_to_string(&path).unwrap_or_default();
        let Author { name, email } = Author::of(spec);
        config.push_str(&format!(
            "[user]\n\tname = \"{name}\"\n\temail = \"{email}\"\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
        ));
        if scope::sparse(&spec.scope).is_some() {
            config.push_str("[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = false\n");
        }
        write(&path, config.as_bytes())
    }

    /// Copies `.saihai/clients/CLIENT/`, and the folders in `.saihai/skills/` that are called like the agent's skills, to
    /// where the client looks, but not over files of the repository.
    fn copy_client_files(&self, spec: &WorkspaceSpec<'_>) -> Result<Vec<String>, WorkspaceError> {
        let mut names = Vec::new();
        for ClientFile { from, name } in client_file_sources(spec.repository, spec.agent) {
            let to = self.tree.join(&name);
            // What is tracked there is the repository's own.
            let ours = fs::symlink_metadata(&to).is_err();
            if ours && self.contains(&to) {
                make_directory(to.parent().unwrap_or(&self.tree))?;
                fs::copy(from, &to).map_err(|error| WorkspaceError::File { path: to, error })?;
            }
            names.push(name);
        }
        Ok(names)
    }

    /// Has this command set the workspace up already?
    pub(crate) fn was_set_up_by(&self, command: &str) -> bool {
        self.setup_record().command == command
    }

    fn setup_record(&self) -> SetupRecord {
        let record = fs::read(self.root.join(SET_UP)).ok();
        record.and_then(|record| serde_json::from_slice(&record).ok()).unwrap_or_default()
    }

    /// Takes back what a setup has changed of the repository's files, and names what it has made besides. No agent has
    /// been here yet.
    pub(crate) async fn files_of_setup(&self) -> Result<Vec<String>, WorkspaceError> {
        if self.isolation == Isolation::Worktree {
            return Ok(Vec::new());
        }
        let git = AsyncGit::from(git::Git::with_work_tree(&self.git, &self.tree));
        git.run(&["reset", "--quiet", "--hard"]).await?;
        let list = ["ls-files", "--others", "--exclude-standard", "--directory", "-z"];
        let listed = git.output(&list).await?.stdout;
        let names = listed.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        Ok(names.filter(|name| !name.is_empty()).map(scope::literal_pattern).collect())
    }

    /// Everything in a workspace without an agent that git does not know, ignored or not; directories as wholes.
    pub(crate) async fn untracked(&self) -> Result<Vec<PathBuf>, WorkspaceError> {
        let git = AsyncGit::from(git::Git::with_work_tree(&self.git, &self.tree));
        let listed = git.output(&["ls-files", "--others", "--directory", "-z"]).await?.stdout;
        Ok(listed_paths(&listed))
    }

    /// Remembers that a setup has succeeded, and keeps what it made out of commits.
    pub(crate) fn record_setup(&self, command: &str, made: Vec<String>) -> Result<(), WorkspaceError> {
        let record = SetupRecord { command: command.to_owned(), made };
        let exclude = self.git.join("info/exclude");
        if self.isolation == Isolation::Clone && !record.made.is_empty() {
            let lines = fs::read_to_string(&exclude).unwrap_or_default();
            write(&exclude, (lines + &record.made.join("\n") + "\n").as_bytes())?;
        }
        let record = serde_json::to_vec(&record).expect("a record of text is JSON");
        write(&self.root.join(SET_UP), &record)
    }

    /// Is this path inside the workspace, also if an agent has put links on the way?
    fn contains(&self, path: &Path) -> bool {
        let exists = path.ancestors().find_map(|above| fs::canonicalize(above).ok());
        let tree = fs::canonicalize(&self.tree).ok();
        exists.zip(tree).is_some_and(|(path, tree)| path.starts_with(tree))
    }

    /// Keeps client files and scratch files out of commits, although no `.gitignore` names them.
    fn exclude(&self, spec: &WorkspaceSpec<'_>) -> Result<(), WorkspaceError> {
        if spec.isolation == Isolation::Worktree {
            return Ok(());
        }
        let client_files = self.client_files.iter().map(|path| format!("/{path}"));
        let made = self.setup_record().made;
        let lines: Vec<_> = client_files.chain(spec.agent.scope.scratch.iter().cloned()).chain(made).collect();
        let info = self.git.join("info");
        // The agent may have replaced the directory or the file by a link, and we would write elsewhere.
        if !fs::symlink_metadata(&info).is_ok_and(|found| found.is_dir()) {
            let _ = fs::remove_file(&info);
        }
        make_directory(&info)?;
        let (aside, path) = (info.join("exclude.saihai"), info.join("exclude"));
        for old in [&aside, &path] {
            if fs::symlink_metadata(old).is_ok_and(|found| found.is_dir()) {
                remove_all(old)?;
            } else {
                let _ = fs::remove_file(old);
            }
        }
        write(&aside, (lines.join("\n") + "\n").as_bytes())?;
        fs::rename(&aside, &path).map_err(|error| WorkspaceError::File { path, error })
    }

    /// What an agent that works here may touch.
    pub(crate) async fn policy(&self, repository: &Path, spec: &AgentSpec) -> Result<Policy, WorkspaceError> {
        let mut policy = self.reading(repository).await?;
        for directory in scope::directories(&spec.scope.write) {
            policy.write.extend(self.writable(&directory)?);
        }
        for pattern in &spec.scope.scratch {
            let name = pattern.trim_matches('/');
            if !name.is_empty() && !name.contains(['*', '?', '[', '!', '\\']) {
                policy.write.extend(self.writable(Path::new(name))?);
            }
        }
        policy.write.push(self.git.clone());
        Ok(policy)
    }

    /// The same for one that may change every file: git itself, when it merges.
    pub(crate) async fn policy_for_git(&self, repository: &Path) -> Result<Policy, WorkspaceError> {
        let mut policy = self.reading(repository).await?;
        policy.write.extend([self.tree.clone(), self.git.clone()]);
        Ok(policy)
    }

    /// The same for a setup, which may make files anywhere, but no commits.
    pub(crate) async fn policy_for_setup(&self, repository: &Path) -> Result<Policy, WorkspaceError> {
        let mut policy = self.reading(repository).await?;
        policy.write.push(self.tree.clone());
        Ok(policy)
    }

    async fn reading(&self, repository: &Path) -> Result<Policy, WorkspaceError> {
        let mut policy = Policy::system();
        let main = AsyncGit::in_repository(repository);
        policy.execute.push(self.tree.clone());
        policy.read.extend(main.object_directories().await?);
        policy.read.push(self.git.clone());
        if self.isolation == Isolation::Worktree {
            // Its refs and objects are the repository's own: that is what this mode means.
            policy.write.push(main.layout().await?.common_directory);
        }
        Ok(policy)
    }

    /// A directory that may be written to. It is made if it is missing, because Landlock can only allow what
    /// exists; `None` if a link leads out of the workspace.
    fn writable(&self, directory: &Path) -> Result<Option<PathBuf>, WorkspaceError> {
        let path = self.tree.join(directory);
        if !self.contains(&path) {
            return Ok(None);
        }
        make_directory(&path)?;
        Ok(fs::canonicalize(&path).ok().filter(|path| self.contains(path)))
    }

    pub fn exists(&self) -> bool {
        self.tree.exists()
    }
}

/// Makes a repository that has the objects of another and nothing else of it: what `clone --shared` does,
/// without copying refs, and also where the other is shallow.
pub(crate) async fn init_sharing_objects(from: &Path, git: &Path, tree: &Path) -> Result<(), WorkspaceError> {
    let main = AsyncGit::in_repository(from);
    let layout = main.layout().await?;
    let format = format!("--object-format={}", layout.object_format);
    make_directory(tree)?;
    let git_directory = format!("--separate-git-dir={}", git.display());
    let init = ["init", "--quiet", "--template=", &format, &git_directory, "--", &tree.to_string_lossy()];
    AsyncGit::in_repository(tree).run(&init).await?;
    let objects = main.object_directories().await?;
    let lines: String = objects.iter().map(|path| format!("{}\n", path.display())).collect();
    make_directory(&git.join("objects/info"))?;
    write(&git.join("objects/info/alternates"), lines.as_bytes())?;
    let shallow = layout.shallow;
    if shallow.exists() {
        fs::copy(&shallow, git.join("shallow")).map_err(|error| WorkspaceError::File { path: shallow, error })?;
    }
    Ok(())
}

/// The repository's objects are elsewhere now: workspaces that borrow them look there. What an agent has put in the way
/// of a file of ours is left alone, and its workspace with it.
pub fn objects_moved(paths: &RunnerPaths, from: &Path, to: &Path) {
    for entry in fs::read_dir(paths.workspaces()).into_iter().flatten().flatten() {
        let info = entry.path().join("git/objects/info");
        let alternates = info.join("alternates");
        let is_ours = fs::canonicalize(&info).ok()
            == fs::canonicalize(paths.workspaces())
                .ok()
                .map(|root| root.join(entry.file_name()).join("git/objects/info"));
        let is_file = fs::symlink_metadata(&alternates).is_ok_and(|found| found.is_file());
        let Some(text) = (is_ours && is_file).then(|| fs::read_to_string(&alternates).ok()).flatten() else { continue };
        let (from, to) = (from.to_string_lossy(), to.to_string_lossy());
        let moved: String = text
            .lines()
            .map(|line| line.strip_prefix(&*from).map_or_else(|| line.to_owned(), |rest| format!("{to}{rest}")) + "\n")
            .collect();
        let aside = info.join("alternates.saihai");
        let _ = fs::remove_file(&aside);
        if fs::write(&aside, moved).is_ok() {
            let _ = fs::rename(&aside, &alternates);
        }
    }
}

/// Worktrees are no files of the repository that they lie in.
pub fn exclude_worktrees(exclude_file: &Path) -> Result<(), WorkspaceError> {
    let lines = fs::read_to_string(exclude_file).unwrap_or_default();
    if lines.lines().any(|line| line == "/.worktrees/") {
        return Ok(());
    }
    make_directory(exclude_file.parent().unwrap_or(Path::new("/")))?;
    write(exclude_file, format!("{lines}/.worktrees/\n").as_bytes())
}

pub(crate) fn make_directory(path: &Path) -> Result<(), WorkspaceError> {
    fs::create_dir_all(path).map_err(|error| WorkspaceError::File { path: path.to_owned(), error })
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    fs::write(path, bytes).map_err(|error| WorkspaceError::File { path: path.to_owned(), error })
}

/// Removes a directory of ours, whatever an agent made of it.
pub(crate) fn remove_all(path: &Path) -> Result<(), WorkspaceError> {
    crate::remove::remove_tree(path).map_err(|error| WorkspaceError::File { path: path.to_owned(), error })
}
