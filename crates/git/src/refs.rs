//! How are our refs in the user's repository named? Nobody else writes below `refs/saihai/`.

use std::fmt::Display;

/// The refs of one task. They keep its commits alive, whatever the user's own branches do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRefs {
    task: String,
}

impl TaskRefs {
    /// By the task's id as it is shown, such as `tsk_12`.
    pub fn of(task: impl Display) -> Self {
        Self { task: task.to_string() }
    }

    fn named(&self, kind: &str) -> String {
        format!("refs/saihai/{kind}/{}", self.task)
    }

    /// The commit where the work begins.
    pub fn base(&self) -> String {
        self.named("base")
    }

    /// The work as it was last fetched from its workspace.
    pub fn work(&self) -> String {
        self.named("work")
    }

    /// The commit that the target was, or was about to be, moved to: a merge, or one commit for all in a squash.
    pub fn merged(&self) -> String {
        self.named("merged")
    }

    /// The work that became [`TaskRefs::merged`].
    pub fn merged_work(&self) -> String {
        self.named("merged-work")
    }
}

/// The full name of a branch.
pub fn branch_ref(name: &str) -> String {
    format!("refs/heads/{name}")
}
