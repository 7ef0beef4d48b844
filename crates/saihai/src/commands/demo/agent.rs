//! What do the scripted agents of the demo do? They are real processes that speak real MCP and make
//! real commits; only what they decide is scripted.

use std::process::{Command, ExitCode};
use std::time::Duration;

use serde_json::{Value, json};

use super::mcp::{CallError, McpClient};
use super::scenario::{SUBTASKS, ScriptedSubtask};

#[derive(Debug, thiserror::Error)]
enum ScriptError {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("there is no script for `{0}`")]
    NoScript(String),
}

/// Runs a scripted agent until it is told to log out. It pauses for so many milliseconds before each
/// action, so that people can follow.
pub(crate) fn run_scripted_agent(name: &str, pause: &str) -> ExitCode {
    let pause = Duration::from_millis(pause.parse().unwrap_or(0));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome =
        runtime.map_err(ScriptError::from).and_then(|runtime| runtime.block_on(follow_instructions(name, pause)));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What every guided agent does: ask for the next action, do it, ask again.
async fn follow_instructions(name: &str, pause: Duration) -> Result<(), ScriptError> {
    let mut client = McpClient::from_environment()?;
    client.call("authenticate", json!({})).await?;
    let mut sent_back = false;
    loop {
        let answer = client.call("get_next_action", json!({})).await?;
        let action = answer["action"].as_str().unwrap_or_default();
        println!("{name}: told to {action}: {}", answer["instruction"].as_str().unwrap_or_default());
        tokio::time::sleep(pause).await;
        match action {
            "report_model" => {
                client.call("report_model", json!({ "provider": "saihai", "model_id": "scripted" })).await?;
            }
            "get_task" => {
                let mine = client.call("get_my_task", json!({})).await?;
                sent_back = mine["task"]["feedback"].is_string();
            }
            "get_pending_messages" => chat(&mut client, name).await?,
            // `get_next_action` itself waits for one.
            "wait_for_messages" => {}
            "logout" | "stop" | "wait" => {
                client.call("logout", json!({})).await?;
                return Ok(());
            }
            _ if name == "lead" => lead(&mut client, action).await?,
            _ => {
                let subtask = SUBTASKS.iter().find(|subtask| subtask.agent == name);
                let subtask = subtask.ok_or_else(|| ScriptError::NoScript(name.to_owned()))?;
                work(&mut client, subtask, action, &answer, sent_back).await?;
            }
        }
    }
}

/// Answers the owner's messages with a fixed text.
async fn chat(client: &mut McpClient, name: &str) -> Result<(), ScriptError> {
    let pending = client.call("get_pending_messages", json!({})).await?;
    for message in pending["pending_messages"].as_array().cloned().unwrap_or_default() {
        let said = message["content"].as_str().unwrap_or_default();
        let content = format!("You said: {said}\nI am {name}, a scripted agent of the demo: I can answer, not think.");
        client.call("send_message", json!({ "to": "owner", "content": content })).await?;
    }
    Ok(())
}

/// The manager splits the task, assigns the subtasks and waits.
async fn lead(client: &mut McpClient, action: &str) -> Result<(), ScriptError> {
    match action {
        "create_subtasks" => {
            let tasks: Vec<_> = SUBTASKS
                .iter()
                .map(|subtask| json!({ "local_id": subtask.agent, "title": subtask.title, "description": subtask.description }))
                .collect();
            client.call("create_tasks_batch", json!({ "tasks": tasks })).await?;
        }
        "situational_awareness" => {
            let waiting = unstarted(client).await?.is_empty();
            let choice = if waiting { "wait" } else { "start" };
            client.call("select_action", json!({ "action": choice })).await?;
        }
        "start" => {
            for (task, title) in unstarted(client).await? {
                let subtask = SUBTASKS.iter().find(|subtask| subtask.title == title);
                let assignee = subtask.map(|subtask| subtask.agent);
                client.call("assign_task", json!({ "task_id": task, "assignee_id": assignee })).await?;
                client.call("update_task_status", json!({ "task_id": task, "status": "in_progress" })).await?;
            }
        }
        "report_completion" => report(client, "greet speaks four languages.").await?,
        other => return Err(ScriptError::NoScript(other.to_owned())),
    }
    Ok(())
}

async fn unstarted(client: &mut McpClient) -> Result<Vec<(String, String)>, ScriptError> {
    let listed = client.call("list_tasks", json!({})).await?;
    let tasks = listed["tasks"].as_array().cloned().unwrap_or_default();
    let open = tasks.iter().filter(|task| matches!(task["status"].as_str(), Some("backlog" | "todo")));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(open.map(|task| (text(&task["id"]), text(&task["title"]))).collect())
}

async fn work(
    client: &mut McpClient,
    subtask: &ScriptedSubtask,
    action: &str,
    answer: &Value,
    sent_back: bool,
) -> Result<(), ScriptError> {
    let step = &answer["subtask"]["id"];
    match action {
        "create_subtasks" => {
            let step = |id: &str, title: &str| json!({ "local_id": id, "title": title, "description": title });
            let tasks = [step("find", "Find the word"), step("write", "Write it down")];
            client.call("create_tasks_batch", json!({ "tasks": tasks })).await?;
        }
        "start_subtask" => {
            client.call("update_task_status", json!({ "task_id": step, "status": "in_progress" })).await?;
        }
        "execute_subtask" => {
            if answer["subtask"]["title"] == "Write it down" {
                write(subtask, false)?;
            }
            client.call("update_task_status", json!({ "task_id": step, "status": "done" })).await?;
        }
        "work" => {
            match subtask.agent {
                // She reports success without having done anything.
                "aiko" if !sent_back => {}
                "chloe" if !sent_back => {
                    // Her line in the README is written beside aiko's, which she has not seen.
                    wait_for(client, SUBTASKS[0].title).await?;
                    write(subtask, false)?;
                }
                // It may be a conflict, whoever of them was merged first; or nothing of the work was there at all.
                _ if sent_back => {
                    resolve()?;
                    write(subtask, sent_back)?;
                }
                _ => write(subtask, sent_back)?,
            }
            report(client, &format!("{}: done, it works.", subtask.title)).await?;
        }
        "report_completion" => report(client, &format!("{}: every step is done.", subtask.title)).await?,
        other => return Err(ScriptError::NoScript(other.to_owned())),
    }
    Ok(())
}

async fn report(client: &mut McpClient, summary: &str) -> Result<(), ScriptError> {
    client.call("report_completed", json!({ "result": "success", "summary": summary })).await?;
    Ok(())
}

/// Writes the greeting and commits it. Bernd forgets the exclamation mark at first.
fn write(subtask: &ScriptedSubtask, sent_back: bool) -> Result<(), ScriptError> {
    let greeting = match subtask.agent {
        "bernd" if !sent_back => subtask.greeting.trim_end_matches('!'),
        _ => subtask.greeting,
    };
    std::fs::write(subtask.file, format!("{greeting}\n"))?;
    if !subtask.readme_line.is_empty() {
        let readme = std::fs::read_to_string("README.md")?;
        if !readme.contains(subtask.readme_line) {
            std::fs::write("README.md", format!("{readme}{}\n", subtask.readme_line))?;
        }
    }
    commit(subtask.title)
}

/// Keeps both sides of every conflict that the merge of the target has left.
fn resolve() -> Result<(), ScriptError> {
    let readme = std::fs::read_to_string("README.md")?;
    let marker = |line: &&str| !["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| line.starts_with(mark));
    let kept: Vec<_> = readme.lines().filter(marker).collect();
    std::fs::write("README.md", kept.join("\n") + "\n")?;
    commit("Both languages are listed")
}

fn commit(message: &str) -> Result<(), ScriptError> {
    for arguments in [&["add", "--all"][..], &["commit", "--quiet", "--message", message]] {
        Command::new("git").args(arguments).status()?;
    }
    Ok(())
}

/// Waits until a task of a colleague is done, as long as that may take.
async fn wait_for(client: &mut McpClient, title: &str) -> Result<(), ScriptError> {
    loop {
        let listed = client.call("list_tasks", json!({ "status": "done" })).await?;
        let done = listed["tasks"].as_array().is_some_and(|tasks| tasks.iter().any(|task| task["title"] == title));
        if done {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}
