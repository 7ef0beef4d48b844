//! What is a person told of a change they have made, and how is it taken back (W13)?
//!
//! Only who uses a page is told: what programs are answered has no such words in it.

use axum::Json;
use board::lifecycle::Move;
use board::{Board, Command, Destination, Status, Task, TaskId, TokenUse};
use control::Receipt;
use serde::Serialize;
use serde_json::{Value, json};

use crate::ProjectRequest;
use crate::person::Person;

/// An answer of the API, with what a page says of it.
#[derive(Debug, Serialize)]
pub(crate) struct Told<T> {
    #[serde(flatten)]
    pub(crate) answer: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<Notice>,
}

/// What has happened, to what, and what takes it back.
#[derive(Debug, Serialize)]
pub(crate) struct Notice {
    said: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<Link>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<Undo>,
}

#[derive(Debug, Serialize)]
struct Link {
    url: String,
    text: String,
    /// The task that is new: its card is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<TaskId>,
}

/// The request that takes it back.
#[derive(Debug, Serialize)]
struct Undo {
    method: &'static str,
    url: String,
    body: Value,
}

impl Notice {
    /// Of what happened to a task.
    pub(crate) fn of_task(
        person: &Person,
        open: &ProjectRequest,
        receipt: &Receipt<Board>,
        id: TaskId,
        said: &str,
    ) -> Option<Self> {
        let task = receipt.after.task(id).ok().filter(|_| person.used_as == TokenUse::Browser)?;
        let back = board::undo(&receipt.before, &receipt.after, &person.actor(), id, receipt.at);
        Some(Self {
            said: said.to_owned(),
            link: Some(Link::to(open, task, None)),
            undo: back.and_then(|command| Undo::of(&command, open)),
        })
    }

    /// Of a task that was made.
    pub(crate) fn of_created(person: &Person, open: &ProjectRequest, task: &Task, said: String) -> Option<Self> {
        let link = Link::to(open, task, Some(task.id));
        (person.used_as == TokenUse::Browser).then_some(Self { said, link: Some(link), undo: None })
    }

    /// Of what happened to the project; `back` is offered if it would be admitted.
    pub(crate) fn of_project(
        person: &Person,
        open: &ProjectRequest,
        receipt: &Receipt<Board>,
        said: &str,
        back: &Command,
    ) -> Option<Self> {
        let admitted = board::admit(&receipt.after, &person.actor(), back, receipt.at);
        let undo = Undo::of(back, open).filter(|_| admitted.is_ok_and(|events| !events.is_empty()));
        (person.used_as == TokenUse::Browser).then_some(Self { said: said.to_owned(), link: None, undo })
    }

    pub(crate) fn with<T>(notice: Option<Self>, answer: T) -> Json<Told<T>> {
        Json(Told { answer, notice })
    }
}

impl Link {
    fn to(open: &ProjectRequest, task: &Task, created: Option<TaskId>) -> Self {
        let text = format!("{} {}", task.id, board::one_line(&task.title));
        Self { url: format!("/p/{}/tasks/{}", open.id, task.id), text, created }
    }
}

impl Undo {
    /// A command as the request that makes it. Those that take nothing back have none.
    fn of(command: &Command, open: &ProjectRequest) -> Option<Self> {
        let project = format!("/api/v1/projects/{}", open.id);
        let of_task = |method, task: &TaskId, rest: &str, body| Self {
            method,
            url: format!("{project}/tasks/{task}{rest}"),
            body,
        };
        match command {
            Command::MoveTask { task, to: Destination::By(name), reason, .. } => {
                Some(of_task("POST", task, &format!("/{name}"), json!({ "reason": reason })))
            }
            Command::AssignTask { task, assignee, .. } => {
                Some(of_task("PUT", task, "/assignee", json!({ "agent": assignee })))
            }
            Command::ChangeDependencies { task, add, remove, .. } => {
                Some(of_task("PATCH", task, "/dependencies", json!({ "add": add, "remove": remove })))
            }
            Command::EditTask { task, edit, .. } => Some(of_task(
                "PATCH",
                task,
                "",
                json!({
                    "title": edit.title, "description": edit.description, "priority": edit.priority,
                    "type": edit.task_type, "labels": edit.labels,
                }),
            )),
            Command::Resume => Some(Self { method: "POST", url: format!("{project}/resume"), body: json!({}) }),
            Command::Pause { now: false } => {
                Some(Self { method: "POST", url: format!("{project}/pause"), body: json!({}) })
            }
            _ => None,
        }
    }
}

/// What a move has done, as a notice says it.
pub(crate) fn moved_word(person: &Person, name: Move, task: &Task) -> &'static str {
    match (name, task.status) {
        (Move::Create, _) => person.say("Created", "作成しました"),
        (Move::Start, _) => person.say("Started", "開始しました"),
        (Move::Retry, Status::InProgress) => person.say("Started again", "再開しました"),
        (Move::Queue | Move::Retry, _) => person.say("To do", "待機にしました"),
        (Move::Shelve, _) => person.say("Back in the backlog", "バックログに戻しました"),
        (Move::Unstart | Move::Requeue, _) => person.say("Put back", "開始を取り消しました"),
        (Move::Block, _) => person.say("Blocked", "ブロックしました"),
        (Move::Unblock, _) => person.say("Unblocked", "ブロックを解除しました"),
        (Move::Finish, _) => person.say("Marked done", "完了にしました"),
        (Move::Fail, _) => person.say("Failed", "失敗にしました"),
        (Move::Cancel, _) => person.say("Cancelled", "中止しました"),
        (Move::Reopen, _) => person.say("Reopened", "再開できるようにしました"),
    }
}
