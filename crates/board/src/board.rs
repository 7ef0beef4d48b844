//! What is true of one project? The board, and the questions everyone asks of it.

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use serde::{Deserialize, Serialize};

use crate::evidence::TargetChecks;
use crate::index::{Index, after};
use crate::message::Message;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::{Session, SessionStatus};
use crate::settings::Settings;
use crate::spending::Spent;
use crate::task::{Kind, Status, Task};
use crate::{Actor, Agent, AgentId, MessageId, Party, SecretHash, Seq, SessionId, TaskId, Timestamp};

/// All that is true of one project, folded from its events.
///
/// Its maps share structure, so a clone is cheap: readers keep the board as of one event while
/// the writer goes on, and a batch that lost a race is simply dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// The last event folded in.
    pub seq: Seq,
    /// When its first event was written. A board that was lost and made anew has another, so it tells their lives apart.
    pub began: Timestamp,
    pub settings: Arc<Settings>,
    /// The event that last changed the settings; 0 before the first.
    pub configured: Seq,
    pub paused: bool,
    pub agents: OrdMap<AgentId, Arc<Agent>>,
    pub tasks: OrdMap<TaskId, Arc<Task>>,
    pub sessions: OrdMap<SessionId, Arc<Session>>,
    pub messages: Vector<Arc<Message>>,
    /// Until when a vendor's account is parked (A3).
    pub parked: OrdMap<String, Timestamp>,
    /// What the checks say of the target as it was last looked at (V9).
    pub target: Option<Arc<TargetChecks>>,
    /// The session whose work is being tested and merged, while several runners want to (R10).
    pub merge_turn: Option<MergeTurn>,
    /// What was used on each day (G5).
    pub days: OrdMap<i64, Spent>,
    pub(crate) index: Index,
    /// The session of each credential. It stays when the session is over, to tell its bearer so.
    pub(crate) credentials: OrdMap<SecretHash, SessionId>,
    /// What each idempotency key created, by whom and below which task.
    pub(crate) keys: OrdMap<(Party, Option<TaskId>, String), Vec<TaskId>>,
}

/// One merge at a time: whoever tests work takes the turn, so that runners do not test on a target that is about to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeTurn {
    pub session: SessionId,
    /// Its runner has not been heard of after that, and others go on.
    pub until: Timestamp,
}

impl Board {
    pub fn new(settings: Settings) -> Self {
        Self {
            seq: 0,
            began: Timestamp(0),
            settings: Arc::new(settings),
            configured: 0,
            paused: false,
            agents: OrdMap::new(),
            tasks: OrdMap::new(),
            sessions: OrdMap::new(),
            messages: Vector::new(),
            parked: OrdMap::new(),
            target: None,
            merge_turn: None,
            days: OrdMap::new(),
            index: Index::default(),
            credentials: OrdMap::new(),
            keys: OrdMap::new(),
        }
    }

    pub fn task(&self, id: TaskId) -> Result<&Task, Refusal> {
        self.tasks.get(&id).map(Arc::as_ref).ok_or_else(|| RefusalReason::NoSuchTask(id).into())
    }

    pub fn agent(&self, id: &AgentId) -> Result<&Agent, Refusal> {
        self.agents.get(id).map(Arc::as_ref).ok_or_else(|| RefusalReason::NoSuchAgent(id.clone()).into())
    }

    pub fn session(&self, id: SessionId) -> Result<&Session, Refusal> {
        self.sessions.get(&id).map(Arc::as_ref).ok_or_else(|| RefusalReason::NoSuchSession(id).into())
    }

    /// Roughly how much memory it takes, if it shares nothing with other boards.
    pub fn approximate_bytes(&self) -> usize {
        self.tasks.len() * 1_500 + self.sessions.len() * 1_500 + self.messages.len() * 500
    }

    /// The session whose credential has this hash, also if it is over.
    pub fn session_with(&self, credential: &SecretHash) -> Option<&Session> {
        self.credentials.get(credential).and_then(|id| self.sessions.get(id)).map(Arc::as_ref)
    }

    /// An agent that is on the roster now.
    pub fn active_agent(&self, id: &AgentId) -> Option<&Agent> {
        self.agents.get(id).map(Arc::as_ref).filter(|agent| agent.active)
    }

    pub(crate) fn next_task(&self) -> TaskId {
        TaskId(self.tasks.get_max().map_or(0, |(id, _)| id.0) + 1)
    }

    pub(crate) fn next_session(&self) -> SessionId {
        SessionId(self.sessions.get_max().map_or(0, |(id, _)| id.0) + 1)
    }

    pub(crate) fn next_message(&self) -> MessageId {
        MessageId(self.messages.last().map_or(0, |message| message.id.0) + 1)
    }

    pub fn children<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a Task> {
        task.children.iter().filter_map(|id| self.tasks.get(id)).map(Arc::as_ref)
    }

    /// Children that were not cancelled.
    pub fn live_children<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a Task> {
        self.children(task).filter(|child| child.status != Status::Cancelled)
    }

    pub fn unsettled_children<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a Task> {
        self.children(task).filter(|child| !child.is_settled())
    }

    /// Parent, grandparent, … of a task.
    pub fn ancestors<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a Task> {
        let up = |task: &'a Task| task.parent.and_then(|id| self.tasks.get(&id)).map(Arc::as_ref);
        std::iter::successors(up(task), move |ancestor| up(ancestor))
    }

    /// The nearest ancestor that is not in progress: the task is held by it (L4).
    pub fn held_by(&self, task: &Task) -> Option<TaskId> {
        self.ancestors(task).find(|ancestor| ancestor.status != Status::InProgress).map(|ancestor| ancestor.id)
    }

