//! May these tasks be created, changed, assigned, made to depend on others?

use std::collections::BTreeSet;
use std::sync::Arc;

use super::moves::drop_work;
use super::{AdmitContext, AdmitResult, under_judgement};
use crate::command::{DependsOn, NewTask};
use crate::cycles::{DependencyPlan, Planned};
use crate::event::{CreatedTask, EventKind, TaskEdit};
use crate::evidence::WorkspaceFacts;
use crate::examination;
use crate::field::Field;
use crate::readiness;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::Session;
use crate::settings::ChatRequests;
use crate::task::{Kind, Status, Task};
use crate::text_limits;
use crate::{Actor, AgentId, MessageId, Party, TaskId};

/// Where new tasks go.
struct TaskParent<'a> {
    parent: Option<&'a Task>,
    kind: Kind,
    depth: u32,
    /// What a manager creates for itself in its chat.
    for_itself: Option<AgentId>,
    /// The owner's message that it was asked for with.
    mandate: Option<MessageId>,
}

/// The most tasks that are made of one message (N11).
const MOST_OF_ONE_MESSAGE: usize = 3;

impl<'a> AdmitContext<'a> {
    pub(super) fn create_tasks(&self, parent: Option<TaskId>, tasks: &[NewTask], key: Option<&str>) -> AdmitResult {
        let creator = self.party()?;
        let place = self.place(parent)?;
        if let Some(key) = key {
            text_limits::check(Field::Key, key)?;
            if let Some(created) = self.board.created_by_key(&creator, place.parent.map(|task| task.id), key) {
                return self.same_again(tasks, created);
            }
        }
        if tasks.is_empty() || tasks.len() > text_limits::MAX_BATCH {
            return Err(RefusalReason::BatchSize { most: text_limits::MAX_BATCH }.into());
        }
        self.room_for(&place, tasks.len() as u32)?;
        let first = self.board.next_task().0;
        let ids: Vec<_> = (0..tasks.len() as u32).map(|n| TaskId(first + n)).collect();
        let created = ids
            .iter()
            .zip(tasks)
            .map(|(id, new)| self.created(*id, new, &place, &ids, &creator))
            .collect::<Result<Vec<_>, _>>()?;
        self.no_twins(&place, &created)?;
        self.no_cycles(&created)?;
        let mut happened = vec![EventKind::TasksCreated { tasks: created, key: key.map(str::to_owned) }];
        if place.mandate.is_some() && self.board.settings.chat_requests == ChatRequests::Start {
            let started = self.started(&happened, &ids)?;
            happened.extend(started);
        }
        Ok(happened)
    }

    /// What the owner asked for starts at once (N11), unless it waits for something.
    pub(super) fn started(&self, created: &[EventKind], ids: &[TaskId]) -> AdmitResult {
        let board = self.board_after(created);
        let by = self.party()?;
        let ready = ids.iter().filter_map(|id| board.tasks.get(id)).filter(|task| readiness::can_start(&board, task));
        let moved = ready.map(|task| EventKind::TaskMoved {
            task: task.id,
            from: task.status,
            to: Status::InProgress,
            by: by.clone(),
            reason: task.mandate.map(|asked| format!("asked for in {asked}")),
            forced: false,
        });
        Ok(moved.collect())
    }

    /// The owner's message that a task is made of: of those that the chat has been shown since the agent's last answer, the
    /// oldest of which nothing was made yet, or else the newest.
    fn mandate(&self, session: &Session) -> Result<Option<MessageId>, Refusal> {
        let agent = self.board.agent(&session.agent)?;
        let known = agent.read_upto.max(session.shown_upto.unwrap_or(MessageId(0)));
        let (mut newest, mut unanswered) = (None, None);
        for message in self.board.messages.iter().rev().filter(|message| message.id <= known) {
            let own = Party::Agent(agent.id().clone());
            match (&message.from, &message.to) {
                (Party::Owner, to) if *to == own => {
                    newest = newest.or(Some(message.id));
                    unanswered = Some(message.id).filter(|_| message.tasks.is_empty()).or(unanswered);
                }
                (from, Party::Owner) if *from == own && newest.is_some() => break,
                (Party::Owner | Party::Agent(_) | Party::System, _) => {}
            }
        }
        Ok(unanswered.or(newest))
    }

