//! May this command happen, and what happens then? The decider (E1).

mod moves;
mod revert;
mod roster;
mod runners;
mod sessions;
mod talk;
mod tasks;
mod truncate;
mod workflow;

use crate::action::StopCause;
use crate::apply::apply;
use crate::board::Board;
use crate::command::Command;
use crate::event::{Event, EventKind};
use crate::fuel;
use crate::interrupt::interrupt;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::{Session, SessionStatus};
use crate::settings::Fuel;
use crate::task::{Status, Task};
use crate::{Actor, Agent, Party, TaskId, Timestamp};

pub use revert::merges;
pub use sessions::next_due;

/// What every part of the decider looks at.
#[derive(Clone, Copy)]
struct AdmitContext<'a> {
    board: &'a Board,
    actor: &'a Actor,
    now: Timestamp,
}

type AdmitResult = Result<Vec<EventKind>, Refusal>;

/// Judges a command on a board. Pure: the same board, actor, command and instant give the same
/// events, and nothing is changed by asking.
pub fn admit(board: &Board, actor: &Actor, command: &Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    let context = AdmitContext { board, actor, now };
    if let Actor::Session(_) = actor {
        context.may_call(command)?;
    }
    let mut happened = context.decide(command)?;
    if let Actor::Session(_) = actor {
        context.stop_if_calls_spent(&mut happened)?;
    }
    let fact = match command {
        Command::Report { session, number, .. } => Some((*session, *number)),
        _ => None,
    };
    let event = |(index, what)| Event { at: now, by: actor.clone(), what, continues: index > 0, fact };
    Ok(happened.into_iter().enumerate().map(event).collect())
}

impl<'a> AdmitContext<'a> {
    /// The board with these events, for a command whose second half follows from its first.
    fn board_after(&self, happened: &[EventKind]) -> Board {
        let mut board = self.board.clone();
        for what in happened {
            apply(&mut board, &Event::following(self.now, self.actor, what));
        }
        board
    }

    fn decide(&self, command: &Command) -> AdmitResult {
        match command {
            Command::Configure { settings } => self.configure(settings),
            Command::Pause { now } => self.pause(*now),
            Command::Resume => self.resume(),
            Command::ApplyRoster { agents } => self.apply_roster(agents),
            Command::Define { settings, agents } => {
                Ok([self.configure(settings)?, self.apply_roster(agents)?].concat())
            }
            Command::SetPasskey { agent, hash } => self.set_passkey(agent, hash),
            Command::ParkAccount { account, until } => self.park_account(account, *until),

            Command::CreateTasks { parent, tasks, key } => self.create_tasks(*parent, tasks, key.as_deref()),
            Command::EditTask { task, edit, forced } => self.edit_task(*task, edit, *forced),
            Command::AssignTask { task, assignee, forced } => self.assign_task(*task, assignee.as_ref(), *forced),
            Command::ChangeDependencies { task, add, remove, forced } => {
                self.change_dependencies(*task, add, remove, *forced)
            }
            Command::MoveTask { task, to, reason, forced, merged } => {
                self.move_task(*task, *to, reason.as_deref(), moves::OwnerOverride { forced: *forced, merged: *merged })
            }
            Command::CommentTask { task, text } => self.comment_task(*task, text),
            Command::AnswerProposal { proposal, answer } => self.answer_proposal(*proposal, *answer),
            Command::RetryTask { task, reason, forced, later } => {
                self.retry_task(*task, reason.as_deref(), *forced, *later)
            }
            Command::RevertTask { task, title, description } => self.revert_task(*task, title, description),
            Command::RecordBranch { task, branch, base } => self.record_branch(*task, branch, base),

            Command::Claim { agent, purpose, driver, credential, forced } => {
                self.claim(agent, *purpose, driver, credential.as_ref(), *forced)
            }
            Command::Attach { agent, credential, can_make_workspace } => {
                self.attach(agent, credential, *can_make_workspace)
            }
            Command::Report { session, generation, number, fact } => self.report(*session, *generation, *number, fact),
            Command::ReportTarget { commit, results } => self.report_target(commit, results),
            Command::RenewLeases { sessions, quiet } => self.renew_leases(sessions, quiet),
            Command::DropRunner { runner } => self.drop_runner(runner),
            Command::TakeOver { from, to } => self.take_over(from, to),
            Command::StopSession { session, restart } => self.stop_session(*session, *restart),
            Command::EndByHand { session, end, dod_result, merged, artifacts } => {
                self.end_by_hand(*session, end, *dod_result, *merged, artifacts)
            }

            Command::ReportModel { provider, model_id } => self.report_model(provider, model_id),
            Command::FetchTask => self.fetch_task(),
            Command::NextAction => self.next_action(),
            Command::SelectAction { choice, reason } => self.select_action(*choice, reason.as_deref()),
            Command::ReportCompleted { result, summary, next_steps } => {
                self.report_completed(*result, summary, next_steps.as_deref())
            }
            Command::SaveContext { context, decision } => self.save_context(context, decision.as_deref()),
            Command::ShowMessages => self.show_messages(),
            Command::Logout => self.log_out(),
            Command::CountRefusals { in_a_row } => self.count_refusals(*in_a_row),
            Command::CountCalls { calls, repeated } => self.count_calls(*calls, *repeated),
            Command::SendMessage { to, content, related_task } => self.send_message(to, content, *related_task),

            Command::Sweep => self.sweep(),
        }
    }

