//! Where does the runner keep its files?

use std::path::{Path, PathBuf};

use board::{ProjectId, SessionId, TaskId};

/// The directories of one project below `SAIHAI_HOME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerPaths {
    root: PathBuf,
}

impl RunnerPaths {
    pub fn new(home: &Path, project: &ProjectId) -> Self {
        Self { root: home.join("projects").join(project.as_str()) }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Locked by the one runner of the project.
    pub fn lock(&self) -> PathBuf {
        self.root.join("runner.lock")
    }

    /// How the runner stands.
    pub fn status(&self) -> PathBuf {
        self.root.join("runner.json")
    }

    /// The server's last address. The next one listens there again, for agents that outlived it.
    pub fn address(&self) -> PathBuf {
        self.root.join("address")
    }

    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The private directory of a session.
    pub fn session(&self, session: SessionId) -> PathBuf {
        self.sessions().join(session.to_string())
    }

    /// It is there if git did alone what a session is for, and no agent was started.
    pub(crate) fn undone_by_git(&self, session: SessionId) -> PathBuf {
        self.session(session).join("undone-by-git")
    }

    pub fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces")
    }

    pub fn workspace(&self, task: TaskId) -> PathBuf {
        self.workspaces().join(format!("task-{}", task.0))
    }

    /// What package managers have fetched for merged code.
    pub fn caches(&self) -> PathBuf {
        self.root.join("caches")
    }

    /// Where merge candidates are checked.
    pub fn verification(&self) -> PathBuf {
        self.root.join("verification")
    }
}
