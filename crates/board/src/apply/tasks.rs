//! What is true of the tasks after an event?

use std::sync::Arc;

use super::Fold;
use crate::event::{CreatedTask, TaskEdit};
use crate::event_numbers::EventNumbers;
use crate::evidence::DodResult;
use crate::session::Driver;
use crate::spending::Spent;
use crate::task::{Block, Comment, Conclusion, Kind, Proposal, ProposalAnswer, Status, Task, Used, Watermarks};
use crate::{AgentId, Generation, Party, Seq, TaskId};

/// How far an event about a task is heard.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeScope {
    /// A new fact about the task (A3).
    Fact,
    /// A fact that the manager of its parent, and of tasks that depend on it, may have to act upon (A1.7).
    Change,
}

impl Fold<'_> {
    pub(super) fn tasks_created(&mut self, tasks: &[CreatedTask], key: Option<&str>) {
        for new in tasks {
            let task = self.fresh(new);
            if let Some(parent) = new.parent {
                let seq = self.board.seq;
                self.task(parent, |parent| {
                    parent.children.push(new.id);
                    if new.kind == Kind::Step {
                        parent.marks.step_added = seq;
                    }
                });
            }
            for dependency in &new.dependencies {
                self.task(*dependency, |dependency| dependency.dependents.push(new.id));
            }
            if let Some(asked) = new.mandate {
                self.message(asked, |message| message.tasks.push(new.id));
            }
            self.board.index.add_task(&task);
            self.board.tasks.insert(new.id, Arc::new(task));
            self.mark_changed(new.id, ChangeScope::Change);
        }
        if let (Some(key), Some(first)) = (key, tasks.first()) {
            let ids = tasks.iter().map(|task| task.id).collect();
            self.board.keys.insert((first.creator.clone(), first.parent, key.to_owned()), ids);
        }
    }

    fn fresh(&self, new: &CreatedTask) -> Task {
        let at = self.event.at;
        Task {
            id: new.id,
            kind: new.kind,
            title: new.title.clone(),
            description: new.description.clone(),
            task_type: new.task_type,
            priority: new.priority,
            status: new.status,
            parent: new.parent,
            depth: new.depth,
            children: Vec::new(),
            assignee: new.assignee.clone(),
            creator: new.creator.clone(),
            dependencies: new.dependencies.clone(),
            dependents: Vec::new(),
            labels: new.labels.clone(),
            branch: None,
            base_commit: None,
            completion: new.completion,
            allow_empty: new.allow_empty,
            repairs: new.repairs,
            reverts: new.reverts.clone(),
            mandate: new.mandate,
            block: None,
            conclusion: None,
            report: None,
            feedback: None,
            comments: Vec::new(),
            proposals: Vec::new(),
            right_of_way: None,
            work_tree: None,
            used: Used::default(),
            spent: Spent::default(),
            not_before: None,
            live: None,
            last_session: None,
            generation: Generation::default(),
            by_hand: false,
            waiting_since: None,
            context: None,
            marks: Watermarks::default(),
            created_at: at,
            updated_at: at,
            status_at: at,
            sessions: Vec::new(),
            events: EventNumbers::default(),
        }
    }

    pub(super) fn task_edited(&mut self, id: TaskId, edit: &TaskEdit) {
        self.task(id, |task| {
            let TaskEdit { title, description, priority, task_type, labels } = edit.clone();
            task.title = title.unwrap_or_else(|| std::mem::take(&mut task.title));
            task.description = description.unwrap_or_else(|| std::mem::take(&mut task.description));
            task.labels = labels.unwrap_or_else(|| std::mem::take(&mut task.labels));
            task.priority = priority.unwrap_or(task.priority);
            task.task_type = task_type.unwrap_or(task.task_type);
        });
        self.mark_changed(id, ChangeScope::Change);
    }

    pub(super) fn task_assigned(&mut self, id: TaskId, assignee: Option<&AgentId>) {
        self.indexed_task(id, |task| {
            task.assignee = assignee.cloned();
            task.waiting_since = None;
        });
        self.mark_changed(id, ChangeScope::Change);
    }

    pub(super) fn dependencies_changed(&mut self, id: TaskId, added: &[TaskId], removed: &[TaskId]) {
        self.task(id, |task| {
            task.dependencies.retain(|dependency| !removed.contains(dependency));
            task.dependencies.extend_from_slice(added);
        });
        for dependency in added {
            self.task(*dependency, |dependency| dependency.dependents.push(id));
        }
        for dependency in removed {
            self.task(*dependency, |dependency| dependency.dependents.retain(|dependent| *dependent != id));
        }
        self.mark_changed(id, ChangeScope::Change);
    }

    pub(super) fn task_moved(&mut self, id: TaskId, to: Status, by: &Party, reason: Option<&str>, forced: bool) {
        if to == Status::Done && *by == Party::Owner && !forced {
            self.seen_merged(id);
        }
        let (at, seq) = (self.event.at, self.board.seq);
        let reason = reason.unwrap_or_default().to_owned();
        self.indexed_task(id, |task| {
            let from = std::mem::replace(&mut task.status, to);
            let lifted = task.block.take();
            if is_for_the_agent(from, to) && *by != Party::System && !reason.is_empty() {
                task.comments.push(Comment { by: by.clone(), text: reason.clone(), at, seq });
            }
            task.status_at = at;
            task.marks.status = seq;
            task.conclusion = None;
            match to {
                Status::Blocked => task.block = Some(Block { by: by.clone(), reason, before: from }),
                Status::Failed | Status::Cancelled => task.conclusion = Some(Conclusion { by: by.clone(), reason }),
                Status::Done => task.feedback = None,
                Status::Backlog | Status::Todo | Status::InProgress => {}
            }
            if to != Status::InProgress && to != Status::Blocked {
                task.by_hand = false;
                task.waiting_since = None;
                task.right_of_way = None;
                task.used.conflicts = 0;
            }
            refuel(task, from, by, lifted.is_some());
            if to == Status::Todo && matches!(from, Status::Failed | Status::Done) {
                task.marks.sent_back = seq;
                task.used.attempts = 0;
            }
        });
        self.mark_changed(id, ChangeScope::Change);
    }

    /// The owner has ended a task because its branch is in the target: what was pending by hand is merged (C7).
    fn seen_merged(&mut self, id: TaskId) {
        let Some(task) = self.board.tasks.get(&id).filter(|task| !task.has_no_runner()) else { return };
        let Some(last) = task.last_session.and_then(|id| self.board.sessions.get(&id)) else { return };
        if last.driver == Driver::Hand && last.dod_result == Some(DodResult::Pending) {
            let last = last.id;
            self.session(last, |session| session.dod_result = Some(DodResult::Merged));
        }
    }

    /// The owner's words are a new fact for the task. Those of its mover are one for its own agent only: whoever moves
    /// it has not got on by writing.
    pub(super) fn comment_added(&mut self, id: TaskId, by: &Party, text: &str) {
        let (at, seq) = (self.event.at, self.board.seq);
        let comment = Comment { by: by.clone(), text: text.to_owned(), at, seq };
        self.task(id, |task| {
            task.comments.push(comment);
            task.marks.fact = seq;
            task.updated_at = at;
        });
        if *by == Party::Owner {
            self.mark_changed(id, ChangeScope::Fact);
        }
    }

    /// For the owner: no new fact for whoever works on the task, or moves it.
    pub(super) fn memory_proposed(&mut self, id: TaskId, by: &AgentId, text: &str) {
        let (at, seq) = (self.event.at, self.board.seq);
        let proposal = Proposal { seq, by: by.clone(), text: text.to_owned(), at, answer: None };
        self.task(id, |task| task.proposals.push(proposal));
    }

    pub(super) fn proposal_answered(&mut self, id: TaskId, seq: Seq, answer: ProposalAnswer) {
        self.task(id, |task| {
            if let Some(proposal) = task.proposals.iter_mut().find(|proposal| proposal.seq == seq) {
                proposal.answer = Some(answer);
            }
        });
    }

    /// Notes that something about a task is new, for the task and for those who watch it.
    pub(super) fn mark_changed(&mut self, id: TaskId, how: ChangeScope) {
        let (at, seq) = (self.event.at, self.board.seq);
        self.task(id, |task| {
            task.marks.fact = seq;
            task.updated_at = at;
        });
        let Some(task) = self.board.tasks.get(&id).cloned() else { return };
        if let Some(parent) = task.parent {
            self.task(parent, |parent| parent.marks.fact = seq);
        }
        if how == ChangeScope::Change {
            let waiting =
                task.dependents.iter().filter_map(|id| self.board.tasks.get(id)).filter_map(|task| task.parent);
            let watchers: Vec<_> = waiting.chain(task.parent).chain([id]).collect();
            for watcher in watchers {
                self.task(watcher, |watcher| watcher.marks.children = seq);
            }
        }
    }
}

/// Is the reason of this move meant for whoever goes on with the task? That of a retry, a reopening, an unblocking and a
/// return is (L10).
fn is_for_the_agent(from: Status, to: Status) -> bool {
    match from {
        Status::Blocked => !to.is_settled(),
        Status::Failed | Status::Done | Status::InProgress => to == Status::Todo,
        Status::Backlog | Status::Todo | Status::Cancelled => false,
    }
}

/// Starting again grants fuel again: all of it from the owner, only the patience with idle
/// sessions from an agent (G3).
fn refuel(task: &mut Task, from: Status, by: &Party, unblocked: bool) {
    let again = unblocked || matches!(from, Status::Failed | Status::Done | Status::Todo | Status::Backlog);
    if !again || task.status == Status::Blocked {
        return;
    }
    task.used.idle_sessions = 0;
    task.used.conflicts = 0;
    task.used.bad_ends = 0;
    task.not_before = None;
    match by {
        Party::Owner => {
            task.used.sessions = 0;
            task.used.spent = Spent::default();
        }
        Party::Agent(_) if from == Status::Failed && task.status == Status::Todo => task.used.retries_by_agents += 1,
        Party::Agent(_) | Party::System => {}
    }
}