    /// Who may start, change and cancel a task: the assignee of its parent, else the owner (L2).
    pub fn mover(&self, task: &Task) -> Party {
        let parent = task.parent.and_then(|id| self.tasks.get(&id));
        parent.and_then(|parent| parent.assignee.clone()).map_or(Party::Owner, Party::Agent)
    }

    /// Every descendant, parents before children.
    pub fn descendants(&self, task: &Task) -> Vec<TaskId> {
        let mut found = task.children.clone();
        let mut next = 0;
        while let Some(child) = found.get(next).and_then(|id| self.tasks.get(id)) {
            found.extend_from_slice(&child.children);
            next += 1;
        }
        found
    }

    /// Tasks (not steps) of an agent that are not settled, most urgent first, then oldest.
    pub fn open_tasks(&self, agent: &AgentId) -> Vec<&Task> {
        let mut open: Vec<_> = self
            .index
            .open_by_assignee
            .get(agent)
            .into_iter()
            .flatten()
            .filter_map(|id| self.tasks.get(id))
            .map(Arc::as_ref)
            .collect();
        open.sort_by_key(|task| (std::cmp::Reverse(task.priority), task.id));
        open
    }

    /// Tasks (not steps) in progress that have no live session: one may have to be started.
    pub fn unattended_tasks(&self) -> impl Iterator<Item = &Task> {
        self.index.unattended.iter().filter_map(|id| self.tasks.get(id)).map(Arc::as_ref)
    }

    /// How many tasks and steps have a status.
    pub fn count(&self, status: Status) -> usize {
        self.index.by_status[status as usize] as usize
    }

    /// Every session of a task, oldest first.
    pub fn sessions_of(&self, task: &Task) -> impl DoubleEndedIterator<Item = &Session> {
        task.sessions.iter().filter_map(|id| self.sessions.get(id)).map(Arc::as_ref)
    }

    /// Sessions of an agent that are starting, running, or being verified.
    pub fn live_sessions(&self, agent: &AgentId) -> impl Iterator<Item = &Session> {
        self.index
            .live_by_agent
            .get(agent)
            .into_iter()
            .flatten()
            .filter_map(|id| self.sessions.get(id))
            .map(Arc::as_ref)
    }

    /// Every session that is starting, running, or being verified.
    pub fn all_live_sessions(&self) -> impl Iterator<Item = &Session> {
        self.index.live_by_agent.values().flatten().filter_map(|id| self.sessions.get(id)).map(Arc::as_ref)
    }

    /// How many sessions of an agent work on a task. Those whose process is over do not.
    pub fn task_sessions(&self, agent: &AgentId) -> usize {
        let working = |session: &&Session| session.task().is_some() && session.status != SessionStatus::Verifying;
        self.live_sessions(agent).filter(working).count()
    }

    /// The agents that report to `manager`.
    pub fn subordinates<'a>(&'a self, manager: &'a AgentId) -> impl Iterator<Item = &'a Agent> {
        self.agents
            .values()
            .map(Arc::as_ref)
            .filter(move |agent| agent.active && agent.spec.parent.as_ref() == Some(manager))
    }

    /// The rank that a task's children demand of its assignee: steps are a worker's, tasks a manager's.
    pub fn kind_of_children(&self, task: &Task) -> Option<Kind> {
        self.live_children(task).next().map(|child| child.kind)
    }

    /// Messages to an agent that it has not acknowledged, oldest first.
    pub fn unread<'a>(&'a self, agent: &'a Agent) -> impl Iterator<Item = &'a Message> {
        let own = |message: &&Message| matches!(&message.to, Party::Agent(to) if to == agent.id());
        self.messages_with_after(agent.id(), agent.read_upto).filter(own)
    }

    /// Messages from or to an agent after `id`, oldest first.
    pub(crate) fn messages_with_after(&self, agent: &AgentId, id: MessageId) -> impl Iterator<Item = &Message> {
        let messages = self.index.messages_with.get(agent).into_iter();
        messages.flat_map(move |ids| ids.focus().narrow(after(ids, id)..)).filter_map(|id| self.message(*id))
    }

    /// The newest message from or to an agent.
    pub(crate) fn last_message_with(&self, agent: &AgentId) -> Option<&Message> {
        self.index.messages_with.get(agent)?.last().and_then(|id| self.message(*id))
    }

    /// Messages of the owner that their agent has not read, and that have not expired.
    pub(crate) fn unread_from_owner(&self) -> impl Iterator<Item = &Message> {
        self.index.unread_from_owner.iter().filter_map(|id| self.message(*id))
    }

    pub fn message(&self, id: MessageId) -> Option<&Message> {
        let at = self.messages.binary_search_by_key(&id, |message| message.id).ok()?;
        self.messages.get(at).map(Arc::as_ref)
    }

    /// What an idempotency key has created for this party below this parent.
    pub fn created_by_key(&self, party: &Party, parent: Option<TaskId>, key: &str) -> Option<&[TaskId]> {
        self.keys.get(&(party.clone(), parent, key.to_owned())).map(Vec::as_slice)
    }

    /// Whom an actor's deeds are recorded for.
    pub fn party(&self, actor: &Actor) -> Result<Party, Refusal> {
        match actor {
            Actor::Owner(_) => Ok(Party::Owner),
            Actor::Session(id) => Ok(Party::Agent(self.session(*id)?.agent.clone())),
            Actor::Runner(_) | Actor::System => Ok(Party::System),
        }
    }
}
