//! What do all entry points share? The open projects, the installation, and the signal to shut down.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use board::{Installation, ProjectId, Session};
use control::{Control, ControlError, Project, Writer};
use tokio_util::sync::CancellationToken;

use crate::{LocalFiles, WorkspaceProvider};

/// One server process, as MCP, API and pages see it.
#[derive(Debug)]
pub struct ServerState {
    control: Control,
    installation: Writer<Installation>,
    /// Projects that were asked for.
    projects: RwLock<HashMap<ProjectId, Project>>,
    shutdown: CancellationToken,
    /// Set once there is a runner in this process.
    workspaces: OnceLock<Arc<dyn WorkspaceProvider>>,
    /// What is on this machine, where this process can read it.
    local_files: OnceLock<Arc<dyn LocalFiles>>,
}

impl ServerState {
    pub async fn open(control: Control, shutdown: CancellationToken) -> Result<Arc<Self>, ControlError> {
        let installation = control.installation().await?;
        let (projects, workspaces, local_files) = (RwLock::default(), OnceLock::new(), OnceLock::new());
        Ok(Arc::new(Self { control, installation, projects, shutdown, workspaces, local_files }))
    }

    pub fn control(&self) -> &Control {
        &self.control
    }

    pub fn installation(&self) -> &Writer<Installation> {
        &self.installation
    }

    /// Cancelled when the server shuts down.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    pub fn now(&self) -> board::Timestamp {
        self.control.clock().now()
    }

    /// A project that exists; asking for one does not create it.
    pub async fn project(&self, id: &ProjectId) -> Result<Option<Project>, ControlError> {
        let known = self.projects.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        if known.is_some() {
            return Ok(known);
        }
        if !self.control.project_exists(id).await? {
            return Ok(None);
        }
        let project = self.control.project(id).await?;
        self.projects.write().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), project.clone());
        Ok(Some(project))
    }

    /// Where the repository of a project is.
    pub fn repository(&self, id: &ProjectId) -> Option<PathBuf> {
        self.installation.state().projects.get(id).map(|project| project.path.clone().into())
    }

    /// From now on a runner in this process makes workspaces.
    pub fn provide_workspaces(&self, workspaces: Arc<dyn WorkspaceProvider>) {
        let _ = self.workspaces.set(workspaces);
    }

    /// From now on the output of sessions and the repository can be read.
    pub fn provide_local_files(&self, local_files: Arc<dyn LocalFiles>) {
        let _ = self.local_files.set(local_files);
    }

    pub fn local_files(&self) -> Option<Arc<dyn LocalFiles>> {
        self.local_files.get().cloned()
    }

    pub fn workspaces(&self) -> Option<&dyn WorkspaceProvider> {
        self.workspaces.get().map(AsRef::as_ref)
    }

    /// Where a session works, if a runner in this process made its workspace.
    pub fn workspace_of(&self, project: &ProjectId, session: &Session) -> Option<PathBuf> {
        self.workspaces()?.of(project, session)
    }

    /// Shuts down and writes what is still to be written. To be called before the process ends.
    pub async fn close(&self) {
        self.shutdown.cancel();
        self.control.close().await;
    }
}
