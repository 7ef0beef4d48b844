//! A repository to try things in.

use std::path::Path;

use git::Git;
use tempfile::TempDir;

/// One commit on `main`, which is checked out.
pub(crate) struct Scratch {
    directory: TempDir,
    pub(crate) git: Git,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let git = Git::in_repository(directory.path());
        git.run(&["init", "--quiet", "--initial-branch=main"]).unwrap();
        let scratch = Self { directory, git };
        scratch.commit("README");
        scratch
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        self.git.run(arguments).unwrap()
    }

    /// Writes a file and commits it on the branch that is checked out.
    pub(crate) fn commit(&self, file: &str) -> String {
        std::fs::write(self.path().join(file), format!("{file}\n")).unwrap();
        self.run(&["add", "."]);
        self.run(&["commit", "--quiet", "--message", file]);
        self.head()
    }

    /// The same on another branch, which is made where there is none.
    pub(crate) fn commit_on(&self, branch: &str, file: &str) -> String {
        if self.git.branch_commit(branch).is_none() {
            self.run(&["branch", branch]);
        }
        self.run(&["checkout", "--quiet", branch]);
        let commit = self.commit(file);
        self.run(&["checkout", "--quiet", "main"]);
        commit
    }

    pub(crate) fn head(&self) -> String {
        self.git.commit("HEAD").unwrap()
    }
}
