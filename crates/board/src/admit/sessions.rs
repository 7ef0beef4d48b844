//! May this session begin, go on, end; and what does its end mean for its task?

use std::collections::BTreeMap;

use super::{AdmitContext, AdmitResult, block, block_for_fuel, truncate};
use crate::action::StopCause;
use crate::attach;
use crate::coordination::Action;
use crate::coordination::Reason;
use crate::event::EventKind;
use crate::evidence::{
    CheckResult, DodResult, EndReason, Examination, Inconclusive, ProcessEnd, Rejection, Usage, VendorTrouble, Verdict,
    WorkspaceFacts,
};
use crate::examination::{self, ExaminationStep, examination_step};
use crate::fact::Fact;
use crate::fuel;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::{Driver, Purpose, Session, SessionStatus};
use crate::settings::Fuel;
use crate::staffing;
use crate::task::{Status, Task};
use crate::verdict;
use crate::{Actor, AgentId, Generation, Party, SecretHash, SessionId, Span, TaskId, Timestamp};

/// The next instant at which time alone changes something. The writer sleeps until then instead of polling.
pub fn next_due(board: &crate::Board) -> Option<Timestamp> {
    let leases = board.index.leases.get_min().map(|(until, _)| *until).into_iter();
    let messages = waiting_messages(board).map(|message| message.at + board.settings.limits.message_ttl);
    let turn = board.merge_turn.map(|turn| turn.until);
    leases.chain(messages).chain(turn).min().map(|at| at + crate::Span(1))
}

/// Messages from the owner that are unread and can still expire.
fn waiting_messages(board: &crate::Board) -> impl Iterator<Item = &crate::Message> {
    let answered = |to: &Party| match to {
        Party::Agent(agent) => board.agents.get(agent).is_some_and(|agent| agent.chat.live.is_some()),
        Party::Owner | Party::System => true,
    };
    board.unread_from_owner().filter(move |message| !answered(&message.to))
}

