//! Which files did `workspace.setup` make the last time, so that it need not make them again (R15)?
//!
//! The owner names what a setup depends on (`workspace.inputs`). While these files are the same in the target, and the
//! command is, its files are copied into the next new workspace. They were made by merged code alone; agents get copies.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use board::WorkspaceSetup;
use git::{AsyncGit, GitError};
use serde::{Deserialize, Serialize};

use crate::host::RunnerHost;
use crate::remove::remove_tree;
use crate::scope::Patterns;

/// How many are kept, of those used last.
const KEPT: usize = 3;

const INDEX: &str = "index.json";
const FILES: &str = "files";

/// What a setup depends on, as far as its owner says.
#[derive(Clone, Debug)]
pub(crate) struct PreparedFiles {
    directory: PathBuf,
}

/// What is kept beside the files.
#[derive(Debug, Serialize, Deserialize)]
struct Index {
    /// Files, and directories as wholes, in the workspace.
    paths: Vec<PathBuf>,
    /// Patterns that keep those out of commits that no `.gitignore` names.
    made: Vec<String>,
}

impl PreparedFiles {
    /// Where the files of this setup on this commit are kept; `None` if its owner did not say what it depends on.
    pub(crate) async fn of(host: &RunnerHost, setup: &WorkspaceSetup, commit: &str) -> Result<Option<Self>, GitError> {
        if setup.inputs.is_empty() {
            return Ok(None);
        }
        let patterns = Patterns::new(&setup.inputs);
        let main = AsyncGit::in_repository(&host.repository);
        let mut key = blake3::Hasher::new();
        key.update(setup.command.as_bytes()).update(b"\0");
        for entry in main.output(&["ls-tree", "-r", "-z", commit]).await?.stdout.split(|byte| *byte == 0) {
            // "MODE TYPE OBJECT\tPATH"
            let path = entry.iter().position(|byte| *byte == b'\t').map(|tab| &entry[tab + 1..]);
            if path.is_some_and(|path| patterns.matches(&String::from_utf8_lossy(path))) {
                key.update(entry).update(b"\0");
            }
        }
        let name = key.finalize().to_hex();
        Ok(Some(Self { directory: host.paths.caches().join("prepared").join(name.as_str()) }))
    }

    /// Copies the files into a workspace that nobody has worked in; `None` if there are none yet.
    pub(crate) fn copy_to(&self, tree: &Path) -> io::Result<Option<Vec<String>>> {
        let Ok(index) = fs::read(self.directory.join(INDEX)) else { return Ok(None) };
        let Index { paths, made } = serde_json::from_slice(&index)?;
        for path in &paths {
            copy(&self.directory.join(FILES).join(path), &tree.join(path))?;
        }
        // Used last.
        let _ =
            fs::File::open(self.directory.join(INDEX)).and_then(|file| file.set_modified(std::time::SystemTime::now()));
        Ok(Some(made))
    }

    /// Keeps what a setup has made in a workspace. Two may do so at once; one of them stays.
    pub(crate) fn keep(&self, tree: &Path, paths: Vec<PathBuf>, made: &[String]) -> io::Result<()> {
        let above = self.directory.parent().unwrap_or(&self.directory);
        fs::create_dir_all(above)?;
        let aside = tempfile::Builder::new().prefix(".new-").tempdir_in(above)?;
        for path in &paths {
            copy(&tree.join(path), &aside.path().join(FILES).join(path))?;
        }
        let index = serde_json::to_vec(&Index { paths, made: made.to_vec() })?;
        fs::write(aside.path().join(INDEX), index)?;
        if !self.directory.exists() {
            let _ = fs::rename(aside.path(), &self.directory);
        }
        // What is left of it may be large, and deep.
        remove_tree(aside.path())?;
        forget_old(above)
    }
}

/// The paths in a listing of git's that are inside of the workspace.
pub(crate) fn listed_paths(listing: &[u8]) -> Vec<PathBuf> {
    let paths = listing.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let inside = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).filter(inside).collect()
}

/// With all that is below, links as links, and without copying what the file system can share.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(above) = to.parent() {
        fs::create_dir_all(above)?;
    }
    let output = std::process::Command::new("cp")
        .args(["-a", "--reflink=auto", "--no-target-directory", "--"])
        .args([from, to])
        .stdin(std::process::Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

fn forget_old(above: &Path) -> io::Result<()> {
    let used = |path: &Path| path.join(INDEX).metadata().and_then(|found| found.modified()).ok();
    let mut found: Vec<_> = fs::read_dir(above)?.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| used(path).is_some());
    found.sort_by_key(|path| std::cmp::Reverse(used(path)));
    for old in found.iter().skip(KEPT) {
        remove_tree(old)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(root: &Path, name: &str) -> PreparedFiles {
        PreparedFiles { directory: root.join("prepared").join(name) }
    }

    /// R15: what was made is there again, with its links and modes; the copy is the workspace's own; few are kept.
    #[test]
    fn files_are_kept_and_copied() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        let (first, second) = (root.join("first"), root.join("second"));
        fs::create_dir_all(first.join("a/node_modules/.bin")).unwrap();
        fs::create_dir_all(&second).unwrap();
        fs::write(first.join("a/node_modules/tool.js"), "tool").unwrap();
        std::os::unix::fs::symlink("../tool.js", first.join("a/node_modules/.bin/tool")).unwrap();
        let files = prepared(root, "one");
        assert_eq!(files.copy_to(&second).unwrap(), None);
        let paths = listed_paths(b"a/node_modules/\0../outside\0/etc\0");
        assert_eq!(paths, [PathBuf::from("a/node_modules/")]);
        files.keep(&first, paths, &["/made".into()]).unwrap();
        assert_eq!(files.copy_to(&second).unwrap(), Some(vec!["/made".into()]));
        assert_eq!(fs::read_to_string(second.join("a/node_modules/.bin/tool")).unwrap(), "tool");
        assert!(second.join("a/node_modules/.bin/tool").is_symlink());
        fs::write(second.join("a/node_modules/tool.js"), "poison").unwrap();
        fs::remove_dir_all(second.join("a")).unwrap();
        files.copy_to(&second).unwrap();
        assert_eq!(fs::read_to_string(second.join("a/node_modules/tool.js")).unwrap(), "tool");

        for name in ["two", "three", "four", "five"] {
            prepared(root, name).keep(&first, Vec::new(), &[]).unwrap();
        }
        assert_eq!(fs::read_dir(root.join("prepared")).unwrap().count(), KEPT);
    }
}
