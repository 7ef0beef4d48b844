//! What is true of the sessions, and of their tasks, after an event?

use std::sync::Arc;

use super::Fold;
use super::tasks::ChangeScope;
use crate::action::{Choice, NextAction, StopCause};
use crate::evidence::{
    CheckResult, DodResult, Examination, Inconclusive, Merge, ProcessEnd, Rejection, TargetChecks, Usage, Verdict,
};
use crate::fuel;
use crate::right_of_way;
use crate::session::{ActionCounts, CompletionReport, Driver, Purpose, Session, SessionStatus};
use crate::settings::Fuel;
use crate::spending::{Spent, day_of};
use crate::task::{Context, Task};
use crate::{Actor, Agent, AgentId, Generation, Mode, SecretHash, SessionId, Timestamp};

/// The content of `SessionClaimed`.
pub(super) struct Claimed<'a> {
    pub(super) session: SessionId,
    pub(super) agent: &'a AgentId,
    pub(super) purpose: Purpose,
    pub(super) driver: &'a Driver,
    pub(super) generation: Generation,
    pub(super) lease_until: Option<Timestamp>,
    pub(super) credential: Option<&'a SecretHash>,
}

impl Fold<'_> {
    pub(super) fn session_claimed(&mut self, claimed: Claimed<'_>) {
        let (id, at) = (claimed.session, self.event.at);
        let lapses_after = self.board.settings.limits.right_of_way;
        let by_hand = *claimed.driver == Driver::Hand;
        let session = self.fresh_session(&claimed);
        self.board.index.add_session(&session);
        self.board.sessions.insert(id, Arc::new(session));
        if let Some(credential) = claimed.credential {
            self.board.credentials.insert(credential.clone(), id);
        }
        match claimed.purpose {
            Purpose::Task(task) => self.indexed_task(task, |task| {
                task.live = Some(id);
                task.sessions.push(id);
                task.generation = claimed.generation;
                task.used.sessions += 1;
                task.waiting_since = None;
                task.by_hand |= by_hand;
                // Once it has the right of way it keeps it from session to session, until its time is up.
                if let Some(right_of_way) = &mut task.right_of_way
                    && right_of_way.granted.is_none_or(|since| since + lapses_after <= at)
                {
                    right_of_way.granted = Some(at);
                }
            }),
            Purpose::Chat => self.agent(claimed.agent, |agent| {
                agent.chat.live = Some(id);
                agent.chat.generation = claimed.generation;
            }),
        }
    }

    fn fresh_session(&self, claimed: &Claimed<'_>) -> Session {
        let at = self.event.at;
        // The start of a session that is driven by hand is not reported: it runs from its claim on.
        let status = match claimed.driver {
            Driver::Runner { .. } => SessionStatus::Starting,
            Driver::Attached | Driver::Hand => SessionStatus::Running,
        };
        Session {
            id: claimed.session,
            agent: claimed.agent.clone(),
            purpose: claimed.purpose,
            driver: claimed.driver.clone(),
            generation: claimed.generation,
            status,
            lease_until: claimed.lease_until,
            claimed_at: at,
            claimed_seq: self.board.seq,
            last_call_at: at,
            last_output_at: None,
            model: None,
            fetched: false,
            comments_read: if self.reads_prompt_only(claimed) { self.board.seq } else { 0 },
            choice: None,
            chosen: 0,
            wait_given: None,
            report: None,
            logged_out: false,
            stop: None,
            answers_given: ActionCounts::default(),
            calls: 0,
            messages: 0,
            shown_upto: None,
            end: None,
            process_ended: None,
            ended_at: None,
            dod_result: None,
            workspace: None,
            merging: None,
            trouble: None,
            facts: 0,
            artifacts: Vec::new(),
            usage: None,
            spent: Spent::default(),
            verdict: None,
        }
    }

    /// Its process is over, and what it did waits to be judged. Nothing renews such a session, so it has no lease
    /// that could lapse (V12).
    pub(super) fn process_ended(
        &mut self,
        id: SessionId,
        end: &ProcessEnd,
        dod_result: Option<DodResult>,
        artifacts: &[String],
        usage: Option<Usage>,
    ) {
        let ended = (self.board.seq, self.event.at);
        let Some(before) = self.board.sessions.get(&id).cloned() else { return };
        self.session(id, |session| {
            session.status = SessionStatus::Verifying;
            session.lease_until = None;
            session.process_ended = Some(ended);
            session.end = Some(end.clone());
            session.dod_result = dod_result;
            session.artifacts = artifacts.to_vec();
        });
        // A client that was ended may not have told at the end what it told before.
        if let Some(usage) = &usage {
            self.used(id, usage);
        }
        if let Some(after) = self.board.sessions.get(&id) {
            self.board.index.end_process(&before, after);
        }
    }

    pub(super) fn examined(&mut self, id: SessionId, examination: &Examination) {
        let Examination::Found(facts) = examination else {
            let trouble = match examination {
                Examination::Failed { reason } => Some(reason.clone()),
                Examination::NotNeeded | Examination::Unreadable { .. } | Examination::Gone | Examination::Found(_) => {
                    None
                }
            };
            self.session(id, |session| {
                if trouble.is_none() {
                    session.merging = None;
                }
                session.trouble = trouble;
            });
            return;
        };
        self.session(id, |session| {
            session.dod_result = Some(crate::verdict::dod_result(facts));
            session.artifacts.clone_from(&facts.changed);
            session.workspace = Some((**facts).clone());
            session.merging = None;
            session.trouble = None;
        });
        if let (Merge::Merged { commit }, false) = (&facts.merge, facts.checks.is_empty()) {
            // The target is now what was tested.
            self.target_checked(commit, &facts.checks);
        }
        let Some(task) = self.board.sessions.get(&id).and_then(|session| session.task()) else { return };
        if self.board.tasks.get(&task).is_some_and(|task| fuel::left_another_tree(task, facts)) {
            self.mark_changed(task, ChangeScope::Fact);
        }
        if facts.tree.is_some() {
            self.task(task, |task| task.work_tree.clone_from(&facts.tree));
        }
    }

    /// What is known of a commit of the target grows; what was known of another one is over.
    pub(super) fn target_checked(&mut self, commit: &str, results: &[CheckResult]) {
        let mut known = match self.board.target.as_deref() {
            Some(known) if known.commit == commit => known.clone(),
            Some(_) | None => TargetChecks { commit: commit.to_owned(), results: Vec::new() },
        };
        let newer = |result: &CheckResult| results.iter().any(|new| new.name == result.name);
        known.results.retain(|result| !newer(result));
        known.results.extend_from_slice(results);
        self.board.target = Some(Arc::new(known));
    }

    /// The session is over: it lets go of its task or chat.
    pub(super) fn judged(&mut self, id: SessionId, verdict: Option<&Verdict>) {
        let (at, seq) = (self.event.at, self.board.seq);
        let Some(session) = self.board.sessions.get(&id).cloned() else { return };
        let progressed = fuel::brought_a_fact(self.board, &session);
        self.session(id, |session| {
            session.status = SessionStatus::Ended;
            session.ended_at = Some(at);
            session.verdict = verdict.cloned();
        });
        self.board.index.end_session(&session);
        self.end_merge_turn(id);
        match (session.purpose, verdict) {
            (Purpose::Chat, _) => self.chat_ended(&session),
            (Purpose::Task(task), verdict) => {
                let idle = verdict.is_some_and(fuel::counts_as_idle) && !progressed;
                let next = self.board.tasks.get(&task).map_or(0, |task| task.used.idle_sessions) + 1;
                let pause = at + fuel::backoff(self.board, next);
                let waiting = verdict == Some(&Verdict::None(Inconclusive::Waiting));
                self.indexed_task(task, |task| {
                    task.live = None;
                    task.last_session = Some(id);
                    task.waiting_since = session.wait_given.filter(|_| waiting);
                    if idle {
                        task.used.idle_sessions = next;
                        task.not_before = Some(pause);
                    } else if progressed {
                        task.used.idle_sessions = 0;
                        task.not_before = None;
                    } else if waiting {
                        task.not_before = Some(pause);
                    }
                    if let Some(Verdict::Rejected(why)) = verdict {
                        sent_back(task, why);
                        task.marks.sent_back = seq;
                    }
                });
            }
        }
    }

    /// Whoever waits may test and merge now.
    pub(super) fn end_merge_turn(&mut self, id: SessionId) {
        self.board.merge_turn = self.board.merge_turn.filter(|turn| turn.session != id);
    }

    /// A chat that left messages unread is not started again at once (F87).
    fn chat_ended(&mut self, session: &Session) {
        let unread =
            self.board.agents.get(&session.agent).is_some_and(|agent| self.board.unread(agent).next().is_some());
        let next = self.board.agents.get(&session.agent).map_or(0, |agent| agent.chat.idle) + 1;
        let pause = self.event.at + fuel::backoff(self.board, next);
        self.agent(&session.agent, |agent| {
            agent.chat.live = None;
            agent.chat.idle = if unread { next } else { 0 };
            agent.chat.not_before = unread.then_some(pause);
        });
    }

    /// How often a step was given since the last new fact (G2).
    pub(super) fn count_action(&mut self, id: SessionId, action: NextAction, times: u32) {
        let Some(session) = self.board.sessions.get(&id).cloned() else { return };
        let times = fuel::times_given(self.board, &session, &action).saturating_add(times);
        let fact = fuel::last_fact(self.board, &session);
        self.session(id, |session| {
            if session.answers_given.since_fact != fact {
                session.answers_given = ActionCounts { since_fact: fact, counts: Vec::new() };
            }
            match session.answers_given.counts.iter_mut().find(|(given, _)| *given == action) {
                Some((_, count)) => *count = times,
                None => session.answers_given.counts.push((action, times)),
            }
        });
    }

    /// Comments are in the prompt of a one-shot agent, and in what a person who drives by hand is given. A guided agent
    /// reads them when it asks.
    fn reads_prompt_only(&self, claimed: &Claimed<'_>) -> bool {
        let one_shot = |agent: &Arc<Agent>| agent.spec.mode == Mode::OneShot;
        *claimed.driver == Driver::Hand || self.board.agents.get(claimed.agent).is_some_and(one_shot)
    }

    /// The session was told what is written about its task up to now.
    pub(super) fn comments_read(&mut self, id: SessionId) {
        let seq = self.board.seq;
        self.session(id, |session| session.comments_read = seq);
    }

    pub(super) fn action_given(&mut self, id: SessionId, action: NextAction) {
        self.comments_read(id);
        self.session(id, |session| match (action, session.choice) {
            (NextAction::Start | NextAction::Adjust, Some(Choice::Start | Choice::Adjust)) => session.choice = None,
            (NextAction::Wait, _) => session.wait_given = Some(session.chosen),
            _ => {}
        });
        self.acknowledge();
    }

    /// A session's next call acknowledges the messages it was shown.
    pub(super) fn acknowledge(&mut self) {
        let Actor::Session(id) = self.event.by else { return };
        let Some(session) = self.board.sessions.get(&id).cloned() else { return };
        if let (Some(shown), Some(agent)) = (session.shown_upto, self.board.agents.get(&session.agent).cloned()) {
            self.board.index.read_messages(&agent, shown);
            self.agent(&session.agent, |agent| agent.read_upto = agent.read_upto.max(shown));
        }
    }

    pub(super) fn completion_reported(&mut self, id: SessionId, report: &CompletionReport) {
        self.session(id, |session| session.report = Some(report.clone()));
        let Some(task) = self.board.sessions.get(&id).and_then(|session| session.task()) else { return };
        let seq = self.board.seq;
        self.task(task, |task| {
            task.report = Some(report.clone());
            task.marks.reported = seq;
        });
        self.mark_changed(task, ChangeScope::Fact);
    }

    /// What a session has used by now, for itself, its task, and the day (G5).
    pub(super) fn used(&mut self, id: SessionId, usage: &Usage) {
        let Some(session) = self.board.sessions.get(&id) else { return };
        let (spent, task) = (fuel::spent(self.board, session, usage), session.task());
        let new = spent.since(session.spent);
        self.session(id, |session| {
            session.usage = Some(*usage);
            session.spent = spent;
        });
        if let Some(task) = task {
            self.task(task, |task| {
                task.spent = task.spent.and(new);
                task.used.spent = task.used.spent.and(new);
            });
        }
        let day = day_of(self.event.at);
        let before = self.board.days.get(&day).copied().unwrap_or_default();
        if !new.is_nothing() {
            self.board.days.insert(day, before.and(new));
        }
    }

    pub(super) fn context_saved(&mut self, id: SessionId, context: &Context) {
        let Some(task) = self.board.sessions.get(&id).and_then(|session| session.task()) else { return };
        self.task(task, |task| task.context = Some(context.clone()));
        self.mark_changed(task, ChangeScope::Fact);
    }

    pub(super) fn fuel_spent(&mut self, session: Option<SessionId>, fuel: Fuel) {
        let cause = match fuel {
            Fuel::Repeats | Fuel::IdleSessions => StopCause::NoProgress,
            Fuel::Calls
            | Fuel::Messages
            | Fuel::TaskSessions
            | Fuel::Conflicts
            | Fuel::SessionBudget
            | Fuel::TaskBudget
            | Fuel::DayBudget => StopCause::FuelSpent,
        };
        if let Some(session) = session {
            self.session(session, |session| session.stop = Some(cause));
        }
    }
}

/// Its work goes back to the agent. A conflict costs no attempt; the second in a row puts the task in line for the
/// right of way (V11).
fn sent_back(task: &mut Task, why: &Rejection) {
    if let Rejection::EndedBadly { .. } | Rejection::LimitReached { .. } = why {
        if let Rejection::EndedBadly { .. } = why {
            task.used.attempts += 1;
        }
        task.used.bad_ends += 1;
        // What was wrong with the work before is still wrong with it.
        task.feedback.get_or_insert_with(|| why.clone());
        return;
    }
    task.feedback = Some(why.clone());
    task.used.bad_ends = 0;
    let Rejection::Conflict { files } = why else {
        task.used.attempts += 1;
        task.used.conflicts = 0;
        return;
    };
    task.used.conflicts += 1;
    if task.used.conflicts >= right_of_way::CONFLICTS {
        let wanted = &mut task.right_of_way.get_or_insert_default().files;
        wanted.extend(files.iter().cloned());
        wanted.sort();
        wanted.dedup();
    }
}
