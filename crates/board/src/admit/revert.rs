//! May the merged work of this task be undone, and how does that begin (V14)?

use super::{AdmitContext, AdmitResult};
use crate::command::NewTask;
use crate::refusal::RefusalReason;
use crate::session::Session;
use crate::task::{Priority, Repairs, Reverts, Status, Task, TaskType};
use crate::{Agent, AgentId, TaskId};

/// The commits by which the queue brought a task's work into the target, the newest first. Of what somebody merged by hand
/// it is not known where it begins.
pub fn merges(board: &crate::Board, task: &Task) -> Vec<String> {
    let merged = |session: &Session| {
        let facts = session.workspace.as_ref()?;
        facts.merged_as().filter(|commit| facts.candidate.as_deref() == Some(commit)).map(str::to_owned)
    };
    let mut commits: Vec<_> = board.sessions_of(task).filter_map(merged).collect();
    commits.reverse();
    commits
}

impl AdmitContext<'_> {
    /// The new task goes through the same queue as any other. It is given to whoever did the work, in case that git
    /// cannot undo it alone.
    pub(super) fn revert_task(&self, id: TaskId, title: &str, description: &str) -> AdmitResult {
        self.owner_only()?;
        let task = self.board.task(id)?;
        let commits = merges(self.board, task);
        if commits.is_empty() {
            return Err(RefusalReason::NothingToRevert { task: id }.into());
        }
        let reverts = Reverts { task: id, commits };
        let same = |other: &&std::sync::Arc<Task>| {
            other.reverts.as_ref() == Some(&reverts) && other.status != Status::Cancelled
        };
        if let Some(by) = self.board.tasks.values().find(same) {
            return Err(RefusalReason::RevertedBy { task: id, by: by.id }.into());
        }
        let new = NewTask {
            description: description.to_owned(),
            task_type: TaskType::Task,
            priority: Priority::High,
            assignee: self.reverting_agent(task),
            labels: vec!["revert".into()],
            // Somebody may have undone it by hand.
            allow_empty: true,
            // To undo what broke the target is one way to repair it.
            repairs: Some(Repairs::Target),
            reverts: Some(reverts),
            ..NewTask::titled(title)
        };
        let created = self.board.next_task();
        let mut happened = self.create_tasks(None, &[new], None)?;
        happened.extend(self.started(&happened, &[created])?);
        Ok(happened)
    }

    /// Who did the work, or else any worker. Without one the task waits for the owner to assign it.
    fn reverting_agent(&self, task: &Task) -> Option<AgentId> {
        let can = |agent: &&Agent| agent.active && !agent.is_manager();
        let before = task.assignee.as_ref().and_then(|id| self.board.agents.get(id)).map(AsRef::as_ref).filter(can);
        let any = || self.board.agents.values().map(AsRef::as_ref).find(can);
        before.or_else(any).map(|agent| agent.id().clone())
    }
}
