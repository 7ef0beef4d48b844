//! Was every event of a session allowed? Judged from the log alone.

use std::collections::BTreeMap;

use board::{Actor, Board, Event, EventKind, SessionId, Settings, Status, apply};
use control::Project;

use super::rules::{Judged, Scene};
use crate::test_server::TestServer;

/// One project's log, read as far as it has been judged.
pub(super) struct Oracle {
    name: &'static str,
    pub(super) board: Board,
    /// What the same actor did just before, in the same instant.
    trail: Vec<Event>,
    /// What sessions did, as their answers should have told them, and how often.
    pub(super) deeds: BTreeMap<String, u32>,
    /// Events of sessions.
    pub(super) judged: usize,
    /// Rows of the lifecycle that sessions used.
    pub(super) moves: BTreeMap<&'static str, u32>,
}

impl Oracle {
    pub(super) fn new(name: &'static str) -> Self {
        let board = Board::new(Settings::new(name.parse().unwrap()));
        Self { name, board, trail: Vec::new(), deeds: BTreeMap::new(), judged: 0, moves: BTreeMap::new() }
    }

    /// Judges what has been appended since the last time.
    pub(super) async fn read(&mut self, server: &TestServer) {
        let stream = Project::stream(&self.name.parse().unwrap());
        loop {
            let page = server.control.log().events_after::<Board>(&stream, self.board.seq, 1_000).await.unwrap();
            for (seq, event) in &page {
                if let Actor::Session(id) = event.by {
                    self.judge(id, event).unwrap_or_else(|rule| {
                        panic!("{} event {seq} breaks a rule: {rule}\n{event:?}\nafter {:?}", self.name, self.trail)
                    });
                }
                apply(&mut self.board, event);
                self.check_bounds();
            }
            if page.len() < 1_000 {
                break;
            }
        }
    }

    fn judge(&mut self, id: SessionId, event: &Event) -> Judged {
        self.trail.retain(|before| before.by == event.by && before.at == event.at);
        let session = self.board.sessions.get(&id).ok_or("there is no such session")?;
        let scene = Scene { board: &self.board, session, trail: &self.trail };
        let follows = scene.follows(&event.what)?;
        if !follows {
            scene.may_act(&event.what)?;
            scene.allowed(&event.what)?;
            if let EventKind::TaskMoved { task, from, to, .. } = &event.what {
                let rule = scene.rule(*task, *from, *to)?;
                *self.moves.entry(rule.name.as_str()).or_default() += 1;
            }
        }
        if let Some(deed) = deed(id, &event.what).filter(|_| !follows) {
            *self.deeds.entry(deed).or_default() += 1;
        }
        self.judged += 1;
        self.trail.push(event.clone());
        Ok(())
    }

    /// What is bounded, whatever happened (G4).
    fn check_bounds(&self) {
        let limits = &self.board.settings.limits;
        for agent in self.board.agents.values() {
            assert!(self.board.task_sessions(agent.id()) <= agent.spec.max_sessions as usize, "{}", agent.id());
        }
        // What changes with an event is the newest of each; checking all of them each time is slow.
        let Some(session) = self.trail.last().and_then(|event| match event.by {
            Actor::Session(id) => self.board.sessions.get(&id),
            Actor::Owner(_) | Actor::Runner(_) | Actor::System => None,
        }) else {
            return;
        };
        // Calls of several connections may be on their way when the last one is counted.
        assert!(session.calls <= limits.max_calls + 64 + 2, "{} made {} calls", session.id, session.calls);
        assert!(session.messages <= limits.max_messages, "{} sent {} messages", session.id, session.messages);
        for task in self.board.tasks.values() {
            assert!(task.depth <= limits.max_depth, "{} is too deep", task.id);
            assert!(task.children.len() <= limits.max_children_ever as usize, "{} has too many children", task.id);
            assert!(task.used.retries_by_agents <= limits.max_retries, "{} was retried too often", task.id);
            assert!(task.status != Status::Done || self.board.unsettled_children(task).next().is_none());
        }
    }
}

/// What an answer tells its caller that it did, as one line.
fn deed(session: SessionId, what: &EventKind) -> Option<String> {
    let told = match what {
        // It follows from the creation of what the owner asked for, and the answer to that claims it.
        EventKind::TaskMoved { reason: Some(reason), .. } if reason.starts_with("asked for in ") => return None,
        EventKind::TaskMoved { task, from, to, .. } => format!("moved {task} {from} {to}"),
        EventKind::TasksCreated { tasks, .. } => {
            format!("created {:?}", tasks.iter().map(|task| task.id).collect::<Vec<_>>())
        }
        EventKind::TaskAssigned { task, assignee } => {
            format!("assigned {task} {}", assignee.as_ref().map_or("nobody", |agent| agent.as_str()))
        }
        EventKind::TaskEdited { task, edit } => {
            let fields = [
                ("title", edit.title.is_some()),
                ("description", edit.description.is_some()),
                ("priority", edit.priority.is_some()),
            ];
            let fields: Vec<_> = fields.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name).collect();
            format!("edited {task} {fields:?}")
        }
        EventKind::DependenciesChanged { task, added, removed } => format!("depends {task} {added:?} {removed:?}"),
        EventKind::CommentAdded { task, .. } => format!("commented {task}"),
        EventKind::MessageSent { message, .. } => format!("said {message}"),
        EventKind::CompletionReported { report, .. } => format!("reported {}", report.result),
        EventKind::ActionChosen { choice, .. } => format!("chose {choice}"),
        EventKind::ContextSaved { .. } | EventKind::MemoryProposed { .. } => "noted".into(),
        EventKind::ModelReported { .. } => "is a model".into(),
        EventKind::LoggedOut { .. } => "left".into(),
        _ => return None,
    };
    Some(format!("{session} {told}"))
}
