//! Which status may follow which, by whom, and under what condition?

use crate::task::Status;
use crate::words::words;

use std::fmt::Write as _;

words! {
    /// The name of a row.
    Move {
        Create = "create",
        Queue = "queue",
        Shelve = "shelve",
        Start = "start",
        Unstart = "unstart",
        Block = "block",
        Unblock = "unblock",
        Requeue = "requeue",
        Finish = "finish",
        Fail = "fail",
        Retry = "retry",
        Cancel = "cancel",
        Reopen = "reopen",
    }
}

words! {
    /// What an actor is to a task. One actor can be several of these.
    TaskRole {
        Owner = "owner",
        Mover = "mover",
        Assignee = "assignee",
        /// The one who blocked it. What Saihai itself blocked, the owner may lift.
        Blocker = "whoever blocked it",
        /// The worker of a step's task.
        Doer = "the doer of a step",
        /// No person or agent: it follows from evidence (V2).
        Verdict = "the verdict",
        /// The owner, having seen the branch in the target; or of a parent that nobody runs.
        OwnerMerged = "the owner if the branch is in the target, or of a parent that nobody runs",
        /// The owner of what no runner touches: a task that is driven by hand, or a parent that nobody runs.
        OwnerByHand = "the owner of a task that is driven by hand, or of a parent that nobody runs",
    }
}

words! {
    Guard {
        Reason = "a reason is given",
        Ready = "ready to start (L3)",
        ReadyIfItWas = "ready to start (L3) if it was in progress",
        OwnersBlock = "only the owner lifts an owner's block",
        ChildrenSettled = "every child is settled",
        RetriesLeft = "agents may retry a task `max_retries` times (3), the owner without limit",
        ParentUnsettled = "its parent is not settled",
        NotUnderJudgement = "its parent is not being judged",
    }
}

/// Where a row leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    Status(Status),
    StatusBefore,
}

/// One row of the lifecycle.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub name: Move,
    /// Empty for a new task.
    pub from: &'static [Status],
    pub to: To,
    pub by: &'static [TaskRole],
    pub guards: &'static [Guard],
    pub note: &'static str,
}

use Status::{Backlog, Blocked, Cancelled, Done, Failed, InProgress, Todo};

