//! What is true after an event? Total: every event that was ever written can be folded.

mod sessions;
mod tasks;

use std::sync::Arc;

use crate::agent::{Agent, AgentSpec, Chat};
use crate::board::{Board, MergeTurn};
use crate::event::{Event, EventKind};
use crate::evidence::Examination;
use crate::message::Message;
use crate::session::{Driver, Session, SessionStatus};
use crate::task::Task;
use crate::{Actor, AgentId, MessageId, SessionId, TaskId, Timestamp};

/// Folds one event into the board. It never fails and decides nothing: an event about a task or session
/// that does not exist changes nothing but the sequence number.
pub fn apply(board: &mut Board, event: &Event) {
    if board.seq == 0 {
        board.began = event.at;
    }
    board.seq += 1;
    let mut fold = Fold { board, event };
    fold.count_call();
    fold.count_fact();
    fold.fold();
    fold.add_to_tasks();
}

/// One event being folded.
struct Fold<'a> {
    board: &'a mut Board,
    event: &'a Event,
}

impl Fold<'_> {
    fn fold(&mut self) {
        match &self.event.what {
            EventKind::ProjectConfigured { settings } => {
                self.board.settings = Arc::new((**settings).clone());
                self.board.configured = self.board.seq;
            }
            EventKind::ProjectPaused => self.board.paused = true,
            EventKind::ProjectResumed => self.board.paused = false,
            EventKind::RosterApplied { present, left } => self.roster_applied(present, left),
            EventKind::PasskeySet { agent, hash } => self.agent(agent, |agent| agent.passkey = Some(hash.clone())),
            EventKind::AccountParked { account, until } => {
                self.board.parked.insert(account.clone(), *until);
            }

            EventKind::TasksCreated { tasks, key } => self.tasks_created(tasks, key.as_deref()),
            EventKind::TaskEdited { task, edit } => self.task_edited(*task, edit),
            EventKind::TaskAssigned { task, assignee } => self.task_assigned(*task, assignee.as_ref()),
            EventKind::DependenciesChanged { task, added, removed } => self.dependencies_changed(*task, added, removed),
            EventKind::TaskMoved { task, to, by, reason, forced, .. } => {
                self.task_moved(*task, *to, by, reason.as_deref(), *forced);
            }
            EventKind::CommentAdded { task, by, text } => self.comment_added(*task, by, text),
            EventKind::MemoryProposed { task, by, text } => self.memory_proposed(*task, by, text),
            EventKind::ProposalAnswered { task, proposal, answer } => {
                self.proposal_answered(*task, *proposal, *answer);
            }
            EventKind::BranchRecorded { task, branch, base } => self.task(*task, |task| {
                task.branch = Some(branch.clone());
                task.base_commit = Some(base.clone());
            }),

            EventKind::SessionClaimed { session, agent, purpose, driver, generation, lease_until, credential } => {
                self.session_claimed(sessions::Claimed {
                    session: *session,
                    agent,
                    purpose: *purpose,
                    driver,
                    generation: *generation,
                    lease_until: *lease_until,
                    credential: credential.as_ref(),
                });
            }
            EventKind::SessionRunning { session } => {
                self.session(*session, |session| session.status = SessionStatus::Running);
            }
            EventKind::LeasesRenewed { sessions, until, printed } => {
                for session in sessions {
                    self.renew_lease(*session, *until);
                }
                for (session, at) in printed {
                    self.session(*session, |session| session.last_output_at = Some(*at));
                }
            }
            EventKind::SessionsTakenOver { sessions, runner } => {
                for session in sessions {
                    self.session(*session, |session| {
                        if let Driver::Runner { runner: of, .. } = &mut session.driver {
                            of.clone_from(runner);
                        }
                    });
                }
            }
            EventKind::MergeTurnTaken { session, until } => {
                self.board.merge_turn = Some(MergeTurn { session: *session, until: *until });
            }
            EventKind::MergeTurnEnded { session } => self.end_merge_turn(*session),
            EventKind::StopRequested { session, cause } => {
                self.session(*session, |session| session.stop = Some(*cause))
            }
            EventKind::UsageReported { session, usage } => self.used(*session, usage),
            EventKind::ProcessEnded { session, end, dod_result, artifacts, usage } => {
                self.process_ended(*session, end, *dod_result, artifacts, *usage);
            }
            EventKind::WorkspaceExamined { session, facts } => {
                self.examined(*session, &Examination::Found(facts.clone()));
            }
            EventKind::Examined { session, examination } => self.examined(*session, examination),
            EventKind::MergeStarted { session, candidate } => {
                self.session(*session, |session| session.merging = Some(candidate.clone()));
            }
            EventKind::TargetChecked { commit, results } => self.target_checked(commit, results),
            EventKind::Judged { session, verdict } => self.judged(*session, verdict.as_ref()),

            EventKind::ModelReported { session, report } => {
                self.session(*session, |session| session.model = Some(report.clone()));
            }
            EventKind::TaskFetched { session } => {
                self.session(*session, |session| session.fetched = true);
                self.comments_read(*session);
            }
            EventKind::ActionGiven { session, action } => {
                self.count_action(*session, *action, 1);
                self.action_given(*session, *action);
            }
            EventKind::ActionRepeated { session, action, times } => self.count_action(*session, *action, *times),
            EventKind::ActionChosen { session, choice, .. } => {
                let seq = self.board.seq;
                self.session(*session, |session| {
                    session.choice = Some(*choice);
                    session.chosen = seq;
                    session.wait_given = None;
                });
            }
            EventKind::CompletionReported { session, report } => self.completion_reported(*session, report),
            EventKind::ContextSaved { session, context } => self.context_saved(*session, context),
            EventKind::LoggedOut { session } => {
                self.session(*session, |session| session.logged_out = true);
                self.acknowledge();
            }
            EventKind::CallsCounted { .. } => {}
            EventKind::FuelSpent { session, fuel, .. } => self.fuel_spent(*session, *fuel),

            EventKind::MessageSent { message, from, to, content, related_task } => {
                let (at, seq) = (self.event.at, self.board.seq);
                let (from, to, content) = (from.clone(), to.clone(), content.clone());
                let related_task = *related_task;
                let message = Message {
                    id: *message,
                    from,
                    to,
                    content,
                    related_task,
                    at,
                    seq,
                    tasks: Vec::new(),
                    expired: false,
                };
                self.board.index.add_message(&message);
                self.board.messages.push_back(Arc::new(message));
                self.acknowledge();
            }
            EventKind::MessagesShown { session, upto } => {
                self.session(*session, |session| session.shown_upto = Some(*upto));
            }
            EventKind::MessageExpired { message } => {
                self.board.index.unread_from_owner.remove(message);
                self.message(*message, |message| message.expired = true);
            }
        }
    }

    /// Counts a session's calls by the events they left; an attached agent's calls renew its lease.
    fn count_call(&mut self) {
        let Actor::Session(id) = self.event.by else { return };
        let (at, calls) = (self.event.at, self.event.what.calls(self.event.continues));
        let lease = at + self.board.settings.limits.attached_lease;
        let sent = matches!(self.event.what, EventKind::MessageSent { .. } | EventKind::CommentAdded { .. });
        self.session(id, |session| {
            session.calls = session.calls.saturating_add(calls);
            session.messages += u32::from(sent);
            session.last_call_at = at;
        });
        if self.board.sessions.get(&id).is_some_and(|session| session.driver == Driver::Attached) {
            self.renew_lease(id, lease);
        }
    }

    /// Remembers the number of a runner's fact, so that the same fact told again changes nothing.
    fn count_fact(&mut self) {
        if let Some((session, number)) = self.event.fact {
            self.session(session, |session| session.facts = session.facts.max(number));
        }
    }

    fn roster_applied(&mut self, present: &[AgentSpec], left: &[AgentId]) {
        for spec in present {
            let known = self.board.agents.get(&spec.id).map(|agent| (**agent).clone());
            let agent = match known {
                Some(known) => Agent { spec: spec.clone(), active: true, ..known },
                None => Agent {
                    spec: spec.clone(),
                    active: true,
                    passkey: None,
                    read_upto: MessageId(0),
                    chat: Chat::default(),
                },
            };
            self.board.agents.insert(spec.id.clone(), Arc::new(agent));
        }
        for id in left {
            self.agent(id, |agent| agent.active = false);
        }
    }

    fn agent(&mut self, id: &AgentId, change: impl FnOnce(&mut Agent)) {
        if let Some(agent) = self.board.agents.get_mut(id) {
            change(Arc::make_mut(agent));
        }
    }

    fn task(&mut self, id: TaskId, change: impl FnOnce(&mut Task)) {
        if let Some(task) = self.board.tasks.get_mut(&id) {
            change(Arc::make_mut(task));
        }
    }

    /// Changes what the index knows of a task: its status, assignee or live session.
    fn indexed_task(&mut self, id: TaskId, change: impl FnOnce(&mut Task)) {
        let Some(before) = self.board.tasks.get(&id).cloned() else { return };
        self.task(id, change);
        if let Some(after) = self.board.tasks.get(&id) {
            self.board.index.change_task(&before, after);
        }
    }

    /// Sets until when a session lives without being renewed.
    fn renew_lease(&mut self, id: SessionId, until: Timestamp) {
        let Some(session) = self.board.sessions.get(&id) else { return };
        // Work that has ended needs no lease (V12). Older logs renew it.
        if !session.is_live() || session.status == SessionStatus::Verifying {
            return;
        }
        let from = session.lease_until;
        self.session(id, |session| session.lease_until = Some(until));
        self.board.index.move_lease(id, from, Some(until));
    }

    /// Adds the event to every task it is about.
    fn add_to_tasks(&mut self) {
        let seq = self.board.seq;
        let of_session = self.event.what.session().and_then(|id| self.board.sessions.get(&id)?.task());
        for task in self.event.what.tasks().into_iter().chain(of_session) {
            self.task(task, |task| task.events.add(seq));
        }
    }

    fn session(&mut self, id: SessionId, change: impl FnOnce(&mut Session)) {
        if let Some(session) = self.board.sessions.get_mut(&id) {
            change(Arc::make_mut(session));
        }
    }

    fn message(&mut self, id: MessageId, change: impl FnOnce(&mut Message)) {
        let found = self.board.messages.binary_search_by_key(&id, |message| message.id);
        if let Some(message) = found.ok().and_then(|index| self.board.messages.get_mut(index)) {
            change(Arc::make_mut(message));
        }
    }
}
