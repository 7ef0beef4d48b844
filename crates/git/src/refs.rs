//! How are our refs in the user's repository named? Nobody else writes below `refs/saihai/`, but other boards may: one of
//! another installation, or an earlier one of the same project that was lost. They must never meet.

use std::fmt::Display;

/// Where the refs of one board are: `refs/saihai/BEGAN/PROJECT/`. When a board began tells it from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefNamespace {
    prefix: String,
}

impl RefNamespace {
    /// By the project's id, and the time at which its board began in milliseconds.
    pub fn new(began: i64, project: impl Display) -> Self {
        Self { prefix: format!("refs/saihai/{began}/{project}") }
    }

    /// Below which [`TaskRefs::work`] of all tasks is.
    pub fn all_work(&self) -> String {
        format!("{}/work/", self.prefix)
    }

    /// By the task's id as it is shown, such as `tsk_12`.
    pub fn task(&self, task: impl Display) -> TaskRefs {
        TaskRefs { prefix: self.prefix.clone(), task: task.to_string() }
    }
}

/// The refs of one task. They keep its commits alive, whatever the user's own branches do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRefs {
    prefix: String,
    task: String,
}

impl TaskRefs {
    fn named(&self, kind: &str) -> String {
        format!("{}/{kind}/{}", self.prefix, self.task)
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