/// The lifecycle of a task (L1). Everything that changes a status goes through a row of it.
pub const TABLE: &[Rule] = &[
    Rule {
        name: Move::Create,
        from: &[],
        to: To::Status(Backlog),
        by: &[TaskRole::Owner, TaskRole::Mover],
        guards: &[Guard::NotUnderJudgement],
        note: "`todo` at once if it is created with an assignee, or is a step",
    },
    Rule {
        name: Move::Queue,
        from: &[Backlog],
        to: To::Status(Todo),
        by: &[TaskRole::Mover, TaskRole::Owner],
        guards: &[],
        note: "assigning does it too",
    },
    Rule {
        name: Move::Shelve,
        from: &[Todo],
        to: To::Status(Backlog),
        by: &[TaskRole::Mover, TaskRole::Owner],
        guards: &[],
        note: "",
    },
    Rule {
        name: Move::Start,
        from: &[Backlog, Todo],
        to: To::Status(InProgress),
        by: &[TaskRole::Mover],
        guards: &[Guard::Ready],
        note: "what the owner asks for in a chat starts with its creation (N11)",
    },
    Rule {
        name: Move::Unstart,
        from: &[InProgress],
        to: To::Status(Todo),
        by: &[TaskRole::Mover, TaskRole::Owner],
        guards: &[],
        note: "its session is stopped, and no other starts before that one has ended",
    },
    Rule {
        name: Move::Block,
        from: &[Todo, InProgress],
        to: To::Status(Blocked),
        by: &[TaskRole::Assignee, TaskRole::Mover, TaskRole::Owner, TaskRole::Verdict],
        guards: &[Guard::Reason],
        note: "remembers who, and the status before",
    },
    Rule {
        name: Move::Unblock,
        from: &[Blocked],
        to: To::StatusBefore,
        by: &[TaskRole::Mover, TaskRole::Blocker],
        guards: &[Guard::OwnersBlock, Guard::ReadyIfItWas],
        note: "",
    },
    Rule {
        name: Move::Requeue,
        from: &[Blocked],
        to: To::Status(Todo),
        by: &[TaskRole::Mover, TaskRole::Blocker],
        guards: &[Guard::OwnersBlock],
        note: "its session is stopped, and no other starts before that one has ended",
    },
    Rule {
        name: Move::Finish,
        from: &[InProgress],
        to: To::Status(Done),
        by: &[TaskRole::Verdict, TaskRole::Doer, TaskRole::OwnerMerged],
        guards: &[Guard::ChildrenSettled],
        note: "",
    },
    Rule {
        name: Move::Fail,
        from: &[InProgress],
        to: To::Status(Failed),
        by: &[TaskRole::Verdict, TaskRole::Doer, TaskRole::OwnerByHand],
        guards: &[Guard::Reason],
        note: "",
    },
    Rule {
        name: Move::Retry,
        from: &[Failed],
        to: To::Status(Todo),
        by: &[TaskRole::Mover, TaskRole::Owner],
        guards: &[Guard::RetriesLeft, Guard::NotUnderJudgement],
        note: "attempts start again",
    },
    Rule {
        name: Move::Cancel,
        from: &[Backlog, Todo, InProgress, Blocked, Failed],
        to: To::Status(Cancelled),
        by: &[TaskRole::Mover, TaskRole::Owner],
        guards: &[Guard::Reason],
        note: "descendants are cancelled with it",
    },
    Rule {
        name: Move::Reopen,
        from: &[Done],
        to: To::Status(Todo),
        by: &[TaskRole::Owner],
        guards: &[Guard::ParentUnsettled, Guard::NotUnderJudgement],
        note: "",
    },
];

/// The row that leads from one status to another. `before` is what a blocked task was.
pub fn rule(from: Status, to: Status, before: Option<Status>) -> Option<&'static Rule> {
    TABLE.iter().find(|rule| rule.from.contains(&from) && target(rule, before) == Some(to))
}

/// Where the row of this name leads from a status; `None` if it does not begin there.
pub fn leads_to(name: Move, from: Status, before: Option<Status>) -> Option<Status> {
    let row = TABLE.iter().find(|rule| rule.name == name && rule.from.contains(&from))?;
    target(row, before)
}

/// The statuses that may follow `from`, by anybody.
pub fn successors(from: Status, before: Option<Status>) -> Vec<Status> {
    TABLE.iter().filter(|rule| rule.from.contains(&from)).filter_map(|rule| target(rule, before)).collect()
}

fn target(rule: &Rule, before: Option<Status>) -> Option<Status> {
    match rule.to {
        To::Status(status) => Some(status),
        To::StatusBefore => before,
    }
}

/// The table as `docs/lifecycle.md` shows it.
pub fn markdown() -> String {
    let mut page = String::from(
        "# The lifecycle of a task\n\n\
         Printed from `crates/board/src/lifecycle.rs`; a test compares the two. The owner may insist with `--force`\n\
         where a row does not name the owner; guards hold all the same, and agents have no such word.\n\n\
         | move | from | to | by whom | guard | note |\n|---|---|---|---|---|---|\n",
    );
    for rule in TABLE {
        let from = if rule.from.is_empty() { "(new)".into() } else { join(rule.from.iter().map(|s| s.as_str())) };
        let to = match rule.to {
            To::Status(status) => status.as_str(),
            To::StatusBefore => "the status before",
        };
        let by = join(rule.by.iter().map(|who| who.as_str()));
        let guards = rule.guards.iter().map(|guard| guard.as_str()).collect::<Vec<_>>().join("; ");
        writeln!(page, "| {} | {from} | {to} | {by} | {guards} | {} |", rule.name, rule.note)
            .expect("writing to a string does not fail");
    }
    page
}

fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}
