//! What can be asked of a repository? Nothing here changes a ref or a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::command::Git;
use crate::error::GitError;
use crate::process::yes_or_no;
use crate::refs::branch_ref;

impl Git {
    /// Paths, which the command separates by zero bytes.
    pub fn paths<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<String>, GitError> {
        let output = self.run(arguments)?;
        Ok(output.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    /// The commit that a name means, if there is one.
    pub fn commit(&self, name: &str) -> Option<String> {
        let name = format!("{name}^{{commit}}");
        self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).ok()
    }

    /// The commit that a branch points to.
    pub fn branch_commit(&self, branch: &str) -> Option<String> {
        self.commit(&branch_ref(branch))
    }

    /// The branch that is checked out, also in a repository without commits.
    pub fn current_branch(&self) -> Option<String> {
        self.run(&["symbolic-ref", "--quiet", "--short", "HEAD"]).ok()
    }

    /// The root of the working tree around the directory.
    pub fn root(&self) -> Option<PathBuf> {
        self.run(&["rev-parse", "--show-toplevel"]).ok().map(PathBuf::from)
    }

    /// What git says of itself; `None` if it is not installed.
    pub fn version(&self) -> Option<String> {
        self.run(&["--version"]).ok()
    }

    pub fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, GitError> {
        let arguments = ["merge-base", "--is-ancestor", older, newer];
        yes_or_no(&arguments, &self.output(&arguments)?)
    }

    /// The last commit that two lines of work have in common.
    pub fn fork(&self, one: &str, other: &str) -> Option<String> {
        self.run(&["merge-base", "--end-of-options", one, other]).ok()
    }

    /// What changed between two commits, at most so many bytes; no program of the user's is run for it.
    pub fn diff(&self, from: &str, to: &str, most: usize) -> Result<Vec<u8>, GitError> {
        let range =
            ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--end-of-options", from, to];
        self.first_bytes(&range, most)
    }

    /// A file of the git directory, as an absolute path.
    pub fn path(&self, name: &str) -> Result<PathBuf, GitError> {
        self.run(&["rev-parse", "--path-format=absolute", "--git-path", name]).map(PathBuf::from)
    }

    /// The git directory that all working trees of the repository share.
    pub fn common_directory(&self) -> Result<PathBuf, GitError> {
        self.run(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).map(PathBuf::from)
    }

    /// Where its objects are: its own, and those it borrows.
    pub fn object_directories(&self) -> Result<Vec<PathBuf>, GitError> {
        let mut found = vec![self.path("objects")?];
        let mut next = 0;
        while let Some(objects) = found.get(next).cloned() {
            next += 1;
            let alternates = std::fs::read_to_string(objects.join("info/alternates")).unwrap_or_default();
            for line in alternates.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let path = objects.join(Path::new(line));
                let path = std::fs::canonicalize(&path).unwrap_or(path);
                if !found.contains(&path) {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }
}
