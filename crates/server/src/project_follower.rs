//! Which projects write, also those that come later? For whoever follows them.

use std::collections::VecDeque;
use std::sync::Arc;

use board::{Board, Installation, ProjectId, Seq};
use control::{ControlError, Project};
use tokio::sync::watch;

use crate::ServerState;

/// A project that is followed.
#[derive(Debug)]
pub struct FollowedProject {
    pub id: ProjectId,
    pub project: Project,
    boards: watch::Receiver<Arc<Board>>,
}

impl FollowedProject {
    /// What is written from now on is news. To be called before reading, so that nothing falls between the two.
    pub fn mark_seen(&mut self) {
        self.boards.borrow_and_update();
    }
}

#[derive(Debug)]
pub struct ProjectFollower {
    server: Arc<ServerState>,
    only: Option<ProjectId>,
    installation: watch::Receiver<Arc<Installation>>,
    pub known: VecDeque<FollowedProject>,
    /// Registered, and without a first event so far.
    announced: Vec<(ProjectId, watch::Receiver<Seq>)>,
}

impl ProjectFollower {
    /// All projects, or only one.
    pub fn new(server: Arc<ServerState>, only: Option<ProjectId>) -> Self {
        let installation = server.installation().watch();
        Self { server, only, installation, known: VecDeque::new(), announced: Vec::new() }
    }

    /// Looks for projects that came. What the installation says from now on is news.
    pub async fn find_new(&mut self) -> Result<(), ControlError> {
        let installation = Arc::clone(&self.installation.borrow_and_update());
        let ids: Vec<&ProjectId> = match &self.only {
            Some(id) => vec![id],
            None => installation.projects.keys().collect(),
        };
        for id in ids {
            if self.known.iter().any(|source| source.id == *id) {
                continue;
            }
            let announced = self.announced.iter().position(|(known, _)| known == id);
            let place = announced.unwrap_or_else(|| {
                self.announced.push((id.clone(), self.server.control().store().subscribe(&Project::stream(id))));
                self.announced.len() - 1
            });
            self.announced[place].1.borrow_and_update();
            if let Some(project) = self.server.project(id).await? {
                self.announced.swap_remove(place);
                let boards = project.writer().watch();
                self.known.push_back(FollowedProject { id: id.clone(), project, boards });
            }
        }
        Ok(())
    }

    /// Until something was written anywhere; `None` when the server closes.
    pub async fn changed(&mut self) -> Option<()> {
        let boards = self.known.iter_mut().map(|source| Box::pin(until(source.boards.changed())) as Waiting<'_>);
        let announced = self.announced.iter_mut().map(|(_, seqs)| Box::pin(until(seqs.changed())) as Waiting<'_>);
        let installation: Waiting<'_> = Box::pin(until(self.installation.changed()));
        let any = futures::future::select_all(boards.chain(announced).chain([installation]));
        tokio::select! {
            (changed, ..) = any => changed,
            () = self.server.shutdown().cancelled() => None,
        }
    }
}

type Waiting<'a> = std::pin::Pin<Box<dyn Future<Output = Option<()>> + Send + 'a>>;

async fn until(changed: impl Future<Output = Result<(), watch::error::RecvError>>) -> Option<()> {
    changed.await.ok()
}
