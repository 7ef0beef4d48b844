//! What is open: the installation, its projects, and the decisions they are asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use board::{
    Actor, AgentId, Answer, Board, Command, Installation, ProjectId, SessionId, Settings, Staffing, What, next_action,
    next_due, staffing,
};
use store::{Decision, Store, StreamName};
use tokio::sync::Mutex;

use crate::writer::ABANDONED;
use crate::{Attendance, Clock, ControlError, Receipt, Writer};

/// A store with the streams of it that are open.
pub struct Control {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    attendance: Attendance,
    projects: Mutex<BTreeMap<ProjectId, Project>>,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("attendance", &self.attendance).finish_non_exhaustive()
    }
}

impl Control {
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, attendance: Attendance) -> Self {
        Self { store, clock, attendance, projects: Mutex::default() }
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub async fn installation(&self) -> Result<Writer<Installation>, ControlError> {
        let stream = StreamName::installation();
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        Writer::open(store, clock, stream, Installation::default(), self.attendance).await
    }

    /// Opens a project, once: everybody who asks shares its writer.
    pub async fn project(&self, id: &ProjectId) -> Result<Project, ControlError> {
        let mut projects = self.projects.lock().await;
        if let Some(project) = projects.get(id) {
            return Ok(project.clone());
        }
        let stream = Project::stream(id);
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        let fresh = Board::new(Settings::new(id.clone()));
        let writer =
            Writer::open(Arc::clone(&store), Arc::clone(&clock), stream.clone(), fresh, self.attendance).await?;
        let project = Project { writer, store, clock, stream };
        projects.insert(id.clone(), project.clone());
        Ok(project)
    }
}

/// An open project. Cheap to clone.
#[derive(Clone)]
pub struct Project {
    writer: Writer<Board>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    stream: StreamName,
}

impl std::fmt::Debug for Project {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Project").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl Project {
    pub fn stream(id: &ProjectId) -> StreamName {
        StreamName::project(id.as_str())
    }

    pub fn board(&self) -> Arc<Board> {
        self.writer.state()
    }

    pub fn writer(&self) -> &Writer<Board> {
        &self.writer
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub async fn submit(&self, actor: Actor, command: Command) -> Result<Receipt<Board>, ControlError> {
        self.writer.submit(actor, command).await
    }

    /// Accounts for what time has brought and nobody who stays has noticed, so that whoever passes
    /// by neither sees nor is refused by what is long over.
    pub async fn settle(&self) -> Result<(), ControlError> {
        let overdue = next_due(&self.board()).is_some_and(|due| due + ABANDONED <= self.clock.now());
        if overdue {
            self.submit(Actor::System, Command::Sweep).await?;
        }
        Ok(())
    }

    /// The next step of a session (N1). Giving it may be an event; the trace has it in any case.
    pub async fn next_action(&self, session: SessionId) -> Result<Answer, ControlError> {
        let receipt = self.submit(Actor::Session(session), Command::NextAction).await?;
        let given = receipt.events.iter().find_map(|event| match event.what {
            What::StepGiven { step, .. } => Some(step),
            _ => None,
        });
        let step = match given {
            Some(step) => step,
            None => next_action(&receipt.after, session, receipt.at)?.0,
        };
        Ok(Answer::of(&receipt.after, session, step, receipt.at)?)
    }

    /// Whom to start, hold or stop (A1), with a trace of the answer.
    pub async fn staffing(&self, agent: &AgentId) -> Result<Staffing, ControlError> {
        let (board, now) = (self.board(), self.clock.now());
        let answer = staffing(&board, agent, now)?;
        let body = serde_json::to_string(&answer).expect("staffing has string keys only");
        let decision =
            Decision { at: now.0, seq: board.seq, kind: "staffing".into(), subject: agent.to_string(), body };
        self.store.record(&self.stream, vec![decision]).await?;
        Ok(answer)
    }

    /// The newest decisions about a session or agent, oldest first.
    pub async fn decisions(&self, subject: &str, limit: usize) -> Result<Vec<Decision>, ControlError> {
        Ok(self.store.decisions(&self.stream, subject, limit).await?)
    }
}