    /// A key that has created these tasks creates nothing more; it cannot stand for others.
    fn same_again(&self, tasks: &[NewTask], created: &[TaskId]) -> AdmitResult {
        let title = |id: &TaskId| self.board.tasks.get(id).map(|task| text_limits::normalised(&task.title));
        let known = created.iter().map(title);
        if known.eq(tasks.iter().map(|task| Some(text_limits::normalised(&task.title)))) {
            return Ok(Vec::new());
        }
        Err(RefusalReason::KeyReused { created: created.to_vec() }.into())
    }

    /// Who may create what, and where: the owner anywhere, an agent below its own task (L6).
    fn place(&self, parent: Option<TaskId>) -> Result<TaskParent<'a>, Refusal> {
        match self.actor {
            Actor::Owner(_) => self.place_below(parent.map(|id| self.board.task(id)).transpose()?),
            Actor::Session(_) => {
                let session = self.session()?;
                match (session.task(), parent) {
                    (Some(own), None) => self.place_below(Some(self.board.task(own)?)),
                    (Some(own), Some(parent)) if own == parent => self.place_below(Some(self.board.task(own)?)),
                    (Some(own), Some(parent)) => Err(RefusalReason::ForeignParent { parent, own }.into()),
                    (None, None) if self.board.agent(&session.agent)?.is_manager() => {
                        let for_itself = Some(session.agent.clone());
                        let mandate = self.mandate(session)?;
                        Ok(TaskParent { parent: None, kind: Kind::Task, depth: 0, for_itself, mandate })
                    }
                    (None, Some(_) | None) => Err(RefusalReason::TaskSessionOnly.into()),
                }
            }
            Actor::Runner(_) | Actor::System => Err(RefusalReason::OwnersOnly.into()),
        }
    }

    fn place_below(&self, parent: Option<&'a Task>) -> Result<TaskParent<'a>, Refusal> {
        let Some(parent) = parent else {
            return Ok(TaskParent { parent: None, kind: Kind::Task, depth: 0, for_itself: None, mandate: None });
        };
        if parent.is_step() {
            return Err(RefusalReason::StepsCannotSplit { task: parent.id }.into());
        }
        if parent.is_settled() {
            return Err(RefusalReason::ParentSettled { parent: parent.id, status: parent.status }.into());
        }
        if under_judgement(self.board, parent.id) {
            return Err(RefusalReason::UnderJudgement { task: parent.id }.into());
        }
        let worker = parent.assignee.as_ref().and_then(|id| self.board.agents.get(id)).filter(|a| !a.is_manager());
        let kind = self.board.kind_of_children(parent).unwrap_or(match worker {
            Some(_) => Kind::Step,
            None => Kind::Task,
        });
        let depth = match kind {
            Kind::Step => parent.depth,
            Kind::Task => parent.depth + 1,
        };
        let limit = self.board.settings.limits.max_depth;
        if kind == Kind::Task && depth > limit {
            return Err(RefusalReason::TooDeep { parent: parent.id, limit }.into());
        }
        Ok(TaskParent { parent: Some(parent), kind, depth, for_itself: None, mandate: None })
    }

    fn room_for(&self, place: &TaskParent<'_>, more: u32) -> Result<(), Refusal> {
        let limits = &self.board.settings.limits;
        if let Some(agent) = &place.for_itself {
            let creator = Party::Agent(agent.clone());
            let own = |task: &&Arc<Task>| task.parent.is_none() && !task.is_settled() && task.creator == creator;
            let unsettled = self.board.tasks.values().filter(own).count() as u32;
            if unsettled + more > limits.max_children {
                return Err(RefusalReason::TooManyOwnTasks { limit: limits.max_children, unsettled }.into());
            }
        }
        let asked = place.mandate.and_then(|id| self.board.messages.iter().rev().find(|message| message.id == id));
        if let Some(message) = asked
            && message.tasks.len() + more as usize > MOST_OF_ONE_MESSAGE
        {
            let (message, most) = (message.id, MOST_OF_ONE_MESSAGE);
            return Err(RefusalReason::TooManyOfMessage { message, most }.into());
        }
        let Some(parent) = place.parent else { return Ok(()) };
        let unsettled = self.board.unsettled_children(parent).count() as u32;
        if unsettled + more > limits.max_children {
            let (parent, limit) = (parent.id, limits.max_children);
            return Err(RefusalReason::TooManyChildren { parent, limit, unsettled, more }.into());
        }
        if parent.children.len() as u32 + more > limits.max_children_ever {
            return Err(
                RefusalReason::TooManyChildrenEver { parent: parent.id, limit: limits.max_children_ever }.into()
            );
        }
        Ok(())
    }

    fn created(
        &self,
        id: TaskId,
        new: &NewTask,
        place: &TaskParent<'_>,
        batch: &[TaskId],
        creator: &Party,
    ) -> Result<CreatedTask, Refusal> {
        text_limits::check(Field::Title, &new.title)?;
        text_limits::check(Field::Description, &new.description)?;
        new.labels.iter().try_for_each(|label| text_limits::check(Field::Label, label))?;
        let parent = place.parent.map(|task| task.id);
        // An agent neither loosens what done means nor gives away what it proposes for itself.
        let only_the_owners =
            new.completion.is_some() || new.allow_empty || new.repairs.is_some() || new.reverts.is_some();
        if !self.is_owner() && only_the_owners {
            return Err(RefusalReason::OwnersOnly.into());
        }
        if let Some(assignee) = &new.assignee {
            match &place.for_itself {
                Some(itself) if itself == assignee => {}
                Some(_) => return Err(RefusalReason::OwnersOnly.into()),
                None => self.check_new_assignee(id, place, assignee)?,
            }
        }
        let assignee = new.assignee.clone().or_else(|| place.for_itself.clone());
        let asked = place.for_itself.is_none() || place.mandate.is_some();
        let queued = place.kind == Kind::Step || (assignee.is_some() && asked);
        Ok(CreatedTask {
            id,
            kind: place.kind,
            status: if queued { Status::Todo } else { Status::Backlog },
            title: new.title.trim().to_owned(),
            description: new.description.clone(),
            task_type: new.task_type,
            priority: new.priority,
            parent,
            depth: place.depth,
            assignee,
            creator: creator.clone(),
            dependencies: self.dependencies(id, new, place, batch)?,
            labels: new.labels.clone(),
            completion: new.completion,
            allow_empty: new.allow_empty,
            repairs: new.repairs,
            reverts: new.reverts.clone(),
            mandate: place.mandate,
        })
    }

    fn dependencies(
        &self,
        id: TaskId,
        new: &NewTask,
        place: &TaskParent<'_>,
        batch: &[TaskId],
    ) -> Result<Vec<TaskId>, Refusal> {
        check_count(id, new.dependencies.len())?;
        let mut found = BTreeSet::new();
        for dependency in &new.dependencies {
            let dependency = match dependency {
                DependsOn::New(index) => *batch.get(*index).ok_or(RefusalReason::NotInBatch { index: *index })?,
                DependsOn::Task(other) => {
                    let other = self.board.task(*other)?;
                    self.check_dependency(id, place.kind, place.parent.map(|task| task.id), other)?;
                    other.id
                }
            };
            found.insert(dependency);
        }
        Ok(found.into_iter().collect())
    }

    /// A step depends only on its siblings, a task on no step (L5).
    fn check_dependency(&self, id: TaskId, kind: Kind, parent: Option<TaskId>, on: &Task) -> Result<(), Refusal> {
        let siblings = on.parent == parent && on.kind == kind;
        if (kind == Kind::Step || on.is_step()) && !siblings {
            return Err(RefusalReason::StepsDependOnSiblings { task: id, dependency: on.id }.into());
        }
        if on.status == Status::Cancelled {
            return Err(RefusalReason::DependencyCancelled { task: id, dependency: on.id }.into());
        }
        Ok(())
    }

    fn check_new_assignee(&self, id: TaskId, place: &TaskParent<'_>, assignee: &AgentId) -> Result<(), Refusal> {
        if place.kind == Kind::Step {
            return Err(RefusalReason::StepsFollowTheirTask { task: id }.into());
        }
        let agent = self.assignable_agent(assignee)?;
        let limit = self.board.settings.limits.max_depth;
        if agent.is_manager() && place.depth >= limit {
            return Err(RefusalReason::TooDeepForManager { task: id, limit }.into());
        }
        Ok(())
    }

    /// An agent that is on the roster and, if an agent asks, reports to it (L7).
    fn assignable_agent(&self, id: &AgentId) -> Result<&'a crate::Agent, Refusal> {
        let agent = self.board.agent(id)?;
        if !agent.active {
            return Err(RefusalReason::AgentInactive(id.clone()).into());
        }
        if let Party::Agent(manager) = self.party()?
            && agent.spec.parent.as_ref() != Some(&manager)
        {
            return Err(RefusalReason::NotASubordinate { agent: id.clone(), manager }.into());
        }
        Ok(agent)
    }

    /// No unsettled sibling, and none of the batch, has the same title (L6, F3).
    fn no_twins(&self, place: &TaskParent<'_>, created: &[CreatedTask]) -> Result<(), Refusal> {
        let Some(parent) = place.parent else { return Ok(()) };
        for (index, new) in created.iter().enumerate() {
            let title = text_limits::normalised(&new.title);
            let sibling = self.twin(parent, &title, None);
            let earlier = created[..index].iter().find(|other| text_limits::normalised(&other.title) == title);
            if let Some(sibling) = sibling.or(earlier.map(|other| other.id)) {
                return Err(RefusalReason::Twin { title: new.title.clone(), sibling }.into());
            }
        }
        Ok(())
    }

    fn twin(&self, parent: &Task, title: &str, except: Option<TaskId>) -> Option<TaskId> {
        self.board
            .unsettled_children(parent)
            .find(|child| Some(child.id) != except && text_limits::normalised(&child.title) == title)
            .map(|child| child.id)
    }

    fn no_cycles(&self, created: &[CreatedTask]) -> Result<(), Refusal> {
        let planned: Vec<_> = created
            .iter()
            .map(|new| Planned { id: new.id, parent: new.parent, dependencies: new.dependencies.clone() })
            .collect();
        let plan = DependencyPlan { board: self.board, planned: &planned, extra: None };
        let edges = planned.iter().flat_map(|task| task.dependencies.iter().map(|on| (task.id, *on)));
        edges
            .filter_map(|(task, on)| plan.cycle(task, on))
            .next()
            .map_or(Ok(()), |chain| Err(RefusalReason::Cycle { chain }.into()))
    }

    pub(super) fn edit_task(&self, id: TaskId, edit: &TaskEdit, forced: bool) -> AdmitResult {
        let task = self.changeable(id, forced)?;
        if let Some(title) = &edit.title {
            text_limits::check(Field::Title, title)?;
            let parent = task.parent.map(|id| self.board.task(id)).transpose()?;
            let twin = parent.and_then(|parent| self.twin(parent, &text_limits::normalised(title), Some(id)));
            if let Some(sibling) = twin {
                return Err(RefusalReason::Twin { title: title.clone(), sibling }.into());
            }
        }
        if let Some(description) = &edit.description {
            text_limits::check(Field::Description, description)?;
        }
        if !self.is_owner() && edit.task_type.is_some() {
            return Err(RefusalReason::OwnersOnly.into());
        }
        edit.labels.iter().flatten().try_for_each(|label| text_limits::check(Field::Label, label))?;
        let edit = TaskEdit {
            title: edit.title.as_ref().map(|title| title.trim().to_owned()).filter(|title| *title != task.title),
            description: edit.description.clone().filter(|text| *text != task.description),
            priority: edit.priority.filter(|priority| *priority != task.priority),
            task_type: edit.task_type.filter(|task_type| *task_type != task.task_type),
            labels: edit.labels.clone().filter(|labels| *labels != task.labels),
        };
        let unchanged = edit == TaskEdit::default();
        Ok(if unchanged { Vec::new() } else { vec![EventKind::TaskEdited { task: id, edit }] })
    }

    pub(super) fn assign_task(&self, id: TaskId, assignee: Option<&AgentId>, forced: bool) -> AdmitResult {
        let task = self.changeable(id, forced)?;
        if task.is_step() {
            return Err(RefusalReason::StepsFollowTheirTask { task: id }.into());
        }
        if task.assignee.as_ref() == assignee {
            return Ok(Vec::new());
        }
        if task.status == Status::InProgress {
            return Err(RefusalReason::AssignedInProgress { task: id }.into());
        }
        if let Some(assignee) = assignee {
            let agent = self.assignable_agent(assignee)?;
            if !readiness::suits(self.board, task, agent) {
                return Err(
                    RefusalReason::WrongRank { task: id, agent: assignee.clone(), rank: agent.spec.hierarchy }.into()
                );
            }
        }
        let mut happened = vec![EventKind::TaskAssigned { task: id, assignee: assignee.cloned() }];
        // Another is to do it: what the one before has finished is not waited for any more, unless it is merged already.
        if let Some(ended) = examination::ended_work(self.board, task) {
            if ended.workspace.as_ref().is_some_and(WorkspaceFacts::is_merged) {
                return Err(RefusalReason::WorkMerged { task: id }.into());
            }
            happened.push(drop_work(ended).ok_or(RefusalReason::WorkBeingMerged { task: id })?);
        }
        if task.status == Status::Backlog && assignee.is_some() {
            happened.push(EventKind::TaskMoved {
                task: id,
                from: Status::Backlog,
                to: Status::Todo,
                by: self.party()?,
                reason: None,
                forced,
            });
        }
        Ok(happened)
    }

    pub(super) fn change_dependencies(
        &self,
        id: TaskId,
        add: &[TaskId],
        remove: &[TaskId],
        forced: bool,
    ) -> AdmitResult {
        let task = self.changeable(id, forced)?;
        let removed: BTreeSet<_> = remove.iter().copied().collect();
        if let Some(dependency) = removed.iter().find(|dependency| !task.dependencies.contains(dependency)) {
            return Err(RefusalReason::NotADependency { task: id, dependency: *dependency }.into());
        }
        let added: BTreeSet<_> = add.iter().copied().filter(|on| !task.dependencies.contains(on)).collect();
        check_count(id, task.dependencies.len() + added.len())?;
        if !added.is_empty() && task.status == Status::InProgress {
            return Err(RefusalReason::DependsInProgress { task: id }.into());
        }
        for on in &added {
            self.check_dependency(id, task.kind, task.parent, self.board.task(*on)?)?;
            let plan = DependencyPlan { board: self.board, planned: &[], extra: Some((id, *on)) };
            if let Some(chain) = plan.cycle(id, *on) {
                return Err(RefusalReason::Cycle { chain }.into());
            }
        }
        if added.is_empty() && removed.is_empty() {
            return Ok(Vec::new());
        }
        let happened = EventKind::DependenciesChanged {
            task: id,
            added: added.into_iter().collect(),
            removed: removed.into_iter().collect(),
        };
        Ok(vec![happened])
    }

    /// A task that is not settled, which the actor may change.
    fn changeable(&self, id: TaskId, forced: bool) -> Result<&'a Task, Refusal> {
        let task = self.board.task(id)?;
        self.may_change(task, forced)?;
        if task.is_settled() {
            return Err(RefusalReason::Settled { task: id, status: task.status }.into());
        }
        Ok(task)
    }

    pub(super) fn record_branch(&self, id: TaskId, branch: &str, base: &str) -> AdmitResult {
        if let Actor::Session(_) = self.actor {
            return Err(RefusalReason::RunnersOnly.into());
        }
        let task = self.board.task(id)?;
        if task.branch.as_deref() == Some(branch) && task.base_commit.as_deref() == Some(base) {
            return Ok(Vec::new());
        }
        Ok(vec![EventKind::BranchRecorded { task: id, branch: branch.to_owned(), base: base.to_owned() }])
    }
}

/// Every dependency costs a search for cycles: a task has only so many.
fn check_count(task: TaskId, count: usize) -> Result<(), Refusal> {
    let limit = text_limits::MAX_DEPENDENCIES;
    if count > limit { Err(RefusalReason::TooManyDependencies { task, limit }.into()) } else { Ok(()) }
}
