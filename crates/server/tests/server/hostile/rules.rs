//! What may a session do? The rules written a second time: only the lifecycle table and the fold
//! are the core's.

use board::lifecycle::{self, Guard, Move, TaskRole};
use board::{
    Board, Choice, CreatedTask, Driver, EndReason, Event, EventKind, Field, Fuel, Kind, Message, Outcome, Party,
    Session, SessionStatus, Status, StopCause, Task, TaskId, Verdict,
};

/// The session that acts, on the board before its event.
pub(super) struct Scene<'a> {
    pub(super) board: &'a Board,
    pub(super) session: &'a Session,
    pub(super) trail: &'a [Event],
}

pub(super) type Judged<T = ()> = Result<T, String>;

fn must(holds: bool, rule: impl Into<String>) -> Judged {
    if holds { Ok(()) } else { Err(rule.into()) }
}

impl Scene<'_> {
    fn me(&self) -> Party {
        Party::Agent(self.session.agent.clone())
    }

    fn task(&self, id: TaskId) -> Judged<&Task> {
        self.board.tasks.get(&id).map(AsRef::as_ref).ok_or_else(|| format!("there is no {id}"))
    }

    fn own(&self) -> Judged<&Task> {
        self.task(self.session.task().ok_or("a chat has no task")?)
    }

    fn is_manager(&self) -> bool {
        self.board.agents.get(&self.session.agent).is_some_and(|agent| agent.is_manager())
    }

    fn last(&self) -> Option<&EventKind> {
        self.trail.last().map(|event| &event.what)
    }

    /// Is it no deed of its own, but what the event before it brings with it?
    pub(super) fn follows(&self, what: &EventKind) -> Judged<bool> {
        let mine = self.session.id;
        let attached = self.session.driver == Driver::Attached;
        match (what, self.last()) {
            // A limit is reached: the work is parked.
            (EventKind::FuelSpent { session: Some(session), task, fuel }, _) => {
                must(*session == mine && *task == self.session.task(), "it parks only its own work")?;
                self.spent(*fuel)?;
                Ok(true)
            }
            (
                EventKind::TaskMoved { task, from: Status::InProgress, to: Status::Blocked, by: Party::System, .. },
                Some(EventKind::FuelSpent { task: Some(spent), .. }),
            ) => {
                must(task == spent && Some(*task) == self.session.task(), "only the work that is parked is blocked")?;
                Ok(true)
            }
            // What is below a cancelled task is cancelled with it.
            (EventKind::TaskMoved { task, to: Status::Cancelled, forced: false, .. }, Some(_)) => {
                let cancelled = |event: &Event| match event.what {
                    EventKind::TaskMoved { task, to: Status::Cancelled, .. } => Some(task),
                    _ => None,
                };
                let roots: Vec<_> = self.trail.iter().filter_map(cancelled).collect();
                let task = self.task(*task)?;
                Ok(self.board.ancestors(task).any(|above| roots.contains(&above.id)))
            }
            (
                EventKind::TaskMoved { task, from, to, .. },
                Some(EventKind::TaskAssigned { task: assigned, assignee: Some(_) }),
            ) if task == assigned => {
                // Assigning queues it; any other move was asked for in the same instant, and is judged.
                Ok((*from, *to) == (Status::Backlog, Status::Todo))
            }
            (
                EventKind::StopRequested { session, cause: StopCause::Unstarted },
                Some(EventKind::TaskMoved { task, from: Status::InProgress, to: Status::Todo, .. }),
            ) => {
                must(self.task(*task)?.live == Some(*session), "only the session of that task is stopped")?;
                Ok(true)
            }
            // Notes and a proposal come in one call.
            (EventKind::MemoryProposed { task, .. }, Some(EventKind::ContextSaved { session, .. })) => {
                must(*session == mine && self.session.task() == Some(*task), "it proposes for its own task")?;
                Ok(true)
            }
            // The logout of an agent that was attached by hand is its end, and is judged (V7).
            (EventKind::ProcessEnded { session, end, .. }, Some(EventKind::LoggedOut { .. })) => {
                must(*session == mine && attached, "only an attached agent ends itself")?;
                must(end.reason == EndReason::Exited && end.exit_code == Some(0), "it just left")?;
                Ok(true)
            }
            (EventKind::Judged { session, verdict }, Some(EventKind::ProcessEnded { .. })) => {
                must(*session == mine && attached, "only an attached agent is judged by its logout")?;
                if let Some(Verdict::Done) = verdict {
                    let report = self.session.report.as_ref().ok_or("done without a report")?;
                    must(report.result == Outcome::Success, "done without success")?;
                    let own = self.own()?;
                    must(self.board.unsettled_children(own).next().is_none(), "done with open children")?;
                }
                Ok(true)
            }
            (EventKind::FuelSpent { session: None, task, .. }, Some(EventKind::Judged { .. })) => {
                must(*task == self.session.task() && attached, "it parks only its own work")?;
                Ok(true)
            }
            (EventKind::TaskMoved { task, to, .. }, Some(EventKind::Judged { verdict: Some(verdict), .. })) => {
                must(Some(*task) == self.session.task() && attached, "only its own task is judged")?;
                let expected = match verdict {
                    Verdict::Done => Status::Done,
                    Verdict::Failed { .. } | Verdict::Rejected(_) => Status::Failed,
                    Verdict::Blocked { .. } => Status::Blocked,
                    Verdict::None(_) => return Err("no verdict moves nothing".into()),
                };
                must(*to == expected, "the verdict moves its task")?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn spent(&self, fuel: Fuel) -> Judged {
        let limits = &self.board.settings.limits;
        match fuel {
            Fuel::Calls => must(self.session.calls >= limits.max_calls, "calls are left"),
            Fuel::Messages => must(self.session.messages >= limits.max_messages, "messages are left"),
            Fuel::Repeats => Ok(()),
            Fuel::IdleSessions
            | Fuel::TaskSessions
            | Fuel::Conflicts
            | Fuel::SessionBudget
            | Fuel::TaskBudget
            | Fuel::DayBudget => Err("that is not a session's fuel".into()),
        }
    }

    /// S3, N7: it is live, and not interrupted unless it only looks, notes or leaves.
    pub(super) fn may_act(&self, what: &EventKind) -> Judged {
        let session = self.session;
        let live = matches!(session.status, SessionStatus::Starting | SessionStatus::Running);
        must(live && !session.logged_out, "the session is over")?;
        let harmless = matches!(
            what,
            EventKind::ActionGiven { .. }
                | EventKind::ActionRepeated { .. }
                | EventKind::TaskFetched { .. }
                | EventKind::ContextSaved { .. }
                | EventKind::MemoryProposed { .. }
                | EventKind::LoggedOut { .. }
                | EventKind::CallsCounted { .. }
                | EventKind::MessagesShown { .. }
        );
        if !harmless {
            must(!self.is_interrupted(), "the session is interrupted")?;
            must(session.report.is_none(), "the session has reported")?;
        }
        let leaving = matches!(what, EventKind::ActionGiven { .. } | EventKind::LoggedOut { .. });
        let spent = session.calls >= self.board.settings.limits.max_calls;
        must(!spent || leaving, "the session's calls are spent")
    }

    fn is_interrupted(&self) -> bool {
        let Some(task) = self.session.task().and_then(|id| self.board.tasks.get(&id)) else {
            return self.session.stop.is_some();
        };
        self.session.stop.is_some()
            || (self.board.paused && self.board.agents[&self.session.agent].is_manager())
            || matches!(task.status, Status::Cancelled | Status::Blocked)
            || task.assignee.as_ref() != Some(&self.session.agent)
            || self.board.ancestors(task).any(|above| above.status != Status::InProgress)
    }

    pub(super) fn allowed(&self, what: &EventKind) -> Judged {
        match what {
            EventKind::TasksCreated { tasks, key } => {
                if let Some(key) = key {
                    text(Field::Key, key)?;
                }
                self.may_create(tasks)
            }
            EventKind::TaskEdited { task, edit } => {
                self.may_change(*task)?;
                edit.title.as_ref().map_or(Ok(()), |title| text(Field::Title, title))?;
                edit.description.as_ref().map_or(Ok(()), |words| text(Field::Description, words))?;
                must(edit.task_type.is_none() && edit.labels.is_none(), "an agent changes neither type nor labels")
            }
            EventKind::TaskAssigned { task, assignee } => {
                let task = self.may_change(*task)?;
                must(!task.is_step() && task.status != Status::InProgress, "it cannot be given away now")?;
                let Some(assignee) = assignee else { return Ok(()) };
                let agent = self.board.agents.get(assignee).ok_or("there is no such agent")?;
                must(agent.active && agent.spec.parent.as_ref() == Some(&self.session.agent), "not a subordinate")?;
                let deepest = task.depth >= self.board.settings.limits.max_depth;
                must(!(deepest && agent.is_manager()), "a manager at the greatest depth")
            }
            EventKind::DependenciesChanged { task, added, removed } => {
                let task = self.may_change(*task)?;
                must(added.is_empty() || task.status != Status::InProgress, "it is in progress")?;
                must(removed.iter().all(|on| task.dependencies.contains(on)), "what it removes is not there")?;
                added.iter().try_for_each(|on| {
                    self.may_depend(task.kind, task.parent, *on)?;
                    must(!self.leads_to(*on, task.id), "a cycle")
                })
            }
            EventKind::TaskMoved { task, from, to, by, reason, forced } => {
                must(!forced && *by == self.me(), "an agent moves in its own name, without force")?;
                self.may_move(*task, *from, *to, reason.as_deref())
            }
            EventKind::CommentAdded { task, by, text: written } => {
                text(Field::Comment, written)?;
                must(*by == self.me(), "an agent writes in its own name")?;
                let task = self.may_change(*task)?;
                must(!task.is_settled(), "it is settled")
            }
            EventKind::ActionChosen { choice, reason, .. } => {
                reason.as_ref().map_or(Ok(()), |reason| text(Field::Reason, reason))?;
                must(self.is_manager(), "only managers choose")?;
                let own = self.own()?;
                let unstarted = |child: &Task| matches!(child.status, Status::Backlog | Status::Todo);
                match choice {
                    Choice::Wait => must(
                        self.board
                            .children(own)
                            .any(|child| child.status == Status::InProgress || !child.dependencies.is_empty()),
                        "nothing to wait for",
                    ),
                    Choice::Start => must(self.board.children(own).any(unstarted), "nothing to start"),
                    Choice::Adjust => Ok(()),
                }
            }
            EventKind::CompletionReported { report, .. } => {
                text(Field::Summary, &report.summary)?;
                let own = self.own()?;
                must(own.status == Status::InProgress, "it is not in progress")?;
                let done = self.board.children(own).any(|child| child.status == Status::Done);
                let open = self.board.unsettled_children(own).next().is_some();
                must(report.result != Outcome::Success || !open, "children are open")?;
                must(report.result != Outcome::Success || !self.is_manager() || done, "nothing is done")
            }
            EventKind::ContextSaved { context, .. } => {
                self.own()?;
                let texts = [&context.progress, &context.findings, &context.blockers, &context.next_steps];
                texts.into_iter().flatten().try_for_each(|words| text(Field::Context, words))
            }
            EventKind::MemoryProposed { task, by, text: words } => {
                must(self.own()?.id == *task && *by == self.session.agent, "it proposes what its own task has shown")?;
                text(Field::Decision, words)
            }
            EventKind::TaskFetched { .. } => self.own().map(drop),
            EventKind::ModelReported { report, .. } => {
                text(Field::Model, &report.provider)?;
                text(Field::Model, &report.model_id)
            }
            EventKind::MessagesShown { .. } => must(self.session.task().is_none(), "only a chat reads messages"),
            EventKind::MessageSent { from, to, content, related_task, .. } => {
                text(Field::Message, content)?;
                must(*from == self.me() && from != to, "it speaks for itself, to others")?;
                must(self.session.messages < self.board.settings.limits.max_messages, "no messages are left")?;
                related_task.map_or(Ok(()), |task| self.task(task).map(drop))?;
                match to {
                    Party::Owner => Ok(()),
                    Party::Agent(_) => Err("agents do not chat".into()),
                    Party::System => Err("there is nobody".into()),
                }
            }
            EventKind::ActionGiven { .. }
            | EventKind::ActionRepeated { .. }
            | EventKind::LoggedOut { .. }
            | EventKind::CallsCounted { .. } => Ok(()),
            EventKind::ProjectConfigured { .. }
            | EventKind::ProjectPaused
            | EventKind::ProjectResumed
            | EventKind::RosterApplied { .. }
            | EventKind::PasskeySet { .. }
            | EventKind::AccountParked { .. }
            | EventKind::BranchRecorded { .. }
            | EventKind::Examined { .. }
            | EventKind::MergeStarted { .. }
            | EventKind::TargetChecked { .. }
            | EventKind::SessionClaimed { .. }
            | EventKind::SessionRunning { .. }
            | EventKind::LeasesRenewed { .. }
            | EventKind::SessionsTakenOver { .. }
            | EventKind::MergeTurnTaken { .. }
            | EventKind::MergeTurnEnded { .. }
            | EventKind::UsageReported { .. }
            | EventKind::StopRequested { .. }
            | EventKind::ProcessEnded { .. }
            | EventKind::WorkspaceExamined { .. }
            | EventKind::Judged { .. }
            | EventKind::FuelSpent { .. }
            | EventKind::ProposalAnswered { .. }
            | EventKind::MessageExpired { .. } => Err("that is not an agent's".into()),
        }?;
        let about = what.session();
        must(about.is_none_or(|session| session == self.session.id), "that is about another session")
    }

    fn may_create(&self, tasks: &[CreatedTask]) -> Judged {
        let limits = &self.board.settings.limits;
        let newest = self.board.tasks.keys().next_back().map_or(0, |id| id.0);
        let at_once = tasks.len() as u32;
        let (siblings, ever): (Vec<&Task>, u32) = match self.session.task() {
            Some(_) => {
                let own = self.own()?;
                must(!own.is_step() && !own.is_settled(), "its task cannot be split")?;
                (self.board.unsettled_children(own).collect(), own.children.len() as u32)
            }
            None => {
                must(self.is_manager(), "only managers create in a chat")?;
                let mine = self.board.tasks.values().map(AsRef::as_ref);
                let mine = mine.filter(|task| task.parent.is_none() && !task.is_settled() && task.creator == self.me());
                (mine.collect(), 0)
            }
        };
        must(siblings.len() as u32 + at_once <= limits.max_children, "too many children")?;
        must(ever + at_once <= limits.max_children_ever, "too many children ever")?;
        for (index, new) in tasks.iter().enumerate() {
            must(new.id.0 == newest + 1 + index as u32, "ids are dense")?;
            must(new.creator == self.me(), "it creates in its own name")?;
            must(new.parent == self.session.task(), "it creates below its own task")?;
            must(new.completion.is_none() && !new.allow_empty, "it cannot loosen what done means")?;
            text(Field::Title, &new.title)?;
            text(Field::Description, &new.description)?;
            let as_it_should = match (new.parent, new.kind) {
                (None, Kind::Task) => {
                    let asked = new.mandate.map(|id| self.board.messages.iter().find(|message| message.id == id));
                    let status = if asked.is_some() { Status::Todo } else { Status::Backlog };
                    let by_owner = |message: &Message| {
                        message.from == Party::Owner && message.to == self.me() && message.tasks.len() < 3
                    };
                    new.assignee.as_ref() == Some(&self.session.agent)
                        && new.status == status
                        && asked.is_none_or(|message| message.is_some_and(|message| by_owner(message)))
                        && new.depth == 0
                }
                (None, Kind::Step) => false,
                (Some(_), Kind::Step) => !self.is_manager() && new.status == Status::Todo,
                (Some(parent), Kind::Task) => {
                    let depth = self.task(parent)?.depth + 1;
                    new.depth == depth && new.assignee.is_none() && new.status == Status::Backlog
                }
            };
            must(as_it_should, "it is not what a subtask of this agent is")?;
            let title = new.title.to_lowercase();
            let earlier = tasks[..index].iter().map(|other| &other.title);
            let twins =
                siblings.iter().map(|task| &task.title).chain(earlier).any(|other| other.to_lowercase() == title);
            must(!twins || new.parent.is_none(), "a twin")?;
            for on in &new.dependencies {
                match tasks.iter().position(|other| other.id == *on) {
                    // Within the batch the order may be any, but nothing waits for itself.
                    Some(_) => must(!batch_leads_to(tasks, *on, new.id), "a cycle")?,
                    None => self.may_depend(new.kind, new.parent, *on)?,
                }
            }
        }
        Ok(())
    }

    fn may_depend(&self, kind: Kind, parent: Option<TaskId>, on: TaskId) -> Judged {
        let on = self.task(on)?;
        let siblings = on.parent == parent && on.kind == kind;
        must(siblings || (kind == Kind::Task && !on.is_step()), "a step depends on its siblings alone")?;
        must(on.status != Status::Cancelled, "it can never be done")
    }

    /// Does `from` wait, by however many dependencies, for `to`?
    fn leads_to(&self, from: TaskId, to: TaskId) -> bool {
        reaches(from, to, |id| self.board.tasks.get(&id).map_or(&[], |task| &task.dependencies))
    }

    /// L2: the mover is the assignee of the parent, through the parent's session or a manager's chat.
    fn is_mover(&self, task: &Task) -> bool {
        let parent = task.parent.and_then(|id| self.board.tasks.get(&id));
        let assigned = parent.is_some_and(|parent| parent.assignee.as_ref() == Some(&self.session.agent));
        let through = match self.session.task() {
            Some(own) => task.parent == Some(own),
            None => self.is_manager(),
        };
        assigned && through
    }

    fn may_change(&self, task: TaskId) -> Judged<&Task> {
        let task = self.task(task)?;
        must(self.is_mover(task), "it is not the mover")?;
        must(!task.is_settled(), "it is settled")?;
        Ok(task)
    }

    pub(super) fn rule(&self, task: TaskId, from: Status, to: Status) -> Judged<&'static lifecycle::Rule> {
        let task = self.task(task)?;
        must(task.status == from, "it was not there")?;
        let before = task.block.as_ref().map(|block| block.before);
        lifecycle::rule(from, to, before).ok_or_else(|| "there is no such row".into())
    }

    fn may_move(&self, id: TaskId, from: Status, to: Status, reason: Option<&str>) -> Judged {
        let rule = self.rule(id, from, to)?;
        let task = self.task(id)?;
        // What the owner asked for in the chat starts with its creation.
        let asked = task.mandate.map(|message| format!("asked for in {message}"));
        if rule.name == Move::Start && asked.is_some() && asked.as_deref() == reason {
            must(task.creator == self.me() && self.session.task().is_none(), "it was not asked for here")?;
            return self.is_ready(task);
        }
        if let Some(reason) = reason {
            text(Field::Reason, reason)?;
        }
        let own_step = task.is_step() && task.parent == self.session.task() && task.parent.is_some();
        let own_task = self.session.task() == Some(id) && task.assignee.as_ref() == Some(&self.session.agent);
        let is = |who: &TaskRole| match who {
            TaskRole::Mover => self.is_mover(task),
            TaskRole::Assignee => own_step || own_task,
            TaskRole::Doer => own_step,
            TaskRole::Blocker => task.block.as_ref().is_some_and(|block| block.by == self.me()),
            TaskRole::Owner | TaskRole::OwnerMerged | TaskRole::OwnerByHand | TaskRole::Verdict => false,
        };
        must(rule.by.iter().any(is), format!("{} is not this session's", rule.name))?;
        rule.guards.iter().try_for_each(|guard| self.guarded(task, *guard, rule.name, reason))
    }

    fn guarded(&self, task: &Task, guard: Guard, name: Move, reason: Option<&str>) -> Judged {
        let parent = task.parent.and_then(|id| self.board.tasks.get(&id));
        match guard {
            Guard::Reason => must(reason.is_some_and(|text| !text.trim().is_empty()), format!("{name} needs a reason")),
            Guard::Ready => self.is_ready(task),
            Guard::ReadyIfItWas => match task.block.as_ref().map(|block| block.before) {
                Some(Status::InProgress) => self.is_ready(task),
                _ => Ok(()),
            },
            Guard::OwnersBlock => {
                let owners = task.block.as_ref().is_some_and(|block| block.by == Party::Owner);
                must(!owners, "the owner blocked it")
            }
            Guard::ChildrenSettled => must(self.board.unsettled_children(task).next().is_none(), "children are open"),
            Guard::RetriesLeft => {
                must(task.used.retries_by_agents < self.board.settings.limits.max_retries, "no retries are left")
            }
            Guard::ParentUnsettled => must(!parent.is_some_and(|parent| parent.is_settled()), "its parent is settled"),
            Guard::NotUnderJudgement => {
                let session = parent.and_then(|parent| parent.live).and_then(|id| self.board.sessions.get(&id));
                let judged = session.is_some_and(|s| s.report.is_some() || s.status == SessionStatus::Verifying);
                must(!judged, "its parent is being judged")
            }
        }
    }

    /// L3, L4
    fn is_ready(&self, task: &Task) -> Judged {
        must(!self.board.paused, "the project is paused")?;
        let done = |on: &TaskId| self.board.tasks.get(on).is_some_and(|on| on.status == Status::Done);
        must(task.dependencies.iter().all(done), "a dependency is not done")?;
        must(self.board.ancestors(task).all(|above| above.status == Status::InProgress), "it is held")?;
        let assigned = task.assignee.as_ref().is_some_and(|agent| self.board.active_agent(agent).is_some());
        must(task.is_step() || assigned, "nobody has it")?;
        must(
            task.used.sessions < self.board.settings.limits.max_task_sessions || task.is_step(),
            "no sessions are left",
        )
    }
}

fn batch_leads_to(tasks: &[CreatedTask], from: TaskId, to: TaskId) -> bool {
    reaches(from, to, |id| tasks.iter().find(|task| task.id == id).map_or(&[], |task| &task.dependencies))
}

/// Does a way lead from one task to the other, by what each depends on?
fn reaches<'a>(from: TaskId, to: TaskId, dependencies: impl Fn(TaskId) -> &'a [TaskId]) -> bool {
    let (mut next, mut seen) = (vec![from], Vec::new());
    while let Some(id) = next.pop() {
        if id == to {
            return true;
        }
        if !seen.contains(&id) {
            seen.push(id);
            next.extend_from_slice(dependencies(id));
        }
    }
    false
}

/// No accepted text is longer than its field, or hides control characters.
fn text(field: Field, words: &str) -> Judged {
    must(words.chars().count() <= field.limit(), format!("{field} is too long"))?;
    let one_line = matches!(field, Field::Title | Field::Key | Field::Model);
    let hidden = |c: char| c.is_control() && (one_line || !matches!(c, '\n' | '\r' | '\t'));
    must(!words.chars().any(hidden), format!("{field} hides control characters"))
}
