//! What can be asked of a repository? Nothing here changes a ref or a file.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::command::Git;
use crate::error::GitError;
use crate::process::yes_or_no;
use crate::refs::branch_ref;

/// Where a repository keeps what its working trees share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// `sha1` or `sha256`.
    pub object_format: String,
    pub objects: PathBuf,
    /// There only if the repository is shallow.
    pub shallow: PathBuf,
    pub common_directory: PathBuf,
}

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

    /// The commits of those of these refs that exist, by their full names. One command for all of them.
    pub fn refs(&self, names: &[&str]) -> Result<BTreeMap<String, String>, GitError> {
        let output = self.run(&[&["for-each-ref", "--format=%(objectname) %(refname)"], names].concat())?;
        let pairs = output.lines().filter_map(|line| line.split_once(' '));
        Ok(pairs.map(|(commit, name)| (name.to_owned(), commit.to_owned())).collect())
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

    /// Where the repository keeps what it shares. Asked once for each repository: it does not move while we look.
    pub fn layout(&self) -> Result<Layout, GitError> {
        static KNOWN: Mutex<BTreeMap<PathBuf, Layout>> = Mutex::new(BTreeMap::new());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = self.directory().to_owned();
        if let Some(layout) = known().get(&directory).filter(|layout| layout.objects.is_dir()).cloned() {
            return Ok(layout);
        }
        let format = self.run(&["rev-parse", "--show-object-format"])?;
        let paths = ["--git-path", "objects", "--git-path", "shallow", "--git-common-dir"];
        let paths = self.run(&[&["rev-parse", "--path-format=absolute"], &paths[..]].concat())?;
        let mut lines = paths.lines().map(PathBuf::from);
        let mut next = || lines.next().unwrap_or_default();
        let layout = Layout { object_format: format, objects: next(), shallow: next(), common_directory: next() };
        known().insert(directory, layout.clone());
        Ok(layout)
    }

    /// A file of the git directory, as an absolute path.
    pub fn path(&self, name: &str) -> Result<PathBuf, GitError> {
        self.run(&["rev-parse", "--path-format=absolute", "--git-path", name]).map(PathBuf::from)
    }

    /// Where its objects are: its own, and those it borrows.
    pub fn object_directories(&self) -> Result<Vec<PathBuf>, GitError> {
        let mut found = vec![self.layout()?.objects];
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
