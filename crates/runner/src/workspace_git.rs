//! What is done in a workspace on an agent's behalf? Inside its sandbox: its git directory is hostile.
//!
//! The runner does not believe the reply: the commits are fetched from a file, their objects are checked,
//! and the verdict comes from the user's own repository.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use board::{AgentSpec, Scope};
use git::Git;
use serde::{Deserialize, Serialize};

use crate::scope::{Patterns, Writable};

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorkspaceRequest {
    pub(crate) action: WorkspaceAction,
    /// The author of commits, whatever the repository's configuration says.
    pub(crate) author: Author,
    /// Where the reply and the commits go.
    pub(crate) out: PathBuf,
}

/// Under which name an agent's work is committed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Author {
    pub(crate) name: String,
    pub(crate) email: String,
}

impl Author {
    pub(crate) fn of(spec: &AgentSpec) -> Self {
        let name = spec.name.replace(['\\', '"', '\n'], " ");
        Self { name, email: format!("{}@saihai.localhost", spec.id) }
    }

    /// For git to take it as author and committer, whatever is configured.
    pub(crate) fn identity(self) -> [(String, String); 4] {
        let variable = |whose: &str, what: &str| format!("GIT_{whose}_{what}");
        [
            (variable("AUTHOR", "NAME"), self.name.clone()),
            (variable("AUTHOR", "EMAIL"), self.email.clone()),
            (variable("COMMITTER", "NAME"), self.name),
            (variable("COMMITTER", "EMAIL"), self.email),
        ]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorkspaceAction {
    /// Commit what is left uncommitted and in scope (V4), and write the commits to a bundle.
    BundleCommits { message: String, scope: Scope, client_files: Vec<String>, known: Vec<String> },
    /// Say what is there, and change nothing.
    Inspect,
    /// Undo commits, the newest first, and leave the conflicts for the agent (V14).
    Revert { commits: Vec<String> },
    /// Merge the target and leave the conflicts for the agent (V3).
    MergeTarget { target: String },
}

/// What came of it, for the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorkspaceReply {
    pub(crate) head: String,
    /// Committed for the agent.
    pub(crate) committed: Vec<String>,
    /// Left uncommitted: not in scope, or with conflict markers in it.
    pub(crate) left: Vec<String>,
    pub(crate) bundled: bool,
    /// How long git took for it. An agent could falsify it, so it serves measurements only.
    #[serde(default)]
    pub(crate) git_micros: u64,
}

/// The most that is read of a file or of a reply.
const MOST_BYTES: u64 = 64 << 20;

/// The reply to a request. A program of the agent's may have put anything in its place.
pub(crate) fn read_reply(out: &Path) -> io::Result<WorkspaceReply> {
    let mut text = Vec::new();
    plain_file(&reply_file(out))?.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// A file, and no link, directory or pipe.
fn plain_file(path: &Path) -> io::Result<fs::File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other(format!("{} is not a file", path.display())));
    }
    fs::File::open(path)
}

pub(crate) fn bundle_file(out: &Path) -> PathBuf {
    out.join("commits.bundle")
}

fn reply_file(out: &Path) -> PathBuf {
    out.join("answer.json")
}

