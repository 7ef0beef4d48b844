//! What happens in all projects, also in those that are added later?

use std::collections::VecDeque;
use std::sync::Arc;

use board::{Board, Event, Installation, ProjectId, Seq};
use control::{ControlError, Follower, Project, Subscription};
use tokio::sync::watch;

use crate::ServerState;

/// A project that is followed.
#[derive(Debug)]
struct FollowedProject {
    id: ProjectId,
    events: Follower<Board>,
}

/// Follows one project, or all of them.
#[derive(Debug)]
pub struct ProjectFollower {
    server: Arc<ServerState>,
    only: Option<ProjectId>,
    installation: watch::Receiver<Arc<Installation>>,
    /// In the order in which they are asked; the one that had events last comes last.
    known: VecDeque<FollowedProject>,
    /// Registered, and without a first event so far.
    announced: Vec<(ProjectId, Subscription)>,
}

impl ProjectFollower {
    pub fn new(server: Arc<ServerState>, only: Option<ProjectId>) -> Self {
        let installation = server.installation().watch();
        Self { server, only, installation, known: VecDeque::new(), announced: Vec::new() }
    }

    /// Begins to follow projects that were added since the last call. `after` says after which event of a project.
    pub async fn find_new(&mut self, after: impl Fn(&ProjectId, &Board) -> Seq) -> Result<(), ControlError> {
        let installation = Arc::clone(&self.installation.borrow_and_update());
        let ids: Vec<&ProjectId> = match &self.only {
            Some(id) => vec![id],
            None => installation.projects.keys().collect(),
        };
        for id in ids {
            if self.known.iter().any(|followed| followed.id == *id) {
                continue;
            }
            let at = match self.announced.iter().position(|(known, _)| known == id) {
                Some(at) => at,
                None => {
                    let subscription = self.server.control().log().subscribe(&Project::stream(id)).await?;
                    self.announced.push((id.clone(), subscription));
                    self.announced.len() - 1
                }
            };
            self.announced[at].1.seen();
            if let Some(project) = self.server.project(id).await? {
                self.announced.swap_remove(at);
                let events = project.follow(after(id, &project.board()));
                self.known.push_back(FollowedProject { id: id.clone(), events });
            }
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Up to which event each project was handed out.
    pub fn positions(&self) -> impl Iterator<Item = (&ProjectId, Seq)> {
        self.known.iter().map(|followed| (&followed.id, followed.events.at()))
    }

    /// The next events of the first project that has any, at most `limit`. That project is asked last the next time.
    pub async fn events(&mut self, limit: usize) -> Result<Option<(ProjectId, Vec<(Seq, Event)>)>, ControlError> {
        for _ in 0..self.known.len() {
            let Some(mut first) = self.known.pop_front() else { break };
            let (id, found) = (first.id.clone(), first.events.events(limit).await);
            self.known.push_back(first);
            let found = found?;
            if !found.is_empty() {
                return Ok(Some((id, found)));
            }
        }
        Ok(None)
    }

    /// Waits until there is an event or a new project; `None` when the server shuts down.
    pub async fn changed(&mut self) -> Option<()> {
        let events = self.known.iter_mut().map(|followed| Box::pin(followed.events.changed()) as Waiting<'_>);
        let announced = self.announced.iter_mut().map(|(_, end)| Box::pin(first_event(end)) as Waiting<'_>);
        let installation: Waiting<'_> = Box::pin(new_state(&mut self.installation));
        let any = futures::future::select_all(events.chain(announced).chain([installation]));
        tokio::select! {
            (changed, ..) = any => changed,
            () = self.server.shutdown().cancelled() => None,
        }
    }
}

type Waiting<'a> = std::pin::Pin<Box<dyn Future<Output = Option<()>> + Send + 'a>>;

async fn first_event(end: &mut Subscription) -> Option<()> {
    end.changed().await.map(drop)
}

async fn new_state(states: &mut watch::Receiver<Arc<Installation>>) -> Option<()> {
    states.changed().await.ok()
}
