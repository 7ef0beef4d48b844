//! How does async code run git? On a thread for blocking work; a caller that goes away ends the command.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::Output;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::command::Git;
use crate::error::GitError;
use crate::kill_switch::KillSwitch;
use crate::queries::Layout;

/// How many threads of a process run git at once; others wait. More than a few only compete for processors and disk,
/// and each thread keeps its memory for a while.
const MOST_AT_ONCE: usize = 16;

static TURNS: Semaphore = Semaphore::const_new(MOST_AT_ONCE);

/// [`Git`] for async callers, command for command.
#[derive(Clone, Debug)]
pub struct AsyncGit(Git);

impl From<Git> for AsyncGit {
    fn from(git: Git) -> Self {
        Self(git)
    }
}

/// Pulls the switch when the future that holds it is dropped. After the last command that does nothing.
struct KillOnDrop(Arc<KillSwitch>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.pull();
    }
}

impl AsyncGit {
    /// The same for callers that block.
    pub fn sync(&self) -> &Git {
        &self.0
    }

    /// See [`Git::in_repository`].
    pub fn in_repository(directory: impl Into<PathBuf>) -> Self {
        Git::in_repository(directory).into()
    }

    /// Runs any number of commands on a thread of their own. If the future is dropped, the command that
    /// runs is killed and no other is started.
    pub async fn call<T: Send + 'static>(
        &self,
        commands: impl FnOnce(&Git) -> Result<T, GitError> + Send + 'static,
    ) -> Result<T, GitError> {
        let switch = KillOnDrop(Arc::default());
        let mut git = self.0.clone();
        git.kill_switch = Some(Arc::clone(&switch.0));
        let turn = TURNS.acquire().await.map_err(io::Error::other)?;
        let done = tokio::task::spawn_blocking(move || {
            // Kept until the commands have ended, also if nobody waits for them any more.
            let _turn = turn;
            commands(&git)
        });
        let done = done.await;
        done.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(io::Error::other(error).into()),
        })
    }

    pub async fn output<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Output, GitError> {
        let arguments = owned(arguments);
        self.call(move |git| git.output(&arguments)).await
    }

    /// See [`Git::run`].
    pub async fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<String, GitError> {
        let arguments = owned(arguments);
        self.call(move |git| git.run(&arguments)).await
    }

    /// See [`Git::run_with`].
    pub async fn run_with<S: AsRef<OsStr>>(&self, arguments: &[S], input: &str) -> Result<String, GitError> {
        let (arguments, input) = (owned(arguments), input.to_owned());
        self.call(move |git| git.run_with(&arguments, input.as_bytes())).await
    }

    /// See [`Git::paths`].
    pub async fn paths<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<String>, GitError> {
        let arguments = owned(arguments);
        self.call(move |git| git.paths(&arguments)).await
    }

    /// See [`Git::commit`].
    pub async fn commit(&self, name: &str) -> Option<String> {
        let name = name.to_owned();
        self.call(move |git| Ok(git.commit(&name))).await.ok().flatten()
    }

    pub async fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, GitError> {
        let (older, newer) = (older.to_owned(), newer.to_owned());
        self.call(move |git| git.is_ancestor(&older, &newer)).await
    }

    /// See [`Git::path`].
    pub async fn path(&self, name: &str) -> Result<PathBuf, GitError> {
        let name = name.to_owned();
        self.call(move |git| git.path(&name)).await
    }

    /// See [`Git::layout`].
    pub async fn layout(&self) -> Result<Layout, GitError> {
        self.call(Git::layout).await
    }

    /// See [`Git::refs`].
    pub async fn refs(&self, names: &[&str]) -> Result<BTreeMap<String, String>, GitError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.call(move |git| git.refs(&names.iter().map(String::as_str).collect::<Vec<_>>())).await
    }

    /// See [`Git::object_directories`].
    pub async fn object_directories(&self) -> Result<Vec<PathBuf>, GitError> {
        self.call(Git::object_directories).await
    }
}

fn owned<S: AsRef<OsStr>>(arguments: &[S]) -> Vec<OsString> {
    arguments.iter().map(|argument| argument.as_ref().to_owned()).collect()
}
