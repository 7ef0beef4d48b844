//! What can an orchestrator read as resources: a board, a task, and what was observed of it (M6)?

use board::wire::{Project, SessionDetail, TaskDetail, TaskItem};
use board::{Board, ProjectId, TaskId, Timestamp, say_waiting};
use control::ControlError;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};
use server::ServerState;

const JSON: &str = "application/json";

/// How many open tasks are listed by themselves; every other can be read by its address too.
const LISTED_TASKS: usize = 100;

/// What an address names.
#[derive(Debug, PartialEq, Eq)]
enum Address {
    Board(ProjectId),
    Task(ProjectId, TaskId),
    Evidence(ProjectId, TaskId),
}

impl Address {
    fn parse(uri: &str) -> Option<Self> {
        let mut parts = uri.strip_prefix("saihai://")?.split('/');
        let project = parts.next()?.parse().ok()?;
        let rest: Vec<_> = parts.collect();
        match rest.as_slice() {
            ["board"] => Some(Self::Board(project)),
            ["tasks", task] => Some(Self::Task(project, task.parse().ok()?)),
            ["tasks", task, "evidence"] => Some(Self::Evidence(project, task.parse().ok()?)),
            _ => None,
        }
    }

    fn project(&self) -> &ProjectId {
        match self {
            Self::Board(project) | Self::Task(project, _) | Self::Evidence(project, _) => project,
        }
    }
}

/// The boards, and the tasks that are open.
pub(crate) async fn list(server: &ServerState) -> Result<Vec<Resource>, ControlError> {
    let mut found = Vec::new();
    for id in server.installation().newest().await?.projects.keys() {
        let Some(project) = server.project(id).await? else { continue };
        let board = project.newest().await?;
        let name = format!("{id}: board");
        found.push(Resource::new(format!("saihai://{id}/board"), name).with_mime_type(JSON));
        let open = board.tasks.values().filter(|task| !task.status.is_settled()).take(LISTED_TASKS);
        found.extend(open.map(|task| {
            let (uri, name) = (format!("saihai://{id}/tasks/{}", task.id), format!("{id}: {}", task.id));
            Resource::new(uri, name).with_title(task.title.clone()).with_mime_type(JSON)
        }));
    }
    Ok(found)
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, about: &str| {
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(JSON)
    };
    vec![
        template("saihai://{project_id}/board", "board", "How a project stands, with every task."),
        template("saihai://{project_id}/tasks/{task_id}", "task", "A task with everything that is known of it."),
        template(
            "saihai://{project_id}/tasks/{task_id}/evidence",
            "evidence",
            "What was observed of a task's sessions: how they ended, what checks said, whether it is merged.",
        ),
    ]
}

/// What is behind an address.
pub(crate) async fn read(server: &ServerState, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = || ErrorData::resource_not_found(format!("there is nothing at {}", shown(uri)), None);
    let broken = |error: ControlError| ErrorData::internal_error(error.to_string(), None);
    let address = Address::parse(uri).ok_or_else(missing)?;
    let project = server.project(address.project()).await.map_err(broken)?.ok_or_else(missing)?;
    let board = project.newest().await.map_err(broken)?;
    let path = server.repository(address.project()).unwrap_or_default().to_string_lossy().into_owned();
    let found = body(&board, path, &address, server.now()).ok_or_else(missing)?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(found.to_string(), uri).with_mime_type(JSON)]))
}

fn body(board: &Board, path: String, address: &Address, now: Timestamp) -> Option<Value> {
    match address {
        Address::Board(_) => {
            let tasks: Vec<_> = board.tasks.values().map(|task| TaskItem::from(&**task)).collect();
            Some(json!({ "project": Project::of(board, path, now), "tasks": tasks }))
        }
        Address::Task(_, task) => Some(json!(TaskDetail::of(board, board.task(*task).ok()?))),
        Address::Evidence(_, task) => {
            let language = board.settings.language;
            let detail = |session: &board::Session| {
                SessionDetail::of(board, session, now, |waiting| say_waiting(waiting, language))
            };
            let sessions: Vec<_> = board.sessions_of(board.task(*task).ok()?).map(detail).collect();
            Some(json!({ "sessions": sessions }))
        }
    }
}

/// An address of somebody else's choice, not too long to be said back.
fn shown(uri: &str) -> String {
    uri.chars().filter(|letter| !letter.is_control()).take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn an_address_names_a_board_a_task_or_its_evidence() {
        let project = || "shop".parse().unwrap();
        for (uri, expected) in [
            ("saihai://shop/board", Some(Address::Board(project()))),
            ("saihai://shop/tasks/tsk_3", Some(Address::Task(project(), "tsk_3".parse().unwrap()))),
            ("saihai://shop/tasks/tsk_3/evidence", Some(Address::Evidence(project(), "tsk_3".parse().unwrap()))),
            ("saihai://shop", None),
            ("saihai://shop/tasks", None),
            ("saihai://shop/tasks/tsk_3/", None),
            ("saihai://../board", None),
            ("file:///etc/passwd", None),
        ] {
            assert_eq!(Address::parse(uri), expected, "{uri}");
        }
    }
}
