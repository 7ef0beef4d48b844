//! What must be found without looking at everything? Derived from the events as the board itself is, and
//! kept up by `apply` alone.

use imbl::{OrdMap, OrdSet, Vector};
use serde::{Deserialize, Serialize};

use crate::session::{Session, SessionStatus};
use crate::task::{Kind, Status, Task};
use crate::{Agent, AgentId, Message, MessageId, Party, Seq, SessionId, TaskId, Timestamp};

/// Everything here can be computed from the rest of the board; a test does, and compares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    /// Unsettled tasks (not steps) by assignee.
    pub(crate) open_by_assignee: OrdMap<AgentId, OrdSet<TaskId>>,
    /// Tasks (not steps) in progress that have no live session: one may have to be started.
    pub(crate) unattended: OrdSet<TaskId>,
    /// How many tasks and steps have each status, in the order of [`Status::ALL`].
    pub(crate) by_status: [u32; Status::ALL.len()],
    /// Live sessions by agent.
    pub(crate) live_by_agent: OrdMap<AgentId, OrdSet<SessionId>>,
    /// How many sessions work on a task. Those whose process is over do not.
    pub(crate) working_task_sessions: u32,
    /// Sessions whose work waits to be judged, in the order in which their processes ended.
    pub(crate) verifying: OrdSet<(Seq, SessionId)>,
    /// Tasks that stand in line for the right of way on files, or have it.
    pub(crate) in_line: OrdSet<TaskId>,
    /// Live sessions by the end of their lease.
    pub(crate) leases: OrdSet<(Timestamp, SessionId)>,
    /// Messages from or to an agent, oldest first.
    pub(crate) messages_with: OrdMap<AgentId, Vector<MessageId>>,
    /// Messages of the owner that their agent has not read, and that have not expired.
    pub(crate) unread_from_owner: OrdSet<MessageId>,
}

impl Index {
    pub(crate) fn add_task(&mut self, task: &Task) {
        self.by_status[task.status as usize] += 1;
        if let Some(agent) = open_for(task) {
            self.open_by_assignee.entry(agent.clone()).or_default().insert(task.id);
        }
        if is_unattended(task) {
            self.unattended.insert(task.id);
        }
    }

    /// A task's status, assignee or live session may have changed. Only what really did is touched: every change of
    /// a shared map copies a part of it.
    pub(crate) fn change_task(&mut self, before: &Task, after: &Task) {
        if before.status != after.status {
            self.by_status[before.status as usize] -= 1;
            self.by_status[after.status as usize] += 1;
        }
        let (left, joined) = (open_for(before), open_for(after));
        if left != joined {
            if let Some(agent) = left {
                remove_from(&mut self.open_by_assignee, agent, &before.id);
            }
            if let Some(agent) = joined {
                self.open_by_assignee.entry(agent.clone()).or_default().insert(after.id);
            }
        }
        match (is_unattended(before), is_unattended(after)) {
            (false, true) => drop(self.unattended.insert(after.id)),
            (true, false) => drop(self.unattended.remove(&after.id)),
            (true, true) | (false, false) => {}
        }
        match (before.right_of_way.is_some(), after.right_of_way.is_some()) {
            (false, true) => drop(self.in_line.insert(after.id)),
            (true, false) => drop(self.in_line.remove(&after.id)),
            (true, true) | (false, false) => {}
        }
    }

    pub(crate) fn add_session(&mut self, session: &Session) {
        let live = self.live_by_agent.entry(session.agent.clone()).or_default();
        if live.insert(session.id).is_some() {
            return;
        }
        self.working_task_sessions += u32::from(session.task().is_some());
        self.move_lease(session.id, None, session.lease_until);
    }

    /// The process of a session is over; its work is still to be judged.
    pub(crate) fn end_process(&mut self, before: &Session, after: &Session) {
        if before.is_live() && before.status != SessionStatus::Verifying {
            self.working_task_sessions -= u32::from(before.task().is_some());
            self.move_lease(before.id, before.lease_until, after.lease_until);
            self.verifying.extend(queue_key(after));
        }
    }

    pub(crate) fn end_session(&mut self, session: &Session) {
        if remove_from(&mut self.live_by_agent, &session.agent, &session.id) {
            match queue_key(session) {
                Some(key) => drop(self.verifying.remove(&key)),
                None => self.working_task_sessions -= u32::from(session.task().is_some()),
            }
            self.move_lease(session.id, session.lease_until, None);
        }
    }

    pub(crate) fn move_lease(&mut self, session: SessionId, from: Option<Timestamp>, to: Option<Timestamp>) {
        if let Some(from) = from {
            self.leases.remove(&(from, session));
        }
        if let Some(to) = to {
            self.leases.insert((to, session));
        }
    }

    pub(crate) fn add_message(&mut self, message: &Message) {
        for party in [&message.from, &message.to] {
            if let Party::Agent(agent) = party {
                let messages = self.messages_with.entry(agent.clone()).or_default();
                if messages.last() != Some(&message.id) {
                    messages.push_back(message.id);
                }
            }
        }
        if let (Party::Owner, Party::Agent(_)) = (&message.from, &message.to) {
            self.unread_from_owner.insert(message.id);
        }
    }

    /// The agent has read its messages up to `upto`, and had read them up to what it says itself.
    pub(crate) fn read_messages(&mut self, agent: &Agent, upto: MessageId) {
        let Some(messages) = self.messages_with.get(agent.id()) else { return };
        let first = after(messages, agent.read_upto);
        for id in messages.focus().narrow(first..).into_iter().take_while(|id| **id <= upto) {
            self.unread_from_owner.remove(id);
        }
    }
}

/// The place of a session's work in the queue.
fn queue_key(session: &Session) -> Option<(Seq, SessionId)> {
    session.process_ended.filter(|_| session.status == SessionStatus::Verifying).map(|(seq, _)| (seq, session.id))
}

/// The agent among whose open tasks it is.
fn open_for(task: &Task) -> Option<&AgentId> {
    task.assignee.as_ref().filter(|_| task.kind == Kind::Task && !task.is_settled())
}

fn is_unattended(task: &Task) -> bool {
    task.kind == Kind::Task && task.status == Status::InProgress && task.live.is_none()
}

/// The position of the first message after `id`.
pub(crate) fn after(messages: &Vector<MessageId>, id: MessageId) -> usize {
    messages.binary_search(&id).map_or_else(|at| at, |at| at + 1)
}

/// Removes an element, and the set with its last one. False if it was not there.
fn remove_from<T: Ord + Clone>(sets: &mut OrdMap<AgentId, OrdSet<T>>, key: &AgentId, element: &T) -> bool {
    let Some(set) = sets.get_mut(key) else { return false };
    let removed = set.remove(element).is_some();
    if set.is_empty() {
        sets.remove(key);
    }
    removed
}
