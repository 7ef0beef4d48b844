//! May the merged work of this task be undone, and how does that begin (V14)?

use super::{AdmitContext, AdmitResult};
use crate::command::NewTask;
use crate::refusal::RefusalReason;
use crate::session::Session;
use crate::task::{Priority, Repairs, Reverts, Status, Task, TaskType};
use crate::{Agent, AgentId, Client, TaskId};

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

    /// Who did the work, or else any worker whom a runner starts: where git can undo it alone, nobody has to come. Without
    /// a worker the task waits for the owner to assign it.
    fn reverting_agent(&self, task: &Task) -> Option<AgentId> {
        let workers = || self.board.agents.values().filter(|agent| agent.active && !agent.is_manager());
        let started = |agent: &&std::sync::Arc<Agent>| agent.spec.client != Client::Attached;
        let before = || workers().find(|agent| task.assignee.as_ref() == Some(agent.id()));
        let found = before().filter(started).or_else(|| workers().find(started)).or_else(before);
        found.or_else(|| workers().next()).map(|agent| agent.id().clone())
    }
}