/// Carries out the request that comes through stdin, in the current directory.
pub(crate) fn run_workspace_request() -> ExitCode {
    let run = || -> io::Result<()> {
        let request: WorkspaceRequest = serde_json::from_reader(io::stdin())?;
        let reply = match &request.action {
            WorkspaceAction::BundleCommits { message, scope, client_files, known } => {
                bundle_commits(&request.out, &request.author, message, scope, client_files, known)?
            }
            WorkspaceAction::Inspect => inspect()?,
            WorkspaceAction::Revert { commits } => revert(&request.author, commits)?,
            WorkspaceAction::MergeTarget { target } => merge_target(&request.author, target)?,
        };
        let git_micros = u64::try_from(Git::time_spent().as_micros()).unwrap_or(u64::MAX);
        fs::write(reply_file(&request.out), serde_json::to_vec(&WorkspaceReply { git_micros, ..reply })?)
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Git in the current directory. Neither hooks nor monitors run: they would be confined as well, and
/// still waste time.
fn workspace_git() -> Git {
    Git::in_sandbox().inheriting(&["HOME", "TMPDIR", crate::process::MARKER])
}

fn run(arguments: &[&str]) -> io::Result<String> {
    workspace_git().run(arguments).map_err(io::Error::other)
}

fn run_as(author: &Author, arguments: &[&str]) -> io::Result<String> {
    workspace_git().with_author(&author.name, &author.email).run(arguments).map_err(io::Error::other)
}

/// Is there nothing by this name, other than what a link leads to?
fn is_removed(path: &Path) -> bool {
    let beyond_link = path.ancestors().skip(1).any(|above| !above.as_os_str().is_empty() && above.is_symlink());
    beyond_link || path.symlink_metadata().is_err()
}

fn bundle_commits(
    out: &Path,
    author: &Author,
    message: &str,
    scope: &Scope,
    client_files: &[String],
    known: &[String],
) -> io::Result<WorkspaceReply> {
    let (writable, scratch) = (Writable::new(scope, client_files), Patterns::new(&scope.scratch));
    let ours = |path: &OsString| {
        let path = path.to_string_lossy();
        writable.allows(&path) && !scratch.matches(&path)
    };
    let changes = uncommitted()?;
    // What is staged whole needs no `git add`, which would fail for a path whose removal is staged.
    let staged: BTreeSet<_> = changes.iter().filter(|change| change.staged).map(|change| change.path.clone()).collect();
    let (commit, mut left): (Vec<_>, Vec<_>) = changes.into_iter().map(|change| change.path).partition(ours);
    let (unresolved, commit): (Vec<_>, Vec<_>) = commit.into_iter().partition(|path| has_markers(path));
    left.extend(unresolved);
    let unstaged = commit.iter().filter(|path| !staged.contains(*path));
    let (removed, added): (Vec<_>, Vec<_>) = unstaged.partition(|path| is_removed(Path::new(path)));
    // `git add` refuses a removed file whose directory is a link by now.
    for (paths, command) in [
        (removed, &["update-index", "--force-remove", "-z", "--stdin"][..]),
        (added, &["add", "--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"]),
    ] {
        if !paths.is_empty() {
            let paths = paths.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect::<Vec<_>>();
            workspace_git().run_with(command, &paths).map_err(io::Error::other)?;
        }
    }
    let unstaged = workspace_git().output(&["diff", "--cached", "--quiet"]).map_err(io::Error::other)?;
    let staged = !unstaged.status.success();
    if staged || run(&["rev-parse", "--verify", "--quiet", "MERGE_HEAD"]).is_ok() {
        // Conflicts that nobody resolved cannot be committed, and the merge will say so.
        if let Err(error) = run_as(author, &["commit", "--quiet", "--no-verify", "--message", message]) {
            eprintln!("{error}");
        }
    }
    let head = run(&["rev-parse", "--verify", "HEAD^{commit}"])?;
    let bundle = bundle_file(out);
    let mut create = vec!["bundle", "create", "--quiet"];
    let bundle = bundle.to_string_lossy();
    create.extend([&bundle, "HEAD", "--not"]);
    create.extend(known.iter().map(String::as_str));
    // Git makes none if there is nothing new. A bundle that cannot be made for another reason is not nothing.
    let mut count = vec!["rev-list", "--count", "HEAD", "--not"];
    count.extend(known.iter().map(String::as_str));
    let bundled = run(&count)? != "0";
    if bundled {
        run(&create)?;
    }
    Ok(WorkspaceReply { head, committed: readable(commit), left: readable(left), bundled, git_micros: 0 })
}

fn inspect() -> io::Result<WorkspaceReply> {
    let head = run(&["rev-parse", "--verify", "HEAD^{commit}"])?;
    let left = uncommitted()?.into_iter().map(|change| change.path).collect();
    Ok(WorkspaceReply { head, left: readable(left), ..WorkspaceReply::default() })
}

/// Names for the record. A file's name is bytes, and need not be text (F115).
fn readable(names: Vec<OsString>) -> Vec<String> {
    names.iter().map(|name| name.to_string_lossy().into_owned()).collect()
}

struct Change {
    path: OsString,
    /// The index has all of it.
    staged: bool,
}

/// Every path that differs from the last commit.
fn uncommitted() -> io::Result<Vec<Change>> {
    let status = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
    let status = workspace_git().output(&status).map_err(io::Error::other)?;
    if !status.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&status.stderr).trim().to_owned()));
    }
    let entries = status.stdout.split(|byte| *byte == 0).filter(|entry| entry.len() > 3);
    let change = |entry: &[u8]| Change { path: OsStr::from_bytes(&entry[3..]).to_owned(), staged: entry[1] == b' ' };
    Ok(entries.map(change).collect())
}

/// Does the file still have git's conflict markers? A link is not followed: it may lead to a file without end.
fn has_markers(path: &OsStr) -> bool {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let mut text = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text));
    if read.is_err() {
        return false;
    }
    let begins = |mark: &[u8]| text.split(|byte| *byte == b'\n').any(|line| line.starts_with(mark));
    begins(b"<<<<<<< ") && begins(b">>>>>>> ")
}

fn revert(author: &Author, commits: &[String]) -> io::Result<WorkspaceReply> {
    for commit in commits {
        let parents = run(&["rev-list", "--no-walk", "--parents", commit])?.split(' ').count() - 1;
        let mut revert = vec!["revert", "--no-edit"];
        if parents > 1 {
            // What the merge brought into the target, its first parent.
            revert.extend(["--mainline", "1"]);
        }
        revert.push(commit);
        if let Err(error) = run_as(author, &revert) {
            if !unmerged()?.is_empty() {
                break;
            }
            // It is undone already.
            eprintln!("{error}");
            run(&["reset", "--quiet", "--hard"])?;
        }
    }
    let head = run(&["rev-parse", "--verify", "HEAD^{commit}"])?;
    Ok(WorkspaceReply { head, left: unmerged()?, ..WorkspaceReply::default() })
}

/// The files that are in conflict.
fn unmerged() -> io::Result<Vec<String>> {
    let left = run(&["diff", "--name-only", "-z", "--diff-filter=U"])?;
    Ok(left.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn merge_target(author: &Author, target: &str) -> io::Result<WorkspaceReply> {
    // A merge that an earlier session began is continued.
    if run(&["rev-parse", "--verify", "--quiet", "MERGE_HEAD"]).is_err() {
        let merge = ["merge", "--quiet", "--no-edit", "--no-verify", "--message", "Merge the target branch", target];
        if let Err(error) = run_as(author, &merge) {
            eprintln!("{error}");
        }
    }
    let head = run(&["rev-parse", "--verify", "HEAD^{commit}"])?;
    Ok(WorkspaceReply { head, left: unmerged()?, ..WorkspaceReply::default() })
}