impl AdmitContext<'_> {
    /// Opens a session if, and only if, staffing says that this agent should be started for this
    /// purpose: of two claims for one task exactly one wins (S1, F85).
    pub(super) fn claim(
        &self,
        agent: &AgentId,
        purpose: Purpose,
        driver: &Driver,
        credential: Option<&SecretHash>,
        forced: bool,
    ) -> AdmitResult {
        self.check_force(forced)?;
        // A runner's claim that comes twice, however late, is one claim.
        if let (Driver::Runner { .. }, Some(credential)) = (driver, credential)
            && let Some(known) = self.board.credentials.get(credential)
        {
            return Err(RefusalReason::StaleSession(*known).into());
        }
        let mut happened = match (driver, purpose) {
            (Driver::Hand, Purpose::Task(task)) => self.claim_by_hand(agent, task, forced)?,
            (Driver::Hand, Purpose::Chat) => return Err(RefusalReason::TaskSessionOnly.into()),
            (Driver::Runner { .. } | Driver::Attached, _) => {
                self.check_staffing(agent, purpose, driver)?;
                self.check_runner(driver)?;
                Vec::new()
            }
        };
        let generation = match purpose {
            Purpose::Task(task) => self.board.task(task)?.generation,
            Purpose::Chat => self.board.agent(agent)?.chat.generation,
        };
        let limits = &self.board.settings.limits;
        let lease_until = match driver {
            Driver::Runner { runner, .. } => Some(self.now + limits.lease_of(runner)),
            Driver::Attached => Some(self.now + limits.attached_lease),
            Driver::Hand => None,
        };
        happened.push(EventKind::SessionClaimed {
            session: self.board.next_session(),
            agent: agent.clone(),
            purpose,
            driver: driver.clone(),
            generation: Generation(generation.0 + 1),
            lease_until,
            credential: credential.cloned(),
        });
        Ok(happened)
    }

    /// Opens a session for an agent that was attached by hand, if there is work for it (S3).
    pub(super) fn attach(&self, agent: &AgentId, credential: &SecretHash, can_make_workspace: bool) -> AdmitResult {
        let agent = self.board.agent(agent)?;
        let mut happened = Vec::new();
        let mut board = std::borrow::Cow::Borrowed(self.board);
        if attach::attachable(self.board, agent, can_make_workspace, self.now).is_err()
            && let Some(silent) = attach::silent_session(self.board, agent, self.now)
        {
            happened = self.ended(silent, &ProcessEnd::because(EndReason::Stopped), None)?;
            board = std::borrow::Cow::Owned(self.board_after(&happened));
        }
        let purpose = attach::attachable(&board, agent, can_make_workspace, self.now)?;
        let after = AdmitContext { board: &board, ..*self };
        happened.extend(after.claim(agent.id(), purpose, &Driver::Attached, Some(credential), false)?);
        Ok(happened)
    }

    /// A runner claims for itself.
    fn check_runner(&self, driver: &Driver) -> Result<(), Refusal> {
        match (driver, self.actor) {
            (Driver::Runner { runner, .. }, Actor::Runner(claimant)) if runner != claimant => {
                Err(RefusalReason::RunnersOnly.into())
            }
            (Driver::Runner { .. } | Driver::Attached | Driver::Hand, _) => Ok(()),
        }
    }

    fn check_staffing(&self, agent: &AgentId, purpose: Purpose, driver: &Driver) -> Result<(), Refusal> {
        if let Actor::Session(_) | Actor::Owner(_) = self.actor {
            return Err(RefusalReason::RunnersOnly.into());
        }
        let agent = self.board.agent(agent)?;
        let answer = match purpose {
            Purpose::Task(task) => {
                let task = self.board.task(task)?;
                if task.is_step() || task.assignee.as_ref() != Some(agent.id()) {
                    return Err(RefusalReason::NotAssigned { task: task.id, agent: agent.id().clone() }.into());
                }
                Some(staffing::staff_task(self.board, agent, task, self.now))
            }
            Purpose::Chat => staffing::staff_chat(self.board, agent, self.now),
        };
        match answer {
            Some(answer) if answer.action == Action::Start => Ok(()),
            Some(answer) if *driver == Driver::Attached && attach::lets_begin(self.board, &answer) => Ok(()),
            Some(answer) => Err(RefusalReason::NotStaffed { agent: agent.id().clone(), reason: answer.reason }.into()),
            None => {
                let reason = Reason::NoInProgressTask;
                Err(RefusalReason::NotStaffed { agent: agent.id().clone(), reason }.into())
            }
        }
    }

    /// For those who orchestrate by hand: claims the task and moves it to `in_progress` (C2).
    fn claim_by_hand(&self, agent: &AgentId, id: TaskId, forced: bool) -> AdmitResult {
        self.owner_only()?;
        let task = self.board.task(id)?;
        self.may_change(task, forced)?;
        if let Some(session) = task.live {
            return Err(RefusalReason::AlreadyClaimed { task: id, session }.into());
        }
        if task.is_step() {
            return Err(RefusalReason::StepsFollowTheirTask { task: id }.into());
        }
        if !matches!(task.status, Status::Backlog | Status::Todo | Status::InProgress) {
            return Err(RefusalReason::NotInProgress { task: id, status: task.status }.into());
        }
        let mut happened = self.assign_task(id, Some(agent), forced)?;
        happened.retain(|what| matches!(what, EventKind::TaskAssigned { .. }));
        let mut planned = task.clone();
        planned.assignee = Some(agent.clone());
        if let Some(obstacles) = self.not_ready(&planned) {
            return Err(obstacles.into());
        }
        if task.status != Status::InProgress {
            happened.push(EventKind::TaskMoved {
                task: id,
                from: task.status,
                to: Status::InProgress,
                by: Party::Owner,
                reason: None,
                forced,
            });
        }
        Ok(happened)
    }

    /// A session that a report is about. A stale generation is refused (S1).
    fn reported(&self, id: SessionId, generation: Generation) -> Result<&Session, Refusal> {
        let session = self.board.session(id)?;
        let runner = match (self.actor, &session.driver) {
            (Actor::Runner(reporter), Driver::Runner { runner, .. }) => reporter == runner,
            (Actor::System, _) => true,
            // Its workspace was made beside the server.
            (Actor::Runner(reporter), Driver::Attached) => !reporter.is_on_another_host(),
            (Actor::Runner(_), Driver::Hand) | (Actor::Owner(_) | Actor::Session(_), _) => false,
        };
        if !runner {
            return Err(RefusalReason::RunnersOnly.into());
        }
        if !session.is_live() || session.generation != generation {
            return Err(RefusalReason::StaleSession(id).into());
        }
        Ok(session)
    }

    /// What a runner saw of a session. A fact that was told before changes nothing, so it may be told until it is
    /// known to have arrived.
    pub(super) fn report(&self, id: SessionId, generation: Generation, number: u32, fact: &Fact) -> AdmitResult {
        let session = self.reported(id, generation)?;
        if number <= session.facts {
            return Ok(Vec::new());
        }
        match fact {
            Fact::Running => {
                let starting = session.status == SessionStatus::Starting;
                Ok(if starting { vec![EventKind::SessionRunning { session: id }] } else { Vec::new() })
            }
            Fact::Branch { branch, base } => match session.task() {
                Some(task) => self.record_branch(task, branch, base),
                None => Err(RefusalReason::TaskSessionOnly.into()),
            },
            Fact::UsageSoFar(_) | Fact::Exit { .. } if session.status == SessionStatus::Verifying => {
                Err(RefusalReason::StaleSession(id).into())
            }
            Fact::UsageSoFar(usage) if session.usage == Some(*usage) => Ok(Vec::new()),
            Fact::UsageSoFar(usage) => self.used(session, usage),
            Fact::Exit { end, usage } => self.ended(session, end, *usage),
            Fact::Examined(examination) => self.examined(session, examination),
        }
    }

    /// A session that has used up a budget is stopped, and its task blocked (G5).
    fn used(&self, session: &Session, usage: &Usage) -> AdmitResult {
        let mut happened = vec![EventKind::UsageReported { session: session.id, usage: *usage }];
        let board = self.board_after(&happened);
        let after = AdmitContext { board: &board, ..*self };
        let session = board.session(session.id)?;
        if session.stop.is_none()
            && let Some(spent) = fuel::budget_spent(&board, session, self.now)
        {
            happened.extend(after.stop_for_fuel(session, spent));
        }
        Ok(happened)
    }

    /// What the checks say of the target alone (V9).
    pub(super) fn report_target(&self, commit: &str, results: &[CheckResult]) -> AdmitResult {
        if !matches!(self.actor, Actor::Runner(_) | Actor::System) {
            return Err(RefusalReason::RunnersOnly.into());
        }
        let results = truncate::checks(results);
        let known = self.board.target.as_deref().filter(|known| known.commit == commit);
        if known.is_some_and(|known| results.iter().all(|result| known.results.contains(result))) {
            return Ok(Vec::new());
        }
        Ok(vec![EventKind::TargetChecked { commit: commit.to_owned(), results }])
    }

    /// Renews what can be renewed; the others show on the board as over.
    pub(super) fn renew_leases(
        &self,
        sessions: &[(SessionId, Generation)],
        quiet: &BTreeMap<SessionId, Span>,
    ) -> AdmitResult {
        let own = |(id, generation): &(SessionId, Generation)| self.reported(*id, *generation).ok();
        let (ended, running): (Vec<_>, Vec<_>) =
            sessions.iter().filter_map(own).partition(|session| session.status == SessionStatus::Verifying);
        let mut renewed = Vec::new();
        if let Some(turn) = self.board.merge_turn.filter(|turn| ended.iter().any(|session| session.id == turn.session))
        {
            renewed.push(self.merge_turn(turn.session));
        }
        let with_lease = |session: &&Session| matches!(session.driver, Driver::Runner { .. });
        let running: Vec<_> = running.into_iter().filter(with_lease).collect();
        // Its clock may be another than ours, so it says how long ago.
        let heard = |session: &&Session| {
            let quiet = quiet.get(&session.id).filter(|quiet| quiet.0 >= 0)?;
            let at = Timestamp(self.now.0.saturating_sub(quiet.0));
            session.last_output_at.is_none_or(|known| at > known).then_some((session.id, at.max(session.claimed_at)))
        };
        let printed: BTreeMap<_, _> = running.iter().filter_map(heard).collect();
        let valid: Vec<_> = running.into_iter().map(|session| session.id).collect();
        if valid.is_empty() {
            let stale = sessions.first().map(|(id, _)| *id).filter(|_| ended.is_empty());
            return stale.map_or(Ok(renewed), |id| Err(RefusalReason::StaleSession(id).into()));
        }
        let limits = &self.board.settings.limits;
        let lease = match self.actor {
            Actor::Runner(runner) => limits.lease_of(runner),
            Actor::Owner(_) | Actor::System | Actor::Session(_) => limits.lease,
        };
        let until = self.now + lease;
        renewed.push(EventKind::LeasesRenewed { sessions: valid, until, printed });
        Ok(renewed)
    }

    /// Stops a session, and blocks its task so that it is not simply started again (L12).
    pub(super) fn stop_session(&self, id: SessionId, restart: bool) -> AdmitResult {
        self.owner_only()?;
        let session = self.board.session(id)?;
        if !session.is_live() {
            return Err(RefusalReason::StaleSession(id).into());
        }
        if session.driver == Driver::Hand {
            return Err(RefusalReason::DrivenByHand { session: id }.into());
        }
        let ended = session.status == SessionStatus::Verifying;
        let told = EventKind::StopRequested { session: id, cause: StopCause::Owner };
        let mut happened: Vec<_> = Some(told).filter(|_| session.stop.is_none() && !ended).into_iter().collect();
        let task = session.task().map(|task| self.board.task(task)).transpose()?;
        if let Some(task) = task.filter(|task| !restart && task.status == Status::InProgress) {
            happened.push(EventKind::TaskMoved {
                task: task.id,
                from: task.status,
                to: Status::Blocked,
                by: Party::Owner,
                reason: Some("stopped by owner".into()),
                forced: false,
            });
        }
        // An attached agent learns it with its next call. If it has gone there is none, and no process to end.
        if session.driver == Driver::Attached && !ended && self.now - session.last_call_at > crate::Session::SILENT {
            let board = self.board_after(&happened);
            let after = AdmitContext { board: &board, ..*self };
            happened.extend(after.ended(after.board.session(id)?, &ProcessEnd::because(EndReason::Stopped), None)?);
        }
        Ok(happened)
    }

    /// The process is over: judged at once if its end decides, after its work was examined if not.
    pub(super) fn ended(&self, session: &Session, end: &ProcessEnd, usage: Option<Usage>) -> AdmitResult {
        let mut happened = Vec::new();
        // How a process ended is known once; losing its session afterwards does not change it.
        if session.end.is_none() {
            happened.push(EventKind::ProcessEnded {
                session: session.id,
                end: truncate::end(end),
                dod_result: None,
                artifacts: Vec::new(),
                usage,
            });
        }
        if let Some(VendorTrouble::RateLimited { until }) = end.vendor {
            let account = self.board.agent(&session.agent)?.spec.account();
            happened.push(self.parked(account, until));
        }
        match session.purpose {
            Purpose::Chat => happened.push(EventKind::Judged { session: session.id, verdict: None }),
            Purpose::Task(task) => {
                let task = self.board.task(task)?;
                let verdict = examination::verdict_by_end(self.board, session, task, end);
                happened.extend(verdict.into_iter().flat_map(|verdict| self.concluded(session, task, verdict, None)));
            }
        }
        Ok(happened)
    }

    /// What was found of ended work, and what it means.
    fn examined(&self, session: &Session, examination: &Examination) -> AdmitResult {
        let (Purpose::Task(task), SessionStatus::Verifying) = (session.purpose, session.status) else {
            return Err(RefusalReason::StaleSession(session.id).into());
        };
        let task = self.board.task(task)?;
        let examination = truncate::examination(examination);
        let step = examination_step(self.board, session, Some(&examination), self.now);
        let facts = match &examination {
            Examination::Found(facts) => Some(facts.as_ref()),
            Examination::NotNeeded
            | Examination::Failed { .. }
            | Examination::Unreadable { .. }
            | Examination::Gone => None,
        };
        let turn = self.turn_after(session, &step);
        let followed_by = match (step, facts.and_then(|facts| facts.candidate.clone())) {
            (ExaminationStep::Conclude(verdict), _) => self.concluded(session, task, verdict, facts),
            (ExaminationStep::Merge, Some(candidate)) => {
                vec![EventKind::MergeStarted { session: session.id, candidate }]
            }
            (
                ExaminationStep::Look
                | ExaminationStep::RunChecks(_)
                | ExaminationStep::CheckTarget(_)
                | ExaminationStep::Merge
                | ExaminationStep::Wait(_),
                _,
            ) => Vec::new(),
        };
        let mut happened = vec![EventKind::Examined { session: session.id, examination }];
        happened.extend(turn);
        happened.extend(followed_by);
        Ok(happened)
    }

    pub(super) fn end_by_hand(
        &self,
        id: SessionId,
        end: &ProcessEnd,
        dod_result: DodResult,
        merged: bool,
        artifacts: &[String],
    ) -> AdmitResult {
        self.owner_only()?;
        let session = self.board.session(id)?;
        if !session.is_live() {
            return Err(RefusalReason::StaleSession(id).into());
        }
        let (Driver::Hand, Purpose::Task(task)) = (&session.driver, session.purpose) else {
            return Err(RefusalReason::NotDrivenByHand { session: id }.into());
        };
        let task = self.board.task(task)?;
        let verdict = match task.status {
            Status::InProgress => verdict::judge_by_hand(end, dod_result),
            _ => Verdict::None(Inconclusive::Stopped),
        };
        if verdict == Verdict::Done {
            if !merged {
                return Err(RefusalReason::NotMerged { task: task.id, branch: task.branch.clone() }.into());
            }
            let open: Vec<_> = self.board.unsettled_children(task).map(|child| child.id).collect();
            if !open.is_empty() {
                return Err(RefusalReason::ChildrenOpen { task: task.id, open }.into());
            }
        }
        let mut happened = vec![EventKind::ProcessEnded {
            session: id,
            end: truncate::end(end),
            dod_result: Some(dod_result),
            artifacts: truncate::files(artifacts),
            usage: None,
        }];
        happened.extend(self.concluded(session, task, verdict, None));
        Ok(happened)
    }

    /// What a verdict does to its task. A task that was moved meanwhile is left where it is.
    fn concluded(
        &self,
        session: &Session,
        task: &Task,
        verdict: Verdict,
        facts: Option<&WorkspaceFacts>,
    ) -> Vec<EventKind> {
        let mut happened = vec![EventKind::Judged { session: session.id, verdict: Some(verdict.clone()) }];
        let ours = task.status == Status::InProgress && task.assignee.as_ref() == Some(&session.agent);
        if !ours {
            return happened;
        }
        let moved =
            |to, by, reason| EventKind::TaskMoved { task: task.id, from: task.status, to, by, reason, forced: false };
        let agent = || Party::Agent(session.agent.clone());
        let limits = &self.board.settings.limits;
        let spent_attempts = task.used.attempts + 1 >= limits.max_attempts;
        let consequence = match &verdict {
            Verdict::Done => Some(moved(Status::Done, agent(), None)),
            Verdict::Failed { reason } => Some(moved(Status::Failed, agent(), Some(reason.clone()))),
            Verdict::Blocked { reason } => Some(moved(Status::Blocked, agent(), Some(reason.clone()))),
            Verdict::Rejected(why) if spent_attempts && !matches!(why, Rejection::Conflict { .. }) => {
                Some(moved(Status::Failed, Party::System, Some(attempts_spent(why))))
            }
            Verdict::Rejected(_) | Verdict::None(_) => {
                let spent = self.spent_by_end(session, task, &verdict, facts);
                happened.extend(spent.map(|fuel| EventKind::FuelSpent { task: Some(task.id), session: None, fuel }));
                let launch_failed = verdict == Verdict::None(Inconclusive::LaunchFailed);
                spent.map(|fuel| match fuel {
                    Fuel::IdleSessions if launch_failed => block(task, EndReason::LaunchFailed.as_str()),
                    _ => block_for_fuel(task, fuel),
                })
            }
        };
        happened.extend(consequence);
        happened
    }

    /// Which of the task's own fuel this end has used up (A3, G3).
    fn spent_by_end(
        &self,
        session: &Session,
        task: &Task,
        verdict: &Verdict,
        facts: Option<&WorkspaceFacts>,
    ) -> Option<Fuel> {
        let limits = &self.board.settings.limits;
        let conflict = matches!(verdict, Verdict::Rejected(Rejection::Conflict { .. }));
        if conflict && task.used.conflicts + 1 >= limits.max_conflicts {
            return Some(Fuel::Conflicts);
        }
        let progressed = fuel::brought_a_fact(self.board, session)
            || facts.is_some_and(|facts| fuel::left_another_tree(task, facts));
        let idle = !progressed && fuel::counts_as_idle(verdict);
        if idle && task.used.idle_sessions + 1 >= limits.max_idle_sessions {
            return Some(Fuel::IdleSessions);
        }
        if task.used.spent.uses_up(&self.board.settings.budget.task) {
            return Some(Fuel::TaskBudget);
        }
        (task.used.sessions >= limits.max_task_sessions).then_some(Fuel::TaskSessions)
    }

    /// What follows from time alone (S2): sessions whose lease lapsed are lost (only now: whoever
    /// sweeps knows whether the runner could have been heard meanwhile), messages that
    /// nobody came to read expire.
    pub(super) fn sweep(&self) -> AdmitResult {
        if let Actor::Session(_) = self.actor {
            return Err(RefusalReason::RunnersOnly.into());
        }
        let mut happened = Vec::new();
        let lapsed = self.board.index.leases.iter().take_while(|(until, _)| *until < self.now);
        for session in lapsed.filter_map(|(_, id)| self.board.sessions.get(id)) {
            let end = ProcessEnd::because(EndReason::Lost);
            happened.extend(self.ended(session, &end, None)?);
        }
        let turn = self.board.merge_turn.filter(|turn| turn.until < self.now);
        happened.extend(turn.map(|turn| EventKind::MergeTurnEnded { session: turn.session }));
        let ttl = self.board.settings.limits.message_ttl;
        let expired = waiting_messages(self.board).filter(|message| self.now - message.at > ttl);
        happened.extend(expired.map(|message| EventKind::MessageExpired { message: message.id }));
        Ok(happened)
    }
}

fn attempts_spent(last: &Rejection) -> String {
    format!("attempts_spent: {}", last.as_str())
}