    /// N2.1, N7 and the session's own fuel, before the command has any effect.
    fn may_call(&self, command: &Command) -> Result<(), Refusal> {
        let session = self.session()?;
        if !session.can_call() {
            return Err(RefusalReason::StaleSession(session.id).into());
        }
        let always = matches!(
            command,
            Command::NextAction
                | Command::FetchTask
                | Command::SaveContext { .. }
                | Command::Logout
                | Command::CountCalls { .. }
                | Command::CountRefusals { .. }
                | Command::ShowMessages
        );
        if let (false, Some(interrupt)) = (always, interrupt(self.board, session)) {
            return Err(RefusalReason::Interrupted(interrupt).into());
        }
        if session.report.is_some() && !always {
            return Err(RefusalReason::AlreadyReported.into());
        }
        let leaving = matches!(command, Command::NextAction | Command::Logout);
        if fuel::calls_left(self.board, session) == 0 && !leaving {
            return Err(RefusalReason::FuelSpent(Fuel::Calls).into());
        }
        Ok(())
    }

    /// Adds what follows if these events use up the session's calls (G3).
    fn stop_if_calls_spent(&self, happened: &mut Vec<EventKind>) -> Result<(), Refusal> {
        let session = self.session()?;
        let counted = calls_of(happened);
        let leaving = session.report.is_some()
            || session.stop.is_some()
            || happened.iter().any(|what| {
                matches!(
                    what,
                    EventKind::LoggedOut { .. } | EventKind::CompletionReported { .. } | EventKind::FuelSpent { .. }
                )
            });
        if counted > 0 && !leaving && fuel::calls_left(self.board, session) <= counted {
            happened.extend(self.stop_for_fuel(session, Fuel::Calls));
        }
        Ok(())
    }

    /// The session's fuel is spent: its task is blocked, its agent told to stop. A chat is only stopped.
    fn stop_for_fuel(&self, session: &Session, fuel: Fuel) -> Vec<EventKind> {
        let task = session.task().and_then(|id| self.board.tasks.get(&id));
        let mut happened = vec![EventKind::FuelSpent { task: session.task(), session: Some(session.id), fuel }];
        happened.extend(task.filter(|task| task.status == Status::InProgress).map(|task| block_for_fuel(task, fuel)));
        happened
    }

    /// The session that speaks.
    fn session(&self) -> Result<&'a Session, Refusal> {
        match self.actor {
            Actor::Session(id) => self.board.session(*id),
            Actor::Owner(_) | Actor::Runner(_) | Actor::System => Err(RefusalReason::AgentsOnly.into()),
        }
    }

    /// The session that speaks, if it works on a task.
    fn task_session(&self) -> Result<(&'a Session, &'a Task, &'a Agent), Refusal> {
        let session = self.session()?;
        let task = session.task().ok_or(RefusalReason::TaskSessionOnly)?;
        Ok((session, self.board.task(task)?, self.board.agent(&session.agent)?))
    }

    fn party(&self) -> Result<Party, Refusal> {
        self.board.party(self.actor)
    }

    fn owner_only(&self) -> Result<(), Refusal> {
        match self.actor {
            Actor::Owner(_) => Ok(()),
            Actor::Session(_) | Actor::Runner(_) | Actor::System => Err(RefusalReason::OwnersOnly.into()),
        }
    }

    fn is_owner(&self) -> bool {
        matches!(self.actor, Actor::Owner(_))
    }

    /// `--force` is the owner's alone (L2).
    fn check_force(&self, forced: bool) -> Result<(), Refusal> {
        if forced && !self.is_owner() { Err(RefusalReason::ForceIsTheOwners.into()) } else { Ok(()) }
    }

    /// Is the actor the mover of this task? An agent is only through the session of the parent,
    /// or, if it is a manager, through its chat.
    fn is_mover(&self, task: &Task) -> Result<bool, Refusal> {
        match (self.board.mover(task), self.actor) {
            (Party::Owner, Actor::Owner(_)) => Ok(true),
            (Party::Agent(mover), Actor::Session(id)) => {
                let session = self.board.session(*id)?;
                let through = match session.task() {
                    Some(own) => task.parent == Some(own),
                    None => self.board.agent(&mover)?.is_manager(),
                };
                Ok(session.agent == mover && through)
            }
            (Party::Owner | Party::Agent(_) | Party::System, _) => Ok(false),
        }
    }

    /// The mover may change a task; the owner may insist (L2).
    fn may_change(&self, task: &Task, forced: bool) -> Result<(), Refusal> {
        self.check_force(forced)?;
        if forced || self.is_mover(task)? {
            Ok(())
        } else {
            Err(RefusalReason::NotTheMover { task: task.id, mover: self.board.mover(task) }.into())
        }
    }
}

/// What a command's events cost its session: one call, whatever it led to, or as many as it told of.
fn calls_of(happened: &[EventKind]) -> u32 {
    happened.iter().enumerate().map(|(index, what)| what.calls(index > 0)).sum()
}

/// The move that blocks a task whose fuel is spent.
fn block_for_fuel(task: &Task, fuel: Fuel) -> EventKind {
    block(task, fuel.reason())
}

/// The move with which Saihai blocks a task.
fn block(task: &Task, reason: &str) -> EventKind {
    EventKind::TaskMoved {
        task: task.id,
        from: task.status,
        to: Status::Blocked,
        by: Party::System,
        reason: Some(reason.into()),
        forced: false,
    }
}

/// Tells the live session of a task to stop.
fn stop_live_session(task: &Task, cause: StopCause) -> Option<EventKind> {
    task.live.map(|session| EventKind::StopRequested { session, cause })
}

/// A session that has reported is being judged: its task's children stay as they are.
fn under_judgement(board: &Board, task: TaskId) -> bool {
    let session = board.tasks.get(&task).and_then(|task| task.live).and_then(|id| board.sessions.get(&id));
    session.is_some_and(|session| session.report.is_some() || session.status == SessionStatus::Verifying)
}
